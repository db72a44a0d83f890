//! How networks see the series of a panel: which all at once, and which one step after the other.

use foretell_data::Panel;
use foretell_estimator::{EstimatorError, EstimatorNeeds};
use foretell_nn::{Dims, Needs, SeriesPerWindow};

use crate::spec::NetworkSpec;

impl NetworkSpec {
    /// The requirements of the model on training and inference.
    pub(crate) fn network_needs(&self) -> Needs {
        let own = "hyper-parameters are checked when they are set";
        self.entry.needs(&self.own, &Dims::new(self.input_size(), self.common.h)).expect(own)
    }

    /// Whether a window holds all series of the panel, not one.
    pub fn is_multivariate(&self) -> bool {
        self.network_needs().series == SeriesPerWindow::All
    }

    /// Whether it forecasts one step after the other, each from the one before.
    pub fn forecasts_step_by_step(&self) -> bool {
        self.network_needs().decoding.is_step_by_step()
    }

    /// The model for panels of this many series, where no number was set and its windows hold all of them.
    #[must_use]
    pub fn with_n_series(mut self, n_series: usize) -> Self {
        if self.is_multivariate() {
            self.common.n_series.get_or_insert(n_series);
        }
        self
    }

    /// Whether the model can see the series of a panel side by side: its windows count rows from the ends of all of them.
    pub(crate) fn check_ends(&self, panel: &Panel) -> Result<(), EstimatorError> {
        if self.is_multivariate() { Ok(panel.check_common_end()?) } else { Ok(()) }
    }

    /// Whether the model can see a panel of this many series.
    pub(crate) fn fits_n_series(&self, found: usize) -> Result<(), EstimatorError> {
        EstimatorNeeds { n_series: self.common.n_series, ..EstimatorNeeds::default() }
            .check_n_series(self.alias(), found)
    }
}
