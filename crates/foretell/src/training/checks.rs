//! What of a training cannot go together, whatever its data are.

use crate::columns::ColumnNames;
use crate::error::Error;
use crate::interval_error::IntervalError;
use crate::intervals_by_dropout::{check_dropout, without_dropout};
use crate::plan_error::PlanError;
use crate::training::plan::TrainingPlan;

impl TrainingPlan {
    /// Refuses settings that no data would suit: columns of a forecast with the same name, ensembles of one model, and intervals of a
    /// spread or of a dropout that there is not.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let ColumnNames { id, time, target } = &self.pipeline.columns;
        let mut taken: Vec<String> = vec![id.clone(), time.clone(), target.clone(), "cutoff".to_owned()];
        for (model, name) in self.models().into_iter().zip(self.column_names()) {
            taken.extend(model.outputs().iter().map(|output| output.name(&name)));
        }
        taken.extend(self.ensembles.iter().map(|ensemble| ensemble.column().to_owned()));
        taken.extend(self.kept_ensembles().iter().map(|ensemble| ensemble.column().to_owned()));
        if !self.ensembles.is_empty() && self.n_members() < 2 {
            return Err(PlanError::EnsembleOfOne.into());
        }
        let combines = !self.ensembles.is_empty() || !self.kept_ensembles().is_empty();
        if self.pipeline.settings.spread && (!combines || self.n_members() < 2) {
            return Err(IntervalError::NoSpread { models: self.n_members() }.into());
        }
        if self.pipeline.settings.dropout.is_some() {
            check_dropout(self.specs.iter(), &self.column_names())?;
        }
        let twice = (0..taken.len()).find(|&i| taken[..i].contains(&taken[i]));
        twice.map_or(Ok(()), |i| Err(PlanError::Columns { name: taken.swap_remove(i) }.into()))
    }
}

impl TrainingPlan {
    /// Warns of models that have no intervals by dropout, if they were asked for.
    pub(crate) fn warn_of_no_dropout(&self) {
        let names = self.column_names();
        let warning = self.pipeline.settings.dropout.and_then(|_| without_dropout(self.specs.iter(), &names));
        warning.iter().for_each(|warning| self.warnings.warn(warning));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model_spec::ModelSpec;

    #[test]
    fn dropout_needs_a_network_that_has_some() {
        let checked = |spec: ModelSpec| {
            let mut plan = TrainingPlan::new(vec![spec]).unwrap();
            plan.take_dropout(10);
            plan.check().map_err(|error| error.to_string())
        };
        let message = checked(ModelSpec::new("Naive", 2, 4).unwrap()).unwrap_err();
        assert!(message.contains("Naive"), "{message}");
        let message = checked(ModelSpec::new("NHITS", 2, 4).unwrap()).unwrap_err();
        assert!(message.contains("set dropout_prob_theta of NHITS above 0 and train with it"), "{message}");
        assert_eq!(
            checked(ModelSpec::new("NHITS", 2, 4).unwrap().set("dropout_prob_theta", 0.1).unwrap()),
            Ok(())
        );
    }
}
