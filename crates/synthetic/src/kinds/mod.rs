//! The kinds of series, one file each.

mod arima;
mod calendar;
mod counts;
mod daylight;
mod ets;
mod gaussian_process;
mod growth;
mod intermittent;
mod regimes;
mod sawtooth;
mod spikes;
mod steps;

use crate::drawn::Drawn;
use crate::draws::Draws;
use crate::shapes::standardise;

/// How a series came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A Gaussian process of a kernel composed at random.
    GaussianProcess,
    /// Trend, seasons of a calendar, noise, closed days.
    Calendar,
    /// A process that switches between regimes.
    Regimes,
    /// A simulated ARIMA process.
    Arima,
    /// Simulated exponential smoothing.
    Ets,
    /// Demand that comes now and then.
    Intermittent,
    /// Counts around a mean that varies.
    Counts,
    /// Levels, ramps and switches.
    Steps,
    /// Sawteeth and triangles.
    Sawtooth,
    /// Growth to a limit, without one, and decay.
    Growth,
    /// Spikes and pulses.
    Spikes,
    /// Daylight, with nights of zeros.
    Daylight,
    /// A mean of two or three of the others.
    Mixture,
}

impl Kind {
    /// Every kind with its share of the series.
    pub const MIX: [(Self, f64); 13] = [
        (Self::GaussianProcess, 0.20),
        (Self::Calendar, 0.22),
        (Self::Regimes, 0.13),
        (Self::Arima, 0.06),
        (Self::Ets, 0.07),
        (Self::Intermittent, 0.05),
        (Self::Counts, 0.05),
        (Self::Steps, 0.04),
        (Self::Sawtooth, 0.03),
        (Self::Growth, 0.03),
        (Self::Spikes, 0.04),
        (Self::Daylight, 0.04),
        (Self::Mixture, 0.04),
    ];

    pub(crate) fn draw(self, draws: &mut Draws, len: usize) -> Drawn {
        match self {
            Self::GaussianProcess => gaussian_process::draw(draws, len),
            Self::Calendar => calendar::draw(draws, len),
            Self::Regimes => regimes::draw(draws, len),
            Self::Arima => arima::draw(draws, len),
            Self::Ets => ets::draw(draws, len),
            Self::Intermittent => intermittent::draw(draws, len),
            Self::Counts => counts::draw(draws, len),
            Self::Steps => steps::draw(draws, len),
            Self::Sawtooth => sawtooth::draw(draws, len),
            Self::Growth => growth::draw(draws, len),
            Self::Spikes => spikes::draw(draws, len),
            Self::Daylight => daylight::draw(draws, len),
            Self::Mixture => mixture(draws, len),
        }
    }

    /// A kind by its share in the mix.
    pub(crate) fn pick(draws: &mut Draws) -> Self {
        let weights = Self::MIX.map(|(_, share)| share);
        Self::MIX[draws.weighted(&weights)].0
    }
}

/// A convex mean of two or three standardised series (TSMixup of Ansari et al. 2024, over synthetic series).
fn mixture(draws: &mut Draws, len: usize) -> Drawn {
    let count = draws.whole(2, 3);
    let weights = draws.dirichlet(count, 1.5);
    let mut mean = Drawn { values: vec![0.0; len], seasons: Vec::new() };
    for weight in weights {
        let mut kind = Kind::pick(draws);
        if kind == Kind::Mixture {
            kind = Kind::GaussianProcess;
        }
        let mut part = kind.draw(draws, len);
        standardise(&mut part.values);
        mean.values.iter_mut().zip(part.values).for_each(|(value, part)| *value += weight * part);
        mean.seasons.extend(part.seasons);
    }
    mean
}
