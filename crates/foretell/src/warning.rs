//! What the work goes on after, but whoever uses its result should know.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use foretell_data::Panel;
use foretell_train::Workers;

use crate::forecaster::{Fitted, Forecaster};

/// Something that is no error, but makes a result worth less than it looks. Its text says what to do.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Warning {
    /// Series to forecast have fewer rows than models read, which see zeros in place of the missing ones.
    ShortHistory {
        /// The names of the models' columns.
        models: Vec<String>,
        /// Rows that they read.
        input_size: usize,
        /// Ids of the series, with their rows.
        series: Vec<(String, usize)>,
    },
    /// The system refused to start as many threads as were asked for. The result is the same.
    FewerThreads {
        /// Threads asked for.
        asked: usize,
        /// Threads that there are.
        started: usize,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ShortHistory { models, input_size, series } => write!(
                f,
                "series with fewer rows than input_size = {input_size}: {}; {} zeros in place of the missing rows, so \
                 the forecasts may be far off; give more rows, or train with a smaller input_size",
                first_few(series),
                match &models[..] {
                    [model] => format!("{model} reads"),
                    models => format!("{} read", models.join(", ")),
                },
            ),
            Self::FewerThreads { asked, started } => write!(
                f,
                "the system started {started} of {asked} threads (`ulimit -u` has its limit), so this takes longer, with \
                 the same result"
            ),
        }
    }
}

/// Series with their rows, the first few.
fn first_few(series: &[(String, usize)]) -> String {
    const SHOWN: usize = 5;
    let rows = |rows: usize| if rows == 1 { "1 row".to_owned() } else { format!("{rows} rows") };
    let shown: Vec<String> =
        series.iter().take(SHOWN).map(|(id, count)| format!("{id} ({})", rows(*count))).collect();
    match series.len().saturating_sub(SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Who is told of warnings.
#[derive(Clone)]
pub(crate) struct WarningListener(Arc<dyn Fn(&Warning) + Send + Sync>);

impl WarningListener {
    pub(crate) fn warn(&self, warning: &Warning) {
        (self.0)(warning);
    }
}

impl WarningListener {
    /// Warns where there are fewer threads than were asked for.
    pub(crate) fn warn_of_fewer_threads(&self, workers: &Workers) {
        if let Some(started) = workers.fewer() {
            self.warn(&Warning::FewerThreads { asked: workers.asked(), started });
        }
    }
}

impl Default for WarningListener {
    fn default() -> Self {
        Self(Arc::new(|_| {}))
    }
}

impl Forecaster {
    /// Has `listener` told of every [`Warning`], as soon as it is known; by default nobody is. The [`Fitted`] that
    /// comes of the training has the same listener.
    pub fn on_warning(mut self, listener: impl Fn(&Warning) + Send + Sync + 'static) -> Self {
        self.warnings = WarningListener(Arc::new(listener));
        self
    }
}

impl Fitted {
    /// Has `listener` told of every [`Warning`]; by default whoever was told of those of the training, and nobody of
    /// those of models that were loaded.
    pub fn on_warning(mut self, listener: impl Fn(&Warning) + Send + Sync + 'static) -> Self {
        self.warnings = WarningListener(Arc::new(listener));
        self
    }

    /// Warns of series that training would have refused, as they are shorter than what a model reads.
    pub(crate) fn warn_of_short_history(&self, panel: &Panel) {
        let mut models: BTreeMap<usize, Vec<String>> = BTreeMap::new();
        for (model, name) in self.models.iter().zip(self.column_names()) {
            // A model that was trained on padding knows it.
            if !model.spec.common().start_padding_enabled {
                models.entry(model.spec.input_size()).or_default().push(name);
            }
        }
        for (input_size, models) in models {
            let short = (0..panel.n_series()).filter(|&series| panel.len(series) < input_size);
            let series: Vec<_> =
                short.map(|series| (panel.id(series).to_string(), panel.len(series))).collect();
            if !series.is_empty() {
                self.warnings.warn(&Warning::ShortHistory { models, input_size, series });
            }
        }
    }
}
