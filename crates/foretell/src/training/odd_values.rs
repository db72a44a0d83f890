//! Values that are far from all others of their series: slips of a key, and numbers that stand for missing values.

use foretell_data::Panel;

use crate::warning::OddValue;

/// How much farther from the nearest other value a value is than the others are from each other, to be odd.
const FAR: f64 = 100.0;

/// The same of a value such as -999 or 9999, which often stands for a missing one.
const FAR_MARK: f64 = 5.0;

/// The most values at one end that are odd; one of them may stand there many times.
const ENDS: usize = 3;

/// Known values of a series without which none of them is odd.
const LEAST: usize = 10;

/// The series that have odd values at one of their ends, with the outermost of these.
pub(super) fn odd_values(panel: &Panel) -> Vec<OddValue> {
    (0..panel.n_series()).filter_map(|series| odd_value(panel, series)).collect()
}

fn odd_value(panel: &Panel, series: usize) -> Option<OddValue> {
    let y = panel.known_y(series, 0..panel.len(series));
    let level = panel.level(series);
    let (high, low) = (Ends::of(&y, |y| y), Ends::of(&y, |y| -y));
    let known = y.iter().filter(|y| !y.is_nan()).count();
    let odd = high.odd(known, &low).or_else(|| low.odd(known, &high))?;
    let row = y.iter().position(|value| *value == odd.value)?;
    let time = panel.freq().kind().display_in(panel.zone(), panel.time(series, row));
    let id = panel.id(series).to_string();
    Some(OddValue { series: id, time, value: level.value(odd.value), count: odd.count })
}

/// The outermost values of a series at one end, the farthest first, with how often each stands there.
struct Ends {
    values: Vec<(f32, usize)>,
    sign: fn(f32) -> f32,
}

/// A value that is far from the others, and how often it stands there.
struct Odd {
    value: f32,
    count: usize,
}

impl Ends {
    /// One more than may be odd, from the end where `sign` is large.
    fn of(y: &[f32], sign: fn(f32) -> f32) -> Self {
        let mut values: Vec<(f32, usize)> = Vec::with_capacity(ENDS + 2);
        for &value in y.iter().filter(|y| !y.is_nan()) {
            let is_inside = |last: &(f32, usize)| sign(value) < sign(last.0);
            if values.len() == ENDS + 1 && values.last().is_some_and(is_inside) {
                continue;
            }
            match values.iter().position(|(known, _)| sign(*known) <= sign(value)) {
                Some(place) if values[place].0 == value => values[place].1 += 1,
                place => values.insert(place.unwrap_or(values.len()), (value, 1)),
            }
            values.truncate(ENDS + 1);
        }
        Self { values, sign }
    }

    /// The outermost value, if it or it with others at this end is far from all `known` values, which `others` are the other end of.
    fn odd(&self, known: usize, others: &Self) -> Option<Odd> {
        let at = |place: usize| self.values.get(place).map(|(value, _)| f64::from((self.sign)(*value)));
        let end = others.values.first().map(|(value, _)| f64::from((self.sign)(*value)))?;
        let (outermost, mut count) = (self.values.first()?, 0);
        for place in 0..ENDS {
            count += self.values[place.min(self.values.len() - 1)].1;
            let (far, next) = (at(place)?, at(place + 1)?);
            let (gap, range) = (far - next, next - end);
            let is_slip = count <= ENDS && gap > FAR * range;
            let is_mark =
                place == 0 && 2 * count < known && stands_for_missing(outermost.0) && gap > FAR_MARK * range;
            if known >= LEAST && range > 0.0 && (is_slip || is_mark) {
                return Some(Odd { value: outermost.0, count });
            }
        }
        None
    }
}

/// Whether a number is one of those that often stand for a missing value: nothing but nines, at least two.
fn stands_for_missing(value: f32) -> bool {
    let digits = value.abs().to_string();
    digits.len() >= 2 && digits.bytes().all(|digit| digit == b'9')
}

#[cfg(test)]
mod tests {
    use foretell_data::Freq;

    use super::*;

    fn found(y: Vec<f32>) -> Option<(String, f64, usize)> {
        let panel = Panel::from_series(Freq::parse("1").expect("integers"), [("a", 0, y)]).expect("a panel");
        odd_values(&panel).pop().map(|odd| (odd.time, odd.value, odd.count))
    }

    /// A wave between 10 and 30 with some values in place of its own.
    fn wave(others: impl Fn(usize) -> Option<f32>) -> Vec<f32> {
        (0..60).map(|t| others(t).unwrap_or(20.0 + 10.0 * (t as f32 * 0.4).sin())).collect()
    }

    fn with_one(place: usize, value: f32) -> Vec<f32> {
        wave(|t| (t == place).then_some(value))
    }

    #[test]
    fn slips_and_marks_of_missing_values_are_odd() {
        assert_eq!(found(with_one(17, 1e9)), Some(("17".to_owned(), 1e9, 1)));
        assert_eq!(found(with_one(3, -90_000.0)), Some(("3".to_owned(), -90_000.0, 1)));
        assert_eq!(found(with_one(3, -999.0)), Some(("3".to_owned(), -999.0, 1)));
        let often = wave(|t| (t % 7 == 2).then_some(9999.0));
        assert_eq!(found(often), Some(("2".to_owned(), 9999.0, 9)));
        let two =
            wave(|t| [(5, 70_000.0), (9, 71_000.0)].into_iter().find(|(at, _)| *at == t).map(|(_, y)| y));
        assert_eq!(found(two), Some(("9".to_owned(), 71_000.0, 2)));
    }

    #[test]
    fn what_happens_is_not_odd() {
        assert_eq!(found(wave(|_| None)), None);
        assert_eq!(found(with_one(30, 500.0)), None, "a peak");
        assert_eq!(found(with_one(3, 99.0)), None, "a number of nines that is near");
        assert_eq!(found((0..60).map(|t| 1.4_f32.powi(t)).collect()), None, "growth");
        assert_eq!(found(wave(|t| (t > 40).then_some(1e6 + t as f32))), None, "a new level");
        assert_eq!(found(vec![1.0, 2.0, 1e9]), None, "too few to tell");
        assert_eq!(found(vec![7.0; 40]), None, "constant");
        let rare: Vec<f32> = (0..60).map(|t| if t == 20 { 8.0 } else { 0.0 }).collect();
        assert_eq!(found(rare), None, "rare demand");
    }
}
