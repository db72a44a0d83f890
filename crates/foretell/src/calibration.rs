//! Intervals and weights of an ensemble, learned from the forecasts that trained models make of the end of each series.

use foretell_calendar::TimeKind;
use foretell_checkpoint::{Column, TimeUnit};
use foretell_data::Panel;
use foretell_estimator::{Estimator, Output, point_column};
use foretell_tables::Frame;

use crate::columns::{column_of_ids, in_order_of_ids};
use crate::conformal::{Conformal, PredictionIntervals};
use crate::ensemble::{Combination, LeastSquares};
use crate::error::Error;
use crate::forecasts::rolling::table;
use crate::forecasts::windows::forecast_end;
use crate::interval_error::IntervalError;
use crate::pooled_errors::{warn_of_pooled, with_pooled};
use crate::stages::asked_quantiles::AskedQuantiles;
use crate::stages::intervals::has_one_number;
use crate::trained_models::TrainedModels;
use crate::warning_listener::WarningListener;

/// Whether models can be calibrated: whether any forecasts a single number.
pub(crate) fn check_calibration<'a>(
    models: impl IntoIterator<Item = (&'a dyn Estimator, String)>,
) -> Result<(), Error> {
    let (mut any, mut fixed) = (Vec::new(), Vec::new());
    for (model, name) in models {
        if has_one_number(model) {
            return Ok(());
        }
        if model.outputs_at(&[]).is_some() { &mut any } else { &mut fixed }.push(name);
    }
    Err(IntervalError::NothingToCalibrate { any, fixed }.into())
}

/// Whether every series has rows before the first of these forecasts of its end by models of a horizon `h`: one, and the
/// `held_out` that are not trained on.
fn check_windows(
    windows: PredictionIntervals,
    h: usize,
    panel: &Panel,
    held_out: usize,
) -> Result<(), Error> {
    windows.check()?;
    let needed = windows.test_size(h).saturating_add(held_out).saturating_add(1);
    match (0..panel.n_series()).find(|&series| panel.len(series) < needed) {
        Some(short) => {
            let (id, rows) = (panel.id(short).to_string(), panel.len(short));
            Err(Error::ShortForIntervals { id, rows, needed })
        }
        None => Ok(()),
    }
}

/// The series of a panel with rows before the first of these forecasts of their end, and a warning of the others; all of them where
/// models take them together, or rows to validate on are those `apart`, of all of them.
///
/// # Errors
/// If no series is long enough, or one of those that are taken together is not.
pub(crate) fn long_series<'a>(
    windows: PredictionIntervals,
    h: usize,
    panel: &Panel,
    (held_out, apart): (usize, bool),
    models: impl IntoIterator<Item = &'a dyn Estimator>,
    warnings: &WarningListener,
) -> Result<Panel, Error> {
    windows.check()?;
    let together = apart || models.into_iter().any(|model| model.needs().is_joint);
    let needed = windows.test_size(h).saturating_add(held_out).saturating_add(1);
    let long = panel.without_shorter_than(needed);
    if together || long.n_series() == 0 {
        check_windows(windows, h, panel, held_out)?;
        return Ok(panel.clone());
    }
    warn_of_pooled(warnings, [panel, &long], needed);
    Ok(long)
}

/// The weights of an ensemble by forecasts of the end of the `long` series of a panel, and these with rows for the others.
pub(crate) fn weights_and_forecasts(
    trained: &TrainedModels,
    [panel, long]: [&Panel; 2],
    held_out: usize,
    windows: PredictionIntervals,
) -> Result<(Vec<f64>, Frame), Error> {
    let frame = forecast_windows_of_end(trained, long, held_out, windows)?;
    let weights = ensemble_weights(trained, &frame);
    Ok((weights, with_pooled([panel, long], frame, windows, trained.h())?))
}

/// The forecasts of the end of each series, which the models were trained without, beside the truth.
fn forecast_windows_of_end(
    trained: &TrainedModels,
    panel: &Panel,
    held_out: usize,
    windows: PredictionIntervals,
) -> Result<Frame, Error> {
    check_windows(windows, trained.h(), panel, held_out)?;
    let (test_size, asked) = (windows.test_size(trained.h()), AskedQuantiles::default());
    let forecasts =
        forecast_end(trained, panel, held_out + test_size, (test_size, windows.step_size), &asked)?;
    Ok(table(trained, panel, trained.h(), forecasts)?.0)
}

/// The weights of the ensemble of least squared error on such forecasts. Each series is measured by its mean absolute error, so that
/// all count alike; rows of which something is not known count nothing.
fn ensemble_weights(trained: &TrainedModels, frame: &Frame) -> Vec<f64> {
    let (_, truth) = &frame.columns[0];
    let points = points(trained, frame);
    let errors = |row: usize| -> Option<Vec<f64>> {
        let errors = points.iter().map(|point| f64::from(point[row]) - f64::from(truth[row]));
        errors.map(|error| error.is_finite().then_some(error)).collect()
    };
    let mut squares = LeastSquares::new(points.len());
    let mut start = 0;
    for rows in frame.ids.chunk_by(|one, other| one == other) {
        let known: Vec<Vec<f64>> = (start..start + rows.len()).filter_map(errors).collect();
        start += rows.len();
        let scale = known.iter().flatten().map(|error| error.abs()).sum::<f64>();
        let count = (known.len() * points.len()) as f64;
        if scale > 0.0 {
            known.iter().for_each(|errors| squares.add(errors, (count / scale).powi(2) / known.len() as f64));
        }
    }
    squares.weights()
}

/// Such forecasts with those of the ensembles whose weights have been learnt by them since, which the models do not have yet.
pub(crate) fn with_learnt_ensembles(
    trained: &TrainedModels,
    mut frame: Frame,
    ensembles: &[Combination],
) -> Frame {
    let learnt =
        |ensemble: &&Combination| ensemble.weights().is_some() && !trained.ensembles.contains(ensemble);
    for ensemble in ensembles.iter().filter(learnt) {
        let combined = ensemble.combine(&points(trained, &frame));
        frame.push_forecast(Output::point().column(ensemble.column()), combined);
    }
    frame
}

/// The columns of numbers, or of medians, one of each model that ensembles combine.
fn points<'f>(trained: &TrainedModels, frame: &'f Frame) -> Vec<&'f [f32]> {
    let of_models = trained.named().take(trained.n_members()).filter_map(|(model, name)| {
        let outputs = model.trained().estimator().outputs();
        frame.column(&outputs[point_column(&outputs)].name(&name))
    });
    of_models.collect()
}

/// The calibration of trained models by their errors on these data, without a training.
pub(crate) fn calibrate_now(
    trained: &TrainedModels,
    panel: &Panel,
    windows: PredictionIntervals,
) -> Result<Conformal, Error> {
    // A trained model forecasts from any history, unless it sees all series at once.
    let together = trained.is_joint();
    let held_out = (0, together);
    let long = long_series(windows, trained.h(), panel, held_out, std::iter::empty(), &trained.warnings)?;
    let frame = forecast_windows_of_end(trained, &long, 0, windows)?;
    let frame = with_pooled([panel, &long], frame, windows, trained.h())?;
    Ok(calibrate(trained, panel, &frame, windows))
}

/// The calibration by the errors of such forecasts.
pub(crate) fn calibrate(
    trained: &TrainedModels,
    panel: &Panel,
    frame: &Frame,
    intervals: PredictionIntervals,
) -> Conformal {
    let h = trained.h();
    let time = |times: &[i64]| match panel.freq().kind() {
        TimeKind::Integer => Column::Integers(times.to_vec()),
        TimeKind::Timestamp => {
            let zone = panel.zone().map(ToString::to_string);
            Column::Times { unit: TimeUnit::Microseconds, zone, values: times.to_vec() }
        }
    };
    // neuralforecast takes the rows for those of its series, which it sorts by their plain ids.
    let (order, each) = (in_order_of_ids(panel), intervals.n_windows * h);
    let frame =
        &frame.at(&order.iter().flat_map(|series| series * each..(series + 1) * each).collect::<Vec<_>>());
    let mut errors = vec![
        (frame.id_col.clone(), column_of_ids(panel, frame.ids.iter())),
        (frame.time_col.clone(), time(&frame.times)),
        ("cutoff".to_owned(), time(frame.cutoffs.as_deref().unwrap_or_default())),
    ];
    let (_, truth) = &frame.columns[0];
    for (model, name) in trained.named() {
        if let Some(forecast) = frame.column(&name).filter(|_| has_one_number(model.trained().estimator())) {
            let of_model = truth.iter().zip(forecast).map(|(y, f)| (f64::from(*f) - f64::from(*y)).abs());
            errors.push((name, Column::Floats(of_model.collect())));
        }
    }
    let places = order.iter().enumerate().map(|(place, &series)| (panel.id(series).to_string(), place));
    let places = places.collect();
    Conformal::of_errors(intervals, h, errors, places)
}
