//! Times read as text, integer by integer or cell by cell, by one reader that the first of them settles.

use super::days::CALENDAR;
use super::flaw::{Advice, TimeFlaw};
use super::integer_dates::{IntegerDates, IntegerFormat};
use super::iso::{self, ZONE};
use super::kind::TimeKind;
use super::locale::Locale;
use super::periods;
use super::spelling;
use super::time_format::{STEP, TimeFormat};
use super::written::Written;
use super::zone::Zone;
use foretell_messages::Setting;

const INTEGER: TimeFlaw =
    TimeFlaw::new("is not an integer like the times before it; use one kind of time throughout");
const DECIMAL: TimeFlaw = TimeFlaw::advising(
    "is a number with decimals; write integers for step numbers, or, if it counts days as spreadsheets do, read it with",
    &Advice::new(Setting::TimeFormat, "excel"),
);
const NUMBER: TimeFlaw =
    TimeFlaw::new("is a number with decimals; write integers for step numbers, and days as 2024-02-29");
const SECONDS: TimeFlaw = TimeFlaw::advising(
    "is a number with decimals; write integers for step numbers, or, if it counts seconds since 1970, read it with",
    &Advice::new(Setting::TimeFormat, "epoch"),
);
const YEAR: TimeFlaw = TimeFlaw::advising(
    "is a number with decimals that looks like a year and a part of it; write months as 2024-02, or days as 2024-02-29, or, if months are \
     twelfths, as in 2024.083, read them with",
    &Advice::new(Setting::TimeFormat, "year/12"),
);
const ERA: TimeFlaw = TimeFlaw::new(
    "seems to count the years of an era, as in Japan and Taiwan; write those of the common era, as 2024-01-31",
);
const TIMESTAMP: TimeFlaw = TimeFlaw::advising(
    "is not a date or time like the ones before it; use one kind throughout, or say how times are written, as in",
    &Advice::new(Setting::TimeFormat, "%Y%m%d"),
);
const BACKWARDS: TimeFlaw =
    TimeFlaw::new("is an interval that does not end after it starts; correct one of both");
const BACKWARDS_LOCALLY: TimeFlaw = TimeFlaw::advising(
    "is an interval that does not end after it starts; if clocks were put back there, name the zone, as in",
    &Advice::new(Setting::Zone, "Europe/Berlin").or(", else correct one of both"),
);
const UNZONED: TimeFlaw =
    TimeFlaw::new("has no offset from UTC, unlike the times before it; write one in all rows or in none");
const ZONED: TimeFlaw =
    TimeFlaw::new("has an offset from UTC, unlike the times before it; write one in all rows or in none");
const OFFSET: TimeFlaw = TimeFlaw::advising(
    "has another offset from UTC than the times before it; name the zone, as in",
    &Advice::new(Setting::Zone, "Europe/Berlin").or(", or write all times in UTC"),
);

impl TimeKind {
    /// Reads a time of this kind, without a zone.
    ///
    /// # Errors
    /// The flaw of the text, and what to write instead.
    pub fn parse(self, text: &str) -> Result<i64, TimeFlaw> {
        Clock { kind: Some(self), ..Clock::default() }.read(text)
    }
}

/// A reader of a column of times. The first one settles their kind, their zone and how they are written, and all others follow it.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    /// What they are, once it is settled.
    pub kind: Option<TimeKind>,
    /// The zone of the clocks that showed them.
    pub zone: Option<Zone>,
    /// How they are written, where someone said so.
    pub format: Option<TimeFormat>,
    /// The language of the names of months.
    pub locale: Option<Locale>,
    /// Which dates the integers that were read could be.
    dates: IntegerDates,
    /// Where clocks showed the last time that was read twice, the second instant.
    pub later: Option<i64>,
    /// Whether clocks never showed the last time that was read, since they were put forward over it.
    pub skipped: bool,
    /// How many times were quarters or half-years by their letter.
    quarters: usize,
}

impl Clock {
    /// A reader of times that are written so, shown by the clocks of that zone, with names of months in that language; what is not
    /// given is told by the times.
    pub fn new(format: Option<TimeFormat>, zone: Option<Zone>, locale: Option<Locale>) -> Self {
        Self { format, zone, locale, ..Self::default() }
    }

    /// How many of the times read were quarters or half-years by their letter.
    pub fn quarters(&self) -> usize {
        self.quarters
    }

    /// Which dates all integers that were read look like, if they do.
    pub fn integer_dates(&self) -> Option<IntegerFormat> {
        self.dates.format()
    }

    /// The same for times of a kind that is known.
    pub fn of_kind(self, kind: TimeKind) -> Self {
        Self { kind: Some(kind), ..self }
    }

    /// Reads a time; the error is the flaw of the text, and what to write instead.
    pub fn read(&mut self, text: &str) -> Result<i64, TimeFlaw> {
        match self.locale {
            Some(locale) => self.read_english(&locale.in_english(text, self.format.as_ref())),
            None => self.read_english(text),
        }
    }

    fn read_english(&mut self, text: &str) -> Result<i64, TimeFlaw> {
        (self.later, self.skipped) = (None, false);
        if let Some(format) = self.format.as_ref().filter(|format| !format.is_integer()) {
            let written = format.read(text)?;
            return self.written(&written);
        }
        match text.parse::<i64>() {
            Ok(step) => self.step(step),
            Err(_) if self.format.is_some() => Err(STEP),
            Err(_) if self.kind == Some(TimeKind::Integer) => Err(decimal_flaw(text).unwrap_or(INTEGER)),
            Err(_) => {
                let read = spelling::read(text);
                self.quarters += usize::from(periods::is_quarter_or_half(text));
                self.written(
                    &read.map_err(|flaw| decimal_flaw(text).or_else(|| era_flaw(text)).unwrap_or(flaw))?,
                )
            }
        }
    }

    /// Whether it is settled that times are what clocks show, in no zone.
    pub fn is_civil(&self) -> bool {
        self.kind == Some(TimeKind::Timestamp) && self.zone.is_none()
    }

    /// A time in the form that most files have, once it is settled that times are what clocks show; all others are nothing
    /// here, and [`read`](Self::read) reads them.
    pub fn plain_form(&self, text: &[u8]) -> Option<i64> {
        if self.is_civil() && self.format.is_none() { iso::read_fixed(text) } else { None }
    }

    /// Takes note of what another clock read that was settled as this one.
    pub fn join(&mut self, other: &Self) {
        self.dates.join(&other.dates);
        self.quarters += other.quarters;
    }

    /// Takes what is written: of an interval, the start.
    fn written(&mut self, written: &Written<'_>) -> Result<i64, TimeFlaw> {
        let first = self.kind.is_none();
        self.settle(TimeKind::Timestamp)?;
        let time = match (written.offset, &written.zone) {
            (None, None) => self.civil(written.civil, first)?,
            (offset, zone) => self.zoned(written.civil, offset, zone.as_deref(), first)?,
        };
        match written.end.as_ref().is_none_or(|end| end.is_after(time, self.zone.as_ref())) {
            true => Ok(time),
            false if self.zone.is_none() && written.offset.is_none() => Err(BACKWARDS_LOCALLY),
            false => Err(BACKWARDS),
        }
    }

    /// Takes an integer, of a text or of a column of integers.
    pub fn step(&mut self, step: i64) -> Result<i64, TimeFlaw> {
        if self.format.as_ref().is_some_and(|format| !format.is_integer()) {
            return self.read(&step.to_string());
        }
        self.settle(TimeKind::Integer)?;
        self.dates.see(step);
        Ok(step)
    }

    /// Takes a time on the clocks, without an offset.
    fn civil(&mut self, civil: i64, first: bool) -> Result<i64, TimeFlaw> {
        match &self.zone {
            None => Ok(civil),
            // Settled by the data, an offset is in every row; set by someone, in any or none.
            Some(zone) if first || !zone.found => {
                let shown = zone.instants(civil).ok_or(CALENDAR)?;
                (self.later, self.skipped) = (shown.later, shown.skipped);
                Ok(shown.first)
            }
            Some(_) => Err(UNZONED),
        }
    }

    /// Notes that there is a time of this kind.
    pub(crate) fn settle(&mut self, kind: TimeKind) -> Result<(), TimeFlaw> {
        match (*self.kind.get_or_insert(kind), kind) {
            (TimeKind::Integer, TimeKind::Timestamp) => Err(INTEGER),
            (TimeKind::Timestamp, TimeKind::Integer) => Err(TIMESTAMP),
            _ => Ok(()),
        }
    }

    /// Takes a time of a column whose type says that its times are instants of that zone, or civil.
    pub fn typed(&mut self, zone: Option<&str>, time: i64) -> Result<i64, TimeFlaw> {
        let first = self.kind.is_none();
        (self.later, self.skipped) = (None, false);
        self.settle(TimeKind::Timestamp)?;
        match (zone, &self.zone) {
            (None, None) => Ok(time),
            (None, Some(zone)) if !zone.found => self.civil(time, first),
            (None, Some(_)) => Err(UNZONED),
            (Some(_), Some(_)) => Ok(time),
            (Some(_), None) if !first => Err(ZONED),
            (Some(word), None) => {
                self.zone = Some(Zone::find(word).ok_or(ZONE)?.found_in_times(false));
                Ok(time)
            }
        }
    }

    /// Takes a time on the clocks, with their offset from UTC, the name of their zone, or both.
    fn zoned(
        &mut self,
        civil: i64,
        offset: Option<i32>,
        name: Option<&str>,
        first: bool,
    ) -> Result<i64, TimeFlaw> {
        let named = match (name, &self.zone) {
            (None, _) => None,
            (Some(name), Some(zone)) if zone.name == name => None,
            (Some(name), known) => {
                let named = Zone::find(name).ok_or(ZONE)?;
                if known.as_ref().is_some_and(|known| *known != named) {
                    return Err(OFFSET);
                }
                Some(named.found_in_times(true))
            }
        };
        if self.zone.is_none() {
            if !first {
                return Err(ZONED);
            }
            let fixed = || Zone::fixed(offset?).map(|zone| zone.found_in_times(false));
            self.zone = Some(named.or_else(fixed).ok_or(ZONE)?);
        }
        let Some(zone) = &self.zone else { return Err(ZONE) };
        let Some(offset) = offset else { return zone.instant(civil).ok_or(CALENDAR) };
        let instant = civil.checked_sub(i64::from(offset) * 1_000_000).ok_or(CALENDAR)?;
        match zone.offset(instant) {
            Some(known) if known == offset || !zone.found => Ok(instant),
            Some(_) => Err(OFFSET),
            None => Err(CALENDAR),
        }
    }
}

/// The flaw of a number with decimals; nothing of other texts.
fn decimal_flaw(text: &str) -> Option<TimeFlaw> {
    let (whole, decimals) =
        text.split_once('.').filter(|(whole, decimals)| is_digits(whole) && is_digits(decimals))?;
    let is_year = whole.len() == 4 && ("1600".."2200").contains(&whole) && decimals != "0";
    Some(match is_year {
        true => YEAR,
        // From 1973 on; the days of spreadsheets have five digits.
        false if whole.len() >= 9 => SECONDS,
        false if whole.len() == 5 => DECIMAL,
        false => NUMBER,
    })
}

/// The flaw of a year of an era, by its name, or by three digits.
fn era_flaw(text: &str) -> Option<TimeFlaw> {
    const ERAS: [&str; 5] = ["令和", "平成", "昭和", "大正", "民國"];
    let named = ERAS.iter().any(|era| text.starts_with(era));
    let lettered = text.strip_prefix(['R', 'H', 'S']).and_then(|rest| rest.split_once('.'));
    let lettered =
        lettered.is_some_and(|(year, rest)| is_digits(year) && year.len() < 3 && rest.contains('.'));
    let counted = text
        .split_once(['/', '-', '.'])
        .is_some_and(|(year, rest)| is_digits(year) && year.len() == 3 && rest.contains(['/', '-', '.']));
    (named || lettered || counted).then_some(ERA)
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cursor::{CLOCK, FORMAT};
    use crate::days::{DAY, FRACTION};
    use crate::{Freq, TimeStyle};
    use proptest::prelude::*;

    fn read(text: &str) -> Result<i64, TimeFlaw> {
        Clock::default().read(text)
    }

    #[test]
    fn the_usual_spellings_are_read() {
        let day = 19_753 * DAY; // 2024-01-31
        assert_eq!(read("-17"), Ok(-17));
        assert_eq!(read("2024-01-31"), Ok(day));
        assert_eq!(read("2024/1/31"), Ok(day));
        assert_eq!(read("2024-01"), Ok(day - 30 * DAY));
        assert_eq!(read("2024-01-31 13:45"), Ok(day + 49_500_000_000));
        assert_eq!(read("2024-01-31T13:45:07"), Ok(day + 49_507_000_000));
        assert_eq!(read("2024-01-31 13:45:07.25"), Ok(day + 49_507_250_000));
        assert_eq!(read("2024-01-31 13:45:07.250000000"), Ok(day + 49_507_250_000));
        assert_eq!(read("1969-12-31 23:59:59.999999"), Ok(-1));
        assert_eq!(read("2024-01-31 24:00"), Ok(day + DAY));
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        assert_eq!(read("2023-02-29"), Err(CALENDAR));
        assert_eq!(read("2024-01-31 24:01"), Err(CLOCK));
        assert_eq!(read("2024-01-31 13:60"), Err(CLOCK));
        assert_eq!(read("2024-01-31 13:45:07.2500001"), Err(FRACTION));
        for zoned in
            ["+2", "Z+02:00", "+02:00[]", "[Europe/Bern-Berlin]", "+26:00", " UTC+1", "[Europe/Berlin"]
        {
            assert_eq!(read(&format!("2024-01-31 13:45:07{zoned}")), Err(ZONE), "{zoned}");
        }
        for text in [
            "", "31.01.2024", "01/31/2024", "2024-", "2024-01-31 ", "2024-01-31 noon", "2024-01/31",
            "2024-01-31/noon",
        ] {
            assert_eq!(read(text), Err(FORMAT), "{text:?}");
        }
        assert_eq!(TimeKind::Integer.parse("2024-01-31"), Err(INTEGER));
        assert_eq!(TimeKind::Timestamp.parse("17"), Err(TIMESTAMP));
    }

    #[test]
    fn a_column_is_written_in_one_style() {
        let (day, hour) = (Freq::parse("D").unwrap(), Freq::parse("h").unwrap());
        assert_eq!(TimeStyle::of(day, None, [0, DAY].into_iter()), TimeStyle::Date);
        assert_eq!(TimeStyle::of(day, None, [0, DAY + 1_000_000].into_iter()), TimeStyle::Seconds);
        assert_eq!(TimeStyle::of(hour, None, [0, DAY].into_iter()), TimeStyle::Seconds);
        assert_eq!(TimeStyle::of(hour, None, [0, 1].into_iter()), TimeStyle::Micros);
        assert_eq!(TimeKind::Timestamp.display(DAY), "1970-01-02");
        assert_eq!(TimeKind::Timestamp.display(-1), "1969-12-31 23:59:59.999999");
        assert_eq!(TimeKind::Integer.display(-1), "-1");
    }

    #[test]
    fn times_with_a_zone_are_instants() {
        let utc = read("2024-07-31 11:45:07").unwrap();
        for (text, shown) in [
            ("2024-07-31 13:45:07+02:00", "2024-07-31 13:45:07+02:00"),
            ("2024-07-31T13:45:07+0200", "2024-07-31 13:45:07+02:00"),
            ("2024-07-31T11:45:07Z", "2024-07-31 11:45:07+00:00"),
            ("2024-07-31 11:45:07 UTC", "2024-07-31 11:45:07+00:00"),
            ("2024-07-31 02:15:07 -0930", "2024-07-31 02:15:07-09:30"),
            ("2024-07-31T13:45:07+02:00[Europe/Berlin]", "2024-07-31 13:45:07+02:00[Europe/Berlin]"),
            ("2024-07-31T13:45:07[Europe/Berlin]", "2024-07-31 13:45:07+02:00[Europe/Berlin]"),
        ] {
            let mut clock = Clock::default();
            assert_eq!(clock.read(text), Ok(utc), "{text}");
            assert_eq!(TimeKind::Timestamp.display_in(clock.zone.as_ref(), utc), shown);
            assert_eq!(clock.read(shown), Ok(utc), "{text} then {shown}");
            assert_eq!(clock.read("2024-07-31 11:45:07"), Err(UNZONED), "{text}");
        }
        let after = |first: &str, second: &str| {
            let mut clock = Clock::default();
            clock.read(first).unwrap();
            clock.read(second)
        };
        assert_eq!(after("2024-03-30 00:00+01:00", "2024-04-01 00:00+02:00"), Err(OFFSET));
        assert_eq!(after("2024-03-30 00:00", "2024-04-01 00:00+02:00"), Err(ZONED));
        let (berlin, paris) =
            ("2024-03-30 00:00+01:00[Europe/Berlin]", "2024-04-01 00:00+02:00[Europe/Paris]");
        assert_eq!(after(berlin, paris), Err(OFFSET));
        assert_eq!(after(berlin, "2024-04-01 00:00+01:00"), Err(OFFSET));
        assert_eq!(after(berlin, "2024-04-01 00:00+02:00"), read("2024-03-31 22:00"));
        // A zone that is set reads civil times as its own, and any offset.
        let mut clock = Clock { zone: Zone::find("Europe/Berlin"), ..Clock::default() };
        for text in ["2024-04-01 00:00", "2024-04-01 00:00+02:00", "2024-03-31T22:00Z"] {
            assert_eq!(clock.read(text), read("2024-03-31 22:00"), "{text}");
        }
    }

    #[test]
    fn numbers_are_times_where_a_format_says_so() {
        assert_eq!(read("44927.5"), Err(DECIMAL));
        let mut clock = Clock::default();
        assert_eq!((clock.read("44927"), clock.read("44927.5")), (Ok(44_927), Err(DECIMAL)));
        let clock_of = |format: &str| Clock { format: TimeFormat::parse(format).ok(), ..Clock::default() };
        let mut days = clock_of("excel");
        assert_eq!((days.step(44_927), days.zone), (read("2023-01-01"), None));
        let mut millis = clock_of("epoch-ms");
        assert_eq!(millis.step(1_672_531_200_000), read("2023-01-01"));
        assert_eq!(millis.zone.map(|zone| zone.name), Some("+00:00".to_owned()));
    }

    #[test]
    fn years_of_eras_and_parts_of_years_are_refused_with_what_they_are() {
        for text in ["令和6年1月31日", "R6.01.31", "113/01/31", "民國113年1月31日"] {
            assert_eq!(read(text), Err(ERA), "{text}");
        }
        for text in ["2020.0833", "2020.0000", "2020.5"] {
            assert_eq!(read(text), Err(YEAR), "{text}");
        }
        // A year as pandas writes it where some are missing, which a format reads.
        assert_eq!(read("2020.0"), Err(NUMBER));
        assert_eq!(read("001.2021"), Err(NUMBER));
        assert_eq!(read("1704067200.5"), Err(SECONDS));
    }

    #[test]
    fn an_interval_ends_after_it_starts() {
        let format = || TimeFormat::parse("%d.%m.%Y %H:%M - %d.%m.%Y %H:%M").ok();
        let mut clock = Clock { format: format(), ..Clock::default() };
        let start = read("2023-10-29 02:45");
        assert_eq!(clock.read("29.10.2023 02:45 - 29.10.2023 03:00"), start);
        for end in ["29.10.2023 02:45", "29.10.2023 02:00"] {
            assert_eq!(clock.read(&format!("29.10.2023 02:45 - {end}")), Err(BACKWARDS_LOCALLY), "{end}");
        }
        // In that night clocks were put back from 3 to 2.
        let mut clock = Clock { format: format(), zone: Zone::find("Europe/Berlin"), ..Clock::default() };
        assert_eq!(clock.read("29.10.2023 02:45 - 29.10.2023 02:00"), read("2023-10-29 00:45"));
        assert_eq!(clock.read("29.10.2023 03:45 - 29.10.2023 03:00"), Err(BACKWARDS));
        assert_eq!(read("2023-10-29 02:45/2023-10-29 02:00"), Err(BACKWARDS_LOCALLY));
        assert_eq!(read("2023-10-29T02:45+02:00/2023-10-29T02:00+01:00"), read("2023-10-29 00:45"));
        assert_eq!(read("2023-10-29T02:45+01:00/2023-10-29T02:00+01:00"), Err(BACKWARDS));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(time in -62_000_000_000_000_000_i64..253_000_000_000_000_000) {
            for style in [TimeStyle::Micros, TimeStyle::Seconds, TimeStyle::Date] {
                let unit = match style { TimeStyle::Date => DAY, TimeStyle::Seconds => 1_000_000, _ => 1 };
                let time = time.div_euclid(unit) * unit;
                let mut text = String::new();
                style.write(None, time, &mut text);
                prop_assert_eq!(read(&text), Ok(time), "{}", text);
                let year = text.find('-') == Some(4);
                let settled = Clock { kind: Some(TimeKind::Timestamp), ..Clock::default() };
                let fixed = settled.plain_form(text.as_bytes());
                prop_assert_eq!(fixed, (year && style != TimeStyle::Micros).then_some(time), "{}", text);
            }
        }

        #[test]
        fn no_text_panics(text in "\\PC{0,30}|[0-9TZ:/. +-]{0,32}") {
            let _ = read(&text);
        }

        #[test]
        fn the_plain_form_is_read_as_any(text in "[0-2]\\d{3}-[01]\\d-[0-3]\\d([ T][0-2]\\d:[0-6]\\d(:[0-6]\\d)?)?[ 0]?") {
            let settled = Clock { kind: Some(TimeKind::Timestamp), ..Clock::default() };
            if let Some(time) = settled.plain_form(text.as_bytes()) {
                prop_assert_eq!(read(&text), Ok(time));
            }
        }
    }
}
