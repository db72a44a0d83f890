//! Series without an interval among others that have one, whose sums are to have an interval.

use std::collections::BTreeSet;
use std::sync::Arc;

use foretell_data::ForecastTable;
use foretell_estimator::median;
use foretell_tables::{Frame, ModelInTable};

use crate::warning::Warning;

/// Ids that are kept for the warning.
const KEPT: usize = 6;

/// The series that have a forecast and no interval, where others of the same model have one: in those of their sums they vary as these do.
pub fn without_intervals(table: &ForecastTable, target: &str) -> Option<Warning> {
    warning(&table.ids, &table.models(target), |place, row| table.columns[place].1[row].is_finite())
}

/// The same of forecasts that are no table yet.
pub(crate) fn without_intervals_in(frame: &Frame, target: &str) -> Option<Warning> {
    warning(&frame.ids, &frame.models(target), |place, row| frame.columns[place].1[row].is_finite())
}

fn warning(
    ids: &[Arc<str>],
    models: &[ModelInTable],
    is_known: impl Fn(usize, usize) -> bool,
) -> Option<Warning> {
    let mut bare = BTreeSet::new();
    for model in models {
        let is_sampled = model.quantiles_within().nth(1).is_some();
        let Some(number) = model.point().filter(|_| is_sampled) else { continue };
        let has_any =
            |row: &usize| model.quantiles_within().any(|(q, place)| is_end(q) && is_known(place, *row));
        let (with, without): (Vec<usize>, Vec<usize>) =
            (0..ids.len()).filter(|&row| is_known(number, row)).partition(has_any);
        if !with.is_empty() {
            bare.extend(without.into_iter().map(|row| &ids[row]));
        }
    }
    let series = bare.iter().take(KEPT).map(ToString::to_string).collect();
    (!bare.is_empty()).then_some(Warning::BorrowedWidths { series, count: bare.len() })
}

/// Whether a quantile is the end of an interval, which a median is not.
pub(crate) fn is_end(q: f64) -> bool {
    (q - 0.5).abs() > 1e-9
}

/// Gives the cells `[series, times]` that have a number and no end of an interval, as of a series of one row, ends that are as far from it as
/// those of others are from theirs, relative to the numbers, or in units where it is 0: in the middle of the series below sums, and of the sums,
/// at the same time. So one series neither stops the others nor counts as certain in their sums. Where no other has any, all are the number.
/// A median that is known stays. And which quantiles they are, with their cells.
pub(super) fn borrow_widths(
    number: Option<&[f64]>,
    (known_at, quantiles): (&[f64], &mut [Vec<f64>]),
    (sums, times): (usize, usize),
) -> Vec<(usize, usize)> {
    let Some(number) = number else { return Vec::new() };
    let has_end = |cell: usize| {
        known_at.iter().zip(&*quantiles).any(|(q, quantile)| is_end(*q) && !quantile[cell].is_nan())
    };
    let bare: Vec<usize> =
        (0..number.len()).filter(|&cell| number[cell].is_finite() && !has_end(cell)).collect();
    let is_sum = |cell: usize| cell / times < sums;
    let mut borrowed = Vec::new();
    for (place, quantile) in quantiles.iter_mut().enumerate() {
        let unknown: Vec<usize> = bare.iter().copied().filter(|&cell| quantile[cell].is_nan()).collect();
        let filled: Vec<f64> = unknown
            .iter()
            .map(|&cell| {
                let alike = (cell % times..number.len()).step_by(times);
                let others = alike.filter(|&other| is_sum(other) == is_sum(cell));
                // A share of 0 would be no width.
                let unit = |at: usize| if number[cell] == 0.0 { 1.0 } else { number[at].abs() };
                let width = |other: usize| (quantile[other] - number[other]) / unit(other);
                let mut widths: Vec<f64> = others.map(width).filter(|width| width.is_finite()).collect();
                // Without others there is no width to borrow.
                let width = if widths.is_empty() { 0.0 } else { median(&mut widths) };
                number[cell] + unit(cell) * width
            })
            .collect();
        unknown.iter().zip(filled).for_each(|(&cell, filled)| quantile[cell] = filled);
        borrowed.extend(unknown.into_iter().map(|cell| (place, cell)));
    }
    borrowed
}

#[cfg(test)]
mod tests {
    use super::super::table_of_rows::table_of_rows;
    use super::*;

    #[test]
    fn what_has_no_interval_varies_as_others_do() {
        // A sum, three series with intervals and one without, at two times.
        let number = [40.0, 40.0, 10.0, 10.0, 10.0, 10.0, 10.0, 10.0, 20.0, 20.0];
        let nan = f64::NAN;
        let mut quantiles = vec![
            vec![36.0, 38.0, 8.0, 9.0, 7.0, 9.0, 5.0, 9.0, nan, nan],
            vec![44.0, 42.0, 13.0, 11.0, 12.0, 11.0, 19.0, 11.0, nan, nan],
        ];
        let borrowed = borrow_widths(Some(&number), (&[0.1, 0.9], &mut quantiles), (1, 2));
        assert_eq!(borrowed, [(0, 8), (0, 9), (1, 8), (1, 9)]);
        let found = |cell: usize| [quantiles[0][cell], quantiles[1][cell]];
        assert_eq!([found(8), found(9)], [[14.0, 26.0], [18.0, 22.0]]);
        // The sum has no sum to borrow of.
        let mut alone = vec![vec![nan, 8.0], vec![nan, 12.0]];
        let borrowed = borrow_widths(Some(&[20.0, 10.0]), (&[0.1, 0.9], &mut alone), (1, 1));
        assert_eq!((borrowed, alone), (vec![(0, 0), (1, 0)], vec![vec![20.0, 8.0], vec![20.0, 12.0]]));
    }

    #[test]
    fn a_median_that_is_known_stays_and_a_forecast_of_0_borrows_units() {
        let nan = f64::NAN;
        // Three series with intervals, two without: one of some size, and one of 0.
        let number = [1.0, 2.0, 4.0, 20.0, 0.0];
        let mut quantiles = vec![
            vec![0.0, 0.0, 2.0, nan, nan],
            vec![0.5, 1.0, 3.0, 18.0, 0.0],
            vec![4.0, 5.0, 8.0, nan, nan],
        ];
        let borrowed = borrow_widths(Some(&number), (&[0.1, 0.5, 0.9], &mut quantiles), (0, 1));
        assert_eq!(borrowed, [(0, 3), (0, 4), (2, 3), (2, 4)]);
        let of = |cell: usize| [quantiles[0][cell], quantiles[1][cell], quantiles[2][cell]];
        // The middle of -1, -1 and -1/2, and of 3, 3/2 and 1; then of -1, -2 and -2, and of 3, 3 and 4.
        assert_eq!([of(3), of(4)], [[0.0, 18.0, 50.0], [-2.0, 0.0, 3.0]]);
    }

    #[test]
    fn series_without_intervals_are_told() {
        let nan = f64::NAN;
        let columns: [(&str, &[f64]); 5] = [
            ("M", &[1.0, 2.0, 3.0]),
            ("M-lo-80", &[0.5, nan, 2.0]),
            ("M-median", &[1.0, 2.0, 3.0]),
            ("M-hi-80", &[2.0, nan, 4.0]),
            ("N", &[1.0; 3]),
        ];
        let table = |columns: &[(&str, &[f64])]| table_of_rows(&[("a", 1), ("b", 1), ("c", 1)], columns);
        let told = without_intervals(&table(&columns), "y");
        assert_eq!(told, Some(Warning::BorrowedWidths { series: vec!["b".to_owned()], count: 1 }));
        assert_eq!(without_intervals(&table(&columns[..1]), "y"), None);
        // Where none has any, nothing is borrowed.
        let none: [(&str, &[f64]); 3] = [("M", &[1.0; 3]), ("M-lo-80", &[nan; 3]), ("M-hi-80", &[nan; 3])];
        assert_eq!(without_intervals(&table(&none), "y"), None);
    }
}
