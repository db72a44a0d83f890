//! Where axes are marked: times as a calendar does, numbers by round steps.

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
    let air = if high > low { 0.05 * (high - low) } else { 0.5 * high.abs().max(1.0) };
    let from_zero = low >= 0.0 && low < 0.5 * high;
    (if from_zero { 0.0 } else { low - air }, high + air)
}

/// A mark's number, without digits that say nothing.
pub(crate) fn number(value: f64) -> String {
    let text = format!("{value:.6}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    let plain = !matches!(text, "0" | "-0") || value == 0.0;
    match text.trim_start_matches('-') {
        digits if digits.len() <= 8 && plain => {
            if digits == "0" {
                "0".to_owned()
            } else {
                text.to_owned()
            }
        }
        _ => format!("{value:.3e}").replace(".000e", "e").replace("00e", "e"),
    }
}

/// Distances of ticks, and how many characters of a time they need.
const LADDER: [(&str, usize); 20] = [
    ("s", 19),
    ("15s", 19),
    ("min", 16),
    ("5min", 16),
    ("15min", 16),
    ("h", 16),
    ("3h", 16),
    ("6h", 16),
    ("12h", 16),
    ("D", 10),
    ("2D", 10),
    ("7D", 10),
    ("MS", 7),
    ("2MS", 7),
    ("QS", 7),
    ("YS", 4),
    ("2YS", 4),
    ("5YS", 4),
    ("10YS", 4),
    ("50YS", 4),
];

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
    for (word, characters) in LADDER {
        let step = Freq::parse(word).expect("the ladder is made of frequencies");
        let tick = |n: i64| step.next(anchor, n).unwrap_or(i64::MAX);
        let (mut low, mut high) = (0, 1 << 33);
        while low < high {
            let middle = (low + high) / 2;
            if tick(middle) < first { low = middle + 1 } else { high = middle }
        }
        let most = room / (characters + 2);
        let times: Vec<i64> = (low..).map(tick).take_while(|&time| time <= last).take(most + 1).collect();
        if times.len() <= most {
            let label = |time| clock.display(time).chars().take(characters).collect();
            return times.into_iter().map(|time| (time, label(time))).collect();
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
        assert_eq!(labels("1950-02-01", "1953-12-01"), ["1951", "1952", "1953"]);
        assert_eq!(
            labels("1931-05-01", "1971-05-01"),
            ["1935", "1940", "1945", "1950", "1955", "1960", "1965", "1970"]
        );
        assert_eq!(labels("2024-01-15", "2024-04-15"), ["2024-02", "2024-03", "2024-04"]);
        assert_eq!(labels("2024-02-28", "2024-03-01"), ["2024-02-28", "2024-02-29", "2024-03-01"]);
        assert_eq!(labels("2024-02-28 20:00", "2024-02-29 10:00"), ["2024-02-29", "2024-02-29 06:00"]);
        assert_eq!(labels("2024-02-28 20:00:00", "2024-02-28 20:00:02").len(), 3);
        assert!(labels("0001-01-01", "9999-01-01").is_empty());
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
        assert_eq!(value_range(std::iter::empty()), (0.0, 1.0));
    }

    #[test]
    fn numbers_are_short() {
        let found = [0.0, -0.0, 0.1 + 0.2, -12.5, 40_000.0, 1.5e9, 2e-7, -3e12].map(number);
        assert_eq!(found, ["0", "0", "0.3", "-12.5", "40000", "1.5e9", "2e-7", "-3e12"]);
    }
}
