//! `foretell forecast`: the best forecast of a file, in the time that there is.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use foretell::report::{SearchInputs, grouped};
use foretell::{
    ColumnNames, FileOptions, Fitted, Forecaster, Frame, Freq, KeptSettings, Panel, PredictOptions,
    ReadOptions, check_quantiles, is_of_id, is_of_texts, statics_and_texts, texts_not_read, usual_season,
};
use foretell_auto::{Auto, BASELINE, Board, Budget, Criterion, QUANTILES, TrainedAuto, stopped_at_zero};
use serde_json::json;

use crate::args::{JsonArgs, KeptArgs, LevelArgs, MemoryArgs, OutArgs, ThreadArgs, directory, steps};
use crate::context::{Context, Log};
use crate::data_args::DataArgs;
use crate::failure::Usage;
use crate::feature_args::features;
use crate::frequency::freq_without;
use crate::output::{Sink, write_file};
use crate::precision::StepArgs;
use crate::progress::tagged;
use crate::saving::{save_or_keep, take_for};
use crate::shell_word::this_command;
use crate::standard_input;
use crate::table::AlignedTable;

/// Forecast a file, and say how good the forecast is
///
/// Finds the seasons of the data, tries the models that suit them on several windows, combines them with weights that these windows
/// choose, and scores that on a last window, which chooses nothing of it. Then weights are chosen by all windows, and everything is
/// fitted to all data. Writes a row per series and step, with the forecast (the median; of rare demand the mean) and the quantiles 0.1 to
/// 0.9; the leaderboard goes to standard error.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  foretell forecast --data sales.csv --h 14
  foretell forecast --data sales.csv --h 14 --budget 2m --save model \\
    --report r.html \\
    --out forecast.csv
  foretell forecast --data sales.csv --h 14 --models AutoETS,NHITS --budget 1m \\
    --metric mase --no-ensemble
  foretell forecast --data sales.csv --h 14 --futr-exog price \\
    --futr prices.csv \\
    --budget 1m
  foretell forecast --data sales.csv --h 14 --features holidays:DE
  foretell models --for sales.csv --h 14   # which models are tried, and why

The board: MASE is the mean absolute error of the median, divided by the mean
change of the series over a season; scaled CRPS twice the mean loss of the
quantiles, divided by the same; coverage the share of true values between the
quantiles 0.1 and 0.9. All are means over series.

Ctrl-C ends the search and forecasts with what there is.")]
pub(crate) struct Forecast {
    #[command(flatten)]
    data: DataArgs,
    /// Steps to forecast [default: a season of the data's frequency]
    #[arg(long, value_name = "N", value_parser = steps())]
    h: Option<usize>,
    /// Time for all of the work, as 30s, 2m or 1h; 0 for seconds, with models that need no training; or steps of networks, as
    /// 600steps, for the same forecast on any machine
    #[arg(long, value_name = "TIME", default_value = "0", value_parser = str::parse::<Budget>)]
    budget: Budget,
    /// Models to try in place of those that suit the data, besides SeasonalNaive
    #[arg(long, value_name = "NAME[,NAME]", value_delimiter = ',')]
    models: Vec<String>,
    /// What weights are chosen by: mase and scaled_crps of the board, both alike (balanced), or mae, in the units of the data
    #[arg(long, value_name = "METRIC", default_value = "balanced", value_parser = str::parse::<Criterion>)]
    metric: Criterion,
    /// Let forecasts fall below 0 although no value of their series does [default: they stop at 0]
    #[arg(long, conflicts_with = "non_negative")]
    below_zero: bool,
    /// Have the best model forecast alone
    #[arg(long)]
    no_ensemble: bool,
    /// Steps of the seasons, the main one first, as 24,168 [default: found in the data]
    #[arg(long, value_name = "N[,N]", value_delimiter = ',', value_parser = steps())]
    season: Vec<usize>,
    /// Columns of the data known for the past only
    #[arg(long, value_name = "C[,C]", value_delimiter = ',')]
    hist_exog: Vec<String>,
    /// Columns of the data known for past and future; --futr has their future values [default: those that both have]
    #[arg(long, value_name = "C[,C]", value_delimiter = ',', requires = "futr")]
    futr_exog: Vec<String>,
    /// Those of these columns, and of the static ones, that hold categories
    #[arg(long, value_name = "C[,C]", value_delimiter = ',')]
    cat_exog: Vec<String>,
    /// File with the future rows of each series: ids, times, and the columns known in advance. Several files, folders and patterns
    /// are one table, as of --data
    #[arg(long, value_name = "FILE")]
    futr: Vec<PathBuf>,
    /// Columns to compute from the target and the times, which models read beside those of --hist-exog and --futr-exog: holidays:DE,
    /// weekday, fourier:yearly:3, lag:7, ...; `foretell features --list` lists them. --futr is for other columns alone
    #[arg(long, value_name = "WORD[,WORD]", value_delimiter = ',')]
    features: Vec<String>,
    /// Frequency of the data, as in pandas: h, D, B, W-SUN, MS, 15min, BME, SMS, bh, 1, ... or polars: 1mo, 15m, ...
    /// [default: inferred]
    #[arg(long, value_name = "F", value_parser = Freq::parse)]
    freq: Option<Freq>,
    /// File with the days on which business days or hours have no row, one a line [default for --freq: B]
    #[arg(long, value_name = "FILE")]
    holidays: Option<PathBuf>,
    #[command(flatten)]
    level: LevelArgs,
    #[command(flatten)]
    kept: KeptArgs,
    /// Directory to save the models in, for `foretell predict`, `serve` and `fit --from`
    #[arg(long, value_name = "DIR", value_parser = directory())]
    save: Option<PathBuf>,
    /// Replace the models in --save
    #[arg(long, requires = "save")]
    overwrite: bool,
    /// File to write a report to, as HTML: the scores, and a chart of every series
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    #[command(flatten)]
    out: OutArgs,
    #[command(flatten)]
    json: JsonArgs,
    #[command(flatten)]
    steps: StepArgs,
    #[command(flatten)]
    threads: ThreadArgs,
    #[command(flatten)]
    memory: MemoryArgs,
}

impl Forecast {
    pub(crate) fn run(&self, context: &'static Context) -> anyhow::Result<()> {
        self.data.check_names(&self.futr)?;
        let sink = Sink::open_as(context, &self.out.path, self.json)?;
        let directory =
            self.save.as_deref().map(|save| take_for("--save", save, self.overwrite)).transpose()?;
        // An interval that there is not, and a model, are told before any file is read.
        let LevelArgs { levels, quantiles } = &self.level;
        check_quantiles(levels, quantiles)?;
        let features = features(&self.features)?;
        let all = self.static_columns()?;
        let auto = self.auto(context, self.h.unwrap_or(1), (&self.futr_exog, &all))?;
        Forecaster::new([auto.into()])?;
        let mut futr_exog = self.known_ahead()?;
        let (panel, options) = self.read(context, &futr_exog)?;
        let named = [&self.cat_exog[..], &self.data.static_cols[..]].concat();
        let (statics, texts) = statics_and_texts(all, &named, &panel);
        tell_texts(context, &texts, &panel);
        if futr_exog != self.futr_exog {
            let of_texts =
                |name: &String| panel.column(name, 0).err().is_some_and(|error| is_of_texts(&error));
            let (read, texts): (Vec<String>, Vec<String>) =
                futr_exog.into_iter().partition(|name| self.cat_exog.contains(name) || !of_texts(name));
            futr_exog = read;
            let names =
                if futr_exog.is_empty() { "no column of numbers".to_owned() } else { futr_exog.join(", ") };
            let not_read = match &texts[..] {
                [] => ", of texts --cat-exog, too".to_owned(),
                texts => {
                    let texts = texts.join(",");
                    format!(
                        "; not read, as they hold texts: {texts} (--cat-exog {texts} reads them as categories)"
                    )
                }
            };
            let text =
                format!("known ahead: {names}, what both files have; --futr-exog names others{not_read}");
            context.report(
                &text,
                &json!({ "event": "known_ahead", "columns": futr_exog, "texts_not_read": texts }),
            );
        }
        let h = self.horizon(context, &panel)?;
        let future = self.data.read_future(&self.futr, &options, (&panel, h), context)?;
        // What is missing there is told before anything is searched.
        for name in futr_exog.iter().filter(|name| !self.cat_exog.contains(name)) {
            future.as_ref().map(|future| future.column(name)).transpose()?;
        }
        let settings = KeptSettings { end: self.data.end(), ..self.kept.settings() };
        context.bounded(settings);
        let mut forecaster = Forecaster::new([self.auto(context, h, (&futr_exog, &statics))?.into()])?
            .reading(&options)
            .columns(self.data.columns(ColumnNames::default()))
            .threads(self.threads.count)
            .steps_as(self.steps.settings())
            .keep(settings)
            .on_warning(move |warning| context.warned(warning));
        if let Some(bytes) = self.memory.bytes() {
            forecaster = forecaster.max_memory(bytes);
        }
        if let Some(features) = features {
            forecaster = forecaster.features(features).context("--features")?;
        }
        context.catch_interrupts();
        let fitted = forecaster.fit(&panel)?;
        let board = TrainedAuto::board_of(&fitted).context("the forecast was not fitted")?;
        tell(context, &board);
        let quantiles = if self.level.is_empty() { &QUANTILES[..] } else { quantiles };
        let asked = PredictOptions::new().future(future.as_ref()).level(levels).quantiles(quantiles);
        let frame = fitted.predict_with(&panel, &asked)?;
        tell_stopped(context, &stopped_at_zero(&panel, &frame));
        if let Some(directory) = directory {
            let saved = save_or_keep(&fitted, Ok(directory))?;
            context.wrote(&saved, "the models, for `foretell predict`");
        }
        if let Some(path) = &self.report {
            self.write_report(context, path, (&fitted, &board), &panel, &frame, &options.target_col)?;
        }
        let (to_file, rows) = (!sink.is_stdout(), frame.n_rows());
        sink.decimal(options.numbers.decimal()).write_or_keep(&frame)?;
        if to_file {
            context.wrote(&self.out.path, &format!("{} series, {h} steps each", grouped(rows / h)));
        }
        Ok(())
    }

    /// The search for a horizon of `h` steps, as the flags say.
    fn auto(
        &self,
        context: &'static Context,
        h: usize,
        (futr_exog, statics): (&[String], &[String]),
    ) -> anyhow::Result<Auto> {
        let mut auto = Auto::new(h)
            .budget(self.budget)
            .stop_if(move || context.interrupts.asked())
            .with("metric", self.metric.name())?
            .with("ensemble", !self.no_ensemble)?
            .with("below_zero", self.below_zero)?
            .with("hist_exog_list", json!(self.hist_exog))?
            .with("futr_exog_list", json!(futr_exog))?
            .with("stat_exog_list", json!(statics))?
            .with("cat_exog_list", json!(self.cat_exog))?;
        if !self.season.is_empty() {
            auto = auto.with("season_length", json!(self.season))?;
        }
        if !self.models.is_empty() {
            auto = auto.with("models", json!(self.models))?;
        }
        Ok(auto)
    }

    /// The series, and how files beside them are read.
    fn read(&self, context: &'static Context, futr_exog: &[String]) -> anyhow::Result<(Panel, ReadOptions)> {
        let columns = self.data.columns(ColumnNames::default());
        let read = [&self.hist_exog, futr_exog].concat();
        let options = self.data.options(
            &columns,
            read,
            self.cat_exog.clone(),
            freq_without(self.freq, self.holidays.as_deref())?,
            &ReadOptions::default(),
        )?;
        let options = options.max_memory(self.memory.limit().bytes()).threads(self.threads.count);
        let panel = self.data.read(&options, context)?;
        let unread = self.data.tell_unread(&options, context);
        if let [file] = &self.data.data[..]
            && self.futr.is_empty()
            && !unread.is_empty()
            && panel.trimmed().rows > 0
            && !self.data.is_stdin()
        {
            let text = format!(
                "rows behind the last values may hold what is known ahead: --futr {} reads their columns, too",
                file.display()
            );
            context.report(&text, &json!({ "event": "rows_ahead" }));
        }
        Ok((panel, options))
    }

    /// The columns that are known ahead: those that are named, else all that the files of the past and of the future have in common.
    fn known_ahead(&self) -> anyhow::Result<Vec<String>> {
        let (true, Some(futr), Some(data)) =
            (self.futr_exog.is_empty(), self.futr.first(), self.data.data.first())
        else {
            return Ok(self.futr_exog.clone());
        };
        let columns = self.data.columns(ColumnNames::default());
        let read = self.data.options(&columns, Vec::new(), Vec::new(), None, &ReadOptions::default())?;
        let past = match self.data.is_stdin() {
            true => read.header_in(&standard_input::first_rows())?,
            false => read.header(data)?,
        };
        let mut names = foretell::column_names(futr, &read.file)?;
        let series = [columns.time, columns.target];
        let others = [&series, &self.hist_exog[..], &read.static_cols, &read.time_cols].concat();
        names.retain(|name| past.contains(name) && !others.contains(name) && !is_of_id(&columns.id, name));
        if names.is_empty() {
            let message = format!(
                "--futr {}: it has no column that --data has beside ids and times, so nothing of it would be read; name columns \
                 of both by --futr-exog, or leave it out",
                futr.display()
            );
            return Err(Usage(message).into());
        }
        Ok(names)
    }

    /// The static columns that models read: all that there are.
    fn static_columns(&self) -> anyhow::Result<Vec<String>> {
        let mut names = match self.data.statics.first() {
            Some(path) => foretell::column_names(path, &self.data.file.options(&FileOptions::default()))?,
            None => Vec::new(),
        };
        let id = self.data.columns(ColumnNames::default()).id;
        names.retain(|name| !is_of_id(&id, name) && self.data.end_column() != Some(name));
        names.extend(self.data.static_cols.iter().cloned());
        Ok(names)
    }

    /// The steps to forecast: those of the flag, else a season of the data's frequency where the series have three.
    fn horizon(&self, context: &'static Context, panel: &Panel) -> anyhow::Result<usize> {
        if let Some(h) = self.h {
            return Ok(h);
        }
        let (season, freq) = (usual_season(panel.freq()), panel.freq());
        if season > 1 && 3 * season <= panel.max_len() {
            context.report(
                &format!(
                    "forecasting {season} steps, a season of the frequency {freq}; --h N forecasts others"
                ),
                &json!({ "event": "horizon", "h": season }),
            );
            return Ok(season);
        }
        let example = (panel.max_len() / 5).clamp(1, 12);
        Err(Usage(format!(
            "--h is missing: how many steps to forecast, as in --h {example}; the frequency {freq} has no season of which these \
             data have three"
        ))
        .into())
    }

    fn write_report(
        &self,
        context: &'static Context,
        path: &Path,
        (fitted, board): (&Fitted, &Board),
        panel: &Panel,
        frame: &Frame,
        target: &str,
    ) -> anyhow::Result<()> {
        let searched = SearchInputs {
            data: &self.data.shown(),
            forecast: &fitted.column_names().join(", "),
            panel,
            frame,
            target,
            models: board.rows.iter().map(|row| row.model.clone()).collect(),
            scores: board.scores(),
            baseline: BASELINE,
            notes: board.notes(),
            commands: vec![this_command()],
        };
        let mut page = Vec::new();
        searched.report()?.write(&mut page)?;
        write_file(context, path, &page)?;
        context.wrote(path, &format!("a report on {} series", grouped(panel.n_series())));
        Ok(())
    }
}

/// Tells what was tried, how good it is, and what to expect.
pub(crate) fn tell(context: &'static Context, board: &Board) {
    if context.log != Log::Text {
        return context.report("", &tagged("leaderboard", board.to_json()));
    }
    lines(board).iter().for_each(|line| context.report(line, &json!({})));
}

/// Tells which static columns are not read, as they hold texts.
fn tell_texts(context: &'static Context, names: &[String], panel: &Panel) {
    if let Some(told) = texts_not_read(names, panel) {
        let text = format!("{told}; --cat-exog reads them as categories");
        context.report(&text, &json!({ "event": "texts_not_read", "columns": names }));
    }
}

/// Tells that forecasts stop at 0, as no value of their series is below it.
fn tell_stopped(context: &'static Context, series: &[&str]) {
    const NAMED: usize = 5;
    let (named, more) = (&series[..series.len().min(NAMED)], if series.len() > NAMED { ", ..." } else { "" });
    if !named.is_empty() {
        let text = format!(
            "the forecasts of {}{more} fall and stop at 0, as no value of these series is below it; --below-zero lets them fall",
            named.join(", ")
        );
        context.report(&text, &json!({ "event": "stopped_at_zero", "series": series }));
    }
}

/// The board, for people; without the seconds where they are not known.
pub(crate) fn lines(board: &Board) -> Vec<String> {
    let seasons = match board.seasons.as_slice() {
        [1] => "no season found".to_owned(),
        [one] => format!("season: {one} steps"),
        several => {
            let several: Vec<String> = several.iter().map(ToString::to_string).collect();
            format!("seasons: {} steps", several.join(" and "))
        }
    };
    let mut lines = vec![seasons];
    let rows = &board.rows;
    let percent =
        |share: f64| if share.is_finite() { format!("{:.0} %", 100.0 * share) } else { "-".to_owned() };
    let number = |value: f64| if value.is_finite() { format!("{value:.3}") } else { "-".to_owned() };
    let mut table = AlignedTable::new()
        .text("model", rows.iter().map(|row| row.model.clone()))
        .text("MASE", rows.iter().map(|row| number(row.mase)))
        .text("scaled CRPS", rows.iter().map(|row| number(row.scaled_crps)))
        .text("coverage 80 %", rows.iter().map(|row| percent(row.coverage)));
    if rows.iter().any(|row| row.seconds > 0.0) {
        table = table.tenths("seconds", rows.iter().map(|row| row.seconds));
    }
    let table = table.text("weight", rows.iter().map(|row| number(row.weight)));
    lines.extend(table.render().lines().map(str::to_owned));
    for (model, why) in &board.left_out {
        lines.push(format!("not tried: {model}, {why}"));
    }
    for (model, steps) in &board.steps {
        lines.push(format!("{model}: {steps} steps"));
    }
    lines.extend(board.told.iter().cloned());
    lines.push(board.sentence());
    lines
}
