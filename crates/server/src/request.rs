//! Requests for forecasts, and their answers.

use foretell::{Attribution, Frame, Map, MemoryTable, TableColumns, Value};
use foretell_auto::{Board, Understood};

/// A request for forecasts of some series.
#[derive(Clone, Debug)]
pub struct ForecastRequest {
    /// The model; it may be left out where there is only one. `auto`, if no other is called so, or none where no model is served, is
    /// the forecast of the models that suit the series, which are fitted for this request.
    pub model: Option<String>,
    /// The series.
    pub data: MemoryTable,
    /// A row for each series, with the columns that do not change over time.
    pub statics: Option<MemoryTable>,
    /// How the tables are read, where that is not as in training: fields of [`ReadOptions`](foretell::ReadOptions) by name.
    pub reading: Map<String, Value>,
    /// The treatment of series that end before others: `common`, `masked` or `drop`; as in training by default.
    pub end: Option<String>,
    /// Which forecasts are asked for.
    pub asks: ForecastKind,
}

/// Which forecasts are asked for.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ForecastKind {
    /// Those of the steps after the end of each series.
    Ahead(AheadOptions),
    /// Those of the end of each series, beside the truth: `n_windows` of them, `step_size` steps apart.
    Windows {
        /// Forecasts of each series.
        n_windows: usize,
        /// Steps from one to the next.
        step_size: usize,
    },
    /// The contributions of the inputs to the steps after the end of each series.
    Contributions(ContributionOptions),
    /// None: how the series are read, and their last rows.
    Look,
}

/// The contributions of inputs to the steps after the end of each series.
#[derive(Clone, Debug)]
pub struct ContributionOptions {
    /// Future rows of the columns that are known in advance.
    pub future: Option<MemoryTable>,
    /// Steps to explain; the models' own horizon by default. More are explained horizon by horizon.
    pub h: Option<usize>,
    /// How they are computed.
    pub method: Attribution,
    /// The output that is explained, where a loss has several, counted from 0.
    pub output: usize,
    /// The networks that are explained, by the names of their columns; all if there are none.
    pub only: Vec<String>,
}

/// Forecasts of the steps after the end of each series.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct AheadOptions {
    /// Future rows of the columns that are known in advance.
    pub future: Option<MemoryTable>,
    /// Steps to forecast; the model's own by default.
    pub h: Option<usize>,
    /// Central intervals, in percent.
    pub level: Vec<f64>,
    /// Quantiles between 0 and 1, in place of levels.
    pub quantiles: Vec<f64>,
    /// Calibrates intervals on the series of the request, as `foretell predict --intervals` does: `N[:METHOD[:STEP]]`.
    pub intervals: Option<String>,
    /// Time for the search of a forecast without a model, as `10s`; 0, for models that need no training, by default.
    pub budget: Option<String>,
    /// Whether a history that is shorter than what a model reads is an error.
    pub strict: bool,
}

impl ForecastRequest {
    /// The forecasts that follow these series by the only model.
    pub fn new(data: TableColumns) -> Self {
        Self::of_table(MemoryTable::of_columns("data", data))
    }

    /// Lets go of the series, which were read: they may take as much memory again as what was made of them.
    pub(crate) fn forget_series(&mut self) {
        let none = |name| MemoryTable::of_columns(name, TableColumns::default());
        self.data = none("data");
        if let Some(statics) = &mut self.statics {
            *statics = none("static");
        }
    }

    /// The same of a table in any format.
    pub fn of_table(data: MemoryTable) -> Self {
        let asks = ForecastKind::Ahead(AheadOptions::default());
        Self { model: None, data, statics: None, reading: Map::new(), end: None, asks }
    }
}

/// Forecasts, and what the one who uses them should know.
#[derive(Clone, Debug)]
pub struct ForecastAnswer {
    /// The model's name.
    pub model: String,
    /// The forecasts: those of `foretell predict` for the same tables, to the last bit.
    pub frame: Frame,
    /// Doubts about them, in words.
    pub warnings: Vec<String>,
    /// How the series were read: of a look at them, and of a forecast without a model.
    pub understood: Option<Understood>,
    /// What was tried for a forecast without a model, and what to expect.
    pub board: Option<Board>,
}

impl ForecastAnswer {
    /// That of a model that is served.
    pub(crate) fn of_model(name: &str, frame: Frame, warnings: Vec<String>) -> Self {
        Self { model: name.to_owned(), frame, warnings, understood: None, board: None }
    }
}
