//! Weeks by their number and their year: `1/2024`, `2024-05`, `202405`.

use super::column_signs::is_called_week;
use foretell_calendar::{TimeFormat, days::DAY, days::date_of};

/// How they may be written where their column is called as weeks are,
const OF_CALLED: [&str; 9] = ["%V/%G", "%V-%G", "%V.%G", "%V %G", "%G/%V", "%G-%V", "%G.%V", "%G %V", "%G%V"];

/// and where it is not: with points or blanks they would be numbers.
const OF_ANY: [&str; 4] = ["%V/%G", "%V-%G", "%G/%V", "%G-%V"];

/// The last month of a year: the number of a week beyond it is that of no month.
const LAST_MONTH: i8 = 12;

/// The ways in which all cells of a column are weeks.
pub(super) struct YearWeeks {
    is_called: bool,
    /// Nothing before the first cell.
    ways: Option<Vec<Way>>,
}

/// A way of writing them, and what was read by it.
struct Way {
    format: TimeFormat,
    /// Whether the first cell could as well be a number.
    are_numbers: bool,
    /// The last week, and how many followed the one before and how many came earlier, as where another series begins.
    last: i64,
    followed: usize,
    restarted: usize,
    /// Whether each followed the last, was the same, or came earlier.
    goes_on: bool,
    /// The greatest number of a week.
    greatest: i8,
}

impl YearWeeks {
    /// Those of a column of that name.
    pub(super) fn of(name: &str) -> Self {
        Self { is_called: is_called_week(name), ways: None }
    }

    /// Takes notice of the next cell.
    pub(super) fn see(&mut self, cell: &str) {
        match &mut self.ways {
            Some(ways) => ways.retain_mut(|way| way.reads(cell)),
            None => {
                // Most columns are of anything else.
                let may_be = self.is_called || (6..=7).contains(&cell.len()) && cell.contains(['/', '-']);
                let words: &[&str] = match (may_be, self.is_called) {
                    (false, _) => &[],
                    (true, true) => &OF_CALLED,
                    (true, false) => &OF_ANY,
                };
                self.ways = Some(words.iter().filter_map(|word| Way::of(word, cell)).collect());
            }
        }
    }

    /// The first way in which all cells are weeks, if nothing else is meant: their column is called so, or they go on beyond the twelfth.
    pub(super) fn format(&self) -> Option<&TimeFormat> {
        let is_clear = |way: &&Way| {
            let goes_on = way.goes_on && way.followed > 2 * way.restarted;
            // Numbers under such a name may be amounts of weeks.
            let is_told = self.is_called && !way.are_numbers;
            is_told || goes_on && (self.is_called || way.greatest > LAST_MONTH)
        };
        self.ways.iter().flatten().find(is_clear).map(|way| &way.format)
    }
}

impl Way {
    /// The way of that format, if it reads the first cell.
    fn of(word: &str, first: &str) -> Option<Self> {
        // A blank in a format stands for none as well.
        let format = TimeFormat::parse(word).ok().filter(|_| word.contains(' ') == first.contains(' '))?;
        let (last, greatest) = week(&format, first)?;
        let are_numbers = first.parse::<f64>().is_ok();
        Some(Self { format, are_numbers, last, followed: 0, restarted: 0, goes_on: true, greatest })
    }

    /// Whether it reads the next cell.
    fn reads(&mut self, cell: &str) -> bool {
        let Some((week, number)) = week(&self.format, cell) else { return false };
        let on = week - self.last;
        self.last = week;
        self.followed += usize::from(on == 1);
        self.restarted += usize::from(on < 0);
        self.goes_on &= on <= 1;
        self.greatest = self.greatest.max(number);
        true
    }
}

/// The weeks up to one that is written so, of a year that people have, and its number.
fn week(format: &TimeFormat, cell: &str) -> Option<(i64, i8)> {
    let day = format.civil(cell)?.div_euclid(DAY);
    let date = date_of(day).filter(|date| (1600..2200).contains(&date.year()))?;
    Some((day.div_euclid(7), date.iso_week_date().week()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(name: &str, cells: &[&str]) -> Option<String> {
        let mut weeks = YearWeeks::of(name);
        cells.iter().for_each(|cell| weeks.see(cell));
        weeks.format().map(ToString::to_string)
    }

    #[test]
    fn columns_called_as_weeks_hold_them() {
        for (cells, expected) in [
            (&["1/2024", "2/2024"][..], "%V/%G"),
            (&["01.2024", "02.2024"], "%V.%G"),
            (&["2024-01", "2024-02"], "%G-%V"),
            (&["201901", "201902"], "%G%V"),
            (&["01 2019", "02 2019"], "%V %G"),
            (&["2024 52", "2025 01"], "%G %V"),
        ] {
            for name in ["KW", "Woche", "week", "Kalenderwoche", "ISO week"] {
                assert_eq!(format(name, cells).as_deref(), Some(expected), "{name}: {cells:?}");
            }
        }
        assert_eq!(format("weekly sales", &["1700.25", "1810.31", "1790.12"]), None);
        for cells in [&["2024-01-07", "2024-01-14"][..], &["1", "2"], &["53/2024"], &["1/2024", "x"], &[]] {
            assert_eq!(format("week", cells), None, "{cells:?}");
        }
    }

    #[test]
    fn others_hold_weeks_where_these_go_on_beyond_the_months() {
        for (cells, expected) in [
            (&["11/2024", "12/2024", "13/2024"][..], Some("%V/%G")),
            (&["2024-12", "2024-13", "2024-14"], Some("%G-%V")),
            // Months, as far as anyone knows, seasons, and numbers.
            (&["1/2024", "2/2024", "3/2024"], None),
            (&["2012/13", "2013/14", "2014/15"], None),
            (&["11.2024", "12.2024", "13.2024"], None),
            (&["202411", "202412", "202413"], None),
        ] {
            assert_eq!(format("ds", cells).as_deref(), expected, "{cells:?}");
        }
    }
}
