//! Warnings: problems that stop no work, but that users of its result should know. `warning_words.rs` words them.

use foretell_data::{EarlyEnds, UnseenCategories};

use crate::stage::{Source, Stage};

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
    /// Intervals that were calibrated on too few windows to be as wide as their level asks.
    FewCalibrationWindows {
        /// Windows of each series that they were calibrated on.
        n_windows: usize,
        /// The levels, in percent, with the windows that they need.
        levels: Vec<(f64, usize)>,
    },
    /// Cross-validation forecasts fewer windows than were asked for, as no row comes before some of them.
    FewerWindows {
        /// Windows that are forecast.
        windows: usize,
        /// Windows that were asked for, of all series together.
        asked: usize,
        /// Windows of each series that were asked for.
        n_windows: usize,
        /// Rows at the end of each series that are kept from the windows.
        kept: usize,
        /// Ids of the series that have fewer, with their rows.
        series: Vec<(String, usize)>,
    },
    /// Columns of categories hold values that training did not see.
    UnseenCategories {
        /// The columns, with these values.
        columns: Vec<UnseenCategories>,
    },
    /// Forecasts that are infinite or not a number.
    NotFinite {
        /// Columns of the forecast, with how many of their values are not finite.
        columns: Vec<(String, usize)>,
        /// Values of each column.
        of: usize,
    },
    /// Series of which so little is known that their forecasts have no interval.
    FewKnownValues {
        /// Ids of the series, the first few.
        series: Vec<String>,
        /// How many there are.
        count: usize,
    },
    /// Forecasts that are more than a thousand times as large as anything in the history of their series.
    FarBeyond {
        /// Columns of the forecast, with how many of their values are so large.
        columns: Vec<(String, usize)>,
        /// Values of each column.
        of: usize,
        /// Ids of the series, the first few.
        series: Vec<String>,
        /// Whether they are of networks.
        networks: bool,
    },
    /// Forecasts below 0 after a reconciliation, of series that had none before.
    ReconciledBelowZero {
        /// Ids of the series, the first few.
        series: Vec<String>,
        /// How many there are.
        count: usize,
    },
    /// Series without an interval that are part of sums which have one, and vary there as others do.
    BorrowedWidths {
        /// Ids of the series, the first few.
        series: Vec<String>,
        /// How many there are.
        count: usize,
    },
    /// Forecasts below 0 of series that never were.
    BelowZero {
        /// Ids of the series, the first few.
        series: Vec<String>,
        /// How many there are.
        count: usize,
    },
    /// Series whose values are of another size than those that models were trained on, as in another unit.
    OtherSize {
        /// How many times as large they are in the middle.
        factor: f64,
    },
    /// Series whose values are of another size from some row on, as in another unit.
    LevelBreaks {
        /// The series, with the row.
        breaks: Vec<LevelBreak>,
    },
    /// Columns known in advance whose future is far from anything in their past.
    FarRegressors {
        /// The columns, with such a value each.
        columns: Vec<FarColumn>,
    },
    /// Columns known in advance that change in the future, and never did in the past of any series.
    NewRegressors {
        /// The columns.
        columns: Vec<String>,
    },
    /// Models that have none of the intervals that were asked for and that others have.
    NoIntervals {
        /// The names of the models' columns.
        models: Vec<String>,
        /// Whether one of them is trained by a loss, which may be one of quantiles.
        has_loss: bool,
    },
    /// Models that have no intervals by dropout, which were asked for and others have.
    WithoutDropout {
        /// The names of the columns of those that keep their own,
        own: Vec<String>,
        /// and of those that have none.
        none: Vec<String>,
        /// Whether one of the latter is a network that could drop something.
        to_set: bool,
    },
    /// Models of which no sample paths are drawn, as they have no quantiles.
    NoPaths {
        /// The names of the models' columns.
        models: Vec<String>,
        /// Whether one of them is trained by a loss, which may be one of quantiles.
        has_loss: bool,
    },
    /// A model whose forecasts are not taken apart, as those of others are.
    NoParts {
        /// Its name, and why.
        reason: String,
    },
    /// Something that models were to have, and that was to be learnt of their forecasts of the past, which a training that was
    /// stopped did not reach.
    NotLearnt {
        /// What it is.
        what: &'static str,
    },
    /// Forecasts of the models that a stage does not change, though it changes their other forecasts.
    StageLeftOut {
        /// What changes the other forecasts.
        stage: Stage,
        /// Which forecasts these are.
        source: Source,
        /// Why it does not change these.
        reason: &'static str,
    },
    /// Forecasts from cutoffs of which series of the hierarchy have none, so that nothing adds up there.
    SumsLackSeries {
        /// Rows that stay as the models forecast them.
        rows: usize,
        /// All rows.
        of: usize,
        /// A series that lacks forecasts.
        series: String,
    },
    /// Series that end before others, so that their forecasts are of steps that have passed.
    EarlyEnds(EarlyEnds),
    /// Series that end before others, for models that see all series side by side and so take rows of different times for those
    /// of one.
    EndsDiffer(EarlyEnds),
    /// Series that are forecast, of which no value is known in the rows that models read.
    NothingKnown {
        /// Their ids.
        series: Vec<String>,
    },
    /// Values that are no counts, for a model of counts.
    NotCounts {
        /// The name of the model's column.
        model: String,
        /// The id of a series.
        series: String,
        /// The place of a value in it, counted from 1.
        row: usize,
        /// The value.
        found: f32,
        /// Known values of all series that are no whole numbers,
        count: usize,
        /// and all known values.
        of: usize,
    },
    /// A training whose loss rose far, and that forecasts worse than repeating the last value.
    LossRose {
        /// The name of the model's column.
        model: String,
        /// The loss in the beginning,
        first: f64,
        /// and in the end.
        last: f64,
        /// The mean absolute error over the last horizon that was trained on,
        error: f64,
        /// and that of the naive forecast.
        naive: f64,
    },
    /// A training whose loss is near the end of what single precision can hold.
    HugeLoss {
        /// The name of the model's column.
        model: String,
        /// The loss.
        loss: f64,
    },
    /// What forecasts of a model will lack, as the data have too little of something.
    Caveat {
        /// The name of the model's column.
        model: String,
        /// What, and what to do, as the model says it.
        lacks: String,
    },
    /// A doubt about a feature, as of which days a row counts the holidays.
    Feature {
        /// The text of the feature.
        feature: String,
        /// What, and what to do, as the feature says it.
        told: String,
    },
    /// Series that a model forecasts in another way than its hyper-parameters say.
    Fallback {
        /// The name of the model's column.
        model: String,
        /// What their histories have or lack.
        reason: String,
        /// What forecasts them.
        instead: &'static str,
        /// What to do about it.
        remedy: &'static str,
        /// Their ids.
        series: Vec<String>,
    },
    /// Series with too few rows for forecasts of their end, which have the errors of others.
    PooledErrors {
        /// Ids of the series, with their rows.
        series: Vec<(String, usize)>,
        /// The rows that such forecasts need.
        needed: usize,
    },
    /// Series that have no intervals, as these were calibrated on others.
    NotCalibrated {
        /// Their ids.
        series: Vec<String>,
    },
    /// A model of first weights that is given no steps of training.
    NoSteps {
        /// The name of the model's column.
        model: String,
    },
    /// Series with values that are far from all others of theirs.
    OddValues {
        /// The series, with such a value each.
        values: Vec<OddValue>,
    },
    /// Series whose last value is farther from the one before, and from that of a season ago, than any before it.
    OddLastValues {
        /// The time of these values,
        time: String,
        /// and of the row before.
        before: String,
        /// The series, with the value.
        values: Vec<LastValue>,
        /// How many series have a row of this time.
        of: usize,
    },
    /// A last row that is lower than ever, by the row before and by that of a season ago, as of a period that is not over.
    LowLastRow {
        /// Its time,
        time: String,
        /// and that of the row before.
        before: String,
        /// The sum of the series, divided by that of the row before.
        share: f64,
        /// The series that are summed up.
        series: usize,
        /// How many series have a row of this time.
        of: usize,
    },
    /// Rows at the end that are 0 in all series, as never before.
    ZerosAtEnd {
        /// The time of the first of them,
        since: String,
        /// and of the row before.
        before: String,
        /// These rows.
        rows: usize,
        /// The series.
        series: usize,
    },
    /// Series with values below 0, whose forecasts are not to be.
    BelowBound {
        /// Their ids.
        series: Vec<String>,
    },
    /// A sum of a hierarchy that is not what its series add up to, to a thousandth.
    WrongSum {
        /// Its id.
        sum: String,
        /// The time, the last where that is so.
        time: String,
        /// The value of the sum,
        found: f64,
        /// and of its series together.
        expected: f64,
    },
    /// Sums whose names differ in nothing but blanks and the case of letters.
    AlikeSums {
        /// One of them,
        first: String,
        /// another that looks like it,
        second: String,
        /// and how many more such pairs there are.
        more: usize,
    },
    /// Series of a hierarchy that begin after others, so that their sums are without them before.
    LateSeries {
        /// The first time of all.
        first: String,
        /// Their ids, each with its first time.
        series: Vec<(String, String)>,
    },
    /// Series of a hierarchy of which the data have no rows, and which are left out of it.
    NotInData {
        /// Their ids.
        series: Vec<String>,
    },
    /// Series of a hierarchy without forecasts, which are left out of its sums.
    NoForecasts {
        /// Their ids.
        series: Vec<String>,
    },
    /// Models of a table of forecasts that lack a value, and so are not reconciled.
    IncompleteModels {
        /// Each with the file, the series and the time of the first value that is not known.
        models: Vec<[String; 4]>,
    },
    /// Series of a hierarchy without forecasts of the past, whose errors are taken to be like those of the others.
    NoPastForecasts {
        /// Their ids.
        series: Vec<String>,
    },
    /// Models that are trained further do not have the intervals that they had.
    LeftIntervals {
        /// How these were calibrated, `N:METHOD:STEP`.
        intervals: String,
    },
    /// Early stopping that cannot stop, as there are too few checks.
    CannotStop {
        /// The name of the model's column.
        model: String,
        /// Checks without a new best one that it takes to stop.
        patience: u64,
        /// Checks that there are.
        checks: u64,
    },
    /// Series whose values single precision can hardly tell apart.
    CoarseValues {
        /// Their ids.
        series: Vec<String>,
        /// The names of models that cannot see them relative to a level, as a loss of theirs depends on where zero is.
        without_levels: Vec<String>,
    },
    /// Two models with the same hyper-parameters.
    Twins {
        /// The name of the first one's column,
        first: String,
        /// and that of the second's.
        second: String,
    },
    /// Settings of neuralforecast's trainer that were set and change nothing.
    PassedOver {
        /// Their names.
        settings: Vec<String>,
    },
    /// The system refused to start as many threads as were asked for. The result is the same.
    FewerThreads {
        /// Threads asked for.
        asked: usize,
        /// Threads that there are.
        started: usize,
    },
}

/// A value that is far from all others of its series.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct OddValue {
    /// The id of the series.
    pub series: String,
    /// The time where it stands first.
    pub time: String,
    /// The value.
    pub value: f64,
    /// Values of the series that are so far, this one among them.
    pub count: usize,
}

/// A row from which on the values of a series are of another size.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LevelBreak {
    /// The id of the series.
    pub series: String,
    /// The time of the row.
    pub time: String,
    /// How many times as large they are as those before, in the middle.
    pub factor: f64,
}

/// The last value of a series, and the one before.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LastValue {
    /// The id of the series.
    pub series: String,
    /// The last value.
    pub value: f64,
    /// The value before it.
    pub before: f64,
}

/// A column known in advance whose future is far from its past.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FarColumn {
    /// Its name.
    pub column: String,
    /// The id of a series where that is so.
    pub series: String,
    /// A value of its future,
    pub value: f32,
    /// and the least and the largest one of its past.
    pub range: [f32; 2],
    /// Values of all series that are far from the past of theirs,
    pub count: usize,
    /// and all values of the future.
    pub of: usize,
}
