//! Networks with fewer weights or units, trained on with what is left.

use std::fmt;
use std::sync::Arc;

use foretell_calendar::usual_season;
use foretell_data::Panel;
use foretell_estimator::{Progress, Sparsity, Verdict};
use foretell_neural::{TrainedNetwork, WeightPrecision};
use serde_json::Value;

use crate::error::Error;
use crate::fitted::Fitted;
use crate::fitted_model::FittedModel;
use crate::forecaster::Forecaster;
use crate::model_spec::ModelSpec;
use crate::pruning::options::PruneOptions;
use crate::pruning::score::{PruneScore, scores};
use crate::smaller_error::SmallerError;
use crate::training::all_models::ModelListener;
use crate::warning::Warning;

/// The hyper-parameters that a network is trained on by, and that it has as before when this is done.
const OF_TRAINING: [&str; 5] =
    ["max_steps", "learning_rate", "early_stop_patience_steps", "lr_scheduler", "lr_scheduler_kwargs"];

/// The schedule that watches a loss on rows that are held out.
const WATCHES: &str = "ReduceLROnPlateau";

/// Models whose networks were pruned.
#[derive(Clone)]
pub struct Pruned {
    /// The models.
    pub fitted: Fitted,
    /// Each network before and after, one behind the other.
    pub scores: Vec<PruneScore>,
    /// The names of the columns of models that are no networks and stay unchanged.
    pub kept: Vec<String>,
}

impl fmt::Debug for Pruned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pruned")
            .field("scores", &self.scores)
            .field("kept", &self.kept)
            .finish_non_exhaustive()
    }
}

/// Smaller networks.
impl Fitted {
    /// The models with smaller networks, which are trained on with what is left, and what this costs.
    ///
    /// **Single weights** ([`PruneOptions::new`]): those of the smallest magnitude become zero and stay so; biases, norms and vectors of
    /// categories stay. While the network is trained on, the share of zeros rises by the cubic schedule of Zhu and Gupta 2017 (arXiv
    /// 1710.01878) over the first 70 % of the steps. A network with zeros is as large and as fast as before: products do not skip them, but
    /// files that are compressed get smaller.
    ///
    /// **Hidden units** ([`PruneOptions::structured`]): the least important ones are removed, by the norm of their incoming weights times that
    /// of their outgoing ones, and the others are trained on. What is left is an ordinary network with smaller hyper-parameters (in
    /// multiples of 8), whose products are smaller. Networks of layers between two linear ones have such units: MLP, NBEATS, NBEATSx, NHITS,
    /// MLPMultivariate, and transformers and mixers in the perceptron of each layer; others are refused.
    ///
    /// The last horizons of each series, [`PruneOptions::n_windows`], are not trained on: they are scored before and after. Models that
    /// were trained on these rows before look better on them than they are. Models that are no networks stay unchanged. Everything else
    /// is as [`Forecaster::start_from`] has it: ensembles with their weights are kept, intervals that were calibrated are left with a
    /// warning. Early stopping is off for these steps.
    ///
    /// ```
    /// # use foretell::{Forecaster, Freq, ModelSpec, Panel, PruneOptions};
    /// # let wave = (0..120).map(|day| (day as f32 * 0.9).sin()).collect::<Vec<_>>();
    /// # let panel = Panel::from_series(Freq::parse("D")?, [("a", 0, wave)])?;
    /// let spec = ModelSpec::new("MLP", 3, 8)?.set("hidden_size", 64)?.set("max_steps", 20)?;
    /// let fitted = Forecaster::new([spec])?.fit(&panel)?;
    ///
    /// let pruned = fitted.prune(&panel, &PruneOptions::new(0.5).steps(10))?;
    /// let [before, after] = &pruned.scores[..] else { unreachable!() };
    /// assert!(after.nonzero_parameters < before.nonzero_parameters * 6 / 10);
    ///
    /// let pruned = fitted.prune(&panel, &PruneOptions::new(0.5).structured(true).steps(10))?;
    /// assert_eq!(pruned.fitted.models()[0].spec().hyper_parameters()["hidden_size"], 32);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the share is below 0, or 1 or more, no model is a network, or units are to be removed of a network that has none; those of
    /// [`Fitted::validate`] and [`Forecaster::fit`].
    pub fn prune(&self, panel: &Panel, options: &PruneOptions) -> Result<Pruned, Error> {
        self.prune_with(panel, options, |_, _| Verdict::Continue)
    }

    /// [`Fitted::prune`] that calls `listener` after each step of the training, as [`Forecaster::on_progress`] does.
    ///
    /// # Errors
    /// Those of [`Fitted::prune`]; [`Error::NotWanted`] if the listener interrupts the training.
    pub fn prune_with(
        &self,
        panel: &Panel,
        options: &PruneOptions,
        listener: impl FnMut(&str, &Progress) -> Verdict + Send + 'static,
    ) -> Result<Pruned, Error> {
        options.check()?;
        let mut before = self.clone().weight_precision(WeightPrecision::F32)?;
        before.trained.warnings = self.trained.warnings.once();
        let named = before.trained.named().filter(|(model, _)| model.network().is_none());
        let kept: Vec<String> = named.map(|(_, name)| name).collect();
        if kept.len() == before.models().len() {
            return Err(SmallerError::NothingToPrune { models: kept.join(", ") }.into());
        }
        let first = if options.structured { before.without_units(options.sparsity)? } else { before.clone() };
        let season = options.season.unwrap_or_else(|| usual_season(panel.freq()));
        let were = scores(&before, panel, options.n_windows, season, None)?;
        let mut fitted = first.trained_on(panel, options, &kept, Box::new(listener))?;
        let are = scores(&fitted, panel, options.n_windows, season, Some(&were))?;
        let scores = were.into_iter().zip(are).flat_map(<[PruneScore; 2]>::from).collect();
        fitted.trained.warnings = self.trained.warnings.clone();
        Ok(Pruned { fitted, scores, kept })
    }

    /// The models without this share of the hidden units of each network.
    fn without_units(&self, share: f64) -> Result<Self, Error> {
        let mut fewer = self.clone();
        for model in &mut fewer.trained.models {
            if let Some(network) = model.network() {
                *model = of_network(network.without_units(share)?);
            }
        }
        Ok(fewer)
    }

    /// The networks trained on, those whose single weights go while these become zero; the models of the columns `kept` stay.
    fn trained_on(
        &self,
        panel: &Panel,
        options: &PruneOptions,
        kept: &[String],
        listener: Box<ModelListener>,
    ) -> Result<Self, Error> {
        let specs = self.models().iter().map(|model| of_further_steps(model, options));
        let forecaster = Forecaster::new(specs.collect::<Result<Vec<_>, _>>()?)?;
        let mut plan = forecaster.start_from(self).workers(&self.trained.workers).plan;
        plan.start.kept_columns = kept.to_vec();
        plan.start.keep(&self.trained);
        let sparsity = Sparsity { share: options.sparsity, scope: options.scope };
        plan.start.sparsity = (!options.structured).then_some(sparsity);
        plan.listener = listener;
        plan.warnings = self.trained.warnings.clone();
        plan.memory = self.trained.memory.clone();
        plan.step = options.step;
        if let Some(intervals) = plan.start.left_intervals() {
            plan.warnings.warn(&Warning::LeftIntervals { intervals: intervals.to_string() });
        }
        let panel = plan.held(panel);
        let (mut trained, interruption) =
            plan.fit_before(&panel, options.n_windows.saturating_mul(self.h()))?;
        if interruption.is_some() {
            return Err(Error::NotWanted);
        }
        for (model, before) in trained.models.iter_mut().zip(self.models()) {
            if let Some((network, before)) = model.network().zip(before.network()) {
                *model = of_network(network.clone().with_training_of(before.spec(), &OF_TRAINING)?);
            }
        }
        trained.raw_quantiles = self.trained.raw_quantiles;
        Ok(Self::of(trained, None))
    }
}

fn of_network(network: TrainedNetwork) -> FittedModel {
    FittedModel::new(Arc::new(network))
}

/// The hyper-parameters of the further training: a network takes the steps of the options, without early stopping.
fn of_further_steps(model: &FittedModel, options: &PruneOptions) -> Result<ModelSpec, Error> {
    let mut spec = model.spec().clone();
    if model.network().is_none() {
        return Ok(spec);
    }
    let quarter = model.needs().max_steps.unwrap_or(0).div_ceil(4);
    let mut settings = vec![
        ("max_steps", Value::from(options.steps.unwrap_or(quarter))),
        ("early_stop_patience_steps", Value::from(-1)),
    ];
    settings.extend(options.learning_rate.map(|rate| ("learning_rate", rate.into())));
    if spec.hyper_parameters().get("lr_scheduler").is_some_and(|schedule| schedule == WATCHES) {
        settings.extend([("lr_scheduler_kwargs", Value::Null), ("lr_scheduler", Value::Null)]);
    }
    for (name, value) in settings {
        spec = spec.set(name, value)?;
    }
    Ok(spec)
}
