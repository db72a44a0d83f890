//! `foretell demo`: the whole way from data to a forecast, on data that are built in.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use foretell::{
    ColumnPart, ConformalMethod, CrossValidation, Forecaster, Frame, Metrics, ModelSpec, Panel,
    PredictOptions, PredictionIntervals, ReadOptions, ValidationOptions, usual_season,
};
use serde_json::json;

use crate::args::directory;
use crate::context::{Context, Log};
use crate::demo_files::DemoFiles;
use crate::failure::is_broken_pipe;
use crate::figure::{Band, Facet, Figure, Forecast};
use crate::output::print;
use crate::picture::Picture as _;
use crate::progress::Reporter;
use crate::ranking::{leaderboard, ranked};
use crate::shell_word::shell_word;

/// Monthly totals of international airline passengers in thousands, 1949 to 1960: Box and Jenkins 1976,
/// "Time Series Analysis: Forecasting and Control", series G.
const PASSENGERS: &str = include_str!("../../assets/air_passengers.csv");

/// A year ahead, from two years of history.
const H: usize = 12;
const INPUT_SIZE: usize = 24;
/// The last three years are forecast, one by one, by models that have not seen them.
const WINDOWS: usize = 3;

/// The files and the directory that it writes.
const DATA: &str = "air_passengers.csv";
const FORECAST: &str = "forecast.csv";
const PLOT: &str = "forecast.svg";
const MODEL: &str = "model";

/// The baselines that the models are compared with: the last month repeated, and the last year.
const BASELINES: [&str; 2] = ["Naive", "SeasonalNaive"];

/// The interval that is forecast, in percent.
const LEVEL: [f64; 1] = [80.0];

/// Train, score and plot three models of the airline passengers
///
/// The data are built in. The models are scored on three years that they have not seen, beside
/// forecasts that need no model; then they forecast the next year, with an interval.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  foretell demo --out demo

Writes into the directory: air_passengers.csv (the data), forecast.csv,
forecast.svg (the plot), and model (the trained models, for `foretell predict`).
Files of these names that the demo did not write are not replaced.")]
pub(crate) struct Demo {
    /// Directory to write to
    #[arg(long, value_name = "DIR", default_value = "foretell-demo", value_parser = directory())]
    out: PathBuf,
}

impl Demo {
    pub(crate) fn run(&self, context: &'static Context) -> anyhow::Result<()> {
        let mut files = DemoFiles::take(context, &self.out, &[DATA, FORECAST, PLOT, MODEL])?;
        let panel = Panel::read_csv(PASSENGERS.as_bytes(), "air_passengers.csv", &ReadOptions::default())?;
        show(format!(
            "AirPassengers: {} months, 1949 to 1960.\n\
             Forecasting 1958, 1959 and 1960, each by models trained on the months before it ...\n\n",
            panel.n_rows()
        ))?;
        let options = ValidationOptions::new(WINDOWS, H).refit(1).level(&LEVEL);
        let validation = forecaster(context, true)?.cross_validate(&panel, &options)?;
        let metrics = ranked(validation.metrics(&panel, usual_season(panel.freq())));
        let best = best_model(&metrics).context("the demo has models")?;
        let held = held(&validation.frame, &best.model)?;
        show(format!("{}\n{}{held}\n", leaderboard(&metrics).render(), verdict(&metrics)))?;

        show("Training on all months to forecast 1961 ...\n\n")?;
        let fitted = forecaster(context, false)?.fit(&panel)?;
        if context.log == Log::Json {
            context.fitted(&fitted);
        }
        let options = PredictOptions::new().level(&LEVEL);
        let forecast = fitted.predict_with(&panel, &options)?;
        let mut csv = Vec::new();
        forecast.write_csv(&mut csv)?;
        let svg = chart(&panel, &validation, &forecast, &best.model)?.svg()?;
        for (name, content) in [(DATA, PASSENGERS.as_bytes()), (FORECAST, &csv), (PLOT, svg.as_bytes())] {
            context.wrote_quietly(&files.write(name, content)?);
        }
        context.wrote_quietly(&files.save(MODEL, &fitted)?);
        show(self.epilogue())
    }

    fn epilogue(&self) -> String {
        let path = |name: &str| shell_word(&self.out.join(name).display().to_string());
        let [data, csv, svg, model] = [DATA, FORECAST, PLOT, MODEL].map(path);
        format!(
            "Written:\n  \
               {svg}  the plot: history, forecast, interval\n  \
               {csv}  the forecasts of 1961\n  \
               {model}  the trained models\n  \
               {data}  the data\n\n\
             Try next:\n  \
               foretell predict --model {model} --data {data} --level 80\n  \
               foretell cross-validate --data {data} --model NLinear,DLinear \\\n    \
                 --h 6 --input-size 24 --n-windows 4 --set scaler_type=standard \\\n    \
                 --set learning_rate=0.01 --set max_steps=500\n  \
               foretell models\n"
        )
    }
}

/// The three models, small as the data are, with intervals calibrated on forecasts of their past. Sizes and rates
/// were chosen by cross-validation on 1955 to 1957, before the years that the demo scores them on.
fn forecaster(context: &'static Context, beside_baselines: bool) -> anyhow::Result<Forecaster> {
    let spec = |name| -> anyhow::Result<ModelSpec> {
        let spec = ModelSpec::new(name, H, INPUT_SIZE)?
            .set("scaler_type", "standard")?
            .set("max_steps", 300)?
            .set("windows_batch_size", 64)?;
        Ok(spec)
    };
    let specs = [
        spec("NHITS")?.set("mlp_units", json!([[64, 64], [64, 64]]))?,
        spec("MLP")?.set("hidden_size", 64)?,
        spec("NLinear")?.set("learning_rate", 1e-2)?,
    ];
    let baselines = BASELINES.into_iter().filter(|_| beside_baselines);
    let baselines = baselines.map(|name| ModelSpec::new(name, H, 1)).collect::<Result<Vec<_>, _>>()?;
    let mut reporter = Reporter::new(context);
    let intervals = PredictionIntervals {
        n_windows: 36,
        method: ConformalMethod::Error,
        ..PredictionIntervals::default()
    };
    let forecaster = Forecaster::new(specs.into_iter().chain(baselines))?.intervals(intervals);
    Ok(forecaster.on_progress(move |model, progress| reporter.step(model, progress)))
}

/// Prints to the one who reads on: the files are written for those, too, who have seen enough.
fn show(text: impl AsRef<[u8]>) -> anyhow::Result<()> {
    match print(text) {
        Err(error) if is_broken_pipe(&error) => Ok(()),
        shown => shown,
    }
}

fn best_model(ranked: &[Metrics]) -> Option<&Metrics> {
    ranked.iter().find(|metrics| !is_baseline(metrics))
}

fn is_baseline(metrics: &Metrics) -> bool {
    BASELINES.contains(&&*metrics.model)
}

/// The verdict of the table in words: the best model beside the best forecast without one.
fn verdict(ranked: &[Metrics]) -> String {
    let naive = ranked.iter().find(|metrics| is_baseline(metrics));
    let Some((best, naive)) = best_model(ranked).zip(naive) else { return String::new() };
    let repeated = if naive.model == "Naive" { "month" } else { "year" };
    let change = 100.0 * (best.mae / naive.mae - 1.0);
    let word = if change < 0.0 { "smaller" } else { "larger" };
    format!(
        "The mean absolute error of {} is {:.0} % {word} than that of repeating the last {repeated}.\n",
        best.model,
        change.abs()
    )
}

/// How many months of each year the interval held.
fn held(frame: &Frame, model: &str) -> anyhow::Result<String> {
    let end = |part: ColumnPart| frame.part(model, part).with_context(|| format!("{model} has no interval"));
    let (low, high) = (end(ColumnPart::Lower(80.0))?, end(ColumnPart::Upper(80.0))?);
    let inside: Vec<bool> = frame
        .column("y")
        .context("no column y")?
        .iter()
        .zip(low.iter().zip(high))
        .map(|(y, (l, h))| l <= y && y <= h)
        .collect();
    let count = |months: &[bool]| months.iter().filter(|inside| **inside).count();
    let years = inside.chunks(H).zip(1958..).map(|(months, year)| format!("{} of {year}", count(months)));
    Ok(format!(
        "Its 80 % interval held {:.0} % of the months: {}.\n\
         It is as wide as the errors of earlier years were; in 1958 passengers grew less than in any year before.\n",
        100.0 * count(&inside) as f64 / inside.len() as f64,
        years.collect::<Vec<_>>().join(", ")
    ))
}

fn chart(
    panel: &Panel,
    validation: &CrossValidation,
    forecast: &Frame,
    model: &str,
) -> anyhow::Result<Figure> {
    let history: Vec<(i64, f32)> = panel.times(0).zip(panel.y(0).iter().copied()).collect();
    let mut forecasts = Vec::new();
    for frame in [&validation.frame, forecast] {
        let part = |part: ColumnPart| {
            frame.part(model, part).with_context(|| format!("{model} has no {part:?} in the forecast"))
        };
        let middle = part(ColumnPart::Point)?;
        let (lo, hi) = (part(ColumnPart::Lower(80.0))?, part(ColumnPart::Upper(80.0))?);
        for start in (0..frame.n_rows()).step_by(H) {
            let known = history.iter().rev().find(|(time, _)| *time < frame.times[start]).copied();
            let cutoff = known.map(|(time, y)| (time, y, y));
            let steps = (start..start + H).map(|row| (frame.times[row], lo[row], hi[row]));
            let band = Band { level: "80".to_owned(), steps: cutoff.into_iter().chain(steps).collect() };
            let line = (start..start + H).map(|row| (frame.times[row], middle[row]));
            forecasts.push(Forecast {
                model: 0,
                line: known.into_iter().chain(line).collect(),
                bands: vec![band],
                sets_axis: true,
            });
        }
    }
    Ok(Figure {
        title: "International airline passengers".to_owned(),
        subtitle:
            "Thousands a month. The forecasts of 1958, 1959 and 1960 are each by a model trained on the months \
                   before."
                .to_owned(),
        kind: panel.freq().kind(),
        models: vec![format!("{model} forecast")],
        facets: vec![Facet { title: None, history, forecasts }],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_verdict_is_honest() {
        let metrics = |model: &str, mae: f64| Metrics {
            model: model.into(),
            mae,
            rmse: 0.0,
            smape: 0.0,
            mase: 0.0,
            scored_windows: 1,
            scored_series: 1,
            mase_series: 1,
            missing: 0,
            mqloss: None,
            coverage: Vec::new(),
        };
        let (seasonal, naive) = (metrics("SeasonalNaive", 10.0), metrics("Naive", 20.0));
        let won = verdict(&[metrics("MLP", 5.0), seasonal.clone(), metrics("NHITS", 11.0), naive]);
        assert!(won.contains("MLP is 50 % smaller than that of repeating the last year"), "{won}");
        let lost = verdict(&[metrics("Naive", 5.0), seasonal, metrics("MLP", 11.0)]);
        assert!(lost.contains("MLP is 120 % larger than that of repeating the last month"), "{lost}");
    }

    #[test]
    fn the_series_is_the_classic_one() {
        let panel = Panel::read_csv(PASSENGERS.as_bytes(), "", &ReadOptions::default()).unwrap();
        assert_eq!((panel.n_series(), panel.n_rows(), panel.freq().to_string()), (1, 144, "MS".to_owned()));
        assert_eq!(panel.y(0)[..3], [112.0, 118.0, 132.0]);
        assert_eq!(panel.y(0).iter().sum::<f32>(), 40363.0);
    }
}
