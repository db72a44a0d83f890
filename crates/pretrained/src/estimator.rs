//! A pretrained network as an estimator: before training, and after it, which are nearly the same.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use foretell_calendar::calendar_seasons;
use foretell_data::{Future, Panel, Span};
use foretell_estimator::{
    Asked, Attribution, ColumnKind, ColumnsRead, Contributions, Cutoff, Estimator, EstimatorError,
    EstimatorNeeds, Fallback, ForecastValues, HeldOut, KnownColumn, Learned, LevelsSeen, MemoryEstimate,
    Outcome, Output, Run, Trained, TrainingSize, Workers, cutoffs_beside,
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
use crate::network::{PretrainedNetwork, SeriesContext};
use crate::quantiles::Quantiles;
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
        let columns = [ColumnKind::Hist, ColumnKind::Futr];
        EstimatorNeeds {
            can_read: if self.reads_columns == Some(true) { columns.to_vec() } else { Vec::new() },
            rows_read: self.opened.as_ref().map_or(usize::MAX, |opened| opened.network.context_length()),
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
        match self.settings.first_columns().filter(|_| self.reads_columns == Some(false)) {
            None => Ok(()),
            Some((name, columns)) => Err(PretrainedError::Value {
                model: self.kind.name,
                name: name.to_owned(),
                expected: "an empty list, as the network in its folder reads no other columns (one of Chronos-2 does)",
                found: format!("{columns:?}"),
            }
            .into()),
        }
    }

    fn columns_read(&self) -> ColumnsRead<'_> {
        let PretrainedSettings { hist_exog_list: hist, futr_exog_list: futr, .. } = &self.settings;
        ColumnsRead { hist, futr, ..ColumnsRead::default() }
    }

    fn hyper_parameters(&self) -> Map<String, Value> {
        self.settings.table_of(self.kind.has_folder)
    }

    fn meaning(&self, name: &str) -> Option<&'static str> {
        meaning(name)
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
        let quantile = |&q: &f64| Output { suffix: format!("-q{q}"), quantile: Some(q as f32) };
        Some(std::iter::once(Output::point()).chain(quantiles.iter().map(quantile)).collect())
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
            true => self.clone().trained()?,
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

/// Series that are forecast in one call, and their part of the values.
struct Block<'a> {
    cutoffs: &'a [Cutoff],
    out: &'a mut [f32],
    result: Result<(), EstimatorError>,
}

/// A forecast as it is asked for.
struct Request<'a> {
    network: &'a dyn PretrainedNetwork,
    panel: &'a Panel,
    future: Option<&'a Future>,
    read: ColumnsRead<'a>,
    seasons: &'a [usize],
    h: usize,
    quantiles: &'a Quantiles,
    /// Columns of the answer.
    columns: usize,
}

impl Request<'_> {
    /// Forecasts the series of a block.
    fn answer(&self, Block { cutoffs, out, result }: &mut Block<'_>) {
        *result = self.try_answer(cutoffs, out);
    }

    /// The columns beside the history and the forecast of a series.
    fn columns(&self, (series, before): Cutoff) -> Result<Vec<KnownColumn>, EstimatorError> {
        let past = |name: &String| -> Result<KnownColumn, EstimatorError> {
            let values = &self.panel.column(name, series)?[..before];
            Ok(KnownColumn { past: values.iter().map(|&x| f64::from(x)).collect(), ahead: Vec::new() })
        };
        let rows = before..before + self.h;
        let ahead = |name: &String| -> Result<KnownColumn, EstimatorError> {
            Ok(KnownColumn::of(self.panel, series, name, rows.clone(), self.future)?)
        };
        self.read.hist.iter().map(past).chain(self.read.futr.iter().map(ahead)).collect()
    }

    fn try_answer(&self, cutoffs: &[Cutoff], out: &mut [f32]) -> Result<(), EstimatorError> {
        let levels = self.network.levels().len();
        let read = self.network.context_length();
        let histories: Vec<Vec<f64>> = cutoffs
            .iter()
            .map(|&(series, before)| self.panel.known_values(series, before.saturating_sub(read)..before))
            .collect();
        let suffices = |history: &Vec<f64>| {
            let known = history.iter().filter(|y| y.is_finite());
            known.take(self.network.least_known()).count() == self.network.least_known()
        };
        let columns =
            cutoffs.iter().map(|&cutoff| self.columns(cutoff)).collect::<Result<Vec<_>, EstimatorError>>()?;
        let contexts: Vec<SeriesContext<'_>> = histories
            .iter()
            .zip(&columns)
            .filter(|(history, _)| suffices(history))
            .map(|(values, columns)| SeriesContext { values, seasons: self.seasons, columns })
            .collect();
        let mut forecast = vec![0.0; contexts.len() * self.h * levels];
        self.network.forecast(&contexts, self.h, &mut forecast);
        let mut of_network = forecast.chunks_exact_mut(self.h * levels);
        for ((&cutoff, history), out) in
            cutoffs.iter().zip(&histories).zip(out.chunks_exact_mut(self.h * self.columns))
        {
            let own = if suffices(history) { of_network.next() } else { None };
            let Some(own) = own else {
                out.fill(self.held(cutoff, self.last_value(cutoff)));
                continue;
            };
            for (row, step) in out.chunks_exact_mut(self.columns).zip(own.chunks_exact_mut(levels)) {
                step.sort_unstable_by(f64::total_cmp);
                row.iter_mut()
                    .zip(self.quantiles.of(step))
                    .for_each(|(cell, value)| *cell = self.held(cutoff, value));
            }
        }
        Ok(())
    }

    /// The last known value before a cutoff, or 0 where none is.
    fn last_value(&self, (series, before): Cutoff) -> f64 {
        let history = self.panel.known_values(series, 0..before);
        history.iter().rev().copied().find(|y| y.is_finite()).unwrap_or(0.0)
    }

    /// A value as the panel holds those of the series, which has no infinite ones.
    fn held(&self, (series, _): Cutoff, value: f64) -> f32 {
        self.panel.level(series).hold(value).clamp(f32::MIN, f32::MAX)
    }
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
        let read = self.pretrained.columns_read();
        let cutoffs = cutoffs_beside(panel, asked.span, asked.h, read.futr)?;
        let future = match asked.span {
            Span::Predict { future } => future,
            _ => None,
        };
        let network = self.network();
        let levels = asked.quantiles.unwrap_or_default();
        let quantiles = Quantiles::new(network.levels(), std::iter::once(&0.5).chain(levels).copied());
        let columns = 1 + levels.len();
        let (h, quantiles, seasons) = (asked.h, &quantiles, &seasons(panel));
        let request = Request { network, panel, future, read, seasons, h, quantiles, columns };
        let mut values = vec![0.0; cutoffs.len() * asked.h * columns];
        let together = network.together().max(1);
        let outs = values.chunks_mut((together * asked.h * columns).max(1));
        let blocks = cutoffs.chunks(together).zip(outs);
        let mut blocks: Vec<Block<'_>> =
            blocks.map(|(cutoffs, out)| Block { cutoffs, out, result: Ok(()) }).collect();
        let threads = workers.threads();
        // Few series leave threads to the products of each; how those are cut does not depend on the threads.
        match blocks.len() < threads {
            true => workers.enter(|| {
                share(threads, || blocks.iter_mut().for_each(|block| request.answer(block)));
            }),
            false => workers.each(&mut blocks, true, |_, block| request.answer(block)),
        }
        blocks.into_iter().try_for_each(|block| block.result)?;
        Ok(ForecastValues { cutoffs, values })
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

    fn memory(&self, windows: usize, h: usize, threads: usize) -> MemoryEstimate {
        let network = self.network();
        let together = network.together().max(1);
        let at_once = windows.div_ceil(together).min(threads) as u64;
        let answers = (together * network.levels().len()).saturating_mul(h).saturating_mul(8) as u64;
        let columns = self.pretrained.columns_read().of_rows().count();
        let each = network.working_bytes(h, columns).saturating_add(answers);
        MemoryEstimate::default().and("passes of the network", at_once.saturating_mul(each))
    }

    fn learned(&self) -> Learned {
        let checksum = vec![f64::from(self.opened.checksum)];
        let weights = self.tuned.iter().map(|tuned| (WEIGHTS.to_owned(), plain(tuned.params())));
        let numbers = weights.chain([(CHECKSUM.to_owned(), checksum)]).collect();
        Learned { series: Vec::new(), numbers }
    }
}
