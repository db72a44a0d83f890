//! Reconciliation of tables of forecasts, of any tool.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use foretell_data::ForecastTable;
use foretell_hierarchy::{
    CoherentQuantiles, Draws, Evidence, Hierarchy, HierarchyError, Reconciler, Reconciliation, Residuals,
    with_means,
};
use foretell_scores::ScoresError;
use foretell_tables::ModelInTable;

use crate::columns::ColumnNames;
use crate::error::Error;
use crate::hierarchies::borrowed_widths::borrow_widths;
use crate::hierarchies::grid::Grid;
use crate::hierarchies::pooled_residuals::{pool_missing, without_past_forecasts};
use crate::hierarchies::without_forecasts::{among_forecasts, rows_of};
use crate::kept_settings::KeptSettings;
use crate::reconciliation_error::ReconciliationError;
use crate::setters::setters;

/// How [`reconcile`] makes forecasts coherent.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ReconcileOptions<'a> {
    /// The method.
    pub method: Reconciliation,
    /// Forecasts of the past beside the actual values, as cross-validation gives: their errors weigh series
    /// ([`Reconciliation::MinTraceVar`], [`Reconciliation::MinTraceShrink`]), and samples of quantiles are high and low together where these errors were.
    pub residuals: Option<&'a ForecastTable>,
    /// The history of the series, for [`Reconciliation::TopDown`] and [`Reconciliation::MiddleOut`].
    pub history: Option<&'a ForecastTable>,
    /// Samples that quantiles are taken of; 1000 by default, as in HINT.
    pub samples: usize,
    /// Another seed draws other samples.
    pub seed: u64,
    /// Whether forecasts below 0 become 0: those at the bottom, which are added up again.
    pub non_negative: bool,
    /// Whether forecasts become whole numbers: those at the bottom, which are added up again.
    pub integer: bool,
}

impl<'a> ReconcileOptions<'a> {
    /// That method, and 1000 samples.
    pub fn new(method: Reconciliation) -> Self {
        let (residuals, history) = (None, None);
        Self { method, residuals, history, samples: 1000, seed: 1, non_negative: false, integer: false }
    }

    setters! {
        /// Forecasts of the past beside the actual values.
        residuals(impl Into<Option<&'a ForecastTable>>) = residuals.into();
        /// The history of the series.
        history(impl Into<Option<&'a ForecastTable>>) = history.into();
        /// Samples that quantiles are taken of, at least 1.
        samples(usize);
        /// Another seed.
        seed(u64);
        /// Whether forecasts below 0 become 0.
        non_negative(bool);
        /// Whether forecasts become whole numbers.
        integer(bool);
    }

    fn bounds(&self) -> KeptSettings {
        KeptSettings { non_negative: self.non_negative, integer: self.integer, ..KeptSettings::default() }
    }
}

/// Forecasts of the series of a hierarchy, of any models, changed so that they add up at each cutoff and time: forecasts of single
/// numbers by the method alone, quantiles (`NHITS-lo-80`, `NHITS-hi-80`, `NHITS-median`) by samples ([`CoherentQuantiles`]). A series that has
/// a number and no ends of intervals varies in the samples as others do ([`without_intervals`](crate::without_intervals) tells which), and has none afterwards. Rows come
/// by series, in the order of the hierarchy, then by cutoff and time. Actual values stay unchanged; series
/// that the method does not read ([`Reconciler::reads`]) need no rows, and those at the bottom that have none are left out of their sums
/// ([`without_forecasts`](crate::without_forecasts) tells which).
///
/// # Errors
/// If a series is missing at some times or at all of a sum, not in the hierarchy, or there twice at a time, a forecast is no number, no column is a forecast, or the
/// method lacks what it needs.
pub fn reconcile(
    forecast: &ForecastTable,
    hierarchy: &Hierarchy,
    columns: &ColumnNames,
    options: &ReconcileOptions<'_>,
) -> Result<ForecastTable, Error> {
    if forecast.is_unnamed {
        return Err(forecast.without_ids(&columns.id).into());
    }
    let Some(rest) = among_forecasts(forecast, hierarchy, options.method) else {
        return reconcile_all(forecast, hierarchy, columns, options);
    };
    let residuals = options.residuals.map(|past| rows_of(past, hierarchy, &rest));
    let options = ReconcileOptions { residuals: residuals.as_ref(), ..*options };
    reconcile_all(&rows_of(forecast, hierarchy, &rest), &rest, columns, &options)
}

/// The same of forecasts of all series.
fn reconcile_all(
    forecast: &ForecastTable,
    hierarchy: &Hierarchy,
    columns: &ColumnNames,
    options: &ReconcileOptions<'_>,
) -> Result<ForecastTable, Error> {
    let n = hierarchy.n_series();
    let is_read = Reconciler::reads(hierarchy, options.method);
    let grid = Grid::new(forecast, hierarchy, &is_read)?;
    let shares = options.history.map(|history| shares(history, hierarchy, &columns.target)).transpose()?;
    // Errors of sums are those of their series, added up.
    let of_past = if options.method == Reconciliation::BottomUp { is_read } else { vec![true; n] };
    let past = options.residuals.map(|table| {
        let mut of_past = of_past;
        // Series that others stand for need no rows.
        if without_past_forecasts(table, hierarchy).is_some() {
            let known: HashSet<&str> = table.ids.iter().map(|id| &**id).collect();
            let of_bottom = of_past[hierarchy.n_aggregates()..].iter_mut().zip(hierarchy.bottom_ids());
            of_bottom.for_each(|(is_read, id)| *is_read &= known.contains(&**id));
        }
        Ok::<_, Error>((table, Grid::new(table, hierarchy, &of_past)?))
    });
    let past = past.transpose()?;
    let models = models(forecast, &columns.target);
    if models.is_empty() {
        return Err(ScoresError::NoForecasts { forecast: forecast.file.clone() }.into());
    }
    let mut reconciled = Vec::new();
    if let Ok(y) = forecast.column(&columns.target) {
        let mut y = grid.values(y);
        add_up_missing(hierarchy, &mut y, grid.times.len());
        reconciled.push((columns.target.clone(), y));
    }
    for model in models {
        let residuals = past
            .as_ref()
            .map(|past| errors(past, (forecast, &grid), hierarchy, &model, &columns.target))
            .transpose()?;
        let evidence = Evidence { residuals: residuals.as_ref(), shares: shares.as_deref() };
        let reconciler = Reconciler::new(hierarchy, options.method, &evidence);
        let reconciler = reconciler.map_err(|error| of_history(error, options.history))?;
        let name = |place: usize| forecast.columns[place].0.as_str();
        let known = |place: usize| -> Result<Vec<f64>, Error> {
            Ok(grid.known_values(name(place), &forecast.columns[place].1)?)
        };
        let linear = |place: usize| -> Result<(String, Vec<f64>), Error> {
            let mut values = known(place)?;
            reconciler.reconcile(&mut values, grid.times.len());
            bound(hierarchy, options.bounds(), &mut values, grid.times.len());
            Ok((name(place).to_owned(), values))
        };
        reconciled.extend(model.number.map(linear).transpose()?);
        match &model.quantiles_within().collect::<Vec<_>>()[..] {
            [] => {}
            [(_, only)] => reconciled.push(linear(*only)?),
            all => {
                let draws = match &residuals {
                    Some(residuals) => Draws::like(residuals, options.samples.max(1), options.seed),
                    None => Draws::independent(n, options.samples.max(1), options.seed),
                };
                let mut values: Vec<Vec<f64>> =
                    all.iter().map(|(_, place)| grid.values(&forecast.columns[*place].1)).collect();
                let column = |place: usize| grid.values(&forecast.columns[place].1);
                let (number, point) = (model.number.map(column), model.point().map(column));
                let probabilities: Vec<f64> = all.iter().map(|(q, _)| *q).collect();
                let extent = (hierarchy.n_aggregates(), grid.times.len());
                let borrowed = borrow_widths(point.as_deref(), (&probabilities, &mut values), extent);
                let values =
                    all.iter().zip(values).map(|((_, place), values)| grid.checked(name(*place), values));
                let values = values.collect::<Result<Vec<_>, _>>()?;
                let (mut known_at, mut values) = with_middle(number.as_deref(), &probabilities, values);
                if let Some(number) = &number {
                    (known_at, values) = with_means(number, (known_at, values));
                }
                let at = (&known_at[..], &probabilities[..]);
                let mut columns = quantiles(&reconciler, &draws, at, &values, grid.times.len())?;
                let bounds = options.bounds();
                columns.iter_mut().flatten().for_each(|value| *value = bounds.bounded(*value));
                borrowed.iter().for_each(|&(place, cell)| columns[place][cell] = f64::NAN);
                reconciled.extend(all.iter().map(|(_, place)| name(*place).to_owned()).zip(columns));
            }
        }
    }
    // As the columns stood.
    reconciled.sort_by_key(|(name, _)| forecast.columns.iter().position(|(known, _)| known == name));
    Ok(grid.with_columns(reconciled))
}

/// Rounds and bounds coherent values `[series, times]` at the bottom, and adds them up again.
fn bound(hierarchy: &Hierarchy, bounds: KeptSettings, values: &mut [f64], times: usize) {
    if bounds.bounds() {
        let bottom = &mut values[hierarchy.n_aggregates() * times..];
        bottom.iter_mut().for_each(|value| *value = bounds.bounded(*value));
        hierarchy.sum(values, times);
    }
}

/// Probabilities and their quantiles, with the number between the inner two where there is no median, which the number may not be: of counts, which may be near their
/// lower end, two ends alone would be taken for those of a normal distribution, whose mean is far above theirs.
fn with_middle(
    number: Option<&[f64]>,
    probabilities: &[f64],
    mut quantiles: Vec<Vec<f64>>,
) -> (Vec<f64>, Vec<Vec<f64>>) {
    let mut known = probabilities.to_vec();
    let above = known.partition_point(|q| *q < 0.5 - 1e-9);
    let is_between = above > 0 && known.get(above).is_some_and(|q| *q > 0.5 + 1e-9);
    if let Some(number) = number.filter(|_| is_between) {
        let inner = |cell: usize| [quantiles[above - 1][cell], quantiles[above][cell]];
        let middle = number.iter().enumerate().map(|(cell, number)| {
            let [low, high] = inner(cell);
            number.max(low.min(high)).min(low.max(high))
        });
        let middle = middle.collect();
        known.insert(above, 0.5);
        quantiles.insert(above, middle);
    }
    (known, quantiles)
}

/// Coherent quantiles: of each probability asked the values `[series, times]`, from such values of known ones.
fn quantiles(
    reconciler: &Reconciler<'_>,
    draws: &Draws,
    (known_at, probabilities): (&[f64], &[f64]),
    values: &[Vec<f64>],
    times: usize,
) -> Result<Vec<Vec<f64>>, HierarchyError> {
    let coherent = CoherentQuantiles::new(reconciler, draws, known_at)?;
    let n = reconciler.hierarchy().n_series();
    let mut columns = vec![vec![f64::NAN; n * times]; probabilities.len()];
    for time in 0..times {
        let places = || (0..n).map(move |number| number * times + time);
        // Sums without rows take no part, and sort as any other value.
        let known = |place: usize| {
            values.iter().map(move |values| if values[place].is_nan() { 0.0 } else { values[place] })
        };
        let at_time: Vec<f64> = places().flat_map(known).collect();
        let found = coherent.reconcile(&at_time, probabilities);
        for (place, found) in places().zip(found.chunks_exact(probabilities.len())) {
            columns.iter_mut().zip(found).for_each(|(column, found)| column[place] = *found);
        }
    }
    Ok(columns)
}

/// The models that a table forecasts.
fn models(table: &ForecastTable, target: &str) -> Vec<ModelInTable> {
    table.models(target).into_iter().filter(ModelInTable::is_forecast).collect()
}

/// The errors of a model's past forecasts: of its number, or of its median. Series without any have errors as the others, in proportion to
/// what is forecast.
fn errors(
    (table, grid): &(&ForecastTable, Grid<'_>),
    (future, of_future): (&ForecastTable, &Grid<'_>),
    hierarchy: &Hierarchy,
    model: &ModelInTable,
    target: &str,
) -> Result<Residuals, Error> {
    let past = models(table, target).into_iter().find(|past| past.model == model.model);
    let sizes = |grid: &Grid<'_>, table: &ForecastTable, place: usize| -> Vec<f64> {
        let values = grid.values(&table.columns[place].1);
        values.chunks(grid.times.len().max(1)).map(mean_size).collect()
    };
    let place = past.and_then(|past| past.point()).ok_or_else(|| ReconciliationError::NoPastForecasts {
        file: table.file.to_string(),
        model: model.model.to_string(),
    })?;
    let y = grid.values(table.column(target)?);
    let forecast = grid.values(&table.columns[place].1);
    let mut errors: Vec<f64> = y.iter().zip(&forecast).map(|(y, forecast)| y - forecast).collect();
    if without_past_forecasts(table, hierarchy).is_some() {
        let bottom = hierarchy.n_aggregates();
        let mut of_bottom = sizes(grid, table, place).split_off(bottom);
        if let Some(point) = model.point() {
            let ahead = sizes(of_future, future, point).split_off(bottom);
            of_bottom
                .iter_mut()
                .zip(ahead)
                .filter(|(own, _)| own.is_nan())
                .for_each(|(own, ahead)| *own = ahead);
        }
        pool_missing(&mut errors[bottom * grid.times.len()..], &of_bottom);
    }
    add_up_missing(hierarchy, &mut errors, grid.times.len());
    Ok(Residuals::new(hierarchy.n_series(), &errors)?)
}

/// The mean of the magnitudes of the values that are known; NaN of none.
fn mean_size(values: &[f64]) -> f64 {
    let known = || values.iter().filter(|value| value.is_finite());
    known().map(|value| value.abs()).sum::<f64>() / known().count() as f64
}

/// Adds up `values [series, times]` where no sum is known.
fn add_up_missing(hierarchy: &Hierarchy, values: &mut [f64], times: usize) {
    if values[..hierarchy.n_aggregates() * times].iter().all(|value| value.is_nan()) {
        hierarchy.sum(values, times);
    }
}

/// The error, of the history whose means are shares where it is of a share.
fn of_history(error: HierarchyError, history: Option<&ForecastTable>) -> Error {
    match (error, history) {
        (HierarchyError::Share { id, found }, Some(history)) => {
            ReconciliationError::HistoryMean { file: history.file.to_string(), id, mean: found }.into()
        }
        (error, _) => error.into(),
    }
}

/// The mean of the known values of each series at the bottom.
fn shares(history: &ForecastTable, hierarchy: &Hierarchy, target: &str) -> Result<Vec<f64>, Error> {
    let mut sums = HashMap::<&str, (f64, usize)>::new();
    for (id, y) in history.ids.iter().zip(history.column(target)?).filter(|(_, y)| !y.is_nan()) {
        let (sum, count) = sums.entry(id).or_default();
        (*sum, *count) = (*sum + y, *count + 1);
    }
    let mean = |id: &Arc<str>| match sums.get(&**id) {
        Some((sum, count)) => Ok(sum / *count as f64),
        None => Err(Error::from(ReconciliationError::NotInData { id: id.to_string() })),
    };
    hierarchy.bottom_ids().iter().map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::super::table_of_rows::table_of_rows;
    use super::*;

    fn hierarchy() -> Hierarchy {
        Hierarchy::from_levels(&[("a", ["sum"]), ("b", ["sum"])]).unwrap()
    }

    /// Two times of series, in the order given.
    fn table(ids: &[&str], columns: &[(&str, &[f64])]) -> ForecastTable {
        let rows: Vec<(&str, i64)> = ids.iter().flat_map(|id| [(*id, 5), (*id, 6)]).collect();
        table_of_rows(&rows, columns)
    }

    #[test]
    fn intervals_of_sums_of_counts_are_as_lopsided_as_these() {
        let ids = ["sum", "a", "b"];
        let interval = |number: f64, high: f64| {
            let of = |sum: f64, each: f64| vec![sum, sum, each, each, each, each];
            let columns =
                [("m", of(2.0 * number, number)), ("m-lo-80", of(0.0, 0.0)), ("m-hi-80", of(10.0, high))];
            let columns: Vec<(&str, &[f64])> =
                columns.iter().map(|(name, values)| (*name, &values[..])).collect();
            let found =
                run(&table(&ids, &columns), &ReconcileOptions::new(Reconciliation::BottomUp)).unwrap();
            ["m-lo-80", "m-hi-80"].map(|name| found.column(name).unwrap()[0])
        };
        // In the middle they are normal: 7 and 1.28 deviations of 2.73 times the root of 2.
        let [low, high] = interval(3.5, 7.0);
        assert!((low - 2.05).abs() < 0.3 && (high - 11.95).abs() < 0.3, "{low} {high}");
        let [low, high] = interval(1.0, 7.0);
        assert!((0.0..1.2).contains(&low) && (7.0..11.8).contains(&high), "{low} {high}");
    }

    /// For rare demand the point forecast is the mean: a median beside it is taken for the median, and the sums have the sum of the means.
    #[test]
    fn sums_of_rare_demand_have_its_mean() {
        let quantiles = |mean: f64, middle: &str| {
            let of = |value: f64| vec![value; 6];
            let columns = [("m", of(mean)), ("m-lo-80", of(0.0)), (middle, of(0.0)), ("m-hi-80", of(3.0))];
            let columns: Vec<(&str, &[f64])> =
                columns.iter().map(|(name, values)| (*name, &values[..])).collect();
            let options = ReconcileOptions::new(Reconciliation::BottomUp);
            let found = run(&table(&["sum", "a", "b"], &columns), &options).unwrap();
            assert_eq!(found.column("m").unwrap()[0], 2.0 * mean);
            ["m-lo-80", middle, "m-hi-80"].map(|name| found.column(name).unwrap().to_vec())
        };
        for middle in ["m-median", "m_ql0.5"] {
            let [rarely, often] = [0.6, 1.5].map(|mean| quantiles(mean, middle));
            // Of the series below the quantiles stay, of the sum they are lower where less is sold.
            for (rarely, often) in rarely.iter().zip(&often) {
                assert!((rarely[2] - often[2]).abs() < 0.05, "{middle}: {rarely:?} {often:?}");
            }
            assert!(rarely[1][0] < 1.2 && often[1][0] > rarely[1][0], "{rarely:?} {often:?}");
            assert!(rarely[2][0] < often[2][0] && rarely[0][0] < 0.1, "{rarely:?} {often:?}");
        }
    }

    fn run(forecast: &ForecastTable, options: &ReconcileOptions<'_>) -> Result<ForecastTable, Error> {
        reconcile(forecast, &hierarchy(), &ColumnNames::default(), options)
    }

    const POINTS: [f64; 6] = [4.0, 40.0, 12.0, 120.0, 5.0, 50.0];

    #[test]
    fn points_add_up_and_rows_are_in_the_order_of_the_hierarchy() {
        let forecast = table(&["a", "sum", "b"], &[("M", &POINTS)]);
        let found = run(&forecast, &ReconcileOptions::new(Reconciliation::MinTraceOls)).unwrap();
        assert_eq!(found.ids.iter().map(|id| &**id).collect::<Vec<_>>(), ["sum", "sum", "a", "a", "b", "b"]);
        assert_eq!(found.times, [5, 6, 5, 6, 5, 6]);
        let expected = [11.0, 110.0, 5.0, 50.0, 6.0, 60.0];
        assert!(
            found
                .column("M")
                .unwrap()
                .iter()
                .zip(expected)
                .all(|(found, expected)| (found - expected).abs() < 1e-9)
        );
    }

    #[test]
    fn sums_without_rows_are_added_up() {
        let low = [2.0, 20.0, 3.0, 30.0];
        let high = [6.0, 60.0, 7.0, 70.0];
        let forecast = table(
            &["b", "a"],
            &[("y", &[1.0; 4]), ("M", &POINTS[..4]), ("M-lo-80", &low), ("M-hi-80", &high)],
        );
        let found = run(&forecast, &ReconcileOptions::new(Reconciliation::BottomUp)).unwrap();
        assert_eq!(found.column("M").unwrap()[..2], [16.0, 160.0]);
        assert_eq!(found.column("y").unwrap()[..2], [2.0, 2.0]);
        let [low, high] = ["M-lo-80", "M-hi-80"].map(|name| found.column(name).unwrap());
        // Narrower than the sum of the intervals, 8, and wider than one of them.
        assert!(high[0] - low[0] > 4.0 && high[0] - low[0] < 8.0, "{low:?} {high:?}");
        assert!((low[2] - 3.0).abs() < 0.02 && (high[2] - 7.0).abs() < 0.02, "{low:?} {high:?}");
        let error =
            run(&forecast, &ReconcileOptions::new(Reconciliation::MinTraceOls)).unwrap_err().to_string();
        assert!(
            error.contains("no row of sum, a sum of series, at 5") && error.contains("BottomUp"),
            "{error}"
        );
    }

    #[test]
    fn errors_of_the_past_weigh_series() {
        let forecast = table(&["sum", "a", "b"], &[("M-median", &[12.0, 120.0, 4.0, 40.0, 5.0, 50.0])]);
        // The sum and b were forecast exactly but for a trifle, a was not: it gives way alone.
        let past =
            table(&["sum", "a", "b"], &[("y", &[1e-6, -1e-6, 10.0, -10.0, 1e-6, 1e-6]), ("M", &[0.0; 6])]);
        let options = ReconcileOptions::new(Reconciliation::MinTraceVar).residuals(&past);
        let found = run(&forecast, &options).unwrap();
        let expected = [12.0, 120.0, 7.0, 70.0, 5.0, 50.0];
        let median = found.column("M-median").unwrap();
        assert!(
            median.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-3),
            "{median:?}"
        );
        let other = table(&["sum", "a", "b"], &[("y", &[1.0; 6]), ("N", &[0.0; 6])]);
        let error = run(&forecast, &options.residuals(&other)).unwrap_err().to_string();
        assert!(error.contains("no forecasts of M in the past"), "{error}");
        let error = run(&forecast, &options.residuals(None)).unwrap_err().to_string();
        assert!(error.contains("none were given"), "{error}");
    }

    #[test]
    fn the_history_divides_the_total() {
        let forecast = table(&["sum", "a", "b"], &[("M", &[12.0, 120.0, 4.0, 40.0, 5.0, 50.0])]);
        let history = table(&["a", "b"], &[("y", &[1.0, f64::NAN, 2.0, 4.0])]);
        let found =
            run(&forecast, &ReconcileOptions::new(Reconciliation::TopDown).history(&history)).unwrap();
        assert_eq!(found.column("M").unwrap(), [12.0, 120.0, 3.0, 30.0, 9.0, 90.0]);
        // The total alone will do.
        let total = table(&["sum"], &[("M", &[12.0, 120.0])]);
        let top_down = ReconcileOptions::new(Reconciliation::TopDown);
        let found = run(&total, &top_down.history(&history)).unwrap();
        assert_eq!(found.column("M").unwrap(), [12.0, 120.0, 3.0, 30.0, 9.0, 90.0]);
        let below = table(&["a", "b"], &[("y", &[-4.0, -4.0, 2.0, 4.0])]);
        let error = run(&total, &top_down.history(&below)).unwrap_err().to_string();
        assert!(error.contains("f.csv: the values of series a have the mean -4"), "{error}");
    }

    #[test]
    fn tables_that_do_not_fit_are_refused() {
        let options = ReconcileOptions::new(Reconciliation::MinTraceOls);
        let fault = |ids: &[&str], values: &[f64]| {
            run(&table(ids, &[("M", values)]), &options).unwrap_err().to_string()
        };
        assert!(
            fault(&["sum", "a", "c"], &POINTS).contains("has the series c, which is not in the hierarchy")
        );
        let rows = [("sum", 5), ("sum", 6), ("a", 5), ("a", 6), ("b", 5)];
        let missing = run(&table_of_rows(&rows, &[("M", &POINTS[..5])]), &options).unwrap_err().to_string();
        assert!(missing.contains("no row of series b at 6"), "{missing}");
        assert!(fault(&["sum", "a", "a"], &POINTS).contains("two rows of series a at 5"));
        let unknown = [4.0, f64::NAN, 12.0, 120.0, 5.0, 50.0];
        assert!(fault(&["sum", "a", "b"], &unknown).contains("column `M`: the value of series sum at 6"));
        let nothing = table(&["sum", "a", "b"], &[("y", &POINTS)]);
        assert!(matches!(run(&nothing, &options), Err(Error::Scores(ScoresError::NoForecasts { .. }))));
    }
}
