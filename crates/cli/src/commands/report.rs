//! `foretell report`: forecasts and their scores as one HTML file.

use std::path::{Path, PathBuf};

use clap::Args;
use foretell::report::{
    AnswerInputs, Report, ScoreSheet, answer, baseline, charts, check_series, drawn_models, facts,
    forecasts_apart, grouped, scored, settings, whose_scores,
};
use foretell::{Contents, FileOptions, Fitted, Frame, Freq, Panel, ReadOptions, column_names, usual_season};
use jiff::Timestamp;

use crate::args::steps;
use crate::context::Context;
use crate::data_args::{DataArgs, shown};
use crate::drawn_forecasts::read_forecasts;
use crate::failure::Usage;
use crate::output::{check_ending, print, write_file};
use crate::report::{METRIC, read_importances, read_scores};
use crate::shell_word::this_command;

/// Write a report on forecasts as one HTML file
///
/// The file needs no network and holds everything. It begins with the answer: the total, beside the same period a year before, its range
/// and the error to expect; then how good the models are beside a baseline, by step ahead, by
/// cutoff and by series (the worst first), the coverage of intervals, and a chart of every series, drawn when it is chosen among
/// however many. It is read by mouse, keyboard and screen reader, light or dark as the system is.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  foretell report --data sales.csv --forecast validation.csv --out report.html
  foretell report --data sales.csv --forecast forecast.csv \\
    --scores validation.csv --model model --out report.html
  foretell inspect model --data sales.csv --json > weights.json
  foretell report --data sales.csv --forecast forecast.csv \\
    --importances weights.json --out report.html

validation.csv is what `cross-validate --out` writes: it is scored, and drawn
too.")]
pub(crate) struct WriteReport {
    #[command(flatten)]
    data: DataArgs,
    /// File with the forecasts: what `predict` or `cross-validate --out` writes, or another tool's
    #[arg(long, value_name = "FILE")]
    forecast: PathBuf,
    /// File with scores, which `evaluate --out` wrote (by series, step or cutoff, or over all), or with forecasts beside what came
    /// true, as `cross-validate --out` writes, which are scored; may be given several times [default: --forecast is scored, as
    /// far as it has come true]
    #[arg(long, value_name = "FILE")]
    scores: Vec<PathBuf>,
    /// File with feature importances, as `inspect --data FILE --json` prints them
    #[arg(long, value_name = "FILE")]
    importances: Option<PathBuf>,
    /// Directory of the models that forecast: its settings are told, and the data are read as for their training
    #[arg(long, value_name = "DIR")]
    model: Option<PathBuf>,
    /// The model that errors are told relative to [default: SeasonalNaive, or Naive]
    #[arg(long, value_name = "MODEL")]
    baseline: Option<String>,
    /// Steps of a season, for mase [default: the usual one of the frequency]
    #[arg(long, value_name = "N", value_parser = steps())]
    season: Option<usize>,
    /// Frequency of the data, as in pandas: h, D, B, W-SUN, MS, 15min, 1, ... [default: inferred]
    #[arg(long, value_name = "F", value_parser = Freq::parse)]
    freq: Option<Freq>,
    /// Steps of each series' end to draw [default: ten times as many as are forecast, and at least 200, before the forecasts]
    #[arg(long, value_name = "N", value_parser = steps())]
    last: Option<usize>,
    /// The unit of the values, as boxes or MWh, which the answer is told in
    #[arg(long, value_name = "TEXT")]
    unit: Option<String>,
    /// The heading [default: Forecasts of the column of values]
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// File to write; `-` writes to standard output [default: the forecasts' file, ending in .html]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

impl WriteReport {
    pub(crate) fn run(&self, context: &'static Context) -> anyhow::Result<()> {
        let out = self.out.clone().unwrap_or_else(|| self.forecast.with_extension("html"));
        check_ending(&out, &["html", "htm"], "a page of HTML")?;
        let (panel, options) = self.data.read_target(self.model.as_deref(), self.freq, context)?;
        let target = options.target_col.clone();
        let frame = self.read_forecasts(context, &self.forecast, "forecast", &options, &panel)?;
        check_series(&panel, &frame)
            .map_err(|error| Usage(format!("--forecast {}: {error}", self.forecast.display())))?;
        let season = self.season.unwrap_or_else(|| usual_season(panel.freq()));
        let (mut sheets, mut beside): (Vec<ScoreSheet>, Vec<Frame>) = (Vec::new(), Vec::new());
        for path in &self.scores {
            let columns = column_names(path, &FileOptions::default())?;
            if columns.iter().any(|column| column == METRIC) {
                sheets.push(read_scores(path, &options.id_col)?);
                context.read_beside(path, "scores");
            } else {
                let validation = self.read_forecasts(context, path, "scores", &options, &panel)?;
                let of_file = scored(&validation, &panel, &target, season)?;
                if of_file.is_empty() {
                    let path = path.display();
                    context.warning(&format!("no row of {path} has come true, so it has no scores"));
                }
                sheets.extend(of_file);
                beside.push(validation);
            }
        }
        let mut notes = Vec::new();
        if let Some(apart) = forecasts_apart(&panel, &frame, 0..panel.n_series()) {
            context.apart(&apart, &self.forecast, &self.data.shown());
            notes.push(format!("Beware: {apart}."));
        }
        if self.scores.is_empty() {
            sheets = scored(&frame, &panel, &target, season)?;
            if sheets.is_empty() {
                notes.push(format!(
                    "None of the forecasts has come true, so there are no scores: --scores takes those of a \
                     cross-validation. Times after the data are what {} forecasts.",
                    self.forecast.display()
                ));
            }
        }
        let contents = self.model.as_ref().map(Contents::of).transpose()?;
        let fitted = self.model.as_ref().map(Fitted::load).transpose()?;
        let tables: Vec<&Frame> = std::iter::once(&frame).chain(&beside).collect();
        let baseline = self.baseline_among(&sheets)?;
        let asked = AnswerInputs {
            panel: &panel,
            frame: &frame,
            target: &target,
            unit: self.unit.as_deref(),
            scores: &sheets,
            baseline: baseline.as_deref(),
            hierarchy: fitted.as_ref().and_then(Fitted::hierarchy).map(|(hierarchy, _)| hierarchy),
        };
        let scored_files =
            if self.scores.is_empty() { std::slice::from_ref(&self.forecast) } else { &self.scores };
        let models: Vec<String> =
            drawn_models(&frame, &target).iter().map(|model| model.model.to_string()).collect();
        let mut told = facts(&self.data.shown(), &self.forecast.display().to_string(), &panel, &frame);
        told.push(("written".to_owned(), Timestamp::now().strftime("%Y-%m-%d %H:%M UTC").to_string()));
        let report = Report {
            answer: answer(&asked),
            scores_of: whose_scores(&shown(scored_files), &sheets, &models),
            title: self.title.clone().unwrap_or_else(|| format!("Forecasts of {target}")),
            facts: told,
            notes,
            baseline,
            scores: sheets,
            importances: self.importances.as_deref().map(read_importances).transpose()?.unwrap_or_default(),
            settings: contents.as_ref().map(settings).unwrap_or_default(),
            commands: vec![this_command()],
            charts: charts(&panel, &tables, &target, self.last),
        };
        self.write(context, &report, &out)
    }

    /// A file of forecasts of any models.
    fn read_forecasts(
        &self,
        context: &'static Context,
        path: &Path,
        role: &str,
        options: &ReadOptions,
        panel: &Panel,
    ) -> anyhow::Result<Frame> {
        let frame = read_forecasts(context, (path, role), (panel, &self.data.shown()), options)?;
        match drawn_models(&frame, &options.target_col).is_empty() {
            false => Ok(frame),
            true => Err(Usage(format!(
                "--{role} {} has no column of forecasts beside {}; name a file with a column for each model",
                path.display(),
                options.target_col
            ))
            .into()),
        }
    }

    /// The baseline among the models that were scored.
    fn baseline_among(&self, sheets: &[ScoreSheet]) -> anyhow::Result<Option<String>> {
        baseline(sheets, self.baseline.as_deref()).map_err(|error| Usage(format!("--{error}")).into())
    }

    fn write(&self, context: &'static Context, report: &Report, out: &Path) -> anyhow::Result<()> {
        let mut page = Vec::new();
        report.write(&mut page)?;
        if out == Path::new("-") {
            return print(page);
        }
        write_file(context, out, &page)?;
        context.wrote(out, &format!("a report on {} series", grouped(report.charts.series.len())));
        Ok(())
    }
}
