//! Integers that look like dates.

use std::fmt;

use super::kind::TimeKind;
use super::time_format::TimeFormat;
use foretell_messages::Setting;

/// Years that people forecast in: integers beyond them are taken for step numbers.
const YEARS: std::ops::RangeInclusive<i64> = 1600..=2199;

/// The same where dates are counted in days or seconds, 1970 to 2069; few series of steps begin at numbers as large.
const EXCEL: std::ops::Range<i64> = 25_569..62_093;
const SECONDS: std::ops::Range<i64> = 100_000_000..3_155_760_000;

/// Eight digits that end in the year.
const DAYS_FIRST: &str = "%d%m%Y";
const MONTHS_FIRST: &str = "%m%d%Y";

/// The formats that integers may have.
const FORMATS: [&str; 15] = [
    "%Y%m%d", "%Y%m", "%G%V", "%Y", "%Y%m%d%H", "%Y%m%d%H%M", "%Y%m%d%H%M%S", "%y%m%d", DAYS_FIRST,
    MONTHS_FIRST, "excel", "epoch", "epoch-ms", "epoch-us", "epoch-ns",
];

/// Which formats all integers of a column could be dates of, and the least and greatest of them.
///
/// Only the months and days that a calendar can have at all are asked for, so that one 31st of February among
/// dates does not make step numbers of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IntegerDates {
    fits: [bool; FORMATS.len()],
    least: i64,
    greatest: i64,
    /// Those of days first, as year, month and day, and the same of months first.
    turned: [(i64, i64); 2],
}

impl Default for IntegerDates {
    fn default() -> Self {
        let (least, greatest) = (i64::MAX, i64::MIN);
        Self { fits: [true; FORMATS.len()], least, greatest, turned: [(least, greatest); 2] }
    }
}

/// A format of dates that integers fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntegerFormat {
    /// The format, as [`TimeFormat::parse`] reads it.
    pub word: &'static str,
    /// The least of the integers, read in it.
    pub first: Box<str>,
    /// The greatest of them.
    pub last: Box<str>,
    /// Another format that they fit: weeks in place of months of one year, or months that stand before the days.
    pub or: Option<&'static str>,
}

/// The dates that the integers look like, and the remedy.
impl fmt::Display for IntegerFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let or = match self.or {
            Some(MONTHS_FIRST) => {
                format!(" (with {}, if months stand first)", Setting::TimeFormat.to(MONTHS_FIRST))
            }
            Some(weeks) => format!(" (with {}, if they number weeks)", Setting::TimeFormat.to(weeks)),
            None => String::new(),
        };
        match self.word {
            "excel" => f.write_str("the days of spreadsheets"),
            "epoch" => f.write_str("seconds since 1970"),
            "epoch-ms" => f.write_str("milliseconds since 1970"),
            "epoch-us" => f.write_str("microseconds since 1970"),
            "epoch-ns" => f.write_str("nanoseconds since 1970"),
            word => write!(f, "dates of the form {word}"),
        }?;
        write!(
            f,
            " ({} to {}); read them as such with {}{or}, or, if they number the steps, say so with {} or an integer frequency, as {}",
            self.first,
            self.last,
            Setting::TimeFormat.to(self.word),
            Setting::TimeFormat.to("integer"),
            Setting::Freq.to(1)
        )
    }
}

impl IntegerDates {
    /// Takes notice of the next integer.
    pub(crate) fn see(&mut self, integer: i64) {
        if self.fits == [false; FORMATS.len()] {
            return;
        }
        let month = |yyyymm: i64| YEARS.contains(&(yyyymm / 100)) && (1..=12).contains(&(yyyymm % 100));
        let seconds = |unit: i64| SECONDS.contains(&integer.div_euclid(unit));
        let day = |yyyymmdd: i64| month(yyyymmdd / 100) && (1..=31).contains(&(yyyymmdd % 100));
        // The last four digits are a year, which those of years first cannot end in.
        let turned = [(1_000_000, 10_000), (10_000, 1_000_000)].map(|(day, month)| {
            let part = |unit: i64| integer / unit % 100;
            integer % 10_000 * 10_000 + part(month) * 100 + part(day)
        });
        let eight = (1_010_000..100_000_000).contains(&integer);
        let below = |unit: i64, end: i64| integer.rem_euclid(unit) / (unit / 100) < end;
        let fits = [
            day(integer),
            month(integer),
            YEARS.contains(&(integer / 100)) && (1..=53).contains(&(integer % 100)),
            YEARS.contains(&integer),
            day(integer / 100) && below(100, 26),
            day(integer / 10_000) && below(10_000, 24) && below(100, 60),
            day(integer / 1_000_000) && below(1_000_000, 24) && below(10_000, 60) && below(100, 60),
            // From 2010 on, and of the last century: six digits.
            (100_101..=991_231).contains(&integer) && day(integer + 20_000_000),
            eight && day(turned[0]),
            eight && day(turned[1]),
            EXCEL.contains(&integer),
            seconds(1),
            seconds(1000),
            seconds(1_000_000),
            seconds(1_000_000_000) && integer % 1000 == 0,
        ];
        self.fits.iter_mut().zip(fits).for_each(|(all, fits)| *all &= fits);
        (self.least, self.greatest) = (self.least.min(integer), self.greatest.max(integer));
        self.turned.iter_mut().zip(turned).for_each(|(all, date)| *all = (all.0.min(date), all.1.max(date)));
    }

    /// Takes notice of what others took notice of.
    pub(crate) fn join(&mut self, other: &Self) {
        self.fits.iter_mut().zip(other.fits).for_each(|(all, fits)| *all &= fits);
        (self.least, self.greatest) = (self.least.min(other.least), self.greatest.max(other.greatest));
        let others = other.turned;
        self.turned.iter_mut().zip(others).for_each(|(all, of)| *all = (all.0.min(of.0), all.1.max(of.1)));
    }

    /// The format that all of them fit.
    pub(crate) fn format(self) -> Option<IntegerFormat> {
        let mut found = FORMATS.into_iter().zip(self.fits).filter_map(|(word, fits)| fits.then_some(word));
        let word = found.next()?;
        let ((least, greatest), form) = match word {
            DAYS_FIRST => (self.turned[0], "%Y%m%d"),
            MONTHS_FIRST => (self.turned[1], "%Y%m%d"),
            word => ((self.least, self.greatest), word),
        };
        let format = TimeFormat::parse(form).ok()?;
        let shown = |integer: i64| match format.read(&integer.to_string()) {
            Ok(written) => TimeKind::Timestamp.display(written.civil),
            Err(_) => integer.to_string(),
        };
        let or = match word {
            "%Y%m" => Some("%G%V").filter(|_| least / 100 == greatest / 100),
            DAYS_FIRST => found.find(|other| *other == MONTHS_FIRST),
            _ => None,
        };
        Some(IntegerFormat { word, first: shown(least).into(), last: shown(greatest).into(), or })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_look_like_dates_only_if_all_of_them_do() {
        let format = |integers: &[i64]| {
            let mut dates = IntegerDates::default();
            integers.iter().for_each(|integer| dates.see(*integer));
            dates.format().map(|format| format.word)
        };
        assert_eq!(format(&[20_240_131, 20_240_201]), Some("%Y%m%d"));
        assert_eq!(format(&[20_240_131, 20_240_230]), Some("%Y%m%d"), "a slip is told when it is read");
        assert_eq!(format(&[202_401, 202_412]), Some("%Y%m"));
        assert_eq!(format(&[202_040, 202_101]), Some("%G%V"));
        assert_eq!(format(&[1990, 2020]), Some("%Y"));
        assert_eq!(format(&[2_019_102_501, 2_019_102_524]), Some("%Y%m%d%H"), "no seconds of 2033");
        assert_eq!(format(&[2_024_013_100, 2_024_013_123]), Some("%Y%m%d%H"));
        assert_eq!(
            format(&[202_301_020_000, 202_301_022_359]),
            Some("%Y%m%d%H%M"),
            "no milliseconds of 1976"
        );
        assert_eq!(format(&[20_230_102_000_000, 20_230_102_235_959]), Some("%Y%m%d%H%M%S"));
        assert_eq!(format(&[240_131, 240_201]), Some("%y%m%d"));
        assert_eq!(format(&[240_131, 240_132]), None, "no day of a month");
        assert_eq!(format(&[1_012_024, 31_122_024]), Some("%d%m%Y"));
        assert_eq!(format(&[1_012_024, 12_312_024]), Some("%m%d%Y"));
        assert_eq!(format(&[1_012_024, 32_122_024]), None, "no day of a month");
        assert_eq!(format(&[44_927, 44_928]), Some("excel"));
        for (unit, word) in
            [(1, "epoch"), (1000, "epoch-ms"), (1_000_000, "epoch-us"), (1_000_000_000, "epoch-ns")]
        {
            assert_eq!(format(&[1_672_531_200 * unit, 1_672_534_800 * unit]), Some(word));
        }
        assert_eq!(format(&(1..=3000).collect::<Vec<_>>()), None, "runs through years");
        assert_eq!(format(&(1..=70_000).collect::<Vec<_>>()), None, "runs through days");
        assert_eq!(format(&(200_001..200_100).collect::<Vec<_>>()), None, "no months");
        assert_eq!(format(&[-2024, 0, i64::MIN, i64::MAX]), None);
    }

    #[test]
    fn months_of_one_year_may_be_weeks() {
        let shown = |integers: &[i64]| {
            let mut dates = IntegerDates::default();
            integers.iter().for_each(|integer| dates.see(*integer));
            dates.format().map_or_else(String::new, |format| format.to_string())
        };
        assert!(shown(&[202_001, 202_012]).contains("= %G%V`, if they number weeks"));
        assert!(!shown(&[202_001, 202_101]).contains("weeks"));
    }

    #[test]
    fn the_dates_that_they_would_be_are_shown() {
        let mut dates = IntegerDates::default();
        [44_985, 44_927, 44_986].into_iter().for_each(|integer| dates.see(integer));
        let found = dates.format().unwrap();
        let shown = found.to_string();
        assert!(
            shown.starts_with("the days of spreadsheets (2023-01-01 to 2023-03-01); read them"),
            "{shown}"
        );
    }
}
