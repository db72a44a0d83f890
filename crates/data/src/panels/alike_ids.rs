//! Ids that differ in nothing but blanks and the case of letters: more often one series that is written in two ways than two.

use std::collections::hash_map::Entry;
use std::hash::{BuildHasher as _, Hash, Hasher};

use rustc_hash::{FxBuildHasher, FxHashMap};

use super::panel::Panel;
use foretell_tables::ReadNote;

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
        // By hashes, since copies of all ids would take as much memory as these.
        let mut known: FxHashMap<u64, usize> = FxHashMap::default();
        let mut alike = Vec::new();
        for series in 0..self.n_series() {
            match known.entry(FxBuildHasher.hash_one(PlainId(self.id(series)))) {
                Entry::Occupied(other) => {
                    let other = *other.get();
                    if PlainId(self.id(other)) == PlainId(self.id(series)) {
                        alike.push((other, series));
                    }
                }
                Entry::Vacant(place) => {
                    place.insert(series);
                }
            }
        }
        alike
    }
}

/// An id without the blanks around it, in small letters: two that are alike so are more often one than two.
#[derive(Clone, Copy, Debug)]
pub struct PlainId<'a>(pub &'a str);

impl PlainId<'_> {
    fn letters(&self) -> impl Iterator<Item = char> {
        self.0.trim().chars().flat_map(char::to_lowercase)
    }
}

impl PartialEq for PlainId<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.letters().eq(other.letters())
    }
}

impl Eq for PlainId<'_> {}

impl Hash for PlainId<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.letters().for_each(|letter| letter.hash(state));
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
