//! FLAIR as an estimator: before training, and after it, which are the same.

use std::any::Any;

use foretell_calendar::calendar_seasons;
use foretell_data::{Future, Key, Panel, Span};
use foretell_estimator::{
    Asked, ClockGrid, ColumnKind, ColumnsRead, Cutoff, Estimator, EstimatorEntry, EstimatorError,
    EstimatorNeeds, ForecastPart, ForecastValues, HeldOut, KnownColumn, LevelsSeen, MemoryEstimate, Output,
    Run, Trained, Workers, cutoffs_beside, each_window, quantile,
};
use serde_json::{Map, Value};

use crate::series::SeriesModel;
use crate::settings::{FlairSettings, meaning};

const NAME: &str = "FLAIR";

/// The entry by which FLAIR is found.
pub(crate) const ENTRY: EstimatorEntry = EstimatorEntry {
    name: NAME,
    paper: "Honda 2026, Don't Learn the Shape: Forecasting Periodic Time Series by Rank-1 Decomposition",
    new: |h| Box::new(Flair::new(FlairSettings { h, ..FlairSettings::default() })),
    restore: |estimator, _| {
        let estimator: Box<dyn Any> = estimator;
        let flair = estimator.downcast::<Flair>().map_err(|_| format!("it is no {NAME}"))?;
        Ok(Box::new(TrainedFlair { flair: *flair }))
    },
};

/// FLAIR: its hyper-parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Flair {
    settings: FlairSettings,
}

impl Flair {
    /// One with these hyper-parameters.
    pub fn new(settings: FlairSettings) -> Self {
        Self { settings }
    }

    /// Its hyper-parameters.
    pub fn settings(&self) -> &FlairSettings {
        &self.settings
    }
}

impl Estimator for Flair {
    fn name(&self) -> &'static str {
        NAME
    }

    fn alias(&self) -> &str {
        self.settings.alias.as_deref().unwrap_or(NAME)
    }

    fn horizon(&self) -> usize {
        self.settings.h
    }

    fn set(&mut self, name: &str, value: Value) -> Result<(), EstimatorError> {
        self.settings = self.settings.with(name, &value)?;
        Ok(())
    }

    fn hyper_parameters(&self) -> Map<String, Value> {
        self.settings.table()
    }

    fn meaning(&self, name: &str) -> Option<&'static str> {
        meaning(name)
    }

    fn needs(&self) -> EstimatorNeeds {
        EstimatorNeeds {
            can_read: vec![ColumnKind::Futr],
            levels_seen: LevelsSeen::Any,
            learns_of_single_series: true,
            ..EstimatorNeeds::default()
        }
    }

    fn columns_read(&self) -> ColumnsRead<'_> {
        ColumnsRead { futr: &self.settings.futr_exog_list, ..ColumnsRead::default() }
    }

    fn outputs_at(&self, quantiles: &[f64]) -> Option<Vec<Output>> {
        Some(Output::point_and_quantiles(quantiles))
    }

    fn fit(&self, _: &Panel, _: HeldOut, _: Run<'_>) -> Result<Box<dyn Trained>, EstimatorError> {
        Ok(Box::new(TrainedFlair { flair: self.clone() }))
    }

    fn boxed(&self) -> Box<dyn Estimator> {
        Box::new(self.clone())
    }
}

/// FLAIR after its training, in which it learns nothing: each forecast is computed from its history.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainedFlair {
    flair: Flair,
}

impl TrainedFlair {
    /// What `write` makes of the model of each window that is asked for, `per_step` numbers for each of its steps.
    fn of_windows(
        &self,
        panel: &Panel,
        asked: &Asked<'_>,
        per_step: usize,
        workers: &Workers,
        write: impl Fn(&Window, Cutoff, &mut [f32]) + Sync,
    ) -> Result<ForecastValues, EstimatorError> {
        let settings = &self.flair.settings;
        let cutoffs = cutoffs_beside(panel, asked.span, asked.h, &settings.futr_exog_list)?;
        let mut seasons = match &settings.season_length[..] {
            [] => calendar_seasons(panel.freq()),
            own => own.to_vec(),
        };
        seasons.retain(|season| *season > 1);
        seasons.sort_unstable();
        seasons.dedup();
        let values = each_window(&cutoffs, asked.h * per_step, workers, |cutoff, out| {
            let (series, before) = cutoff;
            let rows = before..before + asked.h;
            let column = |name| KnownColumn::of(panel, series, name, rows.clone(), asked.future());
            let columns =
                settings.futr_exog_list.iter().map(|name| column(name)).collect::<Result<Vec<_>, _>>()?;
            // Columns stand at the rows.
            let clock = columns.is_empty().then(|| ClockGrid::new(panel, series, before, asked.h)).flatten();
            let history = panel.known_values(series, 0..before);
            let (history, h) = match &clock {
                Some(clock) => (clock.spread(&history), clock.steps()),
                None => (history, asked.h),
            };
            let model = SeriesModel::new(&history, &seasons, &columns, h);
            write(&Window { model, h, clock }, cutoff, out);
            Ok(())
        })?;
        Ok(ForecastValues { cutoffs, values })
    }
}

/// The model of a series before a window; where clocks are changed by what they show.
struct Window {
    model: SeriesModel,
    /// Steps to forecast,
    h: usize,
    /// of which those of the window are taken.
    clock: Option<ClockGrid>,
}

impl Window {
    fn paths(&self, paths: usize, key: Key) -> Vec<Vec<f64>> {
        self.taken(self.model.paths(self.h, paths, key))
    }

    fn level(&self, paths: usize, key: Key) -> Vec<f64> {
        self.taken(self.model.level(self.h, paths, key))
    }

    fn taken<T: Clone>(&self, steps: Vec<T>) -> Vec<T> {
        match &self.clock {
            Some(clock) => clock.places().map(|place| steps[place].clone()).collect(),
            None => steps,
        }
    }
}

/// The key of the draws of a window: neither other series nor the order of work change it.
fn key(panel: &Panel, (series, before): Cutoff, seed: u64) -> Key {
    let of_series = panel.id(series).bytes().fold(Key::new(seed), |key, byte| key.fold(byte.into()));
    let cutoff = before.checked_sub(1).map_or(i64::MIN, |last| panel.time(series, last));
    of_series.fold(cutoff as u64)
}

/// A value as the panel holds those of the series, which has no infinite ones.
fn held(panel: &Panel, (series, _): Cutoff, value: f64) -> f32 {
    panel.level(series).hold(value).clamp(f32::MIN, f32::MAX)
}

impl Trained for TrainedFlair {
    fn estimator(&self) -> &dyn Estimator {
        &self.flair
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
        let quantiles = asked.quantiles.unwrap_or_default();
        let FlairSettings { n_samples, random_seed, .. } = self.flair.settings;
        let columns = 1 + quantiles.len();
        let write = |window: &Window, cutoff: Cutoff, out: &mut [f32]| {
            let paths = window.paths(n_samples, key(panel, cutoff, random_seed));
            for (row, mut values) in out.chunks_exact_mut(columns).zip(paths) {
                values.sort_unstable_by(f64::total_cmp);
                let all = std::iter::once(&0.5).chain(quantiles);
                row.iter_mut()
                    .zip(all)
                    .for_each(|(cell, &q)| *cell = held(panel, cutoff, quantile(&values, q)));
            }
        };
        self.of_windows(panel, asked, columns, workers, write)
    }

    fn paths(
        &self,
        panel: &Panel,
        asked: &Asked<'_>,
        paths: usize,
        seed: u64,
        workers: &Workers,
    ) -> Option<Result<Vec<f32>, EstimatorError>> {
        let h = asked.h;
        let write = |window: &Window, cutoff: Cutoff, out: &mut [f32]| {
            for (step, values) in window.paths(paths, key(panel, cutoff, seed)).into_iter().enumerate() {
                let cells = out[step..].iter_mut().step_by(h);
                cells.zip(values).for_each(|(cell, value)| *cell = held(panel, cutoff, value));
            }
        };
        Some(self.of_windows(panel, asked, paths, workers, write).map(|found| found.values))
    }

    /// The level, and what the shape of the season adds to it.
    fn parts(
        &self,
        panel: &Panel,
        future: Option<&Future>,
        h: usize,
        workers: &Workers,
    ) -> Option<Result<Vec<ForecastPart>, EstimatorError>> {
        let FlairSettings { n_samples, random_seed, .. } = self.flair.settings;
        let write = |window: &Window, cutoff: Cutoff, out: &mut [f32]| {
            let levels = window.level(n_samples, key(panel, cutoff, random_seed));
            out.iter_mut().zip(levels).for_each(|(cell, value)| *cell = held(panel, cutoff, value));
        };
        let all = || {
            let asked = Asked { span: Span::Predict { future }, h, quantiles: None };
            let mut season = self.forecast(panel, &asked, workers)?.values;
            let level = self.of_windows(panel, &asked, 1, workers, write)?.values;
            season.iter_mut().zip(&level).for_each(|(season, level)| *season -= level);
            let part = |name: &str, values| ForecastPart { name: name.to_owned(), values };
            Ok(vec![part("level", level), part("season", season)])
        };
        Some(all())
    }

    fn memory(&self, _: &Panel, windows: usize, h: usize, threads: usize) -> MemoryEstimate {
        let at_once = windows.min(threads) as u64;
        // Steps, and levels of which there are as many at most.
        let numbers = 2 * (h as u64).saturating_mul(self.flair.settings.n_samples as u64);
        MemoryEstimate::default().and("sample paths", at_once.saturating_mul(8 * numbers))
    }
}

#[cfg(test)]
mod tests {
    use foretell_calendar::{Freq, TimeKind, Zone};

    use super::*;

    /// A load that follows the hour of Berlin's clocks, which were put back five hours before its end.
    #[test]
    fn seasons_follow_clocks_that_were_put_back() {
        const HOUR: i64 = 3_600_000_000;
        let zone = Zone::parse("Europe/Berlin").expect("a zone");
        let start = TimeKind::Timestamp.parse("2023-10-15 22:00").expect("a time");
        let load = |time: i64| (10 * (zone.civil(time).expect("a clock") / HOUR % 24 - 12).abs()) as f32;
        let times: Vec<i64> = (0..318).map(|hour| start + hour * HOUR).collect();
        let y: Vec<f32> = times.iter().map(|&time| load(time)).collect();
        let builder =
            Panel::builder(TimeKind::Timestamp).zone(zone.clone()).freq(Freq::parse("h").expect("hours"));
        let panel = builder.series("a", &times, &y).build().expect("a panel");
        let flair = Flair::new(FlairSettings { h: 24, ..FlairSettings::default() });
        let trained = TrainedFlair { flair };
        let asked = Asked { span: Span::Predict { future: None }, h: 24, quantiles: None };
        let found =
            trained.forecast(&panel, &asked, &Workers::new(1).expect("a thread")).expect("a forecast");
        for (step, found) in found.values.iter().enumerate() {
            let expected = load(times[317] + (1 + step as i64) * HOUR);
            assert!((found - expected).abs() < 4.0, "{step}: {found} and {expected}");
        }
    }
}
