//! Cells that count on: whole numbers of steps, and years with parts of them.

use foretell_calendar::{TimeFormat, days::DAY, days::date_of};

/// Numbers of which each follows the last one, is the same, or begins another series.
#[derive(Default)]
pub(super) struct Counted {
    last: Option<i64>,
    /// How many followed the one before, and how many came earlier, as where another series begins.
    followed: usize,
    restarted: usize,
}

impl Counted {
    /// Takes the next one; whether it is one of the three.
    pub(super) fn goes_on(&mut self, number: i64) -> bool {
        let on = self.last.replace(number).map_or(0, |last| number.saturating_sub(last));
        self.followed += usize::from(on == 1);
        self.restarted += usize::from(on < 0);
        on <= 1
    }

    /// Whether most follow each other, as values hardly do.
    pub(super) fn follow(&self) -> bool {
        self.followed > 2 * self.restarted
    }
}

/// Years with parts of them, as R writes the times of months and quarters.
pub(super) struct YearParts {
    pub(super) format: TimeFormat,
    /// The months of a part.
    months: i64,
    pub(super) counted: Counted,
}

impl YearParts {
    /// Quarters first, which are months, too.
    pub(super) fn all() -> Vec<Self> {
        let of = |(word, months)| {
            Some(Self { format: TimeFormat::parse(word).ok()?, months, counted: Counted::default() })
        };
        [("year/4", 3), ("year/12", 1)].into_iter().filter_map(of).collect()
    }

    /// Whether the cell is a part that follows the last one, is the same, or begins another series.
    pub(super) fn reads(&mut self, cell: &str) -> bool {
        let date = self.format.civil(cell).and_then(|civil| date_of(civil.div_euclid(DAY)));
        let Some(date) = date.filter(|date| (1600..2200).contains(&date.year())) else { return false };
        self.counted.goes_on((i64::from(date.year()) * 12 + i64::from(date.month()) - 1) / self.months)
    }
}
