//! Intervals calibrated on trained models' forecasts of the end of each series.

use foretell_checkpoint::{Column, TimeUnit};
use foretell_data::{Panel, Span, TimeKind};
use foretell_estimator::Estimator;

use crate::conformal::{Conformal, PredictionIntervals};
use crate::error::Error;
use crate::forecasts::levels::is_point;
use crate::forecasts::rolling::table;
use crate::forecasts::windows::{forecast_span, forecast_windows};
use crate::trained_models::TrainedModels;
use crate::usage_error::UsageError;

/// Whether models of a horizon `h` can be calibrated on the panel: whether any forecasts a single number, and every series
/// has rows before the first forecast: one, and the `held_out` that are not trained on.
pub(crate) fn check_calibration<'a>(
    intervals: PredictionIntervals,
    models: impl IntoIterator<Item = &'a dyn Estimator>,
    h: usize,
    panel: &Panel,
    held_out: usize,
) -> Result<(), Error> {
    intervals.check()?;
    if !models.into_iter().any(is_point) {
        return Err(UsageError::NothingToCalibrate.into());
    }
    let needed = intervals.test_size(h).saturating_add(held_out).saturating_add(1);
    match (0..panel.n_series()).find(|&series| panel.len(series) < needed) {
        Some(short) => {
            let (id, rows) = (panel.id(short).to_string(), panel.len(short));
            Err(Error::ShortForIntervals { id, rows, needed })
        }
        None => Ok(()),
    }
}

/// The calibration by the errors of trained models on the last steps of each series.
pub(crate) fn calibrate(
    trained: &TrainedModels,
    panel: &Panel,
    held_out: usize,
    intervals: PredictionIntervals,
) -> Result<Conformal, Error> {
    let h = trained.h();
    check_calibration(intervals, trained.estimators(), h, panel, held_out)?;
    let (test_size, step_size) = (intervals.test_size(h), intervals.step_size);
    let scaled = trained.seen(panel, held_out + test_size)?;
    let span = Span::Test { test_size, step_size };
    let forecasts =
        forecast_windows(trained, panel, &scaled, &[], forecast_span(trained, &scaled.panel, span))?;
    let (frame, _) = table(trained, panel, forecasts)?;
    let time = |times: &[i64]| match panel.freq().kind() {
        TimeKind::Integer => Column::Integers(times.to_vec()),
        TimeKind::Timestamp => {
            let zone = panel.zone().map(ToString::to_string);
            Column::Times { unit: TimeUnit::Microseconds, zone, values: times.to_vec() }
        }
    };
    let ids = frame.ids.iter().map(ToString::to_string).collect();
    let mut errors = vec![
        (frame.id_col.clone(), Column::Text(ids)),
        (frame.time_col.clone(), time(&frame.times)),
        ("cutoff".to_owned(), time(frame.cutoffs.as_deref().unwrap_or_default())),
    ];
    let (_, truth) = &frame.columns[0];
    for (model, name) in trained.named() {
        if let Some(forecast) = frame.column(&name).filter(|_| is_point(model.trained().estimator())) {
            let of_model = truth.iter().zip(forecast).map(|(y, f)| (f64::from(*f) - f64::from(*y)).abs());
            errors.push((name, Column::Floats(of_model.collect())));
        }
    }
    let places = panel.ids().enumerate().map(|(place, id)| (id.to_string(), place)).collect();
    Ok(Conformal::of_errors(intervals, h, errors, places))
}
