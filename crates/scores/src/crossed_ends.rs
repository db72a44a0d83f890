//! Intervals whose lower end is above the upper one: they hold no value, so that their coverage says nothing of the forecasts.

use std::fmt;

use crate::model_columns::ModelColumns;

/// Intervals of a model whose ends are the wrong way round; shown as a sentence with what to do.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CrossedEnds {
    /// The model.
    pub model: String,
    /// The level of the intervals, in percent.
    pub level: f64,
    /// Rows of which that is so,
    pub rows: usize,
    /// of those that have both ends.
    pub of: usize,
    /// The id of the series of the first such row,
    pub series: String,
    /// its time,
    pub time: String,
    /// and its lower and upper end.
    pub ends: [f64; 2],
}

impl CrossedEnds {
    /// Those of all levels of a model; `place` gives the series and the time of a row.
    pub(crate) fn of(columns: &ModelColumns, place: impl Fn(usize) -> [String; 2]) -> Vec<Self> {
        let forecasts = columns.forecasts();
        let found = forecasts.levels().filter_map(|level| {
            let [low, high] = forecasts.ends(level)?;
            let both = || (0..low.len()).filter(|&row| !low[row].is_nan() && !high[row].is_nan());
            let mut crossed = both().filter(|&row| low[row] > high[row]).peekable();
            let &first = crossed.peek()?;
            let ([series, time], ends) = (place(first), [low[first], high[first]]);
            let (model, rows, of) = (columns.name.clone(), crossed.count(), both().count());
            Some(Self { model, level, rows, of, series, time, ends })
        });
        found.collect()
    }
}

impl fmt::Display for CrossedEnds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { model, level, rows, of, series, time, ends: [low, high] } = self;
        write!(
            f,
            "the lower end of the {level} % interval of {model} is above its upper end in {rows} of {of} rows, the first of series \
             {series} at {time} ({low} and {high}): such an interval holds no value; {}",
            match 2 * rows > *of {
                true => "its two columns seem to be exchanged, so exchange them",
                false => "exchange the ends in these rows",
            }
        )
    }
}
