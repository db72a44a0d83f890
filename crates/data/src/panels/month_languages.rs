//! The language of the names of months, where the cells of a column tell it.

use foretell_calendar::{Clock, Locale, TimeKind};

/// The longest cell that is looked at, in bytes.
const LONGEST: usize = 40;

/// The languages but English in which all cells of a column are times, the same in each.
#[derive(Default)]
pub(super) struct MonthLanguages {
    /// Nothing before the first cell.
    known: Option<Vec<Locale>>,
    /// Whether one of them is no time without a language.
    is_needed: bool,
}

impl MonthLanguages {
    /// Takes notice of the next cell.
    pub(super) fn see(&mut self, cell: &str) {
        let known = self.known.get_or_insert_with(|| match may_name_month(cell) {
            // The first is English, which is read without a word.
            true => Locale::all().skip(1).collect(),
            false => Vec::new(),
        });
        if known.is_empty() {
            return;
        }
        let times: Vec<(Locale, i64)> =
            known.iter().filter_map(|locale| Some((*locale, time(Some(*locale), cell)?))).collect();
        let is_clear = times.windows(2).all(|pair| pair[0].1 == pair[1].1);
        self.is_needed |= time(None, cell).is_none();
        *known = times.into_iter().filter(|_| is_clear).map(|(locale, _)| locale).collect();
    }

    /// The first of them, if a language is needed.
    pub(super) fn first(&self) -> Option<Locale> {
        self.known.as_ref()?.first().copied().filter(|_| self.is_needed)
    }
}

/// Whether a cell may have the name of a month beside a number.
fn may_name_month(cell: &str) -> bool {
    cell.len() <= LONGEST && cell.contains(char::is_alphabetic) && cell.contains(|c: char| c.is_ascii_digit())
}

/// The time that a cell is in that language, or without one.
fn time(locale: Option<Locale>, cell: &str) -> Option<i64> {
    let mut clock = Clock::new(None, None, locale);
    let time = clock.read(cell).ok()?;
    (clock.kind == Some(TimeKind::Timestamp)).then_some(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_of_months_is_that_in_which_all_cells_are_times() {
        for (cells, code) in [
            (&["Jan 2019", "Feb 2019", "Mär 2019"][..], Some("de")),
            (&["1. Januar 2024", "2. Januar 2024", "1. Mai 2024", "1. Dezember 2024"], Some("de")),
            (&["janv. 2019", "févr. 2019", "août 2019"], Some("fr")),
            (&["5 de enero de 2024", "6 de febrero de 2024"], Some("es")),
            (&["1. Januar 2024", "2. Februar 2024"], Some("de")),
            (&["Jan 2019", "Feb 2019", "May 2019"], None),
            (&["Jan 2019", "total 2019"], None),
            (&["North 5", "South 6"], None),
            (&["2019", "2020"], None),
            (&[], None),
        ] {
            let mut languages = MonthLanguages::default();
            cells.iter().for_each(|cell| languages.see(cell));
            assert_eq!(languages.first().map(|locale| locale.to_string()).as_deref(), code, "{cells:?}");
        }
    }
}
