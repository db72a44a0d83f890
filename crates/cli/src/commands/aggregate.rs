//! `foretell aggregate`: the sums of series as series.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use foretell::hierarchy::Hierarchy;
use foretell::{
    AVAILABLE_MASK, ColumnNames, Frame, Freq, Panel, ReadOptions, StaticOfSums, Warning, statics_of_sums,
    sum_series, warnings_of_sums,
};
use serde_json::json;

use crate::context::Context;
use crate::data_args::DataArgs;
use crate::failure::Usage;
use crate::hierarchy_args::HierarchyArgs;
use crate::output::Sink;

/// Add up series, so that their sums can be forecast beside them
///
/// Writes ids, times and values of the sums and of the series at the bottom, sorted by id. Before a series begins it adds nothing; a
/// sum is not known where one of its series is not (available_mask). Static columns (--static-cols), which may be the levels, are written with
/// the value that all series of a sum have. Other columns are left out and named, since prices and holidays have no sums.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  foretell aggregate --data sales.csv --levels country,state,city \\
    --static shops.csv --out all.csv
  foretell aggregate --data sales.csv --hierarchy summing.csv --out all.csv")]
pub(crate) struct Aggregate {
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    hierarchy: HierarchyArgs,
    /// Frequency of the data, as in pandas: h, D, B, W-SUN, MS, 15min, 1, ... [default: inferred]
    #[arg(long, value_name = "F", value_parser = Freq::parse)]
    freq: Option<Freq>,
    /// File to write to: Parquet if it ends in .parquet, else CSV; `-` is standard output
    #[arg(long, value_name = "FILE", default_value = "-")]
    out: PathBuf,
}

impl Aggregate {
    pub(crate) fn run(&self, context: &'static Context) -> anyhow::Result<()> {
        let sink = Sink::open(context, &self.out)?;
        let columns = self.data.columns(ColumnNames::default());
        let usual = ReadOptions::default();
        // Static columns are read as labels, so that sums get the text of the file.
        let labels = self.data.static_cols.clone();
        let options = self.data.options(&columns, Vec::new(), labels, self.freq, &usual)?;
        let panel = self.data.read(&options, context)?;
        let hierarchy = match self.hierarchy.of_static_columns(&self.data.static_cols, &panel)? {
            Some(hierarchy) => hierarchy,
            None => self.data.hierarchy(&self.hierarchy, (&columns.id, &options.file))?.ok_or_else(|| {
                Usage(
                    "name a file with a summing matrix by --hierarchy, or columns of labels by --levels"
                        .to_owned(),
                )
            })?,
        };
        let unread = self.data.unread_columns(&options);
        if !unread.is_empty() {
            let text = format!(
                "columns that the sums do not have: {}; for models that read them, add them to the rows that are written",
                unread.join(", ")
            );
            context.report(&text, &json!({ "event": "note", "message": text, "columns": unread }));
        }
        let absent = |id: &str| panel.find(id).is_none();
        let series: Vec<String> =
            hierarchy.bottom_ids().iter().filter(|id| absent(id)).map(|id| id.to_string()).collect();
        let present = hierarchy.among(|id| !absent(id)).filter(|_| !series.is_empty());
        if present.is_some() {
            context.warned(&Warning::NotInData { series });
        }
        // Of none that are there the sums say which they want.
        let hierarchy = present.unwrap_or(hierarchy);
        warnings_of_sums(&panel, &hierarchy).iter().for_each(|warning| context.warned(warning));
        let mut frame = frame_of(&sum_series(&panel, &hierarchy)?, columns);
        for column in statics_of_sums(&panel, &hierarchy, &self.data.static_cols)? {
            push_static(&mut frame, &hierarchy, column, context);
        }
        let to_file = !sink.is_stdout();
        sink.decimal(options.numbers.decimal()).write(&frame)?;
        if to_file {
            let [sums, series] = [hierarchy.n_aggregates(), hierarchy.n_bottom()];
            context.wrote(&self.out, &format!("{sums} sums and {series} series"));
        }
        Ok(())
    }
}

/// Adds a static column, and tells of which sums it is not.
fn push_static(frame: &mut Frame, hierarchy: &Hierarchy, column: StaticOfSums, context: &'static Context) {
    let StaticOfSums { name, values, unlike, .. } = column;
    let sums = hierarchy.n_aggregates();
    if !unlike.is_empty() {
        let text = format!(
            "column {name} is empty for {} of {sums} sums, whose series differ in it ({}); models that read it need a value there",
            unlike.len(),
            unlike.iter().map(|id| &**id).take(5).collect::<Vec<_>>().join(", ")
        );
        context.report(&text, &json!({ "event": "note", "message": text, "columns": [name] }));
    }
    let of: HashMap<&str, &Option<Arc<str>>> = hierarchy.ids().map(|id| &**id).zip(&values).collect();
    let rows: Vec<Option<Arc<str>>> =
        frame.ids.iter().map(|id| of.get(&**id).and_then(|value| (*value).clone())).collect();
    let numbers = rows.iter().map(|text| text.as_ref().map_or(Ok(f64::NAN), |text| text.parse::<f64>()));
    match numbers.collect::<Result<Vec<f64>, _>>() {
        Ok(numbers) => frame.push_wide(&name, numbers, true),
        Err(_) => frame.push_labels(&name, rows),
    }
}

/// The known values of a panel as a table.
fn frame_of(panel: &Panel, columns: ColumnNames) -> Frame {
    let mut frame = Frame { id_col: columns.id, time_col: columns.time, ..Frame::new(panel.freq()) };
    frame.zone = panel.zone().cloned();
    let mut y = Vec::with_capacity(panel.n_rows());
    for series in 0..panel.n_series() {
        frame.ids.extend(std::iter::repeat_n(panel.id(series), panel.len(series)).cloned());
        frame.times.extend(panel.times(series));
        y.extend(panel.known_values(series, 0..panel.len(series)));
    }
    let known: Vec<f32> = y.iter().map(|y| f32::from(u8::from(!y.is_nan()))).collect();
    frame.push_wide(&columns.target, y, panel.has_levels());
    if known.contains(&0.0) {
        frame.columns.push((AVAILABLE_MASK.to_owned(), known));
        frame.integers.push(AVAILABLE_MASK.to_owned());
    }
    frame
}
