//! Methods of reconciliation by name.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::HierarchyError;

/// How forecasts become coherent.
///
/// Minimum trace (Wickramasuriya, Athanasopoulos and Hyndman, Optimal forecast reconciliation for hierarchical and grouped time series
/// through trace minimization, 2019) takes the coherent forecasts that are nearest to those of the models, distances being weighted by
/// a covariance of errors; its variants differ in that covariance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Reconciliation {
    /// The forecasts of the bottom, added up.
    BottomUp,
    /// The forecast of the total, divided by the shares of the series in the past.
    TopDown,
    /// The forecasts of the level in the middle ([`Hierarchy::middle`](crate::Hierarchy::middle)), added up, and divided by the shares of
    /// the series in the past.
    MiddleOut,
    /// Minimum trace with the same variance for all series.
    #[serde(rename = "MinTraceOLS")]
    MinTraceOls,
    /// Minimum trace with variances that are the numbers of series summed up.
    #[serde(rename = "MinTraceWLS")]
    MinTraceWls,
    /// Minimum trace with the variances of past errors.
    MinTraceVar,
    /// Minimum trace with the covariance of past errors, shrunk towards its diagonal (Schäfer and Strimmer 2005).
    MinTraceShrink,
}

impl Reconciliation {
    /// All methods.
    pub const ALL: [Self; 7] = [
        Self::BottomUp,
        Self::TopDown,
        Self::MiddleOut,
        Self::MinTraceOls,
        Self::MinTraceWls,
        Self::MinTraceVar,
        Self::MinTraceShrink,
    ];

    /// The method where none is named: by the variances of errors where these are known, else by the numbers of series summed up.
    pub fn usual(errors_are_known: bool) -> Self {
        if errors_are_known { Self::MinTraceVar } else { Self::MinTraceWls }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::BottomUp => "BottomUp",
            Self::TopDown => "TopDown",
            Self::MiddleOut => "MiddleOut",
            Self::MinTraceOls => "MinTraceOLS",
            Self::MinTraceWls => "MinTraceWLS",
            Self::MinTraceVar => "MinTraceVar",
            Self::MinTraceShrink => "MinTraceShrink",
        }
    }

    /// Whether it needs the errors of past forecasts.
    pub fn needs_residuals(self) -> bool {
        matches!(self, Self::MinTraceVar | Self::MinTraceShrink)
    }
}

impl fmt::Display for Reconciliation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Reconciliation {
    type Err = HierarchyError;

    /// The method of that name, in any case of letters.
    fn from_str(name: &str) -> Result<Self, HierarchyError> {
        let known = || Self::ALL.map(Self::name).join(", ");
        let method = Self::ALL.into_iter().find(|method| method.name().eq_ignore_ascii_case(name.trim()));
        method.ok_or_else(|| HierarchyError::UnknownMethod { found: name.to_owned(), known: known() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_found_by_their_names() {
        for method in Reconciliation::ALL {
            assert_eq!(method.to_string().to_lowercase().parse(), Ok(method));
            assert_eq!(serde_json::to_value(method).unwrap(), method.name());
        }
        let error = "MinTrace".parse::<Reconciliation>().unwrap_err().to_string();
        assert!(error.contains("known are BottomUp, TopDown, MiddleOut, MinTraceOLS"), "{error}");
    }
}
