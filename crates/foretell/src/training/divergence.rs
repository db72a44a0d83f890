//! Trainings that went wrong although every number stayed finite.

use foretell_data::{Panel, Span};
use foretell_estimator::{Asked, Progress, Trained, Workers};

use crate::error::Error;
use crate::forecasts::further::fed_back_column;
use crate::warning::Warning;
use crate::warning_listener::WarningListener;

/// Losses that are kept of the beginning and of the end of a training.
const KEPT: usize = 10;

/// From here on a rise of the loss, relative to what it was at first, is worth a look, and is divergence.
const RISE: [f64; 2] = [10.0, 1e3];

/// Forecasts that are off this many times as far as the naive one's are worth a warning, and an error.
const WORSE: [f64; 2] = [2.0, 10.0];

/// Losses of this size are at the end of single precision.
const HUGE: f64 = 1e30;

/// Series whose forecasts are looked at, unless a model sees all of them together.
const SERIES: usize = 64;

/// The first and the last losses of a training.
#[derive(Clone, Copy, Default)]
pub(crate) struct LossTrend {
    first: [f64; KEPT],
    last: [f64; KEPT],
    count: usize,
}

impl LossTrend {
    pub(crate) fn push(&mut self, progress: &Progress) {
        if let Some(slot) = self.first.get_mut(self.count) {
            *slot = progress.train_loss;
        }
        self.last[self.count % KEPT] = progress.train_loss;
        self.count += 1;
    }

    /// The lower medians of the first tenth of the losses and of the last one, of at most this many as are kept; of a diverging
    /// training all but the first may be large, which then counts alone.
    fn ends(&self) -> Option<[f64; 2]> {
        let tenth = (self.count / 10).clamp(1, KEPT);
        let median = |mut losses: Vec<f64>| {
            losses.sort_unstable_by(f64::total_cmp);
            losses[(losses.len() - 1) / 2]
        };
        let last = || (self.count - tenth..self.count).map(|step| self.last[step % KEPT]).collect();
        (self.count > 1).then(|| [median(self.first[..tenth].to_vec()).min(self.first[0]), median(last())])
    }
}

/// Looks at a training that was done: whether its loss rose far, and its forecasts of what it was trained on, the rows of
/// `known`, are worse than repeating the last value.
///
/// # Errors
/// [`Error::Diverged`].
pub(crate) fn check_trend(
    trained: &dyn Trained,
    name: &str,
    trend: &LossTrend,
    known: &Panel,
    workers: &Workers,
    warnings: &WarningListener,
) -> Result<(), Error> {
    let Some(outcome) = trained.outcome().filter(|outcome| !outcome.interrupted) else { return Ok(()) };
    let loss = outcome.train_loss;
    if loss.abs() >= HUGE {
        warnings.warn(&Warning::HugeLoss { model: name.to_owned(), loss });
    }
    let Some([first, last]) = trend.ends() else { return Ok(()) };
    let rise = (last - first) / first.abs().max(f64::MIN_POSITIVE);
    if rise < RISE[0] {
        return Ok(());
    }
    let Some([error, naive]) = errors(trained, known, workers)? else { return Ok(()) };
    let model = name.to_owned();
    // A forecast that is no number is worse than any.
    let worse = |times: f64| error.is_nan() || error >= times * naive;
    if rise >= RISE[1] && worse(WORSE[1]) {
        return Err(Error::Diverged { model, first, last, error, naive });
    }
    if worse(WORSE[0]) {
        warnings.warn(&Warning::LossRose { model, first, last, error, naive });
    }
    Ok(())
}

/// The mean absolute errors over the last horizon of the series: of the model's forecasts, and of repeating the last value or,
/// if that is less, a hundredth of what the values are. Nothing if there is nothing to compare with.
fn errors(trained: &dyn Trained, known: &Panel, workers: &Workers) -> Result<Option<[f64; 2]>, Error> {
    let estimator = trained.estimator();
    let some = match estimator.needs().is_joint {
        true => known.clone(),
        false => known.of_series(0..known.n_series().min(SERIES)),
    };
    let (h, outputs) = (estimator.horizon(), estimator.outputs());
    let asked = Asked { span: Span::Test { test_size: h, step_size: 1 }, h, quantiles: None };
    let forecast = trained.forecast(&some, &asked, workers)?;
    let (width, point) = (outputs.len(), fed_back_column(&outputs).unwrap_or(0));
    let (mut count, mut error, mut naive, mut level) = (0_usize, 0.0, 0.0, 0.0);
    for (&(series, before), values) in forecast.cutoffs.iter().zip(forecast.values.chunks_exact(h * width)) {
        let history = some.known_y(series, 0..before);
        let Some(&last) = history.iter().rev().find(|y| !y.is_nan()) else { continue };
        let truth = some.known_y(series, before..before + h);
        for (step, &y) in truth.iter().enumerate().filter(|(_, y)| !y.is_nan()) {
            let [y, last, forecast] = [y, last, values[step * width + point]].map(f64::from);
            count += 1;
            error += (forecast - y).abs();
            naive += (last - y).abs();
            level += y.abs();
        }
    }
    let reference = naive.max(0.01 * level) / count.max(1) as f64;
    Ok((reference > 0.0).then(|| [error / count as f64, reference]))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn trend(losses: impl IntoIterator<Item = f64>) -> LossTrend {
        let mut trend = LossTrend::default();
        for (step, train_loss) in losses.into_iter().enumerate() {
            trend.push(&Progress {
                step: step as u64 + 1,
                max_steps: 1000,
                train_loss,
                valid_loss: None,
                learning_rate: 1e-3,
                skipped_steps: 0,
                elapsed: Duration::ZERO,
            });
        }
        trend
    }

    #[test]
    fn the_ends_are_medians_of_a_tenth_each() {
        assert_eq!(trend([]).ends(), None);
        assert_eq!(trend([3.0]).ends(), None);
        assert_eq!(trend([3.0, 2.0, 1.0]).ends(), Some([3.0, 1.0]));
        for steps in [2, 50, 1000] {
            let diverging = std::iter::once(3.0).chain(std::iter::repeat_n(1e9, steps));
            assert_eq!(trend(diverging).ends(), Some([3.0, 1e9]));
        }
        let losses = (0..1000).map(|step| if step % 10 == 5 { 1e9 } else { f64::from(1000 - step) });
        assert_eq!(trend(losses).ends(), Some([996.0, 6.0]));
    }
}
