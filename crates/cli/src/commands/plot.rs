//! `foretell plot`: series and their forecasts as a picture.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use foretell::{ColumnNames, Frame, Panel, ReadOptions, Zone, nearest};

use crate::Usage;
use crate::args::{DataArgs, LogArgs, steps};
use crate::figure::{Band, Facet, Figure, Forecast};
use crate::forecast_columns::{Columns, forecast_columns};
use crate::output::print;
use crate::progress::Log;

/// Series that are drawn where nobody names any.
const FIRST: usize = 4;

/// More would be a wall of stamps.
const MOST: usize = 60;

/// Draw series and their forecasts, with intervals, as SVG
///
/// Draws the end of the history, the forecasts of every model in the file, and the intervals that its columns
/// ending in -lo-LEVEL and -hi-LEVEL tell. The forecasts may be those of `foretell predict` or `cross-validate`,
/// or a data frame of neuralforecast.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  foretell plot --data sales.csv --forecast forecast.csv
  foretell plot --data sales.parquet --forecast cv.parquet --ids north,south \\
    --last 200 --out sales.svg")]
pub(crate) struct Plot {
    #[command(flatten)]
    data: DataArgs,
    /// File with the forecasts: Parquet if it ends in .parquet, else CSV
    #[arg(long, value_name = "FILE")]
    forecast: PathBuf,
    /// Series to draw [default: the first 4 that are forecast]
    #[arg(long, value_name = "ID[,ID]", value_delimiter = ',')]
    ids: Vec<String>,
    /// Steps of history to draw [default: four times as many as are forecast, and at least 50]
    #[arg(long, value_name = "N", value_parser = steps())]
    last: Option<usize>,
    /// SVG file to write; `-` writes to standard output [default: the forecasts' file, ending in .svg]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    log: LogArgs,
}

impl Plot {
    pub(crate) fn log(&self) -> Log {
        self.log.log
    }

    pub(crate) fn run(&self) -> anyhow::Result<()> {
        let names = self.data.columns(ColumnNames::default());
        let panel = self.data.read(&self.data.options(&names, Vec::new(), Vec::new(), None)?, self.log())?;
        let options = ReadOptions {
            id_col: names.id.clone(),
            time_col: Some(names.time.clone()),
            zone: panel.zone().cloned(),
            ..ReadOptions::default()
        };
        let frame = Frame::from_file(&self.forecast, &options, panel.freq())?;
        self.log().read_beside(&self.forecast, "forecast");
        let columns = forecast_columns(frame.columns.iter().map(|(name, _)| name.as_str()), &names.target);
        if columns.is_empty() {
            let file = self.forecast.display();
            return Err(Usage(format!(
                "--forecast {file} has no column of forecasts beside {}",
                names.target
            ))
            .into());
        }
        let chosen = self.chosen(&panel, &frame)?;
        let figure = self.figure(&panel, &frame, &columns, &chosen, &names.target);
        let (svg, out) = (figure.svg()?, self.out());
        if out == Path::new("-") {
            return print(svg);
        }
        std::fs::write(&out, svg).with_context(|| format!("cannot write {}", out.display()))?;
        let what = format!("{} series, {}", figure.facets.len(), figure.models.join(", "));
        self.log().wrote(&out, &what);
        Ok(())
    }

    fn out(&self) -> PathBuf {
        self.out.clone().unwrap_or_else(|| self.forecast.with_extension("svg"))
    }

    /// The series to draw, by their places in the panel.
    fn chosen(&self, panel: &Panel, frame: &Frame) -> anyhow::Result<Vec<usize>> {
        let forecast: HashSet<&str> = frame.ids.iter().map(|id| &**id).collect();
        let all = || (0..panel.n_series()).map(|series| (series, &**panel.id(series)));
        if self.ids.is_empty() {
            let first: Vec<usize> =
                all().filter(|(_, id)| forecast.contains(id)).map(|(series, _)| series).take(FIRST).collect();
            let file = self.forecast.display();
            return match first.is_empty() {
                true => Err(Usage(format!("--forecast {file} forecasts no series of the data")).into()),
                false => Ok(first),
            };
        }
        if self.ids.len() > MOST {
            return Err(Usage(format!(
                "--ids names {} series; draw at most {MOST} at a time",
                self.ids.len()
            ))
            .into());
        }
        let find = |wanted: &String| {
            let found = all().find(|(_, id)| id == wanted);
            let place = match &found {
                None => self.data.data.display().to_string(),
                Some((_, id)) if !forecast.contains(id) => self.forecast.display().to_string(),
                Some((series, _)) => return Ok(*series),
            };
            let hint = nearest(wanted, all().map(|(_, id)| id).filter(|id| forecast.contains(id)));
            let hint = hint.map(|id| format!(", did you mean `{id}`?")).unwrap_or_default();
            Err(Usage(format!("--ids {wanted}: {place} has no such series{hint}")).into())
        };
        self.ids.iter().map(find).collect()
    }

    fn figure(
        &self,
        panel: &Panel,
        frame: &Frame,
        columns: &[Columns<'_>],
        chosen: &[usize],
        target: &str,
    ) -> Figure {
        let one = chosen.len() == 1;
        let facets: Vec<Facet> = chosen
            .iter()
            .map(|&series| {
                let rows: Vec<usize> =
                    (0..frame.n_rows()).filter(|&row| frame.ids[row] == *panel.id(series)).collect();
                let drawn = Drawn { panel, frame, series, rows };
                let last = self.last.unwrap_or_else(|| drawn.steps_shown());
                drawn.facet(columns, last, (!one).then(|| panel.id(series).to_string()))
            })
            .collect();
        let title = match (one, chosen) {
            (true, [series, ..]) => panel.id(*series).to_string(),
            _ => format!("{} of {} series", chosen.len(), panel.n_series()),
        };
        let last = facets.iter().map(|facet| facet.history.len()).max().unwrap_or(0);
        let windows = facets.iter().map(|facet| facet.forecasts.len() / columns.len()).max().unwrap_or(0);
        let forecasts = if windows > 1 { format!("{windows} forecasts") } else { "one forecast".to_owned() };
        Figure {
            title,
            subtitle: format!(
                "{target}: the last {last} steps (frequency {}) of {}, and {forecasts} of {}",
                panel.freq(),
                file_name(&self.data.data),
                file_name(&self.forecast)
            ),
            kind: panel.freq().kind(),
            models: columns.iter().map(|columns| columns.model.to_owned()).collect(),
            facets,
        }
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// A series, and its rows in the frame of forecasts.
struct Drawn<'a> {
    panel: &'a Panel,
    frame: &'a Frame,
    series: usize,
    rows: Vec<usize>,
}

impl Drawn<'_> {
    /// Steps of history that go well with the forecasts.
    fn steps_shown(&self) -> usize {
        let times = || self.rows.iter().map(|&row| self.frame.times[row]);
        let distinct: HashSet<i64> = times().collect();
        let first = times().min().unwrap_or(i64::MAX);
        let after = self.panel.times(self.series).filter(|time| *time >= first).count();
        (4 * distinct.len()).max(50).max(after + distinct.len())
    }

    fn facet(&self, columns: &[Columns<'_>], last: usize, title: Option<String>) -> Facet {
        let zone = self.panel.zone();
        let known: Vec<(i64, f32)> = self.known();
        let windows = self.windows();
        let mut forecasts = Vec::new();
        for (model, columns) in columns.iter().enumerate() {
            for rows in &windows {
                let first = self.frame.times[rows[0]];
                let cutoff =
                    known.partition_point(|(time, _)| *time < first).checked_sub(1).map(|i| known[i]);
                let cutoff = cutoff.filter(|(_, value)| value.is_finite());
                let start = cutoff.map(|(time, value)| (civil(zone, time), value));
                let time = |row: usize| civil(zone, self.frame.times[row]);
                let points = columns.point(self.frame);
                let line = points.iter().flat_map(|points| rows.iter().map(|&row| (time(row), points[row])));
                let band = |(level, lo, hi): &(&str, &[f32], &[f32])| Band {
                    level: (*level).to_owned(),
                    steps: start
                        .map(|(time, value)| (time, value, value))
                        .into_iter()
                        .chain(rows.iter().map(|&row| (time(row), lo[row], hi[row])))
                        .collect(),
                };
                forecasts.push(Forecast {
                    model,
                    line: start.into_iter().chain(line).collect(),
                    bands: columns.intervals(self.frame).iter().map(band).collect(),
                });
            }
        }
        let history = known[known.len().saturating_sub(last)..].iter();
        Facet {
            title,
            history: history.map(|&(time, value)| (civil(zone, time), value)).collect(),
            forecasts,
        }
    }

    /// Times and values; masked ones are missing.
    fn known(&self) -> Vec<(i64, f32)> {
        let mask = self.panel.available_mask(self.series);
        let value =
            |(row, &y): (usize, &f32)| if mask.is_none_or(|mask| mask[row] != 0.0) { y } else { f32::NAN };
        self.panel.times(self.series).zip(self.panel.y(self.series).iter().enumerate().map(value)).collect()
    }

    /// The rows of each forecast: of one cutoff, or while times go on.
    fn windows(&self) -> Vec<Vec<usize>> {
        let frame = self.frame;
        let cutoff = |row: usize| frame.cutoffs.as_ref().map(|cutoffs| cutoffs[row]);
        let joined = |a: &usize, b: &usize| cutoff(*a) == cutoff(*b) && frame.times[*a] < frame.times[*b];
        self.rows.chunk_by(joined).map(<[usize]>::to_vec).collect()
    }
}

/// What clocks showed; axes are labelled by them.
fn civil(zone: Option<&Zone>, time: i64) -> i64 {
    zone.and_then(|zone| zone.civil(time)).unwrap_or(time)
}
