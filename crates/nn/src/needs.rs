//! The requirements of a model on training and inference.

/// The requirements of a model on training and inference: a function of its hyper-parameters and sizes alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// Which series a window holds.
    pub series: SeriesPerWindow,
    /// Whether the windows of a training batch depend on each other.
    pub coupling: Coupling,
    /// How it forecasts the steps of its horizon.
    pub decoding: Decoding,
    /// The least number of windows that are worth a shard of a training batch, where there are more than two shards:
    /// with fewer, products of matrices fall off their best rate, and the traffic of the shards' gradients grows
    /// against the work; with many more, what a shard keeps falls out of the caches. Smaller shards also take less memory: what
    /// is kept for the backward pass is that of the shards at work, one a thread.
    pub shard_windows: usize,
    /// Whether the forecasts of several windows are computed one after the other, so that none depends on which are made together: threads
    /// then share the windows, however few.
    pub forecasts_alone: bool,
}

impl Default for Needs {
    /// One series, independent windows, all steps at once, shards of at least 48 windows: RNN, LSTM and GRU take a seventh longer
    /// in shards of 32 windows than in shards of 64.
    fn default() -> Self {
        Self {
            series: SeriesPerWindow::One,
            coupling: Coupling::Independent,
            decoding: Decoding::Direct,
            shard_windows: 48,
            forecasts_alone: false,
        }
    }
}

/// Which series a window holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeriesPerWindow {
    /// One: a window is a row of the batch (univariate models).
    One,
    /// All series of the panel at the same times: a window is [`Dims::n_series`](crate::Dims::n_series)
    /// neighbouring rows of the batch (multivariate models).
    All,
}

/// Whether the windows of a training batch depend on each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coupling {
    /// A window's forecast does not depend on the other windows, so a batch may be cut into shards.
    Independent,
    /// Statistics over the batch (as of batch normalisation) enter the forecasts, so a batch is one shard.
    Coupled,
}

/// How a model forecasts the steps of its horizon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decoding {
    /// All at once.
    Direct,
    /// A step at a time: it reads a window step by step and forecasts, at each, the one that comes next;
    /// forecasts of several steps are fed back to it.
    ///
    /// So it sees windows whose target is shifted by one step: place t holds the target of step t and the columns of
    /// step t + 1; historic columns are zeros in the horizon. Their length is `input_size`, plus 1, plus the steps of
    /// the horizon, less 1; [`Model::forward`](crate::Model::forward) forecasts those of their steps that are beyond
    /// `input_size`.
    StepByStep {
        /// Steps of the horizon that it trains on (neuralforecast's `h_train`).
        h_train: usize,
        /// Steps of history that it sees where it forecasts, without the one further step that every window holds
        /// (neuralforecast's `inference_input_size`).
        inference_input_size: usize,
        /// The target that it reads of its own forecasts.
        feedback: Feedback,
    },
}

/// The target that a model which forecasts step by step reads for a step that it has forecast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feedback {
    /// Its mean: that of the distribution, or of the outputs. The distribution of a step then ignores the uncertainty
    /// of the steps before.
    Mean,
    /// Samples of the distribution (ancestral sampling): several paths of the future are drawn, and each step of a
    /// path from the distribution that the model forecasts after the path's earlier steps. Quantiles are those of the
    /// paths. Training, and the validation within it, do not draw.
    Samples {
        /// The number of paths.
        paths: usize,
    },
}

impl Decoding {
    /// The number of sample paths of a forecast; `None` if it draws no paths.
    pub fn paths(self) -> Option<usize> {
        match self {
            Self::StepByStep { feedback: Feedback::Samples { paths }, .. } => Some(paths),
            _ => None,
        }
    }

    /// Whether it is [`Decoding::StepByStep`].
    pub fn is_step_by_step(self) -> bool {
        self != Self::Direct
    }
}
