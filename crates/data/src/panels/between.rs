//! The rows of a panel in a range of times.

use super::panel::Panel;
use crate::error::DataError;
use foretell_calendar::{Clock, TimeKind, Zone, periods::whole_period};
use foretell_tables::TableError;

impl Panel {
    /// The rows from `since` to `until`, both included, where they are given: as the panel's times are written, and a day, a month (`2024-05`)
    /// or a year as a whole. Series without a row left are gone. Nothing is copied.
    ///
    /// ```
    /// use foretell_data::{Panel, ReadOptions};
    ///
    /// let text = "ds,y\n2024-01-31,1\n2024-02-29,2\n2024-03-31,3\n";
    /// let panel = Panel::read_csv(text.as_bytes(), "t.csv", &ReadOptions::default())?;
    /// assert_eq!(panel.between(None, Some("2024-02"))?.y(0), [1.0, 2.0]);
    /// # Ok::<(), foretell_data::DataError>(())
    /// ```
    ///
    /// # Errors
    /// A text that is no time of the panel's kind, and a range without rows.
    pub fn between(&self, since: Option<&str>, until: Option<&str>) -> Result<Self, DataError> {
        let bound = |setting, text, end| bound(self.freq().kind(), self.zone(), setting, text, end);
        let from = since.map(|text| bound("since", text, false)).transpose()?;
        let end = until.map(|text| bound("until", text, true)).transpose()?;
        let mut series = Vec::with_capacity(self.n_series());
        for (place, whole) in self.series.iter().enumerate() {
            let rows_before = |bound: i64| {
                let (mut low, mut high) = (0, whole.len);
                while low < high {
                    let middle = usize::midpoint(low, high);
                    match self.time(place, middle) < bound {
                        true => low = middle + 1,
                        false => high = middle,
                    }
                }
                low
            };
            let first = from.map_or(0, rows_before);
            let last = end.map_or(whole.len, rows_before);
            if first < last {
                let mut cut = whole.clone();
                (cut.first_time, cut.start, cut.len) =
                    (self.time(place, first), whole.start + first, last - first);
                series.push(cut);
            }
        }
        if series.is_empty() {
            return Err(self.nothing_between(since, until));
        }
        Ok(self.with_series(series))
    }

    /// The error of a range without rows, with the times that there are.
    fn nothing_between(&self, since: Option<&str>, until: Option<&str>) -> DataError {
        let ends = (0..self.n_series())
            .map(|series| [self.time(series, 0), self.time(series, self.len(series) - 1)]);
        let reach = ends.reduce(|[first, last], [begin, end]| [first.min(begin), last.max(end)]);
        let Some(reach) = reach else { return DataError::NoRows { table: self.data.table.clone() } };
        let [first, last] = reach.map(|time| self.freq().kind().display_in(self.zone(), time));
        let (name, found) = match until {
            Some(until) => ("until", until),
            None => ("since", since.unwrap_or_default()),
        };
        TableError::setting(
            name,
            found,
            format!("a range of times with rows, which reach from {first} to {last}"),
        )
        .into()
    }
}

/// The first time that is not before `text`; if that is the `end`, the first one after it.
pub(super) fn bound(
    kind: TimeKind,
    zone: Option<&Zone>,
    setting: &'static str,
    text: &str,
    end: bool,
) -> Result<i64, DataError> {
    let mut zone = zone.cloned();
    zone.iter_mut().for_each(|zone| zone.found = false);
    let mut clock = Clock::new(None, zone, None).of_kind(kind);
    let expected = match kind {
        TimeKind::Integer => "a step number, as the times of the data",
        TimeKind::Timestamp => {
            "a time, as 2024-05-31 or 2024-05-31 13:00, or a month (2024-05) or a year as a whole"
        }
    };
    let refused = || TableError::setting(setting, text, expected).into();
    let whole = (kind == TimeKind::Timestamp).then(|| whole_period(text.trim())).flatten();
    match whole {
        Some([first, next]) => clock.read(&if end { next } else { first }.to_string()).map_err(|_| refused()),
        None => {
            let time = clock.read(text.trim()).map_err(|_| refused())?;
            Ok(time.saturating_add(i64::from(end)))
        }
    }
}

#[cfg(test)]
mod tests {
    use foretell_calendar::jiff::civil::date;

    use super::*;
    use foretell_calendar::Freq;

    fn days() -> Panel {
        let y = |days: usize| (0..days).map(|day| day as f32).collect::<Vec<_>>();
        let freq = Freq::parse("D").expect("days");
        let series = [("a", date(2024, 1, 1), y(60)), ("b", date(2024, 2, 20), y(20))];
        Panel::from_series(freq, series).expect("a panel")
    }

    /// The rows of each series, with their first value.
    fn rows(since: Option<&str>, until: Option<&str>) -> Vec<(usize, f32)> {
        let cut = days().between(since, until).expect("rows");
        (0..cut.n_series()).map(|series| (cut.len(series), cut.y(series)[0])).collect()
    }

    #[test]
    fn both_ends_are_within_and_periods_whole() {
        assert_eq!(rows(None, None), [(60, 0.0), (20, 0.0)]);
        assert_eq!(rows(Some("2024-01-31"), None), [(30, 30.0), (20, 0.0)]);
        assert_eq!(rows(None, Some("2024-02")), [(60, 0.0), (10, 0.0)]);
        assert_eq!(rows(Some("2024-02"), Some("2024-02-20")), [(20, 31.0), (1, 0.0)]);
        assert_eq!(rows(None, Some("2024-01-10 00:00")), [(10, 0.0)], "b begins later");
        assert_eq!(rows(Some("2024"), Some("2024")), [(60, 0.0), (20, 0.0)]);
    }

    #[test]
    fn steps_are_their_numbers_and_mistakes_are_told() {
        let steps = Panel::from_series(Freq::parse("1").expect("steps"), [("a", 2000, vec![0.0; 50])]);
        let cut = steps.expect("a panel").between(Some("2010"), Some("2019")).expect("rows");
        assert_eq!((cut.time(0, 0), cut.len(0)), (2010, 10));
        assert!(days().between(None, Some("yesterday")).is_err());
        let none = days().between(Some("2025"), None).unwrap_err().to_string();
        assert!(none.contains("since") && none.contains("from 2024-01-01 to 2024-03-10"), "{none}");
        assert!(cut.between(None, Some("2024-01-01")).is_err());
    }
}
