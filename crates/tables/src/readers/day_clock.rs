//! Hours of a day as tables name them: `7`, `07:00`, `0700`, `HE07`, and which hour is meant by them.

use foretell_calendar::{Advice, Clock, TimeFlaw, TimeKind};
use foretell_messages::Setting;
use serde::{Deserialize, Serialize};

pub(crate) const HOUR: i64 = 3_600_000_000;
const MINUTE: i64 = HOUR / 60;

/// Which hour of a day its number names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Hours {
    /// The hour that begins then: 0 to 23.
    Starting,
    /// The hour that ends then: 1 to 24. Rows stand at its start, so that a day has all of its hours.
    Ending,
    /// The hours of a day in their order, from 1 on: there are 23 or 25 where clocks are changed.
    Counted,
}

impl Hours {
    /// The meaning that the name of a column states.
    pub(super) fn said_by(name: &str) -> Option<Self> {
        let name = name.to_lowercase().replace(['_', ' ', '-'], "");
        match name.as_str() {
            "he" => Some(Self::Ending),
            "hb" => Some(Self::Starting),
            name if name.contains("ending") || name.contains("hourend") => Some(Self::Ending),
            name if name.contains("begin") || name.contains("hourstart") => Some(Self::Starting),
            _ => None,
        }
    }

    /// Its name in settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Ending => "ending",
            Self::Counted => "counted",
        }
    }
}

impl std::str::FromStr for Hours {
    type Err = crate::error::TableError;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        let all = [Self::Starting, Self::Ending, Self::Counted];
        let known = all.into_iter().find(|hours| hours.name() == word);
        known.ok_or_else(|| Self::Err::setting("hours", word, "starting, ending or counted"))
    }
}

const BEYOND: TimeFlaw = TimeFlaw::new(
    "is beyond the end of its day, which has fewer hours in this zone; correct the number, or name the zone of the file",
);
const LONG_DAY: TimeFlaw = TimeFlaw::advising(
    "belongs to a day of 25 hours; name the zone whose clocks were put back, as in",
    &Advice::new(Setting::Zone, "Europe/London"),
);

/// The time at which this number of steps of one length have passed since a midnight on the clocks: where clocks are put back a day has more.
pub(super) fn hour_of_day(unit: i64, midnight: i64, steps: i64, clock: &mut Clock) -> Result<i64, TimeFlaw> {
    let passed = steps * unit;
    if clock.zone.is_none() {
        return match passed < 24 * HOUR {
            true => clock.read(&TimeKind::Timestamp.display(midnight + passed)),
            false => Err(LONG_DAY),
        };
    }
    let end = clock.read(&TimeKind::Timestamp.display(midnight + 24 * HOUR))?;
    let time = clock.read(&TimeKind::Timestamp.display(midnight))? + passed;
    (clock.later, clock.skipped) = (None, false);
    if time < end { Ok(time) } else { Err(BEYOND) }
}

/// The columns that count the hours of a day from 1 on, up to the 25th that it may have.
pub(super) fn counted_hours<'a>(names: impl Iterator<Item = &'a str> + Clone) -> Option<Vec<usize>> {
    let numbers = || names.clone().enumerate().filter_map(|(i, name)| Some((i, numbered(name.trim())?)));
    let word = numbers().find(|(_, (_, number))| *number == 24)?.1.0;
    let of_word = || numbers().filter(|(_, (other, _))| *other == word);
    let ascending = of_word().zip(1..).all(|((_, (_, number)), expected)| number == expected);
    let columns: Vec<usize> = of_word().map(|(i, _)| i).collect();
    (ascending && (24..=25).contains(&columns.len())).then_some(columns)
}

/// A time of day in microseconds, up to 24:00: a number of hours, hours and minutes with a colon or point, or as four digits, with
/// `HE`, `H` or `Hour` before it.
pub(super) fn time_of_day(text: &str) -> Option<i64> {
    let text = text.trim();
    let digits = text.trim_start_matches(|c: char| c.is_ascii_alphabetic() || c == '_' || c == ' ');
    let word = text[..text.len() - digits.len()].trim_end_matches(['_', ' ']).to_ascii_lowercase();
    let word = word.replace(['_', ' '], "");
    if !["", "h", "he", "hb", "hr", "hour", "hourending", "hourbeginning", "t"].contains(&word.as_str()) {
        return None;
    }
    let digits = digits.strip_suffix(".0").unwrap_or(digits);
    let number = |text: &str, most: i64| -> Option<i64> {
        let plain = (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse().ok().filter(|number| plain && *number <= most)
    };
    // Minutes behind a point have two digits: `18.5` is no time of day.
    let is_pointed = digits.contains('.') && digits.split('.').skip(1).all(|part| part.len() == 2);
    let between = if is_pointed { '.' } else { ':' };
    let (hour, minute, second) = match digits.split(between).collect::<Vec<_>>()[..] {
        [all] if (3..=4).contains(&all.len()) && all.is_ascii() => {
            let (hour, minute) = all.split_at(all.len() - 2);
            (number(hour, 24)?, number(minute, 59)?, 0)
        }
        [hour] => (number(hour, 24)?, 0, 0),
        [hour, minute] => (number(hour, 24)?, number(minute, 59)?, 0),
        [hour, minute, second] => (number(hour, 24)?, number(minute, 59)?, number(second, 59)?),
        _ => return None,
    };
    let time = hour * HOUR + minute * MINUTE + second * (MINUTE / 60);
    (time <= 24 * HOUR).then_some(time)
}

/// Which of two hours that clocks show alike is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Twin {
    First,
    Second,
}

/// An hour without the letter that tells it from the other of its number when clocks are put back: `3A` and `3B`, `02X`.
pub(super) fn without_twin(text: &str) -> Option<(&str, Twin)> {
    let hour = text.trim().strip_suffix(|c: char| c.is_ascii_alphabetic())?;
    let twin = match text.trim().as_bytes().last()? {
        b'A' | b'a' => Twin::First,
        b'B' | b'b' | b'X' | b'x' => Twin::Second,
        _ => return None,
    };
    hour.ends_with(|c: char| c.is_ascii_digit()).then_some((hour, twin))
}

/// The steps of a day that the names of columns stand for, in microseconds from its beginning: at least `least` names in
/// equal steps that make a day. Each with its position.
pub fn steps_of_day<'a>(names: impl Iterator<Item = &'a str> + Clone) -> Option<Vec<(usize, i64)>> {
    if let Some(parts) = [48, 96].into_iter().find_map(|count| numbered_parts(names.clone(), count)) {
        return Some(parts);
    }
    let named = names.enumerate().filter_map(|(i, name)| Some((i, time_of_day(name)?)));
    let mut steps: Vec<(usize, i64)> = named.collect();
    let step = steps.get(1)?.1 - steps[0].1;
    let even = steps.windows(2).all(|pair| pair[1].1 - pair[0].1 == step);
    let whole = step > 0 && step * steps.len() as i64 == 24 * HOUR && steps.len() >= 6;
    if !even || !whole {
        return None;
    }
    // Names that begin with the first step and end with 24:00 are those of its ends.
    let first = steps[0].1;
    steps.iter_mut().for_each(|(_, time)| *time -= first);
    (first == 0 || first == step).then_some(steps)
}

/// A word and the number behind it.
fn numbered(name: &str) -> Option<(&str, i64)> {
    let word = name.trim_end_matches(|c: char| c.is_ascii_digit());
    Some((word, name[word.len()..].parse().ok()?))
}

/// The columns that number the `count` parts of a day from 1 on, and none beyond, with the time at which each begins.
fn numbered_parts<'a>(names: impl Iterator<Item = &'a str> + Clone, count: i64) -> Option<Vec<(usize, i64)>> {
    let numbers = || names.clone().enumerate().filter_map(|(i, name)| Some((i, numbered(name.trim())?)));
    let word = numbers().find(|(_, (_, number))| *number == count)?.1.0;
    let parts: Vec<_> = numbers().filter(|(_, (other, _))| *other == word).collect();
    let ascending = parts.iter().zip(1..).all(|((_, (_, number)), expected)| *number == expected);
    let time = |number: i64| (number - 1) * (24 * HOUR / count);
    (ascending && parts.len() as i64 == count)
        .then(|| parts.into_iter().map(|(i, (_, number))| (i, time(number))).collect())
}

/// The columns that go on behind the steps of a day, as those of days on which clocks are changed: an hour 25, or a second hour 2.
pub(super) fn beyond_day<'a>(
    names: impl Iterator<Item = &'a str> + Clone,
    steps: &[(usize, i64)],
) -> Vec<String> {
    let word = steps.first().and_then(|(first, _)| Some(numbered(names.clone().nth(*first)?.trim())?.0));
    let goes_on = |name: &str| {
        let next = numbered(name).is_some_and(|(other, number)| Some(other) == word && number <= 100);
        next || without_twin(name).is_some_and(|(hour, _)| time_of_day(hour).is_some())
    };
    let others = names.enumerate().filter(|(i, _)| steps.iter().all(|(step, _)| step != i));
    others.map(|(_, name)| name.trim()).filter(|name| goes_on(name)).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours_are_read_in_every_spelling() {
        for (text, hours) in [
            ("7", Some(7.0)),
            ("07", Some(7.0)),
            ("24", Some(24.0)),
            ("7.0", Some(7.0)),
            ("07:30", Some(7.5)),
            ("0730", Some(7.5)),
            ("730", Some(7.5)),
            ("2400", Some(24.0)),
            ("HE07", Some(7.0)),
            ("Hour 7", Some(7.0)),
            ("h_7", Some(7.0)),
            ("18.00", Some(18.0)),
            ("7.30", Some(7.5)),
            ("07.30.00", Some(7.5)),
            ("7.5", None),
            ("7.75", None),
            ("7.5.00", None),
            ("24:30", None),
            ("25", None),
            ("1275", None),
            ("noon", None),
            ("", None),
            ("ü1:00", None),
        ] {
            let expected = hours.map(|hours| (hours * HOUR as f64) as i64);
            assert_eq!(time_of_day(text), expected, "{text}");
        }
    }

    #[test]
    fn letters_tell_hours_of_one_number_apart() {
        for (text, hour) in [
            ("3A", Some(("3", Twin::First))),
            ("03b", Some(("03", Twin::Second))),
            ("HE02X", Some(("HE02", Twin::Second))),
            ("HE02", None),
            ("02C", None),
            ("B", None),
            ("", None),
        ] {
            assert_eq!(without_twin(text), hour, "{text}");
        }
    }

    #[test]
    fn names_of_columns_are_the_steps_of_a_day() {
        let names =
            |from: usize, to: usize| (from..=to).map(|hour| format!("HE{hour:02}")).collect::<Vec<_>>();
        let steps = |names: &[String]| steps_of_day(names.iter().map(String::as_str));
        for hours in [names(1, 24), names(0, 23)] {
            let steps = steps(&hours).unwrap();
            assert_eq!((steps[0], steps[23], steps.len()), ((0, 0), (23, 23 * HOUR), 24));
        }
        let halves: Vec<String> =
            (1..=48).map(|half| format!("{:02}:{:02}", half / 2, half % 2 * 30)).collect();
        assert_eq!(steps(&halves).unwrap()[47], (47, 47 * HOUR / 2));
        let numbers = |most: i64| (1..=most).map(|number| format!("P{number}")).collect::<Vec<_>>();
        assert_eq!(steps(&numbers(48)).unwrap()[47], (47, 47 * HOUR / 2));
        assert_eq!(steps(&numbers(96)).unwrap()[95], (95, 95 * HOUR / 4));
        assert_eq!(steps(&numbers(50)), None);
        for none in [names(1, 23), names(2, 25), vec!["a".to_owned(); 24], Vec::new()] {
            assert_eq!(steps(&none), None);
        }
    }

    #[test]
    fn names_say_which_hour_is_meant() {
        for (name, hours) in [
            ("hour_ending", Some(Hours::Ending)),
            ("HE", Some(Hours::Ending)),
            ("Hour Ending", Some(Hours::Ending)),
            ("HourEnd", Some(Hours::Ending)),
            ("hour_beginning", Some(Hours::Starting)),
            ("hour", None),
            ("the", None),
        ] {
            assert_eq!(Hours::said_by(name), hours, "{name}");
        }
    }
}
