//! Whether forecasts and what came true have rows of the same steps: the sum of a week is not what came on its Saturday.

use std::sync::Arc;

use foretell_calendar::{Freq, TimeKind};
use foretell_data::ForecastTable;

use crate::error::ScoresError;
use crate::other_steps::OtherSteps;

/// How many times as long the steps of one table are as those of the other, if they are others: months are of 28 to 31 days.
const LONGER: i64 = 2;

/// Checks that forecasts and actual values follow each other in the same steps, by one series that both have.
///
/// # Errors
/// Steps of other lengths, where both can be told.
pub(crate) fn check_same_steps(forecast: &ForecastTable, actual: &ForecastTable) -> Result<(), ScoresError> {
    let other_steps = |freqs: [Option<Freq>; 2], is_finer: bool| OtherSteps {
        forecast: forecast.file.clone(),
        actual: actual.file.clone(),
        freqs: freqs.map(|freq| freq.map(|freq| freq.to_string())),
        is_finer,
        are_numbers: (forecast.kind != actual.kind).then_some(forecast.kind == TimeKind::Integer),
    };
    if forecast.kind != actual.kind {
        return Err(Box::new(other_steps([None, None], false)).into());
    }
    let Some(id) = forecast.ids.iter().find(|id| actual.ids.contains(id)) else { return Ok(()) };
    let (Some(step), Some(other)) = (step_of(forecast, id), step_of(actual, id)) else { return Ok(()) };
    let freqs =
        || [forecast, actual].map(|table| Freq::infer(table.kind, table.zone.as_ref(), &times_of(table, id)));
    // Rows that are left out make steps longer, not shorter.
    if step < LONGER * other && other < LONGER * step {
        return match begin_elsewhere(&times_of(forecast, id), &times_of(actual, id)).then(freqs) {
            Some([Some(of_forecast), Some(of_actual)]) if of_forecast != of_actual => {
                Err(Box::new(other_steps([Some(of_forecast), Some(of_actual)], true)).into())
            }
            _ => Ok(()),
        };
    }
    Err(Box::new(other_steps(freqs(), other < step)).into())
}

/// Whether no time of the forecasts is one of the actual values, though these were there before and after: as the first days of months are
/// between the last ones.
fn begin_elsewhere(own: &[i64], other: &[i64]) -> bool {
    let [Some(first), Some(last), Some(start), Some(end)] =
        [own.first(), own.last(), other.first(), other.last()]
    else {
        return false;
    };
    start <= first && last <= end && own.iter().all(|time| other.binary_search(time).is_err())
}

fn times_of(table: &ForecastTable, id: &Arc<str>) -> Vec<i64> {
    let rows = table.ids.iter().zip(&table.times).filter(|(other, _)| *other == id);
    let mut times: Vec<i64> = rows.map(|(_, time)| *time).collect();
    times.sort_unstable();
    times.dedup();
    times
}

/// The step between rows of a series that most others are not shorter than; of forecasts from several cutoffs, the first step of any.
fn step_of(table: &ForecastTable, id: &Arc<str>) -> Option<i64> {
    if let Some(cutoffs) = &table.cutoffs {
        let own = table.ids.iter().zip(table.times.iter().zip(cutoffs)).filter(|(other, _)| *other == id);
        return own.map(|(_, (time, cutoff))| time.saturating_sub(*cutoff)).filter(|step| *step > 0).min();
    }
    let mut steps: Vec<i64> =
        times_of(table, id).windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect();
    let middle = steps.len() / 2;
    (!steps.is_empty()).then(|| *steps.select_nth_unstable(middle).1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(times: Vec<i64>, cutoffs: Option<Vec<i64>>) -> ForecastTable {
        ForecastTable {
            file: "f.csv".into(),
            ids: vec!["a".into(); times.len()],
            integer_ids: false,
            is_unnamed: false,
            kind: foretell_calendar::TimeKind::Integer,
            zone: None,
            cutoffs,
            columns: vec![("y".into(), vec![1.0; times.len()])],
            known: Default::default(),
            notes: Vec::new(),
            times,
        }
    }

    #[test]
    fn times_at_the_ends_of_their_range_have_a_step() {
        let ends = [i64::MIN, i64::MAX];
        assert_eq!(step_of(&table(ends.to_vec(), None), &"a".into()), Some(i64::MAX));
        assert_eq!(step_of(&table(vec![i64::MAX], Some(vec![i64::MIN])), &"a".into()), Some(i64::MAX));
    }

    #[test]
    fn sums_are_not_compared_with_parts_of_them() {
        let days = table((0..60).collect(), None);
        let error = check_same_steps(&table(vec![63, 70, 77], None), &days).unwrap_err().to_string();
        assert!(
            error.contains("`ReadOptions::resample = 7`") && error.contains("aggregate = sum"),
            "{error}"
        );
        let error = check_same_steps(&days, &table(vec![0, 7, 14, 21], None)).unwrap_err().to_string();
        assert!(error.contains("every 7") && !error.contains("resample"), "{error}");
        // Steps of one length that begin elsewhere: the first days of months, and the last ones.
        let months = |firsts: &[i64]| ForecastTable {
            kind: TimeKind::Timestamp,
            ..table(firsts.iter().map(|day| day * 86_400_000_000).collect(), None)
        };
        let error = check_same_steps(&months(&[59, 90, 120]), &months(&[30, 58, 89, 119, 150, 180]));
        let error = error.unwrap_err().to_string();
        assert!(error.contains("rows every MS") && error.contains("`ReadOptions::resample = MS`"), "{error}");
        let error = check_same_steps(&days, &months(&[0, 1, 2])).unwrap_err().to_string();
        assert!(error.contains("whole numbers") && error.contains("= epoch"), "{error}");
        for same in [
            table((55..60).collect(), None),
            // Days of business among all days, one step from cutoffs a week apart, and what tells nothing.
            table(vec![40, 41, 42, 43, 44, 47, 48, 49, 50, 51], None),
            table(vec![40, 47, 54], Some(vec![39, 46, 53])),
            table(vec![59], None),
        ] {
            check_same_steps(&same, &days).unwrap();
        }
    }
}
