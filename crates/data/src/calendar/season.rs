//! Seasons.

use super::freq::Freq;

/// The season that data of this frequency usually have, in steps: a day of minutes or hours, a week of
/// days, a year of weeks, months or quarters. 1 where there is no such custom.
pub fn usual_season(freq: Freq) -> usize {
    let word = freq.to_string();
    let unit = word.trim_start_matches(|c: char| c.is_ascii_digit());
    let every: usize = word[..word.len() - unit.len()].parse().unwrap_or(1);
    let steps = match unit.split('-').next().unwrap_or_default() {
        "s" => 60,
        "min" => 24 * 60,
        "h" => 24,
        "D" => 7,
        "B" => 5,
        "W" => 52,
        "MS" | "ME" => 12,
        "QS" | "QE" => 4,
        _ => 1,
    };
    (steps / every.max(1)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seasons_of_usual_frequencies() {
        let season = |word: &str| usual_season(Freq::parse(word).expect("a frequency"));
        let found = ["15min", "h", "2h", "D", "B", "W-SUN", "MS", "QE", "YS", "1", "3"].map(season);
        assert_eq!(found, [96, 24, 12, 7, 5, 52, 12, 4, 1, 1, 1]);
    }
}
