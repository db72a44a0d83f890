//! Frequencies that times follow, or seem to.

use jiff::civil::Date;

use super::days::{DAY, date_of, days_to};
use super::freq::Freq;
use super::kind::TimeKind;
use super::months::{Edge, Every, month_of};
use super::opening_hours::{HOUR, OpeningHours};
use super::unit::{FIXED, Unit};
use super::workdays::{MONDAY_TO_FRIDAY, Workdays};
use super::zone::Zone;

const MINUTE: i64 = 60_000_000;

/// Weeks that must show the same weekdays, before others are known to be closed.
const WEEKS: usize = 4;

impl Freq {
    /// The frequency that sorted times follow exactly, if there is one; at least three are needed
    /// to tell.
    pub fn infer(kind: TimeKind, zone: Option<&Zone>, times: &[i64]) -> Option<Self> {
        Self::guess(kind, zone, times)
            .filter(|freq| freq.first_break(zone, times).is_none())
            .or_else(|| Self::infer_open(kind, zone, times))
    }

    /// The days of a week, or the hours of a day, that sorted times follow exactly: all others are closed.
    pub fn infer_open(kind: TimeKind, zone: Option<&Zone>, times: &[i64]) -> Option<Self> {
        if kind == TimeKind::Integer || times.len() < 3 {
            return None;
        }
        let civil = |time: &i64| zone.map_or(Some(*time), |zone| zone.civil(*time));
        let mut week = [false; 7];
        let (mut first, mut last) = (DAY, 0);
        for time in times {
            let time = civil(time)?;
            week[(time.div_euclid(DAY) + 3).rem_euclid(7) as usize] = true;
            (first, last) = (first.min(time.rem_euclid(DAY)), last.max(time.rem_euclid(DAY)));
        }
        let days = Workdays::of_week(week)?;
        let unit = match last - first {
            0 if times.len() >= WEEKS * days.per_week() && (2..7).contains(&days.per_week()) => {
                Unit::Workdays(days)
            }
            0 => return None,
            _ if first % MINUTE != 0 => return None,
            // A week is not shown yet, but none of its days is known to be closed either.
            _ => {
                let span = (last - first).checked_add(HOUR).filter(|span| *span < DAY && span % HOUR == 0)?;
                let weeks = times.len() >= WEEKS * days.per_week() * (span / HOUR) as usize;
                let days = if weeks { days } else { &MONDAY_TO_FRIDAY };
                Unit::Hours(OpeningHours::new(days, vec![(first, last + HOUR)])?)
            }
        };
        let freq = Self { unit, multiple: 1 };
        // Nights alone show nothing of weekends.
        let days = civil(times.last()?)?.div_euclid(DAY) - civil(times.first()?)?.div_euclid(DAY);
        (days >= 6 && freq.first_break(zone, times).is_none()).then_some(freq)
    }

    /// The days of a week that sorted times are of, if the others have none in four weeks or more, and few of these lack, as holidays.
    pub fn guess_open(kind: TimeKind, zone: Option<&Zone>, times: &[i64]) -> Option<Self> {
        let civil = |time: &i64| zone.map_or(Some(*time), |zone| zone.civil(*time));
        let days: Vec<i64> = times.iter().map(civil).collect::<Option<_>>()?;
        let clock = days.first()?.rem_euclid(DAY);
        if kind == TimeKind::Integer || days.iter().any(|time| time.rem_euclid(DAY) != clock) {
            return None;
        }
        let weekday = |day: i64| (day + 3).rem_euclid(7) as usize;
        let mut week = [false; 7];
        days.iter().for_each(|time| week[weekday(time.div_euclid(DAY))] = true);
        let open = Workdays::of_week(week)?;
        let (first, last) = (days[0].div_euclid(DAY), days[days.len() - 1].div_euclid(DAY));
        let per_week = open.per_week();
        // A few days of the week alone may be those on which something happened.
        let is_shown = (5..7).contains(&per_week) && times.len() >= WEEKS * per_week;
        let all = (first..=last).filter(|day| week[weekday(*day)]).take(2 * times.len()).count();
        (is_shown && all - times.len().min(all) <= times.len() / 20)
            .then_some(Self { unit: Unit::Workdays(open), multiple: 1 })
    }

    /// The frequency that most steps of sorted times follow.
    pub fn guess(kind: TimeKind, zone: Option<&Zone>, times: &[i64]) -> Option<Self> {
        if let Some(zone) = zone.filter(|_| kind == TimeKind::Timestamp) {
            let civil: Option<Vec<i64>> = times.iter().map(|time| zone.civil(*time)).collect();
            // By their clocks days are regular, and by elapsed time hours.
            return Self::guess(kind, None, &civil?)
                .filter(|freq| freq.is_daily_or_coarser())
                .or_else(|| Self::guess(kind, None, times));
        }
        if times.len() < 3 {
            return None;
        }
        Self::of_steps(kind, times)
    }

    /// The frequency of the shortest steps of sorted times, if all times follow it: as of rows that stand only where something happened.
    /// Some rows at least, one of ten, follow each other.
    pub fn of_shortest(kind: TimeKind, zone: Option<&Zone>, times: &[i64]) -> Option<Self> {
        let pair = times.windows(2).min_by_key(|pair| pair[1].saturating_sub(pair[0]))?;
        let freq = Self::proposed(kind, zone, pair)?;
        let next = |pair: &&[i64]| freq.next_in(zone, pair[0], 1) == Some(pair[1]);
        let follow = times.windows(2).filter(next).count();
        let is_led = |time: &i64| freq.leads(zone, times[0], *time);
        (follow >= 2.max(times.len() / 10) && times.iter().all(is_led)).then_some(freq)
    }

    /// The frequency of two times or more that follow each other, as a proposal: fewer than three show nothing for sure.
    pub fn proposed(kind: TimeKind, zone: Option<&Zone>, times: &[i64]) -> Option<Self> {
        let civil = |time: &i64| zone.map_or(Some(*time), |zone| zone.civil(*time));
        match times {
            _ if times.len() > 2 => Self::guess(kind, zone, times),
            [first, last] if kind == TimeKind::Timestamp => {
                Self::of_steps(kind, &[civil(first)?, civil(last)?])
            }
            times => Self::of_steps(kind, times),
        }
    }

    /// The frequency of most steps of times without a zone.
    fn of_steps(kind: TimeKind, times: &[i64]) -> Option<Self> {
        let step = typical(times.windows(2).map(|pair| pair[1].saturating_sub(pair[0])))?;
        if kind == TimeKind::Integer {
            return Some(Self { unit: Unit::Integer, multiple: step });
        }
        if step % DAY == 0 {
            let days: Option<Vec<Date>> = times.iter().map(|time| date_of(time.div_euclid(DAY))).collect();
            if let Some(freq) = guess_days(&days?, step / DAY) {
                return Some(freq);
            }
        }
        let (index, (_, unit)) = FIXED.iter().enumerate().rev().find(|(_, (_, unit))| step % unit == 0)?;
        Some(Self { unit: Unit::Fixed(index as u8), multiple: step / unit })
    }
}

/// Months, business days and weeks, whose typical step is `step` days.
fn guess_days(days: &[Date], step: i64) -> Option<Freq> {
    if let Some(freq) = Edge::ALL.into_iter().find_map(|edge| guess_months(days, edge)) {
        return Some(freq);
    }
    if let Some(unit) = semi_months(days) {
        return Some(Freq { unit, multiple: 1 });
    }
    let weekday = |day: &Date| day.weekday().to_monday_zero_offset() as u8;
    if step % 7 == 0 {
        return Some(Freq { unit: Unit::Week(weekday(&days[0])), multiple: step / 7 });
    }
    let over_weekend = |pair: &[Date]| weekday(&pair[0]) == 4 && days_to(pair[1]) - days_to(pair[0]) == 3;
    let business = (step == 1 || days.len() == 2)
        && days.iter().all(|day| weekday(day) < 5)
        && days.windows(2).any(over_weekend);
    business.then_some(Freq { unit: Unit::Workdays(&MONDAY_TO_FRIDAY), multiple: 1 })
}

/// Months, quarters or years, if all days are that day of their month.
fn guess_months(days: &[Date], edge: Edge) -> Option<Freq> {
    if !days.iter().all(|day| edge.of(*day) == *day) {
        return None;
    }
    let step = typical(days.windows(2).map(|pair| month_of(pair[1]) - month_of(pair[0])))?;
    let every = match step {
        step if step % 12 == 0 => Every::Year,
        step if step % 3 == 0 => Every::Quarter,
        _ => Every::Month,
    };
    let month = days[0].month() as u8;
    let month = match every {
        Every::Month => 1,
        Every::Quarter if edge.is_end() => (month - 1) % 3 + 10,
        Every::Quarter => (month - 1) % 3 + 1,
        Every::Year => month,
    };
    Some(Freq { unit: Unit::Months { every, month, edge }, multiple: step / every as i64 })
}

/// Two days of each month, if all days are one of them; equal steps are weeks.
fn semi_months(days: &[Date]) -> Option<Unit> {
    let steps = days.windows(2).map(|pair| days_to(pair[1]) - days_to(pair[0]));
    let (least, most) = steps.fold((i64::MAX, 0), |(least, most), step| (least.min(step), most.max(step)));
    if least == most {
        return None;
    }
    let middle = days.iter().map(|day| day.day()).find(|day| (10..=20).contains(day))? as u8;
    let on = |edge: Edge| days.iter().all(|day| day.day() as u8 == middle || edge.of(*day) == *day);
    let (start, end) = (on(Edge::Start), on(Edge::End));
    let beside = days.iter().any(|day| day.day() as u8 != middle);
    (beside && start != end).then_some(Unit::SemiMonths { day: middle, end })
}

/// The lower median, if it is positive: one odd step does not move it.
pub(crate) fn typical(steps: impl Iterator<Item = i64>) -> Option<i64> {
    let mut steps: Vec<i64> = steps.collect();
    let middle = steps.len().checked_sub(1)? / 2;
    let (_, median, _) = steps.select_nth_unstable(middle);
    (*median > 0).then_some(*median)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn freq(word: &str) -> Freq {
        Freq::parse(word).unwrap()
    }

    fn time(text: &str) -> i64 {
        TimeKind::Timestamp.parse(text).unwrap()
    }

    fn times(texts: &[&str]) -> Vec<i64> {
        texts.iter().map(|text| time(text)).collect()
    }

    #[test]
    fn frequencies_are_inferred_as_pandas_does() {
        for (texts, word) in [
            (&["2020-01-01", "2020-04-01", "2020-07-01", "2020-10-01"][..], "QS-JAN"),
            (&["2020-03-31", "2020-06-30", "2020-09-30"], "QE-DEC"),
            (&["2020-01-31", "2020-04-30", "2020-07-31"], "QE-OCT"),
            (&["2021-07-01", "2021-08-01", "2021-09-01"], "MS"),
            (&["2021-01-31", "2021-02-28", "2021-03-31"], "ME"),
            (&["2021-01-01", "2021-03-01", "2021-05-01"], "2MS"),
            (&["2021-12-31", "2022-12-31", "2023-12-31"], "YE-DEC"),
            (&["2020-06-01", "2020-07-01", "2020-08-03"], "BMS"),
            (&["2020-04-30", "2020-05-29", "2020-06-30"], "BME"),
            (&["2021-02-01", "2021-05-03", "2021-08-02"], "BQS-FEB"),
            (&["2022-12-30", "2023-12-29", "2024-12-31"], "BYE-DEC"),
            (&["2020-01-01", "2020-01-15", "2020-02-01"], "SMS-15"),
            (&["2020-01-31", "2020-02-15", "2020-02-29", "2020-03-15"], "SME-15"),
            (&["2021-02-01", "2021-02-15", "2021-03-01"], "2W-MON"),
            (&["2020-01-01", "2022-01-01", "2024-01-01"], "2YS-JAN"),
            (&["2021-01-05", "2021-01-12", "2021-01-19"], "W-TUE"),
            (&["2021-01-04", "2021-01-05", "2021-01-06"], "D"),
            (&["2021-01-06", "2021-01-07", "2021-01-08", "2021-01-11"], "B"),
            (&["2021-01-01 00:00", "2021-01-01 00:15", "2021-01-01 00:30"], "15min"),
            (&["2021-01-01 00:00", "2021-01-01 02:00", "2021-01-01 04:00"], "2h"),
            (&["2021-01-01 00:00:00", "2021-01-01 00:00:00.25", "2021-01-01 00:00:00.5"], "250ms"),
        ] {
            assert_eq!(Freq::infer(TimeKind::Timestamp, None, &times(texts)), Some(freq(word)), "{texts:?}");
        }
        for irregular in [
            &["2020-01-15", "2020-02-15", "2020-03-15"][..],
            &["2020-01-01", "2020-01-02"],
            &["2020-01-01", "2020-01-02", "2020-01-02"],
        ] {
            assert_eq!(Freq::infer(TimeKind::Timestamp, None, &times(irregular)), None, "{irregular:?}");
        }
        assert_eq!(Freq::infer(TimeKind::Integer, None, &[0, 24, 48]), Some(freq("24")));
        assert_eq!(Freq::infer(TimeKind::Integer, None, &[i64::MIN, 0, i64::MAX]), None);
    }

    #[test]
    fn two_times_propose_a_frequency() {
        for (texts, word) in [
            (["2024-01-01", "2024-02-01"], "MS"),
            (["2024-01-31", "2024-02-29"], "ME"),
            (["2024-03-31", "2024-06-30"], "QE-DEC"),
            (["2023-01-01", "2024-01-01"], "YS-JAN"),
            (["2024-01-02", "2024-01-09"], "W-TUE"),
            (["2024-01-05", "2024-01-08"], "B"),
            (["2024-01-02", "2024-01-03"], "D"),
            (["2024-01-02 00:00", "2024-01-02 01:00"], "h"),
        ] {
            let proposed = Freq::proposed(TimeKind::Timestamp, None, &times(&texts));
            assert_eq!(proposed, Some(freq(word)), "{texts:?}");
        }
        assert_eq!(Freq::proposed(TimeKind::Integer, None, &[3, 5]), Some(freq("2")));
        assert_eq!(Freq::proposed(TimeKind::Timestamp, None, &times(&["2024-01-01"])), None);
        let zone = Zone::parse("Europe/Berlin").unwrap();
        let utc = times(&["2024-03-30 23:00", "2024-03-31 22:00"]);
        assert_eq!(Freq::proposed(TimeKind::Timestamp, Some(&zone), &utc), Some(freq("D")));
    }

    #[test]
    fn times_with_holes_are_on_the_grid_of_their_shortest_steps() {
        for (texts, word) in [
            (&["2024-01-01", "2024-03-01", "2024-04-01", "2024-06-01", "2024-07-01"][..], Some("MS")),
            (&["2024-01-31", "2024-03-31", "2024-04-30", "2024-06-30", "2024-07-31"], Some("ME")),
            (&["2024-01-02", "2024-01-04", "2024-01-05", "2024-01-08", "2024-01-09"], Some("D")),
            (&["2024-01-02", "2024-01-16", "2024-01-23", "2024-01-30"], Some("W-TUE")),
            // Steps of 4 and 5 weeks, early and late times, and a single short step.
            (&["2024-01-27", "2024-02-24", "2024-03-30", "2024-04-27"], None),
            (&["2024-01-01 00:00", "2024-01-01 00:58", "2024-01-01 02:01", "2024-01-01 02:59"], None),
            (&["2024-01-01", "2024-03-01", "2024-05-01", "2024-06-01"], None),
        ] {
            let found = Freq::of_shortest(TimeKind::Timestamp, None, &times(texts));
            assert_eq!(found.map(|freq| freq.to_string()).as_deref(), word, "{texts:?}");
        }
        assert_eq!(Freq::of_shortest(TimeKind::Integer, None, &[1, 3, 4, 6, 7]), Some(freq("1")));
    }

    #[test]
    fn closed_days_are_told_from_a_missing_one() {
        let days = freq("C-1111110").times(time("2024-01-01"), 60).unwrap();
        let without = |gone: &[usize]| -> Vec<i64> {
            (0..days.len()).filter(|day| !gone.contains(day)).map(|day| days[day]).collect()
        };
        let guess =
            |times: &[i64]| Freq::guess_open(TimeKind::Timestamp, None, times).map(|freq| freq.to_string());
        assert_eq!(guess(&without(&[17, 30])).as_deref(), Some("C-1111110"));
        // Many that lack, too few weeks, all days of the week, three of them.
        assert_eq!(guess(&without(&[5, 17, 30, 31, 40])), None);
        assert_eq!(guess(&days[..20]), None);
        assert_eq!(guess(&freq("D").times(days[0], 60).unwrap()), None);
        assert_eq!(guess(&freq("C-1010100").times(days[0], 60).unwrap()), None);
    }

    #[test]
    fn closed_days_and_hours_are_inferred_once_they_are_certain() {
        let shown = |word: &str, from: &str, count: usize| {
            let times = freq(word).times(time(from), count).unwrap();
            Freq::infer(TimeKind::Timestamp, None, &times).map(|freq| freq.to_string())
        };
        assert_eq!(shown("C-1111110", "2024-01-01", 24).as_deref(), Some("C-1111110"));
        assert_eq!(shown("C-1111110", "2024-01-01", 23), None, "four weeks are needed");
        assert_eq!(shown("C-1010100", "2024-01-01", 12).as_deref(), Some("C-1010100"));
        assert_eq!(shown("W-SUN", "2024-01-07", 40).as_deref(), Some("W-SUN"));
        assert_eq!(shown("B", "2024-01-01", 40).as_deref(), Some("B"));
        assert_eq!(shown("bh", "2024-01-01 09:00", 48).as_deref(), Some("bh"));
        assert_eq!(
            shown("bh-08:00-20:00/1111111", "2024-01-01 08:00", 400).as_deref(),
            Some("bh-08:00-20:00/1111111")
        );
        assert_eq!(shown("h", "2024-01-01 09:00", 400).as_deref(), Some("h"));
        assert_eq!(shown("bh", "2024-01-01 09:00", 40), None, "no weekend is shown");
    }
}
