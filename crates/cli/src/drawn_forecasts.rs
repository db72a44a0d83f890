//! Tables of forecasts of any tool that are drawn beside the data that they are of.

use std::path::Path;

use foretell::{
    ColumnPart, ForecastColumn, ForecastTable, Frame, Panel, ReadOptions, TimeKind, check_zone_of_data,
    column_names, crossed_quantiles, name_quantiles, refuse_sample_paths,
};
use serde_json::json;

use crate::context::Context;
use crate::looked_at::{LookedAt, as_written, is_pair};

/// Reads forecasts of the series of a panel, which was read of `data`, with the names of columns and the numbers that `options` say: other names
/// are told by what the columns hold. What is taken for granted is said.
pub(crate) fn read_forecasts(
    context: &'static Context,
    (path, role): (&Path, &str),
    (panel, data): (&Panel, &str),
    options: &ReadOptions,
) -> anyhow::Result<Frame> {
    let looked_at = LookedAt::default();
    let mut options = as_written(path, options.clone(), [false; 2]);
    let header = column_names(path, &options.file).unwrap_or_default();
    let time = options.time_col.clone().unwrap_or_default();
    if !(header.contains(&options.id_col) && header.contains(&time)) {
        let of_forecasts = || {
            let mut said = options.clone();
            said.time_col = said.time_col.filter(|time| header.contains(time));
            if !header.contains(&said.id_col) {
                said.id_col = ReadOptions::new().id_col;
            }
            Some(said)
        };
        if let Some(roles) = looked_at.roles(path, of_forecasts).filter(|roles| !roles.repeats) {
            options.id_col = roles.id.clone().unwrap_or(options.id_col);
            options.time_col = roles.time.clone().or(options.time_col);
        }
    }
    options.time_col = options.time_col.filter(|time| header.contains(time) || !is_pair(&header));
    let mut own = options.clone();
    own.zone = None;
    if let Some(zone) = panel.zone()
        && let Ok(first) = ForecastTable::first_times(path, &own)
        && first.kind == Some(TimeKind::Timestamp)
        && first.zone.is_none()
    {
        context.warning(&format!(
            "the times of {} have no zone: they are read in {zone}, that of {data}",
            path.display()
        ));
    }
    let mut table = ForecastTable::from_file(path, &options)?.of_series(panel.ids())?;
    tell_named_quantiles(context, &mut table, &options.target_col);
    tell_unleveled(context, &table, &[]);
    crossed_quantiles(&table, &options.target_col)
        .iter()
        .for_each(|crossed| context.warning(&crossed.to_string()));
    let frame = table.into_frame(&options, panel.freq())?;
    check_zone_of_data((&frame, &path.display().to_string()), (panel, data))?;
    refuse_sample_paths(&frame, &path.display().to_string())?;
    looked_at.tell_forecasts(path, context);
    context.read_beside(path, role);
    Ok(frame)
}

/// Reads columns that tell a quantile and no model, as AutoGluon's, as quantiles of the forecast beside them, and tells it.
pub(crate) fn tell_named_quantiles(context: &'static Context, table: &mut ForecastTable, target: &str) {
    let named = name_quantiles(table, target);
    if !named.is_empty() {
        let shown: Vec<String> = named.iter().map(|[before, now]| format!("{before} as {now}")).collect();
        let text = format!("read as quantiles: {}", shown.join(", "));
        context.report(&text, &json!({ "event": "quantiles", "columns": named }));
    }
}

/// Tells of intervals whose level no name tells, as Prophet's, of these models or of all where none is named: they are no forecasts of their own, and
/// what takes levels can do nothing with them.
pub(crate) fn tell_unleveled(context: &'static Context, table: &ForecastTable, models: &[String]) {
    let names: Vec<&str> = table.columns.iter().map(|(name, _)| name.as_str()).collect();
    let is_of = |end: &ForecastColumn| models.is_empty() || models.iter().any(|model| model == end.model());
    let ends = ForecastColumn::read(&names).into_iter().filter(ForecastColumn::is_unleveled_end);
    let ends: Vec<ForecastColumn> = ends.filter(is_of).collect();
    if let Some(first) = ends.first() {
        let names: Vec<String> = ends.iter().map(ForecastColumn::name).collect();
        let [low, high] = [ColumnPart::Lower(80.0), ColumnPart::Upper(80.0)]
            .map(|part| ForecastColumn::new(first.model(), part).name());
        let text = format!(
            "passed over: {}, the ends of an interval whose level no name tells; of 80 % they are {low} and {high}",
            names.join(", ")
        );
        context.report(&text, &json!({ "event": "unleveled", "columns": names }));
    }
}
