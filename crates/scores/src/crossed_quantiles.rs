//! Quantiles that are no distribution's: a lower one above a higher one. Of the ends of an interval the coverage says nothing then, and of
//! two intervals the wider one does not hold the other.

use std::fmt;

use crate::model_columns::ModelColumns;

/// Quantiles of a model that are the wrong way round; shown as a sentence with what to do.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CrossedQuantiles {
    /// The model.
    pub model: String,
    /// The level of the intervals, in percent, whose lower end is above the upper one; nothing of other quantiles.
    pub level: Option<f64>,
    /// Rows of which that is so,
    pub rows: usize,
    /// of those that have both.
    pub of: usize,
    /// The id of the series of the first such row,
    pub series: String,
    /// its time,
    pub time: String,
    /// the columns of the lower and of the higher quantile,
    pub columns: [String; 2],
    /// and their values.
    pub values: [f64; 2],
}

impl CrossedQuantiles {
    /// Those of a model: for each level, and of quantiles that follow each other in rows whose intervals have their ends the right way round.
    /// `place` gives the series and the time of a row.
    pub(crate) fn of(columns: &ModelColumns, place: impl Fn(usize) -> [String; 2]) -> Vec<Self> {
        let model = &columns.name;
        let quantiles = &columns.quantiles;
        let rows = quantiles.first().map_or(0, |column| column.values.len());
        let told = |level: Option<f64>, found: &[Option<[usize; 2]>], of: usize| {
            let mut crossed =
                found.iter().enumerate().filter_map(|(row, pair)| Some((row, (*pair)?))).peekable();
            let &(row, pair) = crossed.peek()?;
            let [series, time] = place(row);
            let values = pair.map(|column| quantiles[column].values[row]);
            let (columns, rows) = (pair.map(|column| quantiles[column].name.clone()), crossed.count());
            Some(Self { model: model.clone(), level, rows, of, series, time, columns, values })
        };
        let at = |column: usize, row: usize| quantiles[column].values[row];
        let mut all = Vec::new();
        let mut has_ends_crossed = vec![false; rows];
        for (level, pair) in columns.intervals() {
            let both = (0..rows).filter(|&row| pair.iter().all(|&column| !at(column, row).is_nan())).count();
            let is_crossed = |row: usize| at(pair[0], row) > at(pair[1], row);
            let found: Vec<Option<[usize; 2]>> =
                (0..rows).map(|row| is_crossed(row).then_some(pair)).collect();
            found.iter().zip(&mut has_ends_crossed).for_each(|(pair, has)| *has |= pair.is_some());
            all.extend(told(Some(level), &found, both));
        }
        let mut of = 0;
        let between = (0..rows).map(|row| {
            let known: Vec<usize> =
                (0..quantiles.len()).filter(|&column| !at(column, row).is_nan()).collect();
            of += usize::from(known.len() > 1);
            let mut pairs = known.windows(2).map(|pair| [pair[0], pair[1]]);
            pairs.find(|&[low, high]| !has_ends_crossed[row] && at(low, row) > at(high, row))
        });
        let between: Vec<Option<[usize; 2]>> = between.collect();
        all.extend(told(None, &between, of));
        all
    }
}

impl fmt::Display for CrossedQuantiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { model, level, rows, of, series, time, columns: [lower, higher], values: [low, high] } =
            self;
        let are_most = 2 * rows > *of;
        match level {
            Some(level) => write!(
                f,
                "the lower end of the {level} % interval of {model} is above its upper end in {rows} of {of} rows, the first of series \
                 {series} at {time} ({low} and {high}): such an interval holds no value; {}",
                match are_most {
                    true => "its two columns seem to be exchanged, so exchange them",
                    false => "exchange the ends in these rows",
                }
            ),
            None => write!(
                f,
                "quantiles of {model} cross in {rows} of {of} rows, the first of series {series} at {time}: {lower} is {low} and {higher}, \
                 which is of a higher probability, {high}: no distribution has these; {}",
                match are_most {
                    true => "columns seem to have each other's names, so exchange these",
                    false => "sort the quantiles of these rows",
                }
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model_columns::QuantileColumn;

    #[test]
    fn quantiles_that_cross_between_levels_are_told() {
        let told = |narrow: [f64; 4]| {
            let quantiles = [
                (0.025, "M-lo-95", [0.0, 0.5, 0.0, f64::NAN]),
                (0.1, "M-lo-80", narrow),
                (0.9, "M-hi-80", [3.0; 4]),
                (0.975, "M-hi-95", [4.0, 4.0, -1.0, 4.0]),
            ];
            let column = |(q, name, values): (f64, &str, [f64; 4])| QuantileColumn {
                q,
                name: name.to_owned(),
                values: values.to_vec(),
            };
            let quantiles = quantiles.into_iter().map(column).collect();
            let model = ModelColumns { name: "M".to_owned(), point: vec![1.0; 4], quantiles };
            let told = CrossedQuantiles::of(&model, |row| ["a".to_owned(), row.to_string()]);
            told.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        let found = told([0.25; 4]);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(
            found[0]
                .starts_with("the lower end of the 95 % interval of M is above its upper end in 1 of 3 rows"),
            "{found:?}"
        );
        assert_eq!(
            found[1],
            "quantiles of M cross in 1 of 4 rows, the first of series a at 1: M-lo-95 is 0.5 and M-lo-80, which is of a higher probability, \
             0.25: no distribution has these; sort the quantiles of these rows"
        );
        assert_eq!(told([0.5; 4]).len(), 1, "the same value twice is no crossing");
        // In all rows but that of the crossed ends, and that without the other quantile.
        assert!(told([-1.0; 4])[1].contains("cross in 2 of 4 rows"));
    }
}
