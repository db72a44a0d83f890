//! What standard error tells while a command works.

use std::io::{self, IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use clap::ValueEnum;
use foretell::{Filled, Fitted, Panel, Progress, Verdict};
use indicatif::{ProgressBar, ProgressFinish, ProgressStyle};
use serde_json::{Value, json};

use crate::interrupt;
use crate::table::{grouped, short};

/// The form of what is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Log {
    /// A progress bar on a terminal, else a line every few seconds
    Text,
    /// A JSON object per line, its `event` one of: read (path, series, rows, freq, freq_inferred,
    /// filled_rows, filled_values), step (model, step, max_steps, train_loss, valid_loss
    /// after a check, learning_rate, elapsed_s), resumed (model, step), interrupt, fitted (model,
    /// parameters, steps, train_loss, valid_loss), wrote (path), error (message)
    Json,
    /// Nothing but errors
    None,
}

/// Without a terminal, how long after a line the next one is written at the earliest.
const PAUSE: Duration = Duration::from_secs(5);

impl Log {
    /// Tells something: `text` to people, `event` to programs.
    pub(crate) fn tell(self, text: &str, event: &Value) {
        match self {
            Self::Text => line(text),
            Self::Json => line(&event.to_string()),
            Self::None => {}
        }
    }

    /// Tells what was read; people only where something was inferred or filled, as they know the rest.
    pub(crate) fn read(self, path: &std::path::Path, panel: &Panel) {
        let Filled { rows, values } = panel.filled();
        let (series, all, freq) = (panel.n_series(), panel.n_rows(), panel.freq().to_string());
        let inferred = panel.freq_is_inferred();
        let path = path.display().to_string();
        let event = json!({
            "event": "read", "path": path, "series": series, "rows": all, "freq": freq,
            "freq_inferred": inferred, "filled_rows": rows, "filled_values": values,
        });
        if self == Self::Text && !inferred && rows + values == 0 {
            return;
        }
        let how = if inferred { " (inferred; all series follow it)" } else { "" };
        let filled = match rows + values {
            0 => String::new(),
            _ => format!(
                ", missing rows filled: {}, missing values filled: {}",
                grouped(rows),
                grouped(values)
            ),
        };
        let (series, all) = (grouped(series), grouped(all));
        self.tell(
            &format!("read {path}: {series} series, {all} rows, frequency {freq}{how}{filled}"),
            &event,
        );
    }

    /// Tells that something was written.
    pub(crate) fn wrote(self, path: &std::path::Path, what: &str) {
        let path = path.display().to_string();
        self.tell(&format!("wrote {path}: {what}"), &json!({ "event": "wrote", "path": path }));
    }

    /// Tells how the training of each model ended.
    pub(crate) fn fitted(self, fitted: &Fitted) {
        for (model, name) in fitted.models().iter().zip(fitted.column_names()) {
            let Some(outcome) = model.outcome() else { continue };
            let losses = losses(outcome.train_loss, outcome.valid_loss);
            let parameters = grouped(model.parameters());
            self.tell(
                &format!("trained {name}: {parameters} parameters, {} steps, {losses}", outcome.steps),
                &json!({
                    "event": "fitted", "model": name, "parameters": model.parameters(), "steps": outcome.steps,
                    "train_loss": outcome.train_loss, "valid_loss": outcome.valid_loss,
                }),
            );
        }
    }

    /// Tells of an error, which none but JSON changes.
    pub(crate) fn error(self, message: &str) {
        match self {
            Self::Json => line(&json!({ "event": "error", "message": message }).to_string()),
            Self::Text | Self::None => line(&format!("error: {message}")),
        }
    }
}

/// Writes a line to standard error. That nobody listens is no reason to stop.
fn line(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

fn losses(train: f64, valid: Option<f64>) -> String {
    let valid = valid.map(|loss| format!(", validation loss {}", short(loss))).unwrap_or_default();
    format!("training loss {}{valid}", short(train))
}

/// Tells of the steps of training.
pub(crate) struct Reporter {
    log: Log,
    model: String,
    bar: Option<ProgressBar>,
    valid_loss: Option<f64>,
    last_line: Instant,
}

impl Reporter {
    pub(crate) fn new(log: Log) -> Self {
        Self { log, model: String::new(), bar: None, valid_loss: None, last_line: Instant::now() }
    }

    /// Tells of a step; training goes on unless Ctrl-C was pressed.
    pub(crate) fn step(&mut self, model: &str, progress: &Progress) -> Verdict {
        if self.model != model {
            model.clone_into(&mut self.model);
            self.valid_loss = None;
            if progress.step > 1 {
                let done = progress.step - 1;
                self.log.tell(
                    &format!("{model}: going on after step {done} of {}", progress.max_steps),
                    &json!({ "event": "resumed", "model": model, "step": done }),
                );
            }
            self.bar = (self.log == Log::Text && io::stderr().is_terminal()).then(|| bar(model, progress));
        }
        self.valid_loss = progress.valid_loss.or(self.valid_loss);
        if self.log == Log::Json {
            line(&event(model, progress).to_string());
        } else if let Some(bar) = &self.bar {
            bar.set_message(losses(progress.train_loss, self.valid_loss));
            bar.set_position(progress.step);
        } else if self.log == Log::Text && self.last_line.elapsed() >= PAUSE {
            self.last_line = Instant::now();
            let losses = losses(progress.train_loss, self.valid_loss);
            line(&format!("{model}: step {} of {}, {losses}", progress.step, progress.max_steps));
        }
        if interrupt::asked() { Verdict::Interrupt } else { Verdict::Continue }
    }
}

fn event(model: &str, progress: &Progress) -> Value {
    let Progress { step, max_steps, train_loss, valid_loss, learning_rate, elapsed } = *progress;
    let mut event = json!({
        "event": "step", "model": model, "step": step, "max_steps": max_steps, "train_loss": train_loss,
    });
    if let Some(valid_loss) = valid_loss {
        event["valid_loss"] = json!(valid_loss);
    }
    event["learning_rate"] = json!(learning_rate);
    event["elapsed_s"] = json!(elapsed.as_secs_f64());
    event
}

/// A bar that leaves the terminal when its model is done.
fn bar(model: &str, progress: &Progress) -> ProgressBar {
    let style = ProgressStyle::with_template("{prefix} [{bar:30}] {pos}/{len}, {msg}, {eta} left")
        .expect("the template is well formed")
        .progress_chars("=> ");
    ProgressBar::new(progress.max_steps)
        .with_style(style)
        .with_prefix(model.to_owned())
        .with_finish(ProgressFinish::AndClear)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_an_event_with_its_validation_loss_after_a_check_only() {
        let mut progress = Progress {
            step: 3,
            max_steps: 9,
            train_loss: f64::NAN,
            valid_loss: None,
            learning_rate: 1e-3,
            elapsed: Duration::from_millis(1500),
        };
        let text = r#"{"event":"step","model":"a \"b\"","step":3,"max_steps":9,"train_loss":null,"learning_rate":0.001,"elapsed_s":1.5}"#;
        assert_eq!(event("a \"b\"", &progress).to_string(), text);
        progress.valid_loss = Some(2.0);
        assert_eq!(event("a", &progress)["valid_loss"], 2.0);
    }

    #[test]
    fn losses_are_short() {
        assert_eq!(losses(0.123_456, None), "training loss 0.1235");
        assert_eq!(losses(12.0, Some(1e9)), "training loss 12.00, validation loss 1.000e9");
    }
}
