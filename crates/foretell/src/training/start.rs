//! The trained models from which a training continues.

use foretell_data::{Key, Vocabulary};
use foretell_estimator::{Estimator, Sparsity, Start};
use serde_json::{Value, json};

use crate::columns::categorical;
use crate::conformal::{Conformal, PredictionIntervals};
use crate::ensemble::Combination;
use crate::fitted_model::FittedModel;
use crate::inputs::series_levels::SeriesLevels;
use crate::plan_error::PlanError;
use crate::trained_models::TrainedModels;

/// Where the trainings of a plan start: by default anew, with all parameters trained.
#[derive(Clone, Default)]
pub(crate) struct StartingPoint {
    /// Trained models by the names of their columns, and the categories that they know.
    from: Option<(Vec<(String, FittedModel)>, Vocabulary)>,
    /// The levels that these saw series at.
    pub(crate) levels: Option<SeriesLevels>,
    /// The ensembles of all of them.
    pub(crate) ensembles: Vec<Combination>,
    /// The errors that their intervals were calibrated by.
    conformal: Option<Conformal>,
    /// Parameters that stay unchanged, those of one model behind the name of its column.
    pub(crate) frozen: Vec<String>,
    /// How many weights of each network become zero, if some are to.
    pub(crate) sparsity: Option<Sparsity>,
    /// Whether the models that there are stay unchanged, without any training.
    pub(crate) untrained: bool,
    /// Columns of models that are trained once, and stay unchanged while others are fitted anew.
    pub(crate) kept_columns: Vec<String>,
    /// These models once they are trained, and the categories that they know.
    kept: Option<(Vec<(String, FittedModel)>, Vocabulary)>,
}

impl StartingPoint {
    /// Has trainings continue from these models.
    pub(crate) fn set_models(&mut self, trained: &TrainedModels) {
        let models = trained.named().map(|(model, name)| (name, model.clone())).collect();
        self.from = Some((models, trained.vocabulary.clone()));
        self.levels = Some(trained.levels.clone());
        self.ensembles.clone_from(&trained.ensembles);
        self.conformal.clone_from(&trained.conformal);
    }

    /// Keeps the models of the columns to be kept as they were trained.
    pub(crate) fn keep(&mut self, trained: &TrainedModels) {
        let columns = &self.kept_columns;
        if !columns.is_empty() {
            let kept = trained.named().filter(|(_, name)| columns.contains(name));
            let kept = kept.map(|(model, name)| (name, model.clone())).collect();
            self.kept = Some((kept, trained.vocabulary.clone()));
        }
    }

    /// Whether there are trained models.
    pub(crate) fn has_models(&self) -> bool {
        self.from.is_some()
    }

    /// The ensembles that models of these columns have from the trained ones: those of the same models.
    pub(crate) fn ensembles_of(&self, columns: &[String]) -> &[Combination] {
        let known = self.from.iter().flat_map(|(models, _)| models).map(|(name, _)| name);
        if known.eq(columns) { &self.ensembles } else { &[] }
    }

    /// The calibration of the models that stay unchanged.
    pub(crate) fn calibration(&self) -> Option<&Conformal> {
        self.conformal.as_ref().filter(|_| self.untrained)
    }

    /// The intervals of the trained models, which are not those of models that are trained further.
    pub(crate) fn left_intervals(&self) -> Option<PredictionIntervals> {
        self.conformal.as_ref().filter(|_| !self.untrained).map(|conformal| conformal.intervals)
    }

    /// Where the training of the model of this column starts.
    pub(crate) fn of(&self, column: &str) -> Start<'_> {
        Start {
            from: self.model(column).map(|model| model.trained() as _),
            frozen: self.frozen_of(column),
            sparsity: self.sparsity,
        }
    }

    /// The parameters that stay unchanged in the model of this column.
    fn frozen_of(&self, column: &str) -> Vec<&str> {
        let models = || self.from.iter().flat_map(|(models, _)| models);
        let of_one = |name: &'_ str| {
            let rest = |model: &str| Some(name.len() - name.strip_prefix(model)?.strip_prefix('.')?.len());
            models().find_map(|(model, _)| Some((model == column, rest(model)?)))
        };
        let here = |name: &String| match of_one(name) {
            Some((is_here, start)) => is_here.then_some(start),
            None => Some(0),
        };
        self.frozen.iter().filter_map(|name| Some(&name[here(name)?..])).collect()
    }

    /// The trained model of this column, if it is to stay unchanged.
    pub(crate) fn unchanged(&self, column: &str) -> Option<&FittedModel> {
        let kept = self.kept.iter().flat_map(|(models, _)| models);
        let mut kept = kept.filter(|(name, _)| name == column).map(|(_, model)| model);
        kept.next().or_else(|| self.model(column).filter(|_| self.untrained))
    }

    fn model(&self, column: &str) -> Option<&FittedModel> {
        let (models, _) = self.from.as_ref()?;
        models.iter().find(|(name, _)| name == column).map(|(_, model)| model)
    }

    /// The categories that the models know already, if they are trained ones.
    pub(crate) fn vocabulary(&self) -> Option<&Vocabulary> {
        self.kept.as_ref().or(self.from.as_ref()).map(|(_, vocabulary)| vocabulary)
    }

    /// Whether each of these models that is trained in steps has one to continue from, which knows its categories.
    pub(crate) fn check(&self, models: &[&dyn Estimator], columns: &[String]) -> Result<(), PlanError> {
        let Some((known, vocabulary)) = &self.from else { return Ok(()) };
        for (model, column) in
            models.iter().zip(columns).filter(|(model, _)| model.needs().max_steps.is_some())
        {
            if self.model(column).is_none() {
                let known: Vec<&str> = known.iter().map(|(name, _)| name.as_str()).collect();
                return Err(PlanError::NoStart { model: column.clone(), known: known.join(", ") });
            }
            let unknown = categorical([*model]).into_iter().find(|name| !vocabulary.contains_key(name));
            if let Some(name) = unknown {
                return Err(PlanError::NoStartCategories { model: column.clone(), column: name });
            }
        }
        Ok(())
    }

    /// The identity of this start, for the state of a training; `None` if it starts anew.
    pub(crate) fn identity(&self) -> Option<Value> {
        let digest = |model: &FittedModel| {
            let key =
                model.parameters_in_order().fold(Key::new(0), |key, value| key.fold(value.to_bits().into()));
            format!("{:016x}", key.bits(0))
        };
        let from: Vec<Value> = (self.from.iter().flat_map(|(models, _)| models))
            .map(|(name, model)| json!({"model": name, "weights": digest(model)}))
            .collect();
        (self.from.is_some() || !self.frozen.is_empty()).then(|| json!({"from": from, "frozen": self.frozen}))
    }
}
