//! Ids that differ in nothing but blanks and the case of letters: more often one series that is written in two ways than two.

use std::borrow::Cow;
use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use super::panel::Panel;
use crate::tables::read_note::ReadNote;

impl Panel {
    /// The panel with a note of such ids, if there are some.
    pub(super) fn with_alike_ids_noted(self) -> Self {
        let alike = self.alike_ids();
        let Some(&(first, second)) = alike.first() else { return self };
        let [first, second] = [first, second].map(|series| self.id(series).to_string());
        let note =
            ReadNote::AlikeIds { table: self.data.table.clone(), first, second, more: alike.len() - 1 };
        self.with_notes(vec![note])
    }

    /// Series whose ids look like that of one before them, and that one first.
    fn alike_ids(&self) -> Vec<(usize, usize)> {
        let mut known: FxHashMap<Cow<'_, str>, usize> = FxHashMap::default();
        let mut alike = Vec::new();
        for series in 0..self.n_series() {
            match known.entry(plain_id(self.id(series))) {
                Entry::Occupied(other) => alike.push((*other.get(), series)),
                Entry::Vacant(place) => {
                    place.insert(series);
                }
            }
        }
        alike
    }
}

/// An id without the blanks around it, in small letters: two ids that are alike there are more often one than two.
pub fn plain_id(id: &str) -> Cow<'_, str> {
    let trimmed = id.trim();
    match trimmed.contains(char::is_uppercase) {
        true => trimmed.to_lowercase().into(),
        false => trimmed.into(),
    }
}

#[cfg(test)]
mod tests {
    use crate::{Panel, ReadOptions};

    #[test]
    fn ids_that_look_alike_are_told() {
        let notes = |ids: &[&str]| -> Vec<String> {
            let rows = ids.iter().map(|id| format!("{id},1,5\n{id},2,6\n{id},3,5\n")).collect::<String>();
            let text = format!("unique_id,ds,y\n{rows}");
            let panel = Panel::read_csv(text.as_bytes(), "t.csv", &ReadOptions::new()).unwrap();
            panel.notes().iter().map(ToString::to_string).collect()
        };
        assert!(notes(&["a", "b", "A1", "a2"]).is_empty());
        let told = notes(&["shop", "shop ", "b", "SHOP"]);
        assert!(told[0].starts_with("t.csv: the ids \"SHOP\" and \"shop\" (and 1 more) differ"), "{told:?}");
        assert_eq!(notes(&["a", "A"]).len(), 1);
    }
}
