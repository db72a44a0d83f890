//! `foretell plot`: series and their forecasts as a picture.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use clap::Args;
use foretell::report::{civil, drawn_models, forecasts_apart, grouped, known_values, windows};
use foretell::{Frame, Freq, ModelInTable, Panel, nearest};

use crate::args::steps;
use crate::context::Context;
use crate::data_args::DataArgs;
use crate::drawn_forecasts::read_forecasts;
use crate::failure::Usage;
use crate::figure::{Band, Facet, Figure, Forecast};
use crate::picture::{Picture as _, check_ending, is_stdout};

/// The series that are drawn unless some are named.
const FIRST: usize = 4;

/// More panels would be a wall of stamps.
const MOST: usize = 60;

/// Draw series and their forecasts, with intervals, as SVG or PNG
///
/// Draws the end of the history, the forecasts of every model in the file, and the intervals given by its columns: ends of levels, as
/// NHITS-lo-80 and NHITS-hi-80, or quantiles, as NHITS_ql0.1 and NHITS_ql0.9. The forecasts may be those of `foretell predict` or `cross-validate`, or a
/// data frame of neuralforecast. Of a file of `foretell decompose` each part is drawn below the forecast that it is of.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  foretell plot --data sales.csv --forecast forecast.csv
  foretell plot --data sales.parquet --forecast cv.parquet --ids north,south \\
    --models NHITS --last 200 --out sales.png
  foretell plot --model model --data sales.csv --forecast forecast.csv
  foretell plot --model model --data sales.csv --forecast parts.csv --ids north
  foretell plot --data sales.csv --forecast forecast.csv \\
    --ids 'Smith, John' --ids north")]
pub(crate) struct Plot {
    #[command(flatten)]
    data: DataArgs,
    /// Directory of the models that forecast: the data are read as for their training [default: as the flags say]
    #[arg(long, value_name = "DIR")]
    model: Option<PathBuf>,
    /// File with the forecasts: Parquet if it ends in .parquet, else CSV
    #[arg(long, value_name = "FILE")]
    forecast: PathBuf,
    /// Series to draw, separated by commas, or each behind an --ids of its own; among several, an id that holds a comma
    /// stands in quotation marks, as in CSV [default: the first 4 that are forecast, of parts the first]
    #[arg(long, value_name = "ID[,ID]")]
    ids: Vec<String>,
    /// Models to draw: columns of the forecasts without what says their part, as -median and -lo-80, named as --ids [default: all]
    #[arg(long, value_name = "NAME[,NAME]")]
    models: Vec<String>,
    /// Frequency of the data, as in pandas: h, D, B, W-SUN, MS, 15min, 1, ... [default: inferred]
    #[arg(long, value_name = "F", value_parser = Freq::parse)]
    freq: Option<Freq>,
    /// Steps of history to draw [default: four times as many as are forecast, and at least 50]
    #[arg(long, value_name = "N", value_parser = steps())]
    last: Option<usize>,
    /// File to write, SVG or PNG as its name ends in .svg or .png; `-` writes SVG to standard output [default: the forecasts' file,
    /// ending in .svg]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

impl Plot {
    pub(crate) fn run(&self, context: &'static Context) -> anyhow::Result<()> {
        self.out.as_deref().map_or(Ok(()), |out| check_ending("--out", out))?;
        let (panel, options) = self.data.read_target(self.model.as_deref(), self.freq, context)?;
        let target = options.target_col.clone();
        let of = (&panel, &*self.data.shown());
        let frame = read_forecasts(context, (&self.forecast, "forecast"), of, &options)?;
        let drawn = drawn_models(&frame, &target);
        let (figure, series) = if drawn.is_empty() {
            let models = self.keep_chosen_models(self.models_of_parts(&frame, &target)?)?;
            let panels = models.iter().map(|model| 1 + model.components.len()).sum();
            let chosen = self.chosen(&panel, &frame, panels)?;
            self.warn_of_other_times(context, &panel, &frame, &chosen);
            (self.figure_of_parts(&panel, &frame, &models, &chosen, &target), chosen.len())
        } else {
            let models = self.keep_chosen_models(drawn)?;
            let chosen = self.chosen(&panel, &frame, 1)?;
            self.warn_of_other_times(context, &panel, &frame, &chosen);
            (self.figure(&panel, &frame, &models, &chosen, &target), chosen.len())
        };
        let out = self.out();
        figure.write(&out, context)?;
        if is_stdout(&out) {
            return Ok(());
        }
        let what = format!("{series} series, {}", figure.models.join(", "));
        context.wrote(&out, &what);
        Ok(())
    }

    /// The models of a table that has no forecasts but takes them apart.
    fn models_of_parts(&self, frame: &Frame, target: &str) -> anyhow::Result<Vec<ModelInTable>> {
        let models: Vec<ModelInTable> =
            frame.models(target).into_iter().filter(|model| !model.components.is_empty()).collect();
        let file = self.forecast.display();
        if models.is_empty() {
            let message = format!("--forecast {file} has no column of forecasts beside {target}");
            return Err(Usage(message).into());
        }
        if models.iter().any(|model| model.is_explained) {
            let message = format!(
                "--forecast {file} holds contributions of inputs, and no forecasts; `foretell explain --plot FILE` \
                 draws them"
            );
            return Err(Usage(message).into());
        }
        Ok(models)
    }

    fn out(&self) -> PathBuf {
        self.out.clone().unwrap_or_else(|| self.forecast.with_extension("svg"))
    }

    /// The series to draw, by their places in the panel; each takes this many `panels` of the figure.
    fn chosen(&self, panel: &Panel, frame: &Frame, panels: usize) -> anyhow::Result<Vec<usize>> {
        let forecast: HashSet<&str> = frame.ids.iter().map(|id| &**id).collect();
        let all = || (0..panel.n_series()).map(|series| (series, &**panel.id(series)));
        if self.ids.is_empty() {
            let first = all().filter(|(_, id)| forecast.contains(id)).map(|(series, _)| series);
            let first: Vec<usize> = first.take(if panels > 1 { 1 } else { FIRST }).collect();
            let file = self.forecast.display();
            return match first.is_empty() {
                true => Err(Usage(format!("--forecast {file} forecasts no series of the data")).into()),
                false => Ok(first),
            };
        }
        let ids = named(&self.ids, |id| all().any(|(_, known)| known == id));
        let most = (MOST / panels).max(1);
        if ids.len() > most {
            let message = format!("--ids names {} series; draw at most {most} at a time", ids.len());
            return Err(Usage(message).into());
        }
        let find = |wanted: &String| {
            let found = all().find(|(_, id)| id == wanted);
            let place = match &found {
                None => self.data.shown(),
                Some((_, id)) if !forecast.contains(id) => self.forecast.display().to_string(),
                Some((series, _)) => return Ok(*series),
            };
            let known = || all().map(|(_, id)| id).filter(|id| forecast.contains(id));
            let hint = match (nearest(wanted, known()), known().next()) {
                (Some(id), _) => format!("did you mean `{id}`?"),
                (None, Some(first)) => format!("name one that is forecast, as `{first}`"),
                (None, None) => format!("{} forecasts no series of the data", self.forecast.display()),
            };
            Err(Usage(format!("--ids {wanted}: {place} has no such series; {hint}")).into())
        };
        ids.iter().map(find).collect()
    }

    /// The columns of the models that --models names, in its order; all if it names none.
    fn keep_chosen_models(&self, mut columns: Vec<ModelInTable>) -> anyhow::Result<Vec<ModelInTable>> {
        let known: Vec<&str> = columns.iter().map(|columns| &*columns.model).collect();
        let chosen = named(&self.models, |model| known.contains(&model));
        if let Some(wanted) = chosen.iter().find(|model| !known.contains(&model.as_str())) {
            let hint = nearest(wanted, known.iter().copied());
            let hint = hint.map(|model| format!(", did you mean `{model}`?")).unwrap_or_default();
            let (file, known) = (self.forecast.display(), known.join(", "));
            let message = format!("--models {wanted}: {file} has the models {known}{hint}");
            return Err(Usage(message).into());
        }
        let place = |columns: &ModelInTable| chosen.iter().position(|wanted| **wanted == *columns.model);
        if !chosen.is_empty() {
            columns.retain(|columns| place(columns).is_some());
            columns.sort_by_key(place);
        }
        Ok(columns)
    }

    /// Warns where forecasts do not touch the data that they should be of.
    fn warn_of_other_times(&self, context: &'static Context, panel: &Panel, frame: &Frame, chosen: &[usize]) {
        if let Some(apart) = forecasts_apart(panel, frame, chosen.iter().copied()) {
            context.apart(&apart, &self.forecast, &self.data.shown());
        }
    }

    fn figure(
        &self,
        panel: &Panel,
        frame: &Frame,
        columns: &[ModelInTable],
        chosen: &[usize],
        target: &str,
    ) -> Figure {
        let one = chosen.len() == 1;
        let facet = |&series: &usize| {
            let drawn = Drawn::new(panel, frame, series);
            let last = self.last.unwrap_or_else(|| drawn.steps_shown());
            drawn.facet(columns, last, (!one).then(|| panel.id(series).to_string()))
        };
        let facets: Vec<Facet> = chosen.iter().map(facet).collect();
        let windows = facets.iter().map(|facet| facet.forecasts.len() / columns.len()).max().unwrap_or(0);
        let forecasts = if windows > 1 { format!("{windows} forecasts") } else { "one forecast".to_owned() };
        let models = columns.iter().map(|columns| columns.model.to_string()).collect();
        self.figure_of(panel, chosen, facets, models, |history, file| {
            format!("{target}: {history}, and {forecasts} of {file}")
        })
    }

    /// Of each series and model a panel of the forecast, the sum of its parts, and one of each part.
    fn figure_of_parts(
        &self,
        panel: &Panel,
        frame: &Frame,
        models: &[ModelInTable],
        chosen: &[usize],
        target: &str,
    ) -> Figure {
        let mut facets = Vec::new();
        for &series in chosen {
            let drawn = Drawn::new(panel, frame, series);
            let last = self.last.unwrap_or_else(|| drawn.steps_shown());
            for (number, model) in models.iter().enumerate() {
                facets.extend(drawn.facets_of_parts(number, model, last, chosen.len() > 1));
            }
        }
        let models = models.iter().map(|model| model.model.to_string()).collect();
        self.figure_of(panel, chosen, facets, models, |history, file| {
            format!("{target}: {history}, and the parts of forecasts of {file}")
        })
    }

    /// A figure of these facets.
    fn figure_of(
        &self,
        panel: &Panel,
        chosen: &[usize],
        facets: Vec<Facet>,
        models: Vec<String>,
        what: impl Fn(&str, &str) -> String,
    ) -> Figure {
        let title = match chosen {
            [series] => panel.id(*series).to_string(),
            _ => format!("{} of {} series", chosen.len(), grouped(panel.n_series())),
        };
        let last = facets.iter().map(|facet| facet.history.len()).max().unwrap_or(0);
        let data = file_name(&self.data.data[0]);
        let steps = if last == 1 { "step".to_owned() } else { format!("{} steps", grouped(last)) };
        let history = format!("the last {steps} (frequency {}) of {data}", panel.freq());
        let subtitle = what(&history, &file_name(&self.forecast));
        Figure { title, subtitle, kind: panel.freq().kind(), models, facets }
    }
}

/// The names that the values of a flag hold: a value as a whole where it `is_one`, else its cells as in CSV.
fn named(values: &[String], is_one: impl Fn(&str) -> bool) -> Vec<String> {
    let cells = |value: &String| -> Vec<String> {
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(value.as_bytes());
        match reader.records().next() {
            Some(Ok(record)) if !is_one(value) => record.iter().map(str::to_owned).collect(),
            _ => vec![value.clone()],
        }
    };
    values.iter().flat_map(cells).collect()
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

impl<'a> Drawn<'a> {
    fn new(panel: &'a Panel, frame: &'a Frame, series: usize) -> Self {
        let rows = (0..frame.n_rows()).filter(|&row| frame.ids[row] == *panel.id(series)).collect();
        Self { panel, frame, series, rows }
    }

    /// Steps of history that go well with the forecasts.
    fn steps_shown(&self) -> usize {
        let times = || self.rows.iter().map(|&row| self.frame.times[row]);
        let distinct: HashSet<i64> = times().collect();
        let first = times().min().unwrap_or(i64::MAX);
        let after = self.panel.times(self.series).filter(|time| *time >= first).count();
        (4 * distinct.len()).max(50).max(after + distinct.len())
    }

    fn facet(&self, columns: &[ModelInTable], last: usize, title: Option<String>) -> Facet {
        let zone = self.panel.zone();
        let known = known_values(self.panel, self.series);
        let windows = windows(self.frame, &self.rows);
        let mut forecasts = Vec::new();
        for (model, columns) in columns.iter().enumerate() {
            for rows in &windows {
                let first = self.frame.times[rows[0]];
                let before = known.partition_point(|(time, _)| *time < first);
                let cutoff = before.checked_sub(1).map(|i| known[i]);
                let cutoff = cutoff.filter(|(_, value)| value.is_finite());
                // What is drawn begins at the last value, unless its own first step is missing.
                let start = |places: &[usize]| {
                    let is_known = |place: &usize| self.frame.columns[*place].1[rows[0]].is_finite();
                    let joint = cutoff.filter(|_| places.iter().all(is_known));
                    joint.map(|(time, value)| (civil(zone, time), value))
                };
                let time = |row: usize| civil(zone, self.frame.times[row]);
                let values = |place: usize| &self.frame.columns[place].1[..];
                let line = columns.point().map(|place| {
                    let steps = rows.iter().map(move |&row| (time(row), values(place)[row]));
                    start(&[place]).into_iter().chain(steps)
                });
                let band = |(level, lo, hi): &(f64, usize, usize)| Band {
                    level: level.to_string(),
                    steps: start(&[*lo, *hi])
                        .map(|(time, value)| (time, value, value))
                        .into_iter()
                        .chain(rows.iter().map(|&row| (time(row), values(*lo)[row], values(*hi)[row])))
                        .collect(),
                };
                forecasts.push(Forecast {
                    model,
                    line: line.into_iter().flatten().collect(),
                    bands: columns.intervals().iter().map(band).collect(),
                    sets_axis: before > 0,
                });
            }
        }
        Facet { title, history: self.history(&known, last), forecasts }
    }

    /// The last values, on civil clocks.
    fn history(&self, known: &[(i64, f32)], last: usize) -> Vec<(i64, f32)> {
        let zone = self.panel.zone();
        known[known.len().saturating_sub(last)..].iter().map(|&(time, y)| (civil(zone, time), y)).collect()
    }

    /// The forecast of a model, the sum of its parts, and each part.
    fn facets_of_parts(&self, number: usize, model: &ModelInTable, last: usize, with_id: bool) -> Vec<Facet> {
        let zone = self.panel.zone();
        let title = |name: String| match with_id {
            true => Some(format!("{}, {name}", self.panel.id(self.series))),
            false => Some(name),
        };
        let value = |place: usize, row: usize| self.frame.columns[place].1[row];
        let line = |of: &dyn Fn(usize) -> f32| {
            let steps = self.rows.iter().map(|&row| (civil(zone, self.frame.times[row]), of(row)));
            Forecast { model: number, line: steps.collect(), bands: Vec::new(), sets_axis: true }
        };
        let sum = |row: usize| model.components.iter().map(|&(_, place)| value(place, row)).sum();
        let whole = Facet {
            title: title(model.model.to_string()),
            history: self.history(&known_values(self.panel, self.series), last),
            forecasts: vec![line(&sum)],
        };
        let parts = model.components.iter().map(|(part, place)| Facet {
            title: title(format!("{}: {part}", model.model)),
            history: Vec::new(),
            forecasts: vec![line(&|row| value(*place, row))],
        });
        std::iter::once(whole).chain(parts).collect()
    }
}
