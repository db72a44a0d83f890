//! Quantiles that are no distribution's: a lower one above a higher one. Of the ends of an interval the coverage says nothing then, and of
//! two intervals the wider one does not hold the other.

use std::collections::BTreeMap;
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
    /// Whether the two columns seem to have each other's names: in most rows nothing crosses any more once they are exchanged.
    pub are_exchanged: bool,
}

/// How far apart two values may be, relative to the larger one, to be the same: single precision and the rounding of what is printed take part.
const SAME: f64 = 1e-6;

/// Whether a lower quantile is above a higher one.
fn is_crossed([low, high]: [f64; 2]) -> bool {
    low - high > SAME * low.abs().max(high.abs()).min(f64::MAX)
}

impl CrossedQuantiles {
    /// Those of a model: for each level, and of quantiles that follow each other in rows whose intervals have their ends the right way round:
    /// those that are exchanged in most rows by themselves, and all others together. `place` gives the series and the time of a row.
    pub(crate) fn of(columns: &ModelColumns, place: impl Fn(usize) -> [String; 2]) -> Vec<Self> {
        let model = &columns.name;
        let quantiles = &columns.quantiles;
        let rows = quantiles.first().map_or(0, |column| column.values.len());
        let at = |column: usize, row: usize| quantiles[column].values[row];
        // Of the rows that cross, each with two columns; `of` rows have both.
        let told = |level: Option<f64>, found: &[(usize, [usize; 2])], of: usize, are_exchanged: bool| {
            let &(row, pair) = found.first()?;
            let [series, time] = place(row);
            let columns = pair.map(|column| quantiles[column].name.clone());
            let (model, rows, values) = (model.clone(), found.len(), pair.map(|column| at(column, row)));
            Some(Self { model, level, rows, of, series, time, columns, values, are_exchanged })
        };
        let mut all = Vec::new();
        let mut has_ends_crossed = vec![false; rows];
        for (level, pair) in columns.intervals() {
            let both = (0..rows).filter(|&row| pair.iter().all(|&column| !at(column, row).is_nan())).count();
            let crossed = (0..rows).filter(|&row| is_crossed(pair.map(|column| at(column, row))));
            let found: Vec<(usize, [usize; 2])> = crossed.map(|row| (row, pair)).collect();
            found.iter().for_each(|(row, _)| has_ends_crossed[*row] = true);
            all.extend(told(Some(level), &found, both, 2 * found.len() > both));
        }
        let mut of = 0;
        // All that cross, and in how many rows two columns are in order among the others once they are exchanged.
        let (mut crossed, mut mended) = (Vec::new(), BTreeMap::<[usize; 2], usize>::new());
        for (row, has_ends_crossed) in has_ends_crossed.into_iter().enumerate() {
            let known: Vec<usize> =
                (0..quantiles.len()).filter(|&column| !at(column, row).is_nan()).collect();
            of += usize::from(known.len() > 1);
            if has_ends_crossed {
                continue;
            }
            for (first, pair) in known.windows(2).enumerate() {
                let [low, high] = [at(pair[0], row), at(pair[1], row)];
                if !is_crossed([low, high]) {
                    continue;
                }
                let pair = [pair[0], pair[1]];
                let before = first.checked_sub(1).map(|before| at(known[before], row));
                let behind = known.get(first + 2).map(|&behind| at(behind, row));
                let fits = !before.is_some_and(|before| is_crossed([before, high]))
                    && !behind.is_some_and(|behind| is_crossed([low, behind]));
                crossed.push((row, pair));
                *mended.entry(pair).or_default() += usize::from(fits);
            }
        }
        mended.retain(|_, rows| 2 * *rows > of);
        for exchanged in mended.keys() {
            let found: Vec<_> = crossed.iter().copied().filter(|(_, pair)| pair == exchanged).collect();
            all.extend(told(None, &found, of, true));
        }
        crossed.retain(|(_, pair)| !mended.contains_key(pair));
        crossed.dedup_by_key(|(row, _)| *row);
        all.extend(told(None, &crossed, of, false));
        all
    }
}

impl fmt::Display for CrossedQuantiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { model, level, rows, of, series, time, columns, values: [low, high], are_exchanged } = self;
        let [lower, higher] = columns;
        match level {
            Some(level) => write!(
                f,
                "the lower end of the {level} % interval of {model} is above its upper end in {rows} of {of} rows, the first of series \
                 {series} at {time} ({low} and {high}): such an interval holds no value; {}",
                match are_exchanged {
                    true => "its two columns seem to be exchanged, so exchange them",
                    false => "exchange the ends in these rows",
                }
            ),
            None => write!(
                f,
                "quantiles of {model} cross in {rows} of {of} rows, the first of series {series} at {time}: {lower} is {low} and {higher}, \
                 which is of a higher probability, {high}: no distribution has these; {}",
                match are_exchanged {
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

    /// What is told of `rows` of the quantiles of 95 and 80 %, upwards.
    fn told(rows: &[[f64; 4]]) -> Vec<String> {
        let names = [(0.025, "M-lo-95"), (0.1, "M-lo-80"), (0.9, "M-hi-80"), (0.975, "M-hi-95")];
        let column = |(place, (q, name)): (usize, (f64, &str))| QuantileColumn {
            q,
            name: name.to_owned(),
            values: rows.iter().map(|row| row[place]).collect(),
        };
        let quantiles = names.into_iter().enumerate().map(column).collect();
        let model = ModelColumns { name: "M".to_owned(), point: vec![1.0; rows.len()], quantiles };
        let told = CrossedQuantiles::of(&model, |row| ["a".to_owned(), row.to_string()]);
        told.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn columns_are_exchanged_where_that_mends_most_rows() {
        const EXCHANGE: &str = "columns seem to have each other's names, so exchange these";
        const SORT: &str = "sort the quantiles of these rows";
        let (low, high, both) = ([1.0, 0.0, 3.0, 4.0], [0.0, 1.0, 4.0, 3.0], [1.0, 0.0, 4.0, 3.0]);
        let found = told(&[low; 3]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].contains("in 3 of 3 rows") && found[0].contains("M-lo-95 is 1 and M-lo-80"),
            "{found:?}"
        );
        assert!(found[0].ends_with(EXCHANGE), "{found:?}");
        let found = told(&[both; 3]);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found.iter().all(|told| told.ends_with(EXCHANGE)), "{found:?}");
        assert!(found[1].contains("M-hi-80 is 4 and M-hi-95"), "{found:?}");
        // The first row has others than all further ones.
        let found = told(&[low, high, high, high]);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].contains("in 3 of 4 rows, the first of series a at 1: M-hi-80 is 4"), "{found:?}");
        assert!(found[0].ends_with(EXCHANGE), "{found:?}");
        assert!(found[1].contains("in 1 of 4 rows, the first of series a at 0: M-lo-95 is 1"), "{found:?}");
        assert!(found[1].ends_with(SORT), "{found:?}");
        // No two columns cross in most rows.
        let found = told(&[low, high]);
        assert!(
            found.len() == 1 && found[0].contains("in 2 of 2 rows") && found[0].ends_with(SORT),
            "{found:?}"
        );
        // Exchanged, the lower ends are in order and the next is below them.
        let found = told(&[[5.0, 1.0, 3.0, 6.0]; 3]);
        assert!(found.len() == 1 && found[0].ends_with(SORT), "{found:?}");
    }

    #[test]
    fn what_rounding_makes_of_one_value_is_no_crossing() {
        let least = 1.000_000_1;
        assert!(told(&[[least, 1.0, 3.0, 3.0]; 4]).is_empty());
        assert!(told(&[[1e6, 1e6, 1e6 - 0.1, 1e6 - 0.1]; 4]).is_empty(), "nor of the ends of an interval");
        assert!(told(&[[0.0, 0.0, -0.0, 0.0]; 4]).is_empty());
        assert_eq!(told(&[[1.0001, 1.0, 3.0, 3.0]; 4]).len(), 1);
        assert_eq!(told(&[[f64::INFINITY, 1.0, 3.0, f64::INFINITY]; 4]).len(), 1);
    }
}
