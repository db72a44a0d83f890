//! A pretrained network as an estimator: before training, and after it, which are nearly the same.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use foretell_calendar::calendar_seasons;
use foretell_data::{Future, Panel};
use foretell_estimator::hyper::RefusedHyperParameter;
use foretell_estimator::{
    Asked, Attribution, ColumnKind, ColumnsRead, Contributions, Cutoff, Estimator, EstimatorError,
    EstimatorNeeds, Fallback, ForecastValues, HeldOut, Learned, LevelsSeen, MemoryEstimate, Outcome, Output,
    Run, Trained, TrainingSize, Workers, cutoffs_beside,
};
use foretell_gemm::share;
use serde_json::{Map, Value};

use crate::error::PretrainedError;
use crate::folder::Opened;
use crate::foretell0::bundled;
use crate::foretell0::explain::{contribution_memory, contributions};
use crate::foretell0::forecast::{CONTEXT, Foretell0Network};
use crate::foretell0::network::PatchNetwork;
use crate::foretell0::tuning::{training_memory, tune};
use crate::foretell0::weights::{plain, with_plain};
use crate::groups::Groups;
use crate::network::PretrainedNetwork;
use crate::quantiles::Quantiles;
use crate::request::{Block, Request};
use crate::settings::{PretrainedSettings, meaning};

/// A kind of pretrained networks: its name, and where its weights come from.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    /// Whether its weights are in a folder of the user's, which a setting names.
    pub(crate) has_folder: bool,
    /// Whether one of these settings reads columns beside the target; nothing where its folder does not tell.
    pub(crate) reads_columns: fn(&PretrainedSettings) -> Option<bool>,
    pub(crate) open: fn(&PretrainedSettings) -> Result<Opened, PretrainedError>,
}

/// The setting of a folder.
const FOLDER: &str = "folder";

/// The numbers of a fine-tuned network.
const WEIGHTS: &str = "weights";

/// The number by which a saved model knows its weights again.
const CHECKSUM: &str = "checksum";

/// A pretrained network: its hyper-parameters, and its weights once they were read.
#[derive(Clone)]
pub struct Pretrained {
    kind: &'static Kind,
    settings: PretrainedSettings,
    /// Whether the network reads columns beside the target, if its folder tells before it is read.
    reads_columns: Option<bool>,
    opened: Option<Opened>,
}

impl Pretrained {
    pub(crate) fn of(kind: &'static Kind, settings: PretrainedSettings) -> Self {
        let reads_columns = (kind.reads_columns)(&settings);
        Self { kind, settings, reads_columns, opened: None }
    }

    /// Its hyper-parameters.
    pub fn settings(&self) -> &PretrainedSettings {
        &self.settings
    }

    /// The same with its weights.
    fn opened(mut self) -> Result<(Self, Opened), PretrainedError> {
        let opened = match self.opened.take() {
            Some(opened) => opened,
            None => (self.kind.open)(&self.settings)?,
        };
        self.opened = Some(opened.clone());
        Ok((self, opened))
    }

    /// The trained model, which differs by its weights alone.
    pub(crate) fn trained(self) -> Result<TrainedPretrained, PretrainedError> {
        let (pretrained, opened) = self.opened()?;
        Ok(TrainedPretrained { pretrained, opened, tuned: None, outcome: None })
    }

    /// The program's own network as it was saved: with the program's weights, whichever those were, unless it has some of its own.
    pub(crate) fn restored_own(self, learned: &Learned) -> Result<TrainedPretrained, String> {
        let trained = self.trained().map_err(|error| error.to_string())?;
        let Some(weights) = learned.numbers.get(WEIGHTS) else { return Ok(trained) };
        let params = with_plain(PatchNetwork::new().1, weights)?;
        Ok(TrainedPretrained { tuned: Some(Arc::new(Foretell0Network::new(params))), ..trained })
    }

    /// The program's own network, fine-tuned if steps are asked for; from the weights that the training is to start from, if it is.
    fn tuned(
        self,
        panel: &Panel,
        held_out: HeldOut,
        run: Run<'_>,
    ) -> Result<TrainedPretrained, EstimatorError> {
        let from = run.start.from.and_then(|from| from.downcast_ref::<TrainedPretrained>());
        let from = from.filter(|from| !from.pretrained.kind.has_folder);
        let steps = self.settings.max_steps;
        let trained = self.trained()?;
        let before = from.and_then(|from| from.tuned.clone());
        if steps == 0 {
            return Ok(TrainedPretrained { tuned: before, ..trained });
        }
        let refuse = |reason: &'static str| {
            let model = trained.pretrained.alias().to_owned();
            Err(PretrainedError::Start { model, reason }.into())
        };
        if run.start.from.is_some() && from.is_none() {
            return refuse("it can continue only from a Foretell0");
        }
        if !run.start.frozen.is_empty() || run.start.sparsity.is_some() {
            return refuse(
                "all of its parameters are fine-tuned, and none becomes zero; freeze and prune nothing of it",
            );
        }
        let params = before.unwrap_or_else(bundled).params().without_copies();
        let Pretrained { settings, .. } = &trained.pretrained;
        let (params, outcome) = tune(settings, trained.pretrained.alias(), params, panel, held_out, run)?;
        let tuned = Some(Arc::new(Foretell0Network::new(params)));
        Ok(TrainedPretrained { tuned, outcome: Some(outcome), ..trained })
    }

    /// The model that was saved with these numbers.
    pub(crate) fn restored(self, learned: &Learned) -> Result<TrainedPretrained, PretrainedError> {
        let trained = self.trained()?;
        let found = trained.opened.checksum;
        let expected = learned.numbers.get(CHECKSUM).and_then(|numbers| numbers.first());
        match expected {
            Some(&expected) if expected != f64::from(found) => Err(PretrainedError::Changed {
                folder: trained.pretrained.settings.folder.clone().unwrap_or_default(),
                expected: format!("{:08x}", expected as u32),
                found: format!("{found:08x}"),
            }),
            _ => Ok(trained),
        }
    }

    /// The groups in which what follows each series of a panel is forecast.
    fn groups_ahead(&self, panel: &Panel) -> Result<Groups, EstimatorError> {
        let ends: Vec<Cutoff> = (0..panel.n_series()).map(|series| (series, panel.len(series))).collect();
        Groups::of(&self.settings, panel, &ends)
    }
}

/// An estimator of a trait, if it is a pretrained network.
pub(crate) fn downcast(estimator: Box<dyn Estimator>) -> Result<Pretrained, String> {
    let estimator: Box<dyn Any> = estimator;
    estimator.downcast().map(|pretrained| *pretrained).map_err(|_| "it is no pretrained network".to_owned())
}

/// Names and settings, not every weight.
impl fmt::Debug for Pretrained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(self.kind.name).field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl Estimator for Pretrained {
    fn name(&self) -> &'static str {
        self.kind.name
    }

    fn alias(&self) -> &str {
        self.settings.alias.as_deref().or(self.settings.folder_name()).unwrap_or(self.kind.name)
    }

    fn horizon(&self) -> usize {
        self.settings.h
    }

    fn needs(&self) -> EstimatorNeeds {
        let columns = [ColumnKind::Hist, ColumnKind::Futr, ColumnKind::Stat, ColumnKind::Cat];
        // What stands for a category follows from the whole history.
        let has_categories = self.settings.cat_exog_list.iter().any(|name| self.settings.reads_by_row(name));
        let opened = self.opened.as_ref().filter(|_| !has_categories);
        EstimatorNeeds {
            can_read: if self.reads_columns == Some(true) { columns.to_vec() } else { Vec::new() },
            is_joint: self.settings.has_groups(),
            rows_read: opened.map_or(usize::MAX, |opened| opened.network.context_length()),
            levels_seen: LevelsSeen::Any,
            max_steps: (self.settings.max_steps > 0).then_some(self.settings.max_steps),
            takes_all_threads: self.settings.max_steps > 0,
            ..EstimatorNeeds::default()
        }
    }

    fn set(&mut self, name: &str, value: Value) -> Result<(), EstimatorError> {
        self.settings = self.settings.with((self.kind.name, self.kind.has_folder), name, &value)?;
        if name == FOLDER {
            (self.opened, self.reads_columns) = (None, (self.kind.reads_columns)(&self.settings));
        }
        Ok(())
    }

    fn check(&self) -> Result<(), EstimatorError> {
        let unread = self.settings.first_beside().filter(|_| self.reads_columns == Some(false));
        let unread = unread.map(|(name, found)| {
            let expected = match name {
                "cross_learning" => "0, as the network in its folder reads no other series (one of Chronos-2 does)",
                _ => "an empty list, as the network in its folder reads no other columns (one of Chronos-2 does)",
            };
            (name, expected, found)
        });
        match unread.or_else(|| self.settings.wrong_columns()) {
            None => Ok(()),
            Some((name, expected, found)) => {
                let (model, name, reason) = (self.kind.name, name.to_owned(), String::new());
                Err(RefusedHyperParameter::Value { model, name, expected, found, reason }.into())
            }
        }
    }

    fn columns_read(&self) -> ColumnsRead<'_> {
        let PretrainedSettings {
            hist_exog_list: hist,
            futr_exog_list: futr,
            stat_exog_list: stat,
            cat_exog_list: cat,
            ..
        } = &self.settings;
        ColumnsRead { hist, futr, stat, cat }
    }

    fn hyper_parameters(&self) -> Map<String, Value> {
        self.settings.values(self.kind.has_folder)
    }

    fn meaning(&self, name: &str) -> Option<&'static str> {
        meaning(self.kind.has_folder, name)
    }

    fn fallbacks(&self, panel: &Panel) -> Vec<(usize, Fallback)> {
        let Some(opened) = &self.opened else { return Vec::new() };
        let (least, read) = (opened.network.least_known(), opened.network.context_length());
        let is_short = |&series: &usize| {
            let len = panel.len(series);
            let known = panel.known_y(series, len.saturating_sub(read)..len);
            known.iter().filter(|y| y.is_finite()).take(least).count() < least
        };
        let short = (0..panel.n_series()).filter(is_short);
        short.map(|series| (series, Fallback::too_few(least))).collect()
    }

    fn outputs_at(&self, quantiles: &[f64]) -> Option<Vec<Output>> {
        Some(Output::point_and_quantiles(quantiles))
    }

    fn training_memory(&self, size: &TrainingSize<'_>) -> Result<(usize, MemoryEstimate), EstimatorError> {
        Ok(match self.settings.max_steps {
            0 => (0, MemoryEstimate::default()),
            _ => training_memory(&self.settings, size),
        })
    }

    fn fit(
        &self,
        panel: &Panel,
        held_out: HeldOut,
        run: Run<'_>,
    ) -> Result<Box<dyn Trained>, EstimatorError> {
        self.check()?;
        Ok(Box::new(match self.kind.has_folder {
            true => {
                let trained = self.clone().trained()?;
                trained.check_steps(self.settings.h)?;
                // Columns that tell groups are there.
                self.groups_ahead(panel)?;
                trained
            }
            false => self.clone().tuned(panel, held_out, run)?,
        }))
    }

    fn boxed(&self) -> Box<dyn Estimator> {
        Box::new(self.clone())
    }
}

/// A pretrained network after its training, which is none or a fine-tuning: each forecast is computed from its history.
#[derive(Clone, Debug)]
pub struct TrainedPretrained {
    pretrained: Pretrained,
    opened: Opened,
    /// The program's own network with other weights than those of the program.
    tuned: Option<Arc<Foretell0Network>>,
    outcome: Option<Outcome>,
}

impl TrainedPretrained {
    /// Whether the network can forecast this many steps.
    fn check_steps(&self, h: usize) -> Result<(), EstimatorError> {
        match self.network().most_steps().filter(|most| h > *most) {
            None => Ok(()),
            Some(most) => {
                Err(PretrainedError::TooFar { model: self.pretrained.alias().to_owned(), most, h }.into())
            }
        }
    }

    /// Numbers of the network's weights.
    pub fn parameters(&self) -> usize {
        self.opened.parameters
    }

    /// The network.
    pub fn network(&self) -> &dyn PretrainedNetwork {
        match &self.tuned {
            Some(tuned) => &**tuned,
            None => &*self.opened.network,
        }
    }

    /// The program's own network, if it is that one.
    fn own(&self) -> Option<Arc<Foretell0Network>> {
        let own = || self.tuned.clone().unwrap_or_else(bundled);
        (!self.pretrained.kind.has_folder).then(own)
    }
}

/// The seasons of the calendar of a panel, in steps.
fn seasons(panel: &Panel) -> Vec<usize> {
    let mut seasons = calendar_seasons(panel.freq());
    seasons.retain(|season| *season > 1);
    seasons
}

impl Trained for TrainedPretrained {
    fn estimator(&self) -> &dyn Estimator {
        &self.pretrained
    }

    fn outcome(&self) -> Option<&Outcome> {
        self.outcome.as_ref()
    }

    fn reaches_any_horizon(&self) -> bool {
        true
    }

    fn forecast(
        &self,
        panel: &Panel,
        asked: &Asked<'_>,
        workers: &Workers,
    ) -> Result<ForecastValues, EstimatorError> {
        self.check_steps(asked.h)?;
        let read = self.pretrained.columns_read();
        let cutoffs = cutoffs_beside(panel, asked.span, asked.h, read.futr)?;
        let groups = Groups::of(&self.pretrained.settings, panel, &cutoffs)?;
        let ordered: Vec<Cutoff> = groups.order.iter().map(|&place| cutoffs[place]).collect();
        let network = self.network();
        let levels = asked.quantiles.unwrap_or_default();
        let quantiles = Quantiles::new(network.levels(), std::iter::once(&0.5).chain(levels).copied());
        let columns = 1 + levels.len();
        let (h, future, quantiles, seasons) = (asked.h, asked.future(), &quantiles, &seasons(panel));
        let request = Request { network, panel, future, read, seasons, h, quantiles, columns };
        let mut values = vec![0.0; cutoffs.len() * asked.h * columns];
        let (mut left, mut out_left) = (&ordered[..], &mut values[..]);
        let mut blocks: Vec<Block<'_>> = Vec::new();
        for sizes in groups.together(network.together()) {
            let series: usize = sizes.iter().sum();
            let (cutoffs, later) = left.split_at(series);
            let (out, out_later) = out_left.split_at_mut(series * asked.h * columns);
            (left, out_left) = (later, out_later);
            blocks.push(Block { cutoffs, sizes, out, result: Ok(()) });
        }
        let threads = workers.threads();
        // Few series leave threads to the products of each; how those are cut does not depend on the threads.
        match blocks.len() < threads {
            true => workers.enter(|| {
                share(threads, || blocks.iter_mut().for_each(|block| request.answer(block)));
            }),
            false => workers.each(&mut blocks, true, |_, block| request.answer(block)),
        }
        blocks.into_iter().try_for_each(|block| block.result)?;
        Ok(ForecastValues { cutoffs, values: groups.restore(values) })
    }

    fn attributed_inputs(&self, target: &str, _: usize) -> Option<Vec<String>> {
        let lags = 1 - CONTEXT as i64..=0;
        self.own().map(|_| lags.map(|lag| format!("{target}@{lag}")).collect())
    }

    fn contributions(
        &self,
        panel: &Panel,
        _: Option<&Future>,
        h: usize,
        (method, output): (Attribution, usize),
        workers: &Workers,
    ) -> Option<Result<Vec<Contributions>, EstimatorError>> {
        let own = self.own()?;
        let refuse = |reason: String| {
            let model = self.pretrained.alias().to_owned();
            EstimatorError::from(PretrainedError::Explain { model, reason })
        };
        if output > 0 {
            let reason = format!("it has one output, its median, counted from 0, and no output {output}");
            return Some(Err(refuse(reason)));
        }
        let found = contributions(own.params(), panel, &seasons(panel), (h, method), workers);
        Some(found.and_then(|found| found.map_err(refuse)))
    }

    fn contribution_memory(
        &self,
        windows: usize,
        h: usize,
        method: Attribution,
        threads: usize,
    ) -> MemoryEstimate {
        let of_own =
            |own: Arc<Foretell0Network>| contribution_memory(own.params(), h, method, threads.min(windows));
        self.own().map(of_own).unwrap_or_default()
    }

    fn held_bytes(&self) -> [u64; 2] {
        [self.network().held_bytes(), 0]
    }

    fn memory(&self, panel: &Panel, windows: usize, h: usize, threads: usize) -> MemoryEstimate {
        let network = self.network();
        // A panel that has no groups is refused by its forecast.
        let groups = self.pretrained.groups_ahead(panel);
        let group = groups.ok().and_then(|groups| groups.sizes.into_iter().max()).unwrap_or(1);
        let together = network.together().max(group).max(1);
        let at_once = windows.div_ceil(together).min(threads) as u64;
        let answers = (together * network.levels().len()).saturating_mul(h).saturating_mul(8) as u64;
        let columns = self.pretrained.columns_read().of_rows().count();
        let each = network.working_bytes(h, columns, group).saturating_add(answers);
        MemoryEstimate::default().and("passes of the network", at_once.saturating_mul(each))
    }

    fn learned(&self) -> Learned {
        let checksum = vec![f64::from(self.opened.checksum)];
        let weights = self.tuned.iter().map(|tuned| (WEIGHTS.to_owned(), plain(tuned.params())));
        let numbers = weights.chain([(CHECKSUM.to_owned(), checksum)]).collect();
        Learned { series: Vec::new(), numbers }
    }
}
