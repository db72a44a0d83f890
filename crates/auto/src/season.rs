//! The seasons of a panel: those of the calendar, and those that its values show.

use foretell::{Freq, Panel, usual_season};

/// Most series that are looked at.
const SERIES: usize = 60;

/// Most steps of each that are looked at.
const STEPS: usize = 2000;

/// The probability of a season in noise.
const CHANCE: f64 = 0.001;

/// The seasons that the models are told, the main one first; `[1]` if there is none.
///
/// The calendar's ([`usual_season`]) where half of the series have one and a quarter of it, and at least two steps more than one: models learn nothing of so little, but the
/// seasonal naive may be far better than they are. The week of hours (and of their parts) where they have three. Beside them the length of
/// the waves that stand out in the periodogram of most series (Fisher's test), after their trend is taken out, if values a wave apart go
/// together.
pub fn seasons(panel: &Panel) -> Vec<usize> {
    let typical = typical_len(panel);
    let mut seasons: Vec<usize> = calendar(panel.freq())
        .into_iter()
        .filter(|&(_, least)| least <= typical)
        .map(|(season, _)| season)
        .collect();
    if let Some(found) = found(panel, typical) {
        let is_known = |known: &usize| {
            found.abs_diff(*known) * 8 <= *known
                || known.is_multiple_of(found)
                || found.is_multiple_of(*known)
        };
        if !seasons.iter().any(is_known) {
            seasons.insert(0, found);
        }
    }
    if seasons.is_empty() { vec![1] } else { seasons }
}

/// The length that half of the series have.
pub(crate) fn typical_len(panel: &Panel) -> usize {
    let mut lens: Vec<usize> = (0..panel.n_series()).map(|series| panel.len(series)).collect();
    lens.sort_unstable();
    lens.get(lens.len() / 2).copied().unwrap_or(0)
}

/// The calendar's seasons, and how many steps there must be for each.
fn calendar(freq: Freq) -> Vec<(usize, usize)> {
    let usual = usual_season(freq);
    let least = usual + usual.div_ceil(4).max(2);
    match usual {
        0 | 1 => Vec::new(),
        // Parts of a day.
        _ if is_within_day(freq) && usual > 8 => vec![(usual, least), (7 * usual, 21 * usual)],
        _ => vec![(usual, least)],
    }
}

/// Whether the usual season of this frequency is a day, each of seven a week.
fn is_within_day(freq: Freq) -> bool {
    let word = freq.to_string();
    let unit = word.trim_start_matches(|digit: char| digit.is_ascii_digit());
    unit == "h" || unit == "min"
}

/// The season that most of the series show, if there is one.
fn found(panel: &Panel, typical: usize) -> Option<usize> {
    if typical < 24 {
        return None;
    }
    let every = panel.n_series().div_ceil(SERIES).max(1);
    let looked: Vec<Option<usize>> = (0..panel.n_series())
        .step_by(every)
        .filter(|&series| panel.len(series) >= 24)
        .map(|series| {
            let from = panel.len(series).saturating_sub(STEPS);
            wave(&panel.known_y(series, from..panel.len(series)))
        })
        .collect();
    let mut waves: Vec<usize> = looked.iter().copied().flatten().collect();
    if 2 * waves.len() <= looked.len() {
        return None;
    }
    waves.sort_unstable();
    // The length that most others are near.
    let near = |length: usize| waves.iter().filter(|other| other.abs_diff(length) * 10 <= length).count();
    let best = waves.iter().copied().max_by_key(|&length| (near(length), length))?;
    (2 * near(best) > looked.len()).then_some(best)
}

/// The length of the waves of a series, if some stand out.
fn wave(y: &[f32]) -> Option<usize> {
    let y = without_trend(y)?;
    let n = y.len();
    let total: f64 = y.iter().map(|y| y * y).sum();
    if total <= 0.0 {
        return None;
    }
    // Frequencies from four waves on.
    let half = n / 2;
    let powers: Vec<f64> = (4..=half).map(|waves| power(&y, waves as f64 / n as f64)).collect();
    let all: f64 = powers.iter().sum();
    let (place, best) = powers.iter().copied().enumerate().max_by(|a, b| a.1.total_cmp(&b.1))?;
    // Fisher 1929: the share of the largest of m ordinates of noise is above g with probability m (1 - g)^(m - 1).
    let m = powers.len() as f64;
    let threshold = 1.0 - (CHANCE / m).powf(1.0 / (m - 1.0).max(1.0));
    if all <= 0.0 || best / all < threshold.max(0.15) {
        return None;
    }
    let about = n as f64 / (place + 4) as f64;
    let candidates = (about * 0.9).floor() as usize..=(about * 1.12).ceil() as usize;
    let together = |lag: usize| {
        let pairs: f64 = y.iter().zip(&y[lag..]).map(|(a, b)| a * b).sum();
        pairs / total * n as f64 / (n - lag) as f64
    };
    let (lag, how) = candidates
        .filter(|&lag| lag >= 2 && 4 * lag <= n)
        .map(|lag| (lag, together(lag)))
        .max_by(|a, b| a.1.total_cmp(&b.1))?;
    (how > 0.4).then_some(lag)
}

/// The values beside their line, unknown ones on it; nothing of a series with few.
fn without_trend(y: &[f32]) -> Option<Vec<f64>> {
    let known: Vec<(f64, f64)> =
        y.iter().enumerate().filter(|(_, y)| !y.is_nan()).map(|(t, &y)| (t as f64, f64::from(y))).collect();
    if known.len() < 24 || 5 * known.len() < 4 * y.len() {
        return None;
    }
    let n = known.len() as f64;
    let mean = known.iter().fold([0.0; 2], |[t, y], pair| [t + pair.0 / n, y + pair.1 / n]);
    let (mut up, mut across) = (0.0, 0.0);
    for (t, y) in &known {
        up += (t - mean[0]) * (y - mean[1]);
        across += (t - mean[0]) * (t - mean[0]);
    }
    let slope = if across > 0.0 { up / across } else { 0.0 };
    let line = |t: usize| mean[1] + slope * (t as f64 - mean[0]);
    Some(y.iter().enumerate().map(|(t, &y)| if y.is_nan() { 0.0 } else { f64::from(y) - line(t) }).collect())
}

/// The power of a frequency, in waves a step (Goertzel).
fn power(y: &[f64], frequency: f64) -> f64 {
    let turn = 2.0 * (std::f64::consts::TAU * frequency).cos();
    let (mut one, mut two) = (0.0, 0.0);
    for y in y {
        (one, two) = (y + turn * one - two, one);
    }
    one * one + two * two - turn * one * two
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panel(freq: &str, n: usize, value: impl Fn(usize, usize) -> f64) -> Panel {
        let series =
            (0..3).map(|id| (format!("s{id}"), 0, (0..n).map(|t| value(id, t) as f32).collect::<Vec<_>>()));
        Panel::from_series(Freq::parse(freq).unwrap(), series).unwrap()
    }

    /// A number between -1 and 1 that looks like chance.
    fn noise(id: usize, t: usize) -> f64 {
        let mixed = ((id * 7919 + t + 1) as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        ((mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 40) as f64 / f64::from(1 << 23) - 1.0
    }

    #[test]
    fn the_calendar_has_seasons_of_which_the_data_have_one_and_a_quarter() {
        assert_eq!(seasons(&panel("MS", 15, noise)), [12]);
        assert_eq!(seasons(&panel("MS", 14, noise)), [1]);
        assert_eq!(seasons(&panel("QS", 6, noise)), [4]);
        assert_eq!(seasons(&panel("h", 24 * 20, noise)), [24]);
        assert_eq!(seasons(&panel("h", 24 * 21, noise)), [24, 168]);
        assert_eq!(seasons(&panel("W-SUN", 65, noise)), [52]);
        assert_eq!(seasons(&panel("W-SUN", 64, noise)), [1]);
    }

    #[test]
    fn waves_are_found_where_the_calendar_has_none() {
        let waves = |id: usize, t: usize| {
            3.0 * (t as f64 / 11.0 * std::f64::consts::TAU).sin() + 0.1 * t as f64 + noise(id, t)
        };
        assert_eq!(seasons(&panel("1", 120, waves)), [11]);
        assert_eq!(seasons(&panel("YS", 120, waves)), [11]);
        assert_eq!(seasons(&panel("1", 120, noise)), [1]);
        let walk = |id: usize, t: usize| (0..t).map(|t| noise(id, t)).sum::<f64>();
        assert_eq!(seasons(&panel("1", 200, walk)), [1]);
    }

    #[test]
    fn the_calendar_is_not_contradicted_by_its_own_waves() {
        let week = |id: usize, t: usize| [0.0, 3.0, 1.0, 4.0, 1.0, 5.0, 9.0][t % 7] + 0.3 * noise(id, t);
        assert_eq!(seasons(&panel("D", 140, week)), [7]);
    }
}
