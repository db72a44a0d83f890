//! A hierarchy that models keep, by which their forecasts add up.

use std::collections::HashSet;
use std::sync::Arc;

use foretell_data::{ForecastTable, ReadOptions};
use foretell_estimator::Output;
use foretell_hierarchy::{Evidence, Hierarchy, HierarchyError, Reconciler, Reconciliation};
use foretell_tables::Frame;
use serde::{Deserialize, Serialize};

use crate::columns::ColumnNames;
use crate::error::Error;
use crate::hierarchies::reconcile::{ReconcileOptions, reconcile};
use crate::kept_settings::KeptSettings;

/// A hierarchy, and how forecasts are reconciled by it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Coherence {
    pub(crate) hierarchy: Hierarchy,
    pub(crate) method: Reconciliation,
    /// Forecasts of the past beside the actual values, of a method that weighs series by their errors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    past: Option<Frame>,
    /// Whether the method is the one that suits the training, as none was named.
    #[serde(skip)]
    pub(crate) is_default: bool,
}

impl Coherence {
    /// A method that needs nothing of the past.
    pub(crate) fn new(hierarchy: Hierarchy, method: Reconciliation) -> Result<Self, HierarchyError> {
        Reconciler::new(&hierarchy, method, &Evidence::default())?;
        Ok(Self { hierarchy, method, past: None, is_default: false })
    }

    /// A method that may need the errors of forecasts of the past, which are to come ([`Coherence::with_past`]).
    pub(crate) fn of_training(hierarchy: Hierarchy, method: Reconciliation) -> Result<Self, HierarchyError> {
        match method.needs_residuals() {
            true => Ok(Self { hierarchy, method, past: None, is_default: false }),
            false => Self::new(hierarchy, method),
        }
    }

    /// That method, or another one that suits the training better.
    pub(crate) fn by_default(hierarchy: Hierarchy, method: Reconciliation) -> Result<Self, HierarchyError> {
        Ok(Self { is_default: true, ..Self::of_training(hierarchy, method)? })
    }

    /// The same hierarchy by another method, where none was named.
    pub(crate) fn by_method(&self, method: Reconciliation) -> Result<Self, HierarchyError> {
        Self::by_default(self.hierarchy.clone(), method)
    }

    /// Whether the method needs forecasts of the past.
    pub(crate) fn needs_past(&self) -> bool {
        self.method.needs_residuals()
    }

    /// The forecasts of the past that the method weighs series by.
    pub(crate) fn past(&self) -> Option<&Frame> {
        self.past.as_ref()
    }

    /// Whether it needs forecasts of the past, and has none.
    pub(crate) fn lacks_past(&self) -> bool {
        self.needs_past() && self.past.is_none()
    }

    /// The same with forecasts of the past beside the actual values, if the method needs them.
    pub(crate) fn with_past(&self, past: Frame) -> Self {
        Self { past: self.needs_past().then_some(past), ..self.clone() }
    }

    /// The forecasts of all series of a panel, so that they add up. Parameters of distributions, which are none of a sum, are left
    /// out; `outputs` says which columns they are.
    pub(crate) fn apply(
        &self,
        mut frame: Frame,
        outputs: &[Vec<Output>],
        columns: &ColumnNames,
        settings: KeptSettings,
    ) -> Result<Frame, Error> {
        let mut is_value = outputs.iter().flatten().map(|output| output.part().is_value());
        frame.columns.retain(|_| is_value.next().unwrap_or(true));
        self.reconciled(frame, columns, settings)
    }

    /// Whether the forecasts of the past tell what the method needs, before anything relies on it.
    ///
    /// # Errors
    /// Those of a reconciliation, as of errors that are all 0.
    pub(crate) fn check_past(&self, columns: &ColumnNames) -> Result<(), Error> {
        match &self.past {
            Some(past) => self.reconciled(past.clone(), columns, KeptSettings::default()).map(drop),
            None => Ok(()),
        }
    }

    /// The series that forecasts must be of to add up, where a table holds some: all, but for sums that it has none of and that are
    /// added up alone.
    pub(crate) fn series_needed(&self, frame: &Frame) -> Vec<&Arc<str>> {
        let n_sums = self.hierarchy.n_aggregates();
        let sums: HashSet<&Arc<str>> = self.hierarchy.ids().take(n_sums).collect();
        let has_none = || frame.ids.iter().all(|id| !sums.contains(id));
        let optional = if self.method == Reconciliation::BottomUp && has_none() { n_sums } else { 0 };
        self.hierarchy.ids().skip(optional).collect()
    }

    /// Sample paths of all series, so that those of one number add up: coherent samples, as in HINT. `numbers` is the column of their
    /// numbers.
    pub(crate) fn apply_to_paths(
        &self,
        mut frame: Frame,
        numbers: &str,
        columns: &ColumnNames,
        settings: KeptSettings,
    ) -> Result<Frame, Error> {
        let place = frame.columns.iter().position(|(name, _)| name == numbers);
        let Some((name, numbers)) = place.map(|place| frame.columns.remove(place)) else { return Ok(frame) };
        // A path is to a series what a cutoff is: its rows are reconciled with those of the same one.
        frame.cutoffs = Some(numbers.iter().map(|&number| number as i64).collect());
        let integers = std::mem::take(&mut frame.integers);
        let mut coherent = self.reconciled(frame, columns, settings)?;
        let numbers = coherent.cutoffs.take().unwrap_or_default();
        coherent.columns.insert(0, (name, numbers.into_iter().map(|number| number as f32).collect()));
        Ok(Frame { integers, ..coherent })
    }

    /// Forecasts of all series, changed so that they add up; rows come in the order of the hierarchy, then by cutoff and time.
    pub(crate) fn reconciled(
        &self,
        frame: Frame,
        columns: &ColumnNames,
        settings: KeptSettings,
    ) -> Result<Frame, Error> {
        let (freq, names) = (frame.freq, ReadOptions::new().id_col(&frame.id_col).time_col(&frame.time_col));
        let (table, past) = (ForecastTable::of_frame(frame), self.past.clone().map(ForecastTable::of_frame));
        let options = ReconcileOptions::new(self.method).residuals(past.as_ref());
        let options = options.non_negative(settings.non_negative).integer(settings.integer);
        let coherent = reconcile(&table, &self.hierarchy, columns, &options)?;
        Ok(coherent.into_frame(&names, freq)?)
    }
}
