//! Numbers of charts and scores as bytes in base64, which take a third of the room of JSON and are read without parsing.
//!
//! Times are places on one timeline, the sorted times of all series: a run of neighbouring places is its first one alone.

use crate::contents::{Charts, ScoreSheet};

/// The charts as arrays of numbers, little-endian.
pub(crate) struct PackedCharts {
    /// All times, each once: milliseconds, or numbers of steps.
    pub(crate) timeline: Vec<f64>,
    /// Of each series its values' count and place, the count of its forecasts, and the count and place of each. A place below 0 is
    /// one less than minus the first of this many [`places`](Self::places).
    pub(crate) index: Vec<i32>,
    /// Places on the timeline of what is no run.
    pub(crate) places: Vec<i32>,
    /// The values, and the columns of each forecast, in the order of the index.
    pub(crate) values: Vec<f32>,
}

impl PackedCharts {
    pub(crate) fn of(charts: &Charts) -> Self {
        let all = charts.series.iter().flat_map(|series| {
            series.times.iter().chain(series.forecasts.iter().flat_map(|forecast| &forecast.times))
        });
        let mut times: Vec<i64> = all.copied().collect();
        times.sort_unstable();
        times.dedup();
        let unit = if charts.integer_times { 1.0 } else { 1e3 };
        let mut packed = Self {
            timeline: times.iter().map(|time| *time as f64 / unit).collect(),
            index: Vec::new(),
            places: Vec::new(),
            values: Vec::new(),
        };
        for series in &charts.series {
            packed.push_times(&times, &series.times);
            packed.values.extend_from_slice(&series.values);
            packed.index.push(series.forecasts.len() as i32);
            for forecast in &series.forecasts {
                packed.push_times(&times, &forecast.times);
                packed.values.extend_from_slice(&forecast.values);
            }
        }
        packed
    }

    fn push_times(&mut self, timeline: &[i64], times: &[i64]) {
        let place = |time: &i64| timeline.partition_point(|known| known < time);
        let first = times.first().map_or(0, place);
        let place = match timeline[first..].starts_with(times) {
            true => first as i32,
            false => {
                let start = -1 - self.places.len() as i32;
                self.places.extend(times.iter().map(|time| place(time) as i32));
                start
            }
        };
        self.index.extend([times.len() as i32, place]);
    }
}

/// The scores as 32-bit numbers, in the order of the sheet.
pub(crate) fn packed_scores(sheet: &ScoreSheet) -> String {
    base64(sheet.values.iter().flat_map(|value| (*value as f32).to_le_bytes()))
}

/// RFC 4648, section 4.
pub(crate) fn base64(bytes: impl Iterator<Item = u8>) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.size_hint().0.div_ceil(3) * 4);
    let (mut word, mut held) = (0_u32, 0);
    let digit = |word: u32, shift: u32| char::from(DIGITS[(word >> shift) as usize & 63]);
    for byte in bytes {
        (word, held) = (word << 8 | u32::from(byte), held + 1);
        if held == 3 {
            text.extend([18, 12, 6, 0].map(|shift| digit(word, shift)));
            (word, held) = (0, 0);
        }
    }
    match held {
        1 => text.extend([digit(word << 16, 18), digit(word << 16, 12), '=', '=']),
        2 => text.extend([digit(word << 8, 18), digit(word << 8, 12), digit(word << 8, 6), '=']),
        _ => {}
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contents::{ForecastLines, ModelLines, SeriesLines};

    #[test]
    fn base64_is_that_of_the_standard() {
        let texts = ["", "f", "fo", "foo", "foob", "fooba", "foobar"].map(|text| base64(text.bytes()));
        assert_eq!(texts, ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"]);
    }

    #[test]
    fn runs_of_the_timeline_are_their_first_place() {
        let series = |times: &[i64], ahead: &[i64]| SeriesLines {
            id: String::new(),
            times: times.to_vec(),
            values: vec![1.0; times.len()],
            forecasts: vec![ForecastLines { times: ahead.to_vec(), values: vec![2.0; ahead.len()] }],
        };
        let charts = Charts {
            integer_times: false,
            models: vec![ModelLines { name: "M".to_owned(), levels: Vec::new() }],
            series: vec![series(&[1000, 2000], &[3000]), series(&[], &[1000, 3000])],
        };
        let packed = PackedCharts::of(&charts);
        assert_eq!(packed.timeline, [1.0, 2.0, 3.0]);
        assert_eq!(packed.index, [2, 0, 1, 1, 2, 0, 0, 1, 2, -1]);
        assert_eq!((packed.places, packed.values), (vec![0, 2], vec![1.0, 1.0, 2.0, 2.0, 2.0]));
    }
}
