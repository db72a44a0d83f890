//! Holidays of a country, or days of one's own list, with the days around them. Rows of weeks, months and the like count those that
//! are in their periods.

use std::ops::{Range, RangeInclusive};
use std::path::Path;

use foretell_calendar::{TimeKind, jiff::civil::Date};
use foretell_data::Panel;

use crate::arguments::{Arguments, numbers};
use crate::clock::DAY;
use crate::day_file::read_days;
use crate::error::FeatureError;
use crate::feature::Feature;
use crate::rows::FeatureRows;

/// How many days of a row are those of a list, or this many days before or after one.
#[derive(Debug)]
struct SpecialDays {
    name: String,
    /// The first day of the list, since 1970-01-01, and whether each day from there on is in it.
    first: i64,
    marks: Vec<bool>,
    /// The days that the list knows of, where it is not all: the years of a country's holidays.
    known: Option<RangeInclusive<i64>>,
    before: i64,
    after: i64,
    /// Whether rows of several days have the name of the last of them, if that is said.
    at_end: Option<bool>,
}

/// Words for the end of their days that rows have the name of.
const ENDS: [(&str, bool); 2] = [("begin", false), ("end", true)];

/// A feature, and the list that it has beside the countries.
type Parsed = (Box<dyn Feature>, Option<(String, Vec<Date>)>);

/// The most days before or after a holiday.
const FARTHEST: i64 = 366;

/// `holidays:COUNTRY[:BEFORE[:AFTER]][:begin|:end]`, or a file, or one of the lists of `arguments`, in place of the country.
pub(crate) fn special_days(arguments: &Arguments<'_>) -> Result<Result<Parsed, FeatureError>, String> {
    let (list, around) = arguments.all().split_first().ok_or("its country or file is missing")?;
    let end = |last: &Vec<&str>| ENDS.into_iter().find(|(word, _)| *last == [*word]);
    let at_end = around.last().and_then(end).map(|(_, at_end)| at_end);
    let around = &around[..around.len() - usize::from(at_end.is_some())];
    let [list] = list.as_slice() else { return Err("it takes one country or file".to_owned()) };
    let count = |part: Option<&Vec<&str>>| match part {
        None => Ok(0),
        Some(part) => {
            let what = format!("a number of days from 0 to {FARTHEST}");
            numbers(part, &what, |days| (0..=FARTHEST).contains(days)).map(|days| days[0])
        }
    };
    let (before, after) = (count(around.first())?, count(around.get(1))?);
    if around.len() > 2 {
        return Err(
            "it takes a country, days before and days after, and where rows stand (begin or end)".to_owned()
        );
    }
    let make = |name: &str, days: &[Date], known: Option<RangeInclusive<i64>>| -> Box<dyn Feature> {
        Box::new(SpecialDays { known, ..SpecialDays::new(name, days, [before, after], at_end) })
    };
    if let Some(days) = arguments.lists.and_then(|lists| lists.get(*list)) {
        return Ok(Ok((make(list, days, None), Some(((*list).to_owned(), days.clone())))));
    }
    if let Ok(holidays) = foretell_holidays::of_country(list) {
        let days: Vec<Date> = holidays.into_iter().flat_map(|holiday| holiday.dates).collect();
        let (first, last) = foretell_holidays::YEARS.into_inner();
        let known = day_number(Date::constant(first, 1, 1))..=day_number(Date::constant(last, 12, 31));
        return Ok(Ok((make(&list.to_uppercase(), &days, Some(known)), None)));
    }
    let path = Path::new(list);
    // Saved features have their lists: what a model directory names is not opened.
    if arguments.lists.is_some() || !path.exists() {
        return Err(format!("`{list}` is no country of two letters that is known, and no file"));
    }
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok(read_days(path).map(|days| (make(&name, &days, None), Some((name, days)))))
}

impl SpecialDays {
    fn new(name: &str, days: &[Date], [before, after]: [i64; 2], at_end: Option<bool>) -> Self {
        let numbers: Vec<i64> = days.iter().map(|day| day_number(*day)).collect();
        let first = numbers.iter().min().copied().unwrap_or_default();
        let last = numbers.iter().max().copied().unwrap_or_default();
        let mut marks = vec![false; (last - first) as usize + 1];
        for day in numbers {
            marks[(day - first) as usize] = true;
        }
        Self { name: name.to_owned(), first, marks, known: None, before, after, at_end }
    }

    fn has(&self, day: i64) -> bool {
        usize::try_from(day - self.first).is_ok_and(|place| self.marks.get(place) == Some(&true))
    }

    /// Whether the list knows of all of these days, this far on.
    fn knows(&self, days: &Range<i64>, distance: i64) -> bool {
        let is_known = |day: i64| self.known.as_ref().is_none_or(|known| known.contains(&(day + distance)));
        is_known(days.start) && is_known(days.end - 1)
    }

    /// A day that the list does not know of, and that a row of the panel or of the `h` after a series tells of.
    fn unknown_day(&self, panel: &Panel, h: usize) -> Option<String> {
        let freq = panel.freq();
        let known = self.known.as_ref().filter(|_| freq.kind() == TimeKind::Timestamp)?;
        let at_end = self.at_end.unwrap_or(freq.names_last_days());
        let outside = |series: usize| {
            let first = panel.time(series, 0);
            // Where the times to come leave the calendar there is no forecast to tell of.
            let last = freq.next_in(panel.zone(), first, (panel.len(series) + h - 1) as i64).unwrap_or(first);
            let [first, last] = [first, last].map(|time| freq.days_of_row(civil_day(panel, time), at_end));
            let told_of = [first.start - self.after, last.end - 1 + self.before];
            Some((series, told_of.into_iter().find(|day| !known.contains(day))?))
        };
        let (series, day) =
            (0..panel.n_series()).filter(|&series| panel.len(series) > 0).find_map(outside)?;
        Some(format!(
            "the holidays of {} are known from {} to {}, and series {} needs those of {}: outside of these years they are not known; \
             a file of days may stand in place of {}",
            self.name,
            shown(*known.start()),
            shown(*known.end()),
            panel.id(series),
            shown(day),
            self.name
        ))
    }

    /// Which days a row stands for, where its frequency does not say.
    fn open_ends(&self, word: &str, panel: &Panel) -> Option<String> {
        let freq = panel.freq();
        if self.at_end.is_some() || !freq.leaves_ends_open() || panel.n_series() == 0 {
            return None;
        }
        let day = civil_day(panel, panel.time(0, panel.len(0).checked_sub(1)?));
        let days = freq.days_of_row(day, freq.names_last_days());
        let [this, other] = if freq.names_last_days() { ["end", "begin"] } else { ["begin", "end"] };
        Some(format!(
            "a row counts the holidays of all days that it stands for, with the frequency `{freq}` the row {} of series {} those from {} \
             to {}; where these days {other} with that of the row, write {word}:{other}, else {word}:{this}",
            shown(day),
            panel.id(0),
            shown(days.start),
            shown(days.end - 1)
        ))
    }

    /// The distances from the day of a row to the days that its columns tell of.
    fn distances(&self) -> impl Iterator<Item = i64> {
        (0..=self.before).chain((1..=self.after).map(|days| -days))
    }
}

/// Days since 1970-01-01.
fn day_number(day: Date) -> i64 {
    day.duration_since(Date::constant(1970, 1, 1)).as_hours() / 24
}

/// The day of a time on the clock of its panel, since 1970-01-01.
fn civil_day(panel: &Panel, time: i64) -> i64 {
    panel.zone().and_then(|zone| zone.civil(time)).unwrap_or(time).div_euclid(DAY)
}

fn shown(day: i64) -> String {
    TimeKind::Timestamp.display(day * DAY)
}

impl Feature for SpecialDays {
    fn columns(&self) -> Vec<String> {
        let name = &self.name;
        let column = |distance: i64| match distance {
            0 => format!("holidays_{name}"),
            1.. => format!("holidays_{name}_before_{distance}"),
            _ => format!("holidays_{name}_after_{}", -distance),
        };
        self.distances().map(column).collect()
    }

    fn caveat(&self, word: &str, panel: &Panel, h: usize) -> Option<String> {
        let told: Vec<String> =
            self.unknown_day(panel, h).into_iter().chain(self.open_ends(word, panel)).collect();
        (!told.is_empty()).then(|| told.join("; "))
    }

    fn compute(&self, rows: &FeatureRows<'_>, out: &mut [&mut [f32]]) {
        let (freq, at_end) = (rows.freq, self.at_end.unwrap_or(rows.freq.names_last_days()));
        for (distance, out) in self.distances().zip(out) {
            for (out, date) in out.iter_mut().zip(rows.dates) {
                let days = freq.days_of_row(date.date, at_end);
                *out = match rows.leaves_open && !self.knows(&days, distance) {
                    true => f32::NAN,
                    false => days.filter(|day| self.has(day + distance)).count() as f32,
                };
            }
        }
    }
}
