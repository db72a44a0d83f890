//! What `{:?}` shows of forecasters: names and sizes, not every weight.

use std::fmt;

use crate::columns::column_names;
use crate::fitted_model::FittedModel;
use crate::forecaster::{Fitted, Forecaster};

impl fmt::Debug for Forecaster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Forecaster")
            .field("models", &column_names(&self.specs))
            .field("h", &self.h())
            .finish()
    }
}

impl fmt::Debug for Fitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (models, freq) = (self.column_names(), self.freq.to_string());
        f.debug_struct("Fitted").field("models", &models).field("h", &self.h()).field("freq", &freq).finish()
    }
}

impl fmt::Debug for FittedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FittedModel({}, {:?})", self.spec.name(), self.params)
    }
}
