//! The hyper-parameters of the boosted decomposition.

/// A decomposition by boosting: a median, then in rounds a Fourier series for each season, a line, and a smoothing of what is left,
/// each kept where it makes the error smaller.
///
/// It has no model of its errors, and so no quantiles of its own. A constant series is forecast by its last value, where statsforecast
/// forecasts 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Mfles {
    /// Steps of the seasons; none for the usual one of the data's frequency ([`usual_season`](foretell_calendar::usual_season)), 1 for none.
    pub season_length: Vec<usize>,
    /// Pairs of sine and cosine of a season; `None` for 5, 10 or 15 by its length.
    pub fourier_order: Option<usize>,
    /// Rounds at most.
    pub max_rounds: usize,
    /// Values before each one in the moving means of what is left.
    pub ma: usize,
    /// The penalty on the weights of a broken line.
    pub alpha: f64,
    /// How far a broken line falls short of the last value behind a bend; -1 to find it by the bend's size.
    pub decay: f64,
    /// Whether the trend may be a broken line.
    pub changepoints: bool,
    /// The number of its bends, or below 1 their share of the values; a tenth of the values at most.
    pub n_changepoints: f64,
    /// The share of a season that is kept in a round.
    pub seasonal_lr: f64,
    /// The share of a broken line that is kept in a round.
    pub trend_lr: f64,
    /// The share of a smoothing that is kept in a round.
    pub residuals_lr: f64,
    /// How much values may vary around the season before the line is that of repeated medians; -1 for as much as they like.
    pub cov_threshold: f64,
    /// Whether the first median is that of each season.
    pub moving_medians: bool,
    /// The least parameter of the smoothings,
    pub min_alpha: f64,
    /// and their limit.
    pub max_alpha: f64,
    /// Whether the slope is reduced to the share of the variance that the first line explains.
    pub trend_penalty: bool,
    /// Whether logarithms are forecast; `None` for series with a season without values below or at 0.
    pub multiplicative: Option<bool>,
    /// Whether what is left is smoothed exponentially, not by moving means.
    pub smoother: bool,
    /// Whether the trend is the line of repeated medians; `None` for series that vary much.
    pub robust: Option<bool>,
}

impl Default for Mfles {
    fn default() -> Self {
        Self {
            season_length: Vec::new(),
            fourier_order: None,
            max_rounds: 50,
            ma: 1,
            alpha: 1.0,
            decay: -1.0,
            changepoints: true,
            n_changepoints: 0.25,
            seasonal_lr: 0.9,
            trend_lr: 0.9,
            residuals_lr: 1.0,
            cov_threshold: 0.7,
            moving_medians: false,
            min_alpha: 0.05,
            max_alpha: 1.0,
            trend_penalty: true,
            multiplicative: None,
            smoother: false,
            robust: None,
        }
    }
}

impl Mfles {
    /// The steps of the seasons that a series of `n` values has once.
    pub(super) fn periods(&self, n: usize) -> Vec<usize> {
        self.season_length.iter().copied().filter(|period| (2..=n).contains(period)).collect()
    }

    /// The bends that a broken line may have.
    pub(super) fn bends(&self, n: usize) -> usize {
        let bends = self.n_changepoints;
        if bends < 1.0 { (bends * n as f64) as usize } else { bends as usize }
    }

    /// The variation above which the line is robust.
    pub(super) fn threshold(&self) -> f64 {
        if self.cov_threshold == -1.0 { 1e4 } else { self.cov_threshold }
    }
}
