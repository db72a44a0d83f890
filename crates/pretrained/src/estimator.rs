//! A pretrained network as an estimator: before training, and after it, which are nearly the same.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;

use foretell_calendar::calendar_seasons;
use foretell_data::Panel;
use foretell_estimator::{
    Asked, Cutoff, Estimator, EstimatorError, EstimatorNeeds, Fallback, ForecastValues, HeldOut, Learned,
    LevelsSeen, MemoryEstimate, Output, Run, Trained, Workers, cutoffs,
};
use foretell_gemm::share;
use serde_json::{Map, Value};

use crate::error::PretrainedError;
use crate::folder::Opened;
use crate::network::{PretrainedNetwork, SeriesContext};
use crate::quantiles::Quantiles;
use crate::settings::{PretrainedSettings, meaning};

/// A kind of pretrained networks: its name, and where its weights come from.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    /// Whether its weights are in a folder of the user's, which a setting names.
    pub(crate) has_folder: bool,
    pub(crate) open: fn(&PretrainedSettings) -> Result<Opened, PretrainedError>,
}

/// The setting of a folder.
const FOLDER: &str = "folder";

/// The number by which a saved model knows its weights again.
const CHECKSUM: &str = "checksum";

/// A pretrained network: its hyper-parameters, and its weights once they were read.
#[derive(Clone)]
pub struct Pretrained {
    kind: &'static Kind,
    settings: PretrainedSettings,
    opened: Option<Opened>,
}

impl Pretrained {
    pub(crate) fn of(kind: &'static Kind, settings: PretrainedSettings) -> Self {
        Self { kind, settings, opened: None }
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
        Ok(TrainedPretrained { pretrained, opened })
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
        EstimatorNeeds {
            rows_read: self.opened.as_ref().map_or(usize::MAX, |opened| opened.network.context_length()),
            levels_seen: LevelsSeen::Any,
            ..EstimatorNeeds::default()
        }
    }

    fn set(&mut self, name: &str, value: Value) -> Result<(), EstimatorError> {
        if name == FOLDER && !self.kind.has_folder {
            let (model, found) = (self.kind.name, name.to_owned());
            let hint = "its weights are part of the program".to_owned();
            return Err(PretrainedError::UnknownHyperParameter { model, found, hint }.into());
        }
        self.settings = self.settings.with(self.kind.name, name, &value)?;
        if name == FOLDER {
            self.opened = None;
        }
        Ok(())
    }

    fn hyper_parameters(&self) -> Map<String, Value> {
        let mut table = self.settings.table();
        if !self.kind.has_folder {
            table.shift_remove(FOLDER);
        }
        table
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

    fn fit(&self, _: &Panel, _: HeldOut, _: Run<'_>) -> Result<Box<dyn Trained>, EstimatorError> {
        Ok(Box::new(self.clone().trained()?))
    }

    fn boxed(&self) -> Box<dyn Estimator> {
        Box::new(self.clone())
    }
}

/// A pretrained network after its training, which is none: each forecast is computed from its history.
#[derive(Clone, Debug)]
pub struct TrainedPretrained {
    pretrained: Pretrained,
    opened: Opened,
}

impl TrainedPretrained {
    /// The network.
    pub fn network(&self) -> &dyn PretrainedNetwork {
        &*self.opened.network
    }
}

/// Series that are forecast in one call, and their part of the values.
struct Block<'a> {
    cutoffs: &'a [Cutoff],
    out: &'a mut [f32],
}

/// A forecast as it is asked for.
struct Request<'a> {
    network: &'a dyn PretrainedNetwork,
    panel: &'a Panel,
    seasons: &'a [usize],
    h: usize,
    quantiles: &'a Quantiles,
    /// Columns of the answer.
    columns: usize,
}

impl Request<'_> {
    /// Forecasts the series of a block.
    fn answer(&self, Block { cutoffs, out }: &mut Block<'_>) {
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
        let contexts: Vec<SeriesContext<'_>> = histories
            .iter()
            .filter(|history| suffices(history))
            .map(|values| SeriesContext { values, seasons: self.seasons })
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

    fn reaches_any_horizon(&self) -> bool {
        true
    }

    fn forecast(
        &self,
        panel: &Panel,
        asked: &Asked<'_>,
        workers: &Workers,
    ) -> Result<ForecastValues, EstimatorError> {
        let cutoffs = cutoffs(panel, asked.span, asked.h)?;
        let network = self.network();
        let levels = asked.quantiles.unwrap_or_default();
        let quantiles = Quantiles::new(network.levels(), std::iter::once(&0.5).chain(levels).copied());
        let columns = 1 + levels.len();
        let mut seasons = calendar_seasons(panel.freq());
        seasons.retain(|season| *season > 1);
        let request =
            Request { network, panel, seasons: &seasons, h: asked.h, quantiles: &quantiles, columns };
        let mut values = vec![0.0; cutoffs.len() * asked.h * columns];
        let together = network.together().max(1);
        let outs = values.chunks_mut((together * asked.h * columns).max(1));
        let mut blocks: Vec<Block<'_>> =
            cutoffs.chunks(together).zip(outs).map(|(cutoffs, out)| Block { cutoffs, out }).collect();
        let threads = workers.threads();
        // Few series leave threads to the products of each; how those are cut does not depend on the threads.
        match blocks.len() < threads {
            true => workers.enter(|| {
                share(threads, || blocks.iter_mut().for_each(|block| request.answer(block)));
            }),
            false => workers.each(&mut blocks, true, |_, block| request.answer(block)),
        }
        Ok(ForecastValues { cutoffs, values })
    }

    fn held_bytes(&self) -> [u64; 2] {
        [self.network().held_bytes(), 0]
    }

    fn memory(&self, windows: usize, h: usize, threads: usize) -> MemoryEstimate {
        let network = self.network();
        let together = network.together().max(1);
        let at_once = windows.div_ceil(together).min(threads) as u64;
        let answers = (together * network.levels().len()).saturating_mul(h).saturating_mul(8) as u64;
        let each = network.working_bytes(h).saturating_add(answers);
        MemoryEstimate::default().and("passes of the network", at_once.saturating_mul(each))
    }

    fn learned(&self) -> Learned {
        let checksum = vec![f64::from(self.opened.checksum)];
        Learned { series: Vec::new(), numbers: BTreeMap::from([(CHECKSUM.to_owned(), checksum)]) }
    }
}
