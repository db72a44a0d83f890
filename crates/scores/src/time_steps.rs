//! The frequency of tables that are compared, and the steps of rows by it: a row that is left out moves no other.

use foretell_calendar::{Freq, Zone};
use foretell_data::ForecastTable;

use crate::error::ScoresError;
use crate::known_values::doubled;

/// Steps that are looked for between two rows; of rows that are farther apart the step is not told.
const MOST: u32 = 100_000;

/// The frequency that the first of these tables follows exactly of those that do, else the one that most steps of the first do.
pub(crate) fn freq_of(tables: &[&ForecastTable]) -> Option<Freq> {
    let exact = tables.iter().find_map(|table| table.freq());
    exact.or_else(|| tables.iter().find_map(|table| table.likely_freq()))
}

/// How many steps a time is after another one, if it is some.
pub(crate) fn steps_between(freq: Freq, zone: Option<&Zone>, from: i64, to: i64) -> Option<u32> {
    let (mut time, mut steps) = (from, 0);
    while time < to && steps < MOST {
        time = freq.next_in(zone, time, 1).filter(|next| *next > time)?;
        steps += 1;
    }
    (time == to).then_some(steps)
}

/// The step of each row ahead of its cutoff, or from 1 at the first row of its series. Where rows do not follow the frequency, or there is
/// none, the place of the row among those of its series and cutoff.
///
/// # Errors
/// Two rows of one series, cutoff and time, which would count twice.
pub(crate) fn steps_ahead(
    forecast: &ForecastTable,
    series: &[u32],
    cutoffs: &[i64],
    freq: Option<Freq>,
) -> Result<Vec<u32>, ScoresError> {
    let mut order: Vec<usize> = (0..series.len()).collect();
    order.sort_by_key(|&row| (series[row], cutoffs[row], forecast.times[row]));
    let mut steps = vec![0; order.len()];
    let zone = forecast.zone.as_ref();
    for window in order.chunk_by(|&a, &b| (series[a], cutoffs[a]) == (series[b], cutoffs[b])) {
        let mut rows = window.windows(2);
        if let Some(pair) = rows.find(|pair| forecast.times[pair[0]] == forecast.times[pair[1]]) {
            return Err(doubled(forecast, pair[0], pair[1]));
        }
        let first = match &forecast.cutoffs {
            Some(cutoffs) => {
                freq.and_then(|freq| steps_between(freq, zone, cutoffs[window[0]], forecast.times[window[0]]))
            }
            None => Some(1),
        };
        let between = window
            .windows(2)
            .map(|pair| steps_between(freq?, zone, forecast.times[pair[0]], forecast.times[pair[1]]));
        let told = first.filter(|first| *first > 0).zip(between.collect::<Option<Vec<u32>>>());
        match told {
            Some((first, between)) => {
                let mut step = first;
                steps[window[0]] = step;
                for (&row, more) in window[1..].iter().zip(between) {
                    step += more;
                    steps[row] = step;
                }
            }
            None => window.iter().zip(1..).for_each(|(&row, place)| steps[row] = place),
        }
    }
    Ok(steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_that_is_left_out_moves_no_other() {
        let table = |times: &[i64], cutoffs: Option<&[i64]>| ForecastTable {
            file: "f.csv".into(),
            ids: vec!["a".into(); times.len()],
            integer_ids: false,
            is_unnamed: false,
            times: times.to_vec(),
            kind: foretell_calendar::TimeKind::Integer,
            zone: None,
            cutoffs: cutoffs.map(<[i64]>::to_vec),
            columns: Vec::new(),
            known: Default::default(),
            notes: Vec::new(),
        };
        let steps = |times: &[i64], cutoffs: Option<&[i64]>, freq: Option<&str>| {
            let table = table(times, cutoffs);
            let of_rows = cutoffs.map_or_else(|| vec![times[0] - 1; times.len()], <[i64]>::to_vec);
            let freq = freq.map(|freq| Freq::parse(freq).unwrap());
            steps_ahead(&table, &vec![0; times.len()], &of_rows, freq).unwrap()
        };
        assert_eq!(steps(&[10, 14, 12, 20], None, Some("2")), [1, 3, 2, 6]);
        // The first row of the second cutoff is its third step.
        assert_eq!(steps(&[10, 12, 16, 18], Some(&[8, 8, 10, 10]), Some("2")), [1, 2, 3, 4]);
        assert_eq!(steps(&[10, 13, 20], None, Some("2")), [1, 2, 3], "no steps of 2");
        assert_eq!(steps(&[10, 14, 12], None, None), [1, 3, 2]);
        assert!(steps_ahead(&table(&[1, 1], None), &[0, 0], &[0, 0], None).is_err());
    }
}
