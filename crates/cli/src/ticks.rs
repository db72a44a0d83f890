//! Where axes are marked: times as a calendar does, numbers by round steps.

use foretell::report::grouped;
use foretell::{Freq, TimeKind};

/// The values with some air; from 0 where that is near, so that heights can be compared.
pub(crate) fn value_range(values: impl Iterator<Item = f32>) -> (f64, f64) {
    let (low, high) = values
        .map(f64::from)
        .filter(|value| value.is_finite())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    if low > high {
        return (0.0, 1.0);
    }
    let alone = if high == 0.0 { 0.5 } else { 0.5 * high.abs() };
    let air = if high > low { 0.05 * (high - low) } else { alone };
    let from_zero = low >= 0.0 && low < 0.5 * high;
    (if from_zero { 0.0 } else { low - air }, high + air)
}

/// Words for large numbers, the largest first.
const SCALES: [(f64, &str); 3] = [(1e12, "trillion"), (1e9, "billion"), (1e6, "million")];

/// A number as people write it, with 4 digits at most but for whole ones: 12,500, 1.5 million, 2e-7.
pub(crate) fn number(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 || !value.is_finite() {
        return if size == 0.0 { "0".to_owned() } else { value.to_string() };
    }
    let digits = |value: f64| {
        let whole = value.abs().log10().floor();
        trimmed(&format!("{value:.*}", (3.0 - whole).clamp(0.0, 9.0) as usize))
    };
    match SCALES.iter().find(|(scale, _)| size >= *scale) {
        _ if !(1e-5..1e15).contains(&size) => exponent(value),
        Some((scale, word)) => format!("{} {word}", digits(value / scale)),
        None if size >= 1e4 => grouped_text(&format!("{value:.0}")),
        None => grouped_text(&digits(value)),
    }
}

/// The ticks of an axis of values: at most `most` round numbers, with texts that tell them apart.
pub(crate) fn value_ticks(low: f64, high: f64, most: usize) -> Vec<(f64, String)> {
    let rough = (high - low) / most.max(1) as f64;
    let power = 10_f64.powf(rough.log10().floor());
    let step =
        [1.0, 2.0, 5.0, 10.0].map(|digit| digit * power).into_iter().find(|step| *step >= rough * 0.999);
    let step = step.unwrap_or(10.0 * power);
    if !step.is_finite() || step <= 0.0 {
        return Vec::new();
    }
    let first = (low / step).ceil();
    let ticks = (0..=most).map(|n| (first + n as f64) * step).filter(|tick| (low..=high).contains(tick));
    // -0 is 0.
    let ticks: Vec<f64> = ticks.map(|tick| if tick.abs() < step / 2.0 { 0.0 } else { tick }).collect();
    let largest = ticks.iter().fold(0.0, |largest: f64, tick| largest.max(tick.abs()));
    let (scale, word) = match SCALES.iter().find(|(scale, _)| largest >= *scale) {
        // A word only where it leaves the steps a digit or three.
        Some((scale, word)) if step >= scale / 1e3 && largest < 1e15 => (*scale, *word),
        _ => (1.0, ""),
    };
    let decimals = (-(step / scale).log10().floor()).max(0.0) as usize;
    let label = |tick: f64| {
        if tick == 0.0 {
            "0".to_owned()
        } else if largest >= 1e15 || step < 1e-7 && largest < 1e-3 {
            exponent(tick)
        } else {
            let text = grouped_text(&format!("{:.*}", decimals.min(9), tick / scale));
            if word.is_empty() { text } else { format!("{text} {word}") }
        }
    };
    ticks.into_iter().map(|tick| (tick, label(tick))).collect()
}

/// As 2e-7, with as many decimals as are of use.
fn exponent(value: f64) -> String {
    let text = format!("{value:.3e}");
    match text.split_once('e') {
        Some((digits, power)) => format!("{}e{power}", trimmed(digits)),
        None => text,
    }
}

/// The decimals without the zeros at their end.
fn trimmed(text: &str) -> String {
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    }
}

/// A number with the digits before its point in groups of three.
fn grouped_text(text: &str) -> String {
    let (sign, text) = text.strip_prefix('-').map_or(("", text), |text| ("-", text));
    let (whole, decimals) = text.split_once('.').map_or((text, None), |(whole, rest)| (whole, Some(rest)));
    let whole = whole.parse().map_or_else(|_| whole.to_owned(), grouped);
    match decimals {
        Some(decimals) => format!("{sign}{whole}.{decimals}"),
        None => format!("{sign}{whole}"),
    }
}

/// The unit in which neighbouring ticks differ.
#[derive(Clone, Copy, PartialEq)]
enum Unit {
    Second,
    Minute,
    Day,
    Month,
    Year,
}

/// Distances of ticks, rising.
const LADDER: [(Unit, &str); 5] = [
    (Unit::Second, "s 2s 5s 10s 15s 30s"),
    (Unit::Minute, "min 2min 5min 15min 30min h 3h 6h 12h"),
    (Unit::Day, "D 2D 4D 7D 14D"),
    (Unit::Month, "MS 2MS QS 2QS"),
    (Unit::Year, "YS 2YS 5YS 10YS 20YS 50YS"),
];

impl Unit {
    /// Characters that a label and the gap to the next take.
    fn slot(self) -> usize {
        match self {
            Self::Second => 13,
            Self::Minute | Self::Day => 10,
            Self::Month => 9,
            Self::Year => 6,
        }
    }

    /// The labels of these times. The first that begins a day has the date in full, and no later one says again what is
    /// the same in that before it; times of day have no date.
    fn labels(self, times: &[i64]) -> Vec<String> {
        let texts: Vec<String> = times.iter().map(|&time| TimeKind::Timestamp.display(time)).collect();
        let start = |text: &str, characters: usize| text.chars().take(characters).collect::<String>();
        let mut year = None;
        let mut date = |text: &str| {
            let in_full = year.replace(start(text, 4)).is_none_or(|year| year != start(text, 4));
            text.chars().skip(if in_full { 0 } else { 5 }).take(10).collect::<String>()
        };
        let label = |text: &String| match (self, text.split_once(' ')) {
            (Self::Year, _) => start(text, 4),
            (Self::Month, _) => start(text, 7),
            (Self::Minute, Some((_, clock))) => start(clock, 5),
            (Self::Second, Some((_, clock))) => clock.to_owned(),
            (Self::Day | Self::Minute | Self::Second, _) => date(text),
        };
        texts.iter().map(label).collect()
    }
}

/// Places between `first` and `last` to mark, as dense as their labels have room for: `room` characters.
pub(crate) fn ticks(kind: TimeKind, first: i64, last: i64, room: usize) -> Vec<(i64, String)> {
    match kind {
        TimeKind::Timestamp => calendar(first, last, room),
        TimeKind::Integer => steps(first, last, room),
    }
}

/// Times that a calendar marks.
fn calendar(first: i64, last: i64, room: usize) -> Vec<(i64, String)> {
    let clock = TimeKind::Timestamp;
    let century = clock.display(first).get(..2).map(|century| format!("{century}00-01-01"));
    let Some(anchor) = century.and_then(|century| clock.parse(&century).ok()) else { return Vec::new() };
    let ladder = LADDER.into_iter().flat_map(|(unit, words)| words.split(' ').map(move |word| (word, unit)));
    for (word, unit) in ladder {
        let step = Freq::parse(word).expect("the ladder is made of frequencies");
        let tick = |n: i64| step.next(anchor, n).unwrap_or(i64::MAX);
        let (mut low, mut high) = (0, 1 << 33);
        while low < high {
            let middle = (low + high) / 2;
            if tick(middle) < first { low = middle + 1 } else { high = middle }
        }
        let most = room / unit.slot();
        let times: Vec<i64> = (low..).map(tick).take_while(|&time| time <= last).take(most + 1).collect();
        if times.len() <= most {
            let labels = unit.labels(&times);
            return times.into_iter().zip(labels).collect();
        }
    }
    Vec::new()
}

/// Multiples of 1, 2 or 5 and a power of ten.
fn steps(first: i64, last: i64, room: usize) -> Vec<(i64, String)> {
    let widest = first.to_string().len().max(last.to_string().len());
    let most = (room / (widest + 3)).max(1) as i128;
    let (first, last) = (i128::from(first), i128::from(last));
    let sizes = (0..19).flat_map(|power| [1, 2, 5].map(|digit| digit * 10_i128.pow(power)));
    let step = sizes.into_iter().find(|step| (last - first) / step < most).unwrap_or(10_i128.pow(19));
    let start = first.div_euclid(step) + i128::from(first.rem_euclid(step) > 0);
    let marks = (start..).map(|n| n * step).take_while(|&mark| mark <= last);
    marks.filter_map(|mark| i64::try_from(mark).ok()).map(|mark| (mark, mark.to_string())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(first: &str, last: &str) -> Vec<String> {
        let time = |text| TimeKind::Timestamp.parse(text).unwrap();
        calendar(time(first), time(last), 84).into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_are_what_a_calendar_marks() {
        let halves = ["1950-07", "1951-01", "1951-07", "1952-01", "1952-07", "1953-01", "1953-07"];
        assert_eq!(labels("1950-02-01", "1953-12-01"), halves);
        assert_eq!(
            labels("1931-05-01", "1971-05-01"),
            ["1935", "1940", "1945", "1950", "1955", "1960", "1965", "1970"]
        );
        let weeks = ["2024-01-27", "02-10", "02-24", "03-09", "03-23", "04-06"];
        assert_eq!(labels("2024-01-15", "2024-04-15"), weeks);
        assert_eq!(labels("2024-02-28", "2024-03-01"), ["2024-02-28", "12:00", "02-29", "12:00", "03-01"]);
        assert_eq!(labels("2023-12-30", "2024-01-02")[3..6], ["12:00", "2024-01-01", "12:00"]);
        let hours = ["21:00", "2024-02-29", "03:00", "06:00", "09:00"];
        assert_eq!(labels("2024-02-28 20:00", "2024-02-29 10:00"), hours);
        assert_eq!(
            labels("2024-02-28 20:00:00", "2024-02-28 20:00:02"),
            ["20:00:00", "20:00:01", "20:00:02"]
        );
        assert!(labels("0001-01-01", "9999-01-01").is_empty());
    }

    /// From a minute to a lifetime, on the widest and on the narrowest axis of a figure.
    #[test]
    fn every_axis_has_several_ticks() {
        let time = |text| TimeKind::Timestamp.parse(text).unwrap();
        let first = time("2021-03-05 07:11:13");
        let (mut last, limit) = (time("2021-03-05 07:12:03"), time("2090-01-01"));
        while last < limit {
            for (room, least) in [(110, 4), (56, 2), (33, 1)] {
                let ticks = calendar(first, last, room);
                assert!(ticks.len() >= least, "{room} characters: {ticks:?}");
                let written: usize = ticks.iter().map(|(_, label)| label.chars().count() + 1).sum();
                assert!(written <= room + 5, "{room} characters: {ticks:?}");
            }
            last += (last - first) / 7;
        }
    }

    #[test]
    fn steps_are_round() {
        let marks = |first, last, room| {
            steps(first, last, room).into_iter().map(|(mark, _)| mark).collect::<Vec<_>>()
        };
        assert_eq!(marks(-3, 17, 40), [0, 5, 10, 15]);
        assert_eq!(marks(701, 748, 84), [705, 710, 715, 720, 725, 730, 735, 740, 745]);
        assert_eq!(marks(5, 5, 40), [5]);
        assert!(marks(i64::MIN, i64::MAX, 84).len() <= 4);
    }

    #[test]
    fn values_have_air_and_begin_at_zero_where_it_is_near() {
        assert_eq!(value_range([100.0, 600.0, f32::NAN].into_iter()), (0.0, 625.0));
        assert_eq!(value_range([500.0, 600.0].into_iter()), (495.0, 605.0));
        assert_eq!(value_range([-1.0, 1.0].into_iter()), (-1.1, 1.1));
        assert_eq!(value_range([3.0].into_iter()), (1.5, 4.5));
        assert_eq!(value_range([0.0].into_iter()), (-0.5, 0.5));
        let (low, high) = value_range([1e-12].into_iter());
        assert!(low > 0.0 && high < 2e-12);
        assert_eq!(value_range(std::iter::empty()), (0.0, 1.0));
    }

    #[test]
    fn numbers_are_as_people_write_them() {
        let texts = [0.0, -0.0, 0.1 + 0.2, -12.5, 40_000.0, 1.5e9, 2e-7, -3e12, 1234.5678, 0.012_345_6, 1e18]
            .map(number);
        let expected = [
            "0", "0", "0.3", "-12.5", "40,000", "1.5 billion", "2e-7", "-3 trillion", "1,235", "0.01235",
            "1e18",
        ];
        assert_eq!(texts, expected);
    }

    #[test]
    fn values_are_marked_at_any_magnitude() {
        let labels = |low: f64, high: f64| {
            value_ticks(low, high, 5).into_iter().map(|(_, label)| label).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(labels(0.0, 10.4), "0 5 10");
        assert_eq!(labels(-1.1e-12, 1.1e-12), "-1e-12 -5e-13 0 5e-13 1e-12");
        assert_eq!(labels(0.0, 1.2e12), "0 0.5 trillion 1.0 trillion");
        assert_eq!(
            labels(1_000_000.1, 1_000_000.5),
            "1,000,000.1 1,000,000.2 1,000,000.3 1,000,000.4 1,000,000.5"
        );
        assert_eq!(labels(-30_000.0, 10_000.0), "-30,000 -20,000 -10,000 0 10,000");
        for power in -14..15 {
            let size = 10_f64.powi(power);
            for (low, high) in [(0.0, 3.7 * size), (-size, size), (size, 1.01 * size)] {
                let ticks = value_ticks(low, high, 8);
                let mut texts: Vec<&String> = ticks.iter().map(|(_, text)| text).collect();
                let count = texts.len();
                texts.dedup();
                assert!((3..=9).contains(&count) && texts.len() == count, "{low} to {high}: {ticks:?}");
            }
        }
        assert!(value_ticks(1.0, 1.0, 5).len() <= 1);
    }
}
