//! The panel of a training beside its models, as neuralforecast keeps it: scaled, with numbers in place of categories.

use std::collections::BTreeMap;
use std::iter::repeat_n;

use foretell_calendar::{TimeKind, Zone};
use foretell_checkpoint::{Column, Configuration, Dataset, FittedScaler, TensorData, TensorValues, TimeUnit};
use foretell_data::{AVAILABLE_MASK, LocalScaler, LocalStats, Panel, Vocabulary};

use crate::columns::{column_of_ids, columns_read, in_order_of_ids};
use crate::error::Error;
use crate::trained_models::TrainedModels;

const WEIGHT: &str = "sample_weight";

/// Adds the panel to a configuration: its ids and times there, its numbers as the dataset.
pub(crate) fn store(
    trained: &TrainedModels,
    panel: &Panel,
    configuration: &mut Configuration,
) -> Result<Dataset, Error> {
    let scaled = trained.seen(panel, 0)?;
    let target = &trained.pipeline.columns.target;
    // Forecasts of the dataset alone are brought back by these.
    [configuration.scalers, configuration.static_scalers] = scaled.stored(target);
    let seen = &*scaled.panel;
    let order = in_order_of_ids(seen);
    for scaler in configuration.scalers.values_mut() {
        scaler.stats = scaler.stats.as_ref().map(|stats| rows_at(stats, &order));
    }
    let of_rows = columns_read(trained.estimators());
    let weighted = (0..seen.n_series()).any(|series| seen.sample_weight(series).is_some());
    let mut columns = vec![target.clone()];
    columns.extend(of_rows.iter().cloned());
    columns.extend(weighted.then(|| WEIGHT.to_owned()));
    columns.push(AVAILABLE_MASK.to_owned());
    let mut temporal = Vec::with_capacity(seen.n_rows() * columns.len());
    let (mut indptr, mut times, mut last) = (vec![0], Vec::new(), Vec::new());
    for &series in &order {
        let len = seen.len(series);
        let further: Vec<&[f32]> =
            of_rows.iter().map(|name| seen.column(name, series)).collect::<Result<_, _>>()?;
        let (y, mask) = (seen.y(series), seen.available_mask(series));
        for row in 0..len {
            temporal.push(y[row]);
            temporal.extend(further.iter().map(|values| values[row]));
            if weighted {
                temporal.push(seen.sample_weight(series).map_or(1.0, |weights| weights[row]));
            }
            temporal.push(mask.map_or(1.0, |mask| mask[row]));
        }
        indptr.push(indptr[indptr.len() - 1] + len);
        times.extend(seen.times(series));
        last.push(seen.time(series, len - 1));
    }
    let mut static_columns: Vec<String> =
        trained.estimators().flat_map(|model| model.columns_read().stat.to_vec()).collect();
    static_columns.sort_unstable();
    static_columns.dedup();
    let mut static_values = Vec::with_capacity(seen.n_series() * static_columns.len());
    for &series in &order {
        for name in &static_columns {
            static_values.push(seen.static_value(name, series)?);
        }
    }
    configuration.uids = Some(column_of_ids(seen, order.iter().map(|&series| seen.id(series))));
    configuration.last_dates = Some(column_of_times(seen, last));
    configuration.ds = Some(column_of_times(seen, times));
    Ok(Dataset { columns, temporal, indptr, target: 0, static_columns, static_values, updated: false })
}

/// The rows of a matrix in this order.
fn rows_at(matrix: &TensorData, order: &[usize]) -> TensorData {
    match matrix.values() {
        TensorValues::F32(values) if !order.is_empty() => {
            let width = values.len() / order.len();
            let rows = order.iter().flat_map(|row| &values[row * width..(row + 1) * width]);
            TensorData::f32(matrix.shape().to_vec(), rows.copied().collect())
        }
        _ => matrix.clone(),
    }
}

fn column_of_times(panel: &Panel, values: Vec<i64>) -> Column {
    match panel.freq().kind() {
        TimeKind::Integer => Column::Integers(values),
        TimeKind::Timestamp => {
            let zone = panel.zone().map(ToString::to_string);
            Column::Times { unit: TimeUnit::Microseconds, zone, values }
        }
    }
}

/// The panel of a directory on the scale of the data, with labels in place of numbers; without columns that features compute.
///
/// # Errors
/// In words, if the dataset has not what the models need of it.
pub(crate) fn restore(
    trained: &TrainedModels,
    dataset: &Dataset,
    [uids, ds]: [&Column; 2],
) -> Result<Panel, String> {
    let words = |error: foretell_data::DataError| error.to_string();
    let (texts, integers): (Vec<String>, bool) = match uids {
        Column::Text(ids) => (ids.clone(), false),
        Column::Integers(ids) => (ids.iter().map(ToString::to_string).collect(), true),
        _ => return Err("uids must be texts or integers".to_owned()),
    };
    let (zone, times) = read_times(ds, trained.freq.kind())?;
    let mut builder = Panel::builder(trained.freq.kind()).freq(trained.freq);
    if let Some(zone) = zone {
        builder = builder.zone(Zone::parse(&zone).map_err(|error| error.to_string())?);
    }
    let lens = dataset.indptr.windows(2).map(|ends| ends[1] - ends[0]);
    let row_ids: Vec<&str> =
        texts.iter().zip(lens).flat_map(|(id, len)| repeat_n(id.as_str(), len)).collect();
    let width = dataset.columns.len();
    let values =
        |place: usize| -> Vec<f32> { dataset.temporal.iter().skip(place).step_by(width).copied().collect() };
    let find = |name: &str| dataset.columns.iter().position(|column| column == name);
    let [scalers, _] = &trained.scalers;
    let unscaled = |name: &str, place: usize| -> Result<Vec<f32>, String> {
        let mut values = values(place);
        if let Some((scaler, stats)) = scaler_of(scalers, name)? {
            for (series, ends) in dataset.indptr.windows(2).enumerate() {
                let stats = stats.get(series).ok_or_else(|| format!("scalers_ of {name} lack a series"))?;
                scaler.inverse(*stats, &mut values[ends[0]..ends[1]]);
            }
        }
        Ok(values)
    };
    let target = &trained.pipeline.columns.target;
    builder = builder.rows(&row_ids, &times, &unscaled(target, dataset.target)?);
    let computed = trained.pipeline.features.columns();
    for name in columns_read(trained.estimators()).into_iter().filter(|name| !computed.contains(name)) {
        let place = find(&name).ok_or_else(|| format!("the dataset has no column {name}"))?;
        builder = match trained.vocabulary.contains_key(&name) {
            true => builder.categories(&name, &labels(&trained.vocabulary, &name, &values(place))),
            false => builder.column(&name, &unscaled(&name, place)?),
        };
    }
    if let Some(mask) = find(AVAILABLE_MASK).map(values).filter(|mask| mask.contains(&0.0)) {
        builder = builder.available_mask(&mask);
    }
    if let Some(weights) = find(WEIGHT).map(values) {
        builder = builder.sample_weight(&weights);
    }
    let mut panel = builder.build().map_err(words)?;
    panel = trained.levels.place(with_statics(panel, trained, dataset, &texts)?);
    Ok(if integers { panel.with_integer_ids() } else { panel })
}

/// The panel with the static columns that models read.
fn with_statics(
    mut panel: Panel,
    trained: &TrainedModels,
    dataset: &Dataset,
    ids: &[String],
) -> Result<Panel, String> {
    let [_, scalers] = &trained.scalers;
    let reads = |name: &String| trained.estimators().any(|model| model.columns_read().stat.contains(name));
    for (place, name) in dataset.static_columns.iter().enumerate().filter(|(_, name)| reads(name)) {
        let width = dataset.static_columns.len();
        let mut values: Vec<f32> = dataset.static_values.iter().skip(place).step_by(width).copied().collect();
        let added = if trained.vocabulary.contains_key(name) {
            let labels = labels(&trained.vocabulary, name, &values);
            let labels: Vec<(&str, &str)> =
                ids.iter().zip(&labels).map(|(id, label)| (id.as_str(), label.as_str())).collect();
            panel.with_static_categories(name, &labels)
        } else {
            if let Some((scaler, stats)) = scaler_of(scalers, name)? {
                let stats = stats.first().ok_or_else(|| format!("static_scalers_ of {name} are empty"))?;
                scaler.inverse(*stats, &mut values);
            }
            let values: Vec<(&str, f32)> = ids.iter().map(String::as_str).zip(values).collect();
            panel.with_static(name, &values)
        };
        panel = added.map_err(|error| error.to_string())?;
    }
    Ok(panel)
}

/// The scaler of a column and its statistics, if the column was scaled.
fn scaler_of(
    scalers: &BTreeMap<String, FittedScaler>,
    name: &str,
) -> Result<Option<(LocalScaler, Vec<LocalStats>)>, String> {
    let Some(FittedScaler { kind, stats }) = scalers.get(name) else { return Ok(None) };
    let scaler: LocalScaler = kind.parse().map_err(|error| format!("the scaler of {name}: {error}"))?;
    let stats = stats.as_ref().and_then(TensorData::as_f32);
    let stats = stats.ok_or_else(|| format!("the scaler of {name} has no statistics"))?;
    let (pairs, _) = stats.as_chunks::<2>();
    Ok(Some((scaler, pairs.to_vec())))
}

/// The labels of numbers of categories; one that is none of them for 0, which stands for all others.
fn labels(vocabulary: &Vocabulary, name: &str, numbers: &[f32]) -> Vec<String> {
    let known = vocabulary[name].labels();
    let mut other = "other".to_owned();
    while known.contains(&other) {
        other.push('_');
    }
    let label = |&number: &f32| match number as usize {
        0 => other.clone(),
        number => known.get(number - 1).unwrap_or(&other).clone(),
    };
    numbers.iter().map(label).collect()
}

/// The zone of times, and the times as panels have them.
pub(crate) fn read_times(ds: &Column, kind: TimeKind) -> Result<(Option<String>, Vec<i64>), String> {
    match (ds, kind) {
        (Column::Integers(values), TimeKind::Integer) => Ok((None, values.clone())),
        (Column::Times { unit, zone, values }, TimeKind::Timestamp) => {
            let times: Option<_> = values.iter().map(|&count| unit.microseconds(count)).collect();
            Ok((zone.clone(), times.ok_or_else(|| "ds has times beyond the calendar".to_owned())?))
        }
        (_, TimeKind::Integer) => Err("ds must be integers, as freq is".to_owned()),
        (_, TimeKind::Timestamp) => Err("ds must be times, as freq is a calendar's".to_owned()),
    }
}
