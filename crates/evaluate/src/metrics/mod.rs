//! The table of metrics. A new one is a line here, and a function of a row beside those of its kind.

mod point;
mod quantile;

use crate::metric::RowAggregate::{Mean, PerTruth, RootMean, Sum};
use crate::metric::RowScore::{EachQuantile, Interval, Point, Quantiles};
use crate::metric::Scale::{Baseline, HistoryMean, SeasonalError, SeasonalSquare};
use crate::metric::{Metric, RowAggregate, RowScore, Scale};
use point::{absolute, deviation, linex, percentage, square, symmetric, tweedie};
use quantile::{below, inside, pinball, twice_pinball, winkler};

/// All metrics, with the definitions of `utilsforecast` 0.2.
#[rustfmt::skip]
pub const METRICS: &[Metric] = &[
    of("mae", "mean absolute error", Point(absolute), Mean),
    of("mse", "mean squared error", Point(square), Mean),
    of("rmse", "root of the mean squared error", Point(square), RootMean),
    no_error(of("bias", "mean of forecast minus truth", Point(deviation), Mean)),
    no_error(of("cfe", "sum of forecast minus truth", Point(deviation), Sum)),
    of("pis", "sum of absolute errors", Point(absolute), Sum),
    scaled(of("spis", "sum of absolute errors, by the mean of the history", Point(absolute), Sum), HistoryMean),
    of("mape", "mean of |error / truth|, where the truth is not 0", Point(percentage), Mean),
    of("smape", "mean of |error| / (|truth| + |forecast|), between 0 and 1", Point(symmetric), Mean),
    scaled(of("mase", "mean absolute error, by that of the seasonal naive forecast within the history", Point(absolute), Mean), SeasonalError),
    scaled(of("msse", "mean squared error, by that of the seasonal naive forecast within the history", Point(square), Mean), SeasonalSquare),
    scaled(of("rmsse", "root of msse", Point(square), RootMean), SeasonalSquare),
    scaled(of("rmae", "mean absolute error, by that of the baseline", Point(absolute), Mean), Baseline),
    of("nd", "sum of absolute errors, by that of the truths", Point(absolute), PerTruth),
    of("wape", "the same as nd", Point(absolute), PerTruth),
    with(1.5, of("tweedie_deviance", "mean deviance of a Tweedie distribution of the power in brackets", Point(tweedie), Mean)),
    with(1.0, of("linex", "mean of exp(a e) - a e - 1, with e truth minus forecast and a in brackets", Point(linex), Mean)),
    of("quantile_loss", "pinball loss of each quantile", EachQuantile(pinball), Mean),
    scaled(of("scaled_quantile_loss", "pinball loss of each quantile, scaled as mase", EachQuantile(pinball), Mean), SeasonalError),
    of("mqloss", "pinball loss, mean over the quantiles", Quantiles(pinball), Mean),
    scaled(of("scaled_mqloss", "mqloss, scaled as mase", Quantiles(pinball), Mean), SeasonalError),
    of("scaled_crps", "twice the pinball loss, mean over the quantiles, by the sum of the truths", Quantiles(twice_pinball), PerTruth),
    no_error(of("calibration", "share of the truths up to each quantile", EachQuantile(below), Mean)),
    no_error(of("coverage", "share of the truths in each interval", Interval(inside), Mean)),
    of("winkler_score", "width of each interval, and what misses it at 2 / (1 - level) its distance", Interval(winkler), Mean),
];

const fn of(name: &'static str, meaning: &'static str, score: RowScore, aggregate: RowAggregate) -> Metric {
    Metric { name, meaning, score, aggregate, scale: Scale::None, parameter: None, is_error: true }
}

const fn no_error(metric: Metric) -> Metric {
    Metric { is_error: false, ..metric }
}

const fn scaled(metric: Metric, scale: Scale) -> Metric {
    Metric { scale, ..metric }
}

const fn with(parameter: f64, metric: Metric) -> Metric {
    Metric { parameter: Some(parameter), ..metric }
}
