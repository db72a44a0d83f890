//! The parts of a metric: a function of a row, how its values become one, and the scale that they are relative to.

/// A function of the true value and the forecast, one row at a time.
#[derive(Clone, Copy, Debug)]
pub enum RowScore {
    /// A function of `y`, the point forecast and the metric's parameter.
    Point(fn(f64, f64, f64) -> f64),
    /// A function of `y`, the forecast quantile and its probability; a score for each quantile.
    EachQuantile(fn(f64, f64, f64) -> f64),
    /// The same; one score, the mean over all quantiles.
    Quantiles(fn(f64, f64, f64) -> f64),
    /// A function of `y`, the ends of a central interval and the probability in it; a score for each interval.
    Interval(fn(f64, [f64; 2], f64) -> f64),
}

/// How the scores of rows become one. Rows of which a score is NaN do not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowAggregate {
    /// Their mean.
    Mean,
    /// The square root of their mean.
    RootMean,
    /// Their sum.
    Sum,
    /// Their sum, divided by that of |y|; NaN where all y are 0.
    PerTruth,
}

/// The divisor of a series' scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Nothing.
    None,
    /// The mean of |y(t) - y(t - season)| over the history.
    SeasonalError,
    /// The mean of (y(t) - y(t - season))² over the history.
    SeasonalSquare,
    /// The mean of y over the history.
    HistoryMean,
    /// The same metric of the baseline.
    Baseline,
}

/// A metric: an entry of [`METRICS`](crate::METRICS).
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// As in `utilsforecast`.
    pub name: &'static str,
    /// An explanation in a few words.
    pub meaning: &'static str,
    /// The score of a row.
    pub score: RowScore,
    /// How rows become one figure.
    pub aggregate: RowAggregate,
    /// The scale that this figure is relative to.
    pub scale: Scale,
    /// The third argument of a score of points, where it has one.
    pub parameter: Option<f64>,
    /// Whether less is better: it is an error, no deviation with a sign and no share that has a best value.
    pub is_error: bool,
}

impl Metric {
    /// Whether it scores quantiles or intervals.
    pub fn needs_quantiles(&self) -> bool {
        !matches!(self.score, RowScore::Point(_))
    }

    /// Whether it is relative to the changes over a season.
    pub fn needs_season(&self) -> bool {
        matches!(self.scale, Scale::SeasonalError | Scale::SeasonalSquare)
    }
}
