//! Reports on standard error while a command works.

use std::collections::HashMap;
use std::io::{self, IsTerminal as _, Write as _};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use foretell::report::{ForecastsApart, grouped};
use foretell::{
    EarlyEnds, End, ErrorFacts, Filled, Fitted, KeptSettings, Metrics, Panel, Progress, ReadNote, Trimmed,
    Verdict, Warning,
};
use foretell_tuning::SearchProgress;
use indicatif::{MultiProgress, ProgressBar, ProgressFinish, ProgressStyle};
use serde_json::{Value, json};

use crate::complaint::ErrorForm;
use crate::context::{Context, Log};
use crate::printable::{printable, printable_as_json};
use crate::table::short;

/// Without a terminal, how long after a line the next one is written at the earliest.
const PAUSE: Duration = Duration::from_secs(5);

impl Context {
    /// Reports something: `text` to people, `event` to programs.
    pub(crate) fn report(&self, text: &str, event: &Value) {
        match self.log {
            Log::Text => line(text),
            Log::Json => event_line(event),
            Log::None | Log::Quiet => {}
        }
    }

    /// Tells what was read; people only where something was inferred or filled, as they know the rest.
    pub(crate) fn read(&self, path: &str, panel: &Panel) {
        let Filled { rows, values } = panel.filled();
        let (series, all, freq) = (panel.n_series(), panel.n_rows(), panel.freq().to_string());
        let inferred = panel.freq_is_inferred();
        let event = json!({
            "event": "read", "path": path, "series": series, "rows": all, "freq": freq,
            "freq_inferred": inferred, "filled_rows": rows, "filled_values": values,
        });
        if self.log == Log::Text && !inferred && rows + values == 0 {
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
        self.report(
            &format!("read {path}: {series} series, {all} rows, frequency {freq}{how}{filled}"),
            &event,
        );
    }

    /// Reports rows that were left out because their series have no values in them.
    pub(crate) fn trimmed(&self, path: &str, Trimmed { series, rows, .. }: Trimmed) {
        if rows > 0 {
            let (rows, series) = (grouped(rows), grouped(series));
            self.warning(&format!(
                "{path}: rows left out at the start or end of series, where values are missing: {rows}, of {series} \
                 series"
            ));
        }
    }

    /// Tells what readers took for granted.
    pub(crate) fn notes(&self, notes: &[ReadNote]) {
        for note in notes {
            let mut event = json!({ "event": "note", "message": note.to_string() });
            if let ReadNote::NothingKnown { series, .. } = note {
                event["series"] = json!(series.iter().map(|(id, _)| id).collect::<Vec<_>>());
            }
            self.report(&note.to_string(), &event);
        }
    }

    /// Tells how forecasts are bounded and rounded, if they are.
    pub(crate) fn bounded(&self, settings: KeptSettings) {
        let KeptSettings { non_negative, integer, .. } = settings;
        let effect = match (non_negative, integer) {
            (false, false) => return,
            (true, false) => "below 0 become 0",
            (false, true) => "are rounded to whole numbers",
            (true, true) => "below 0 become 0, and all are rounded to whole numbers",
        };
        let event = json!({ "event": "bounded", "non_negative": non_negative, "integer": integer });
        self.report(&format!("forecasts and interval bounds {effect}"), &event);
    }

    /// Nothing needs to be told of series that end before others.
    pub(crate) fn knows_ends(&self) {
        self.ends_are_known.store(true, Ordering::Relaxed);
    }

    /// Tells how series that end before others were treated; `rows` were added, or left out.
    pub(crate) fn ended(&self, early: &EarlyEnds, end: End, rows: usize) {
        let what = match end {
            End::Common => format!("they continue to it, rows added: {}", grouped(rows)),
            End::Masked => {
                format!("they continue to it, rows added whose values are not known: {}", grouped(rows))
            }
            End::Drop => format!("they are left out, rows: {}", grouped(rows)),
            End::Own => "each keeps its own end".to_owned(),
        };
        let series: Vec<&str> = early.series.iter().map(|(id, _)| &**id).collect();
        let [added, left_out] = if end == End::Drop { [0, rows] } else { [rows, 0] };
        let event = json!({
            "event": "ended", "end": end.name(), "last": early.last, "added_rows": added, "left_out_rows": left_out,
            "series": series,
        });
        self.report(&format!("{early}; {what}"), &event);
    }

    /// Warns that forecasts do not follow the data that they are shown beside.
    pub(crate) fn apart(&self, apart: &ForecastsApart, forecast: &std::path::Path, data: &str) {
        self.warning(&format!("{apart}; is {} of {data}?", forecast.display()));
    }

    /// Tells programs that a file beside the data was read.
    pub(crate) fn read_beside(&self, path: &std::path::Path, role: &str) {
        let path = path.display().to_string();
        self.event(|| json!({ "event": "read", "path": path, "role": role }));
    }

    /// Tells that future rows were read; people only if some were of no use.
    pub(crate) fn read_future(&self, path: &str, ignored_rows: usize) {
        let event = json!({ "event": "read", "path": path, "role": "futr", "ignored_rows": ignored_rows });
        if self.log != Log::Text || ignored_rows > 0 {
            let count = grouped(ignored_rows);
            self.report(
                &format!("read {path}: rows that no forecast needs, and that are ignored: {count}"),
                &event,
            );
        }
    }

    /// Tells which series were left out, with their rows, as each needs `rows_needed`; people of the first ones.
    pub(crate) fn dropped(&self, dropped: &[(&str, usize)], rows_needed: usize) {
        const SHOWN: usize = 20;
        let shown = dropped.iter().take(SHOWN).map(|(id, rows)| format!("{id} ({rows})"));
        let mut shown: Vec<String> = shown.collect();
        if dropped.len() > SHOWN {
            shown.push(format!("and {} more, which --log json lists", grouped(dropped.len() - SHOWN)));
        }
        let events = dropped.iter().map(|(id, rows)| json!({ "unique_id": id, "rows": rows }));
        self.report(
            &format!(
                "left out {} series of fewer than {} rows: {}",
                grouped(dropped.len()),
                grouped(rows_needed),
                shown.join(", ")
            ),
            &json!({ "event": "dropped", "rows_needed": rows_needed, "series": events.collect::<Vec<_>>() }),
        );
    }

    /// From now on the first Ctrl-C only asks training to stop; a warning says where that is not possible.
    pub(crate) fn catch_interrupts(&'static self) {
        let told = self.interrupts.catch(move |cause| {
            let text =
                format!("stopping after this step, to save what is trained; {cause} again stops at once");
            match self.processes.last_state() {
                // The one who ended the processes may not wait for the end of the step, which those that are left do not reach.
                Some(state) => self.report(
                    &format!("stopping, as this or another process was told to end; {state}"),
                    &json!({ "event": "interrupt", "signal": cause, "state": state }),
                ),
                None => self.report(&text, &json!({ "event": "interrupt", "signal": cause })),
            }
        });
        if let Err(error) = told {
            self.warning(&format!(
                "cannot listen to Ctrl-C, which will end training at once without saving ({error})"
            ));
        }
    }

    /// Tells of a trial of a search, the best so far and the time that is left.
    pub(crate) fn tried(&self, metric: &str, progress: &SearchProgress<'_>) {
        let SearchProgress { trial, best, done, trials, left } = progress;
        let score = match (trial.score(), &trial.failure) {
            (Some(score), _) => format!("{metric} {}", short(score)),
            (None, failure) => failure.clone().unwrap_or_default(),
        };
        let best_so_far = best.map(|(score, trial)| format!("; best {} of trial {trial}", short(score)));
        // A grid may be larger than anyone waits for.
        let of = if *trials == usize::MAX {
            String::new()
        } else {
            format!(" of {trials}, {} left", minutes(*left))
        };
        let text = format!(
            "trial {}, {}: {score}{}; {done} done{of}",
            trial.trial,
            trial.model,
            best_so_far.unwrap_or_default()
        );
        let mut event = tagged("trial", json!(trial));
        event["best"] = json!(best.map(|(_, trial)| trial));
        self.report(&text, &event);
    }

    /// Tells programs how good a model is.
    pub(crate) fn scored(&self, metrics: &Metrics) {
        self.event(|| tagged("scored", json!(metrics)));
    }

    /// Tells programs how fast a model is.
    pub(crate) fn measured(&self, figures: Value) {
        self.event(|| tagged("measured", figures));
    }

    /// Tells programs that a file was written, of which people read elsewhere.
    pub(crate) fn wrote_quietly(&self, path: &std::path::Path) {
        self.event(|| json!({ "event": "wrote", "path": path.display().to_string() }));
    }

    /// Tells programs that the command has done all it should.
    pub(crate) fn done(&self, command: &str, elapsed: Duration) {
        self.event(|| json!({ "event": "done", "command": command, "elapsed_s": elapsed.as_secs_f64() }));
    }

    /// Tells programs something.
    fn event(&self, event: impl FnOnce() -> Value) {
        if self.log == Log::Json {
            event_line(&event());
        }
    }

    /// Tells where requests are answered.
    #[cfg(feature = "serve")]
    pub(crate) fn serves(&self, address: std::net::SocketAddr) {
        let event = json!({ "event": "serves", "address": address.to_string() });
        self.report(&format!("serving at http://{address}"), &event);
    }

    /// Tells which columns of forecasts contributions are of, where a network has several.
    pub(crate) fn explained(&self, columns: &[String]) {
        if !columns.is_empty() {
            let event = json!({ "event": "explained", "columns": columns });
            self.report(&format!("explained: {} (--output chooses another)", columns.join(", ")), &event);
        }
    }

    /// Tells that something was written.
    pub(crate) fn wrote(&self, path: &std::path::Path, what: &str) {
        let path = path.display().to_string();
        self.report(&format!("wrote {path}: {what}"), &json!({ "event": "wrote", "path": path }));
    }

    /// Tells how the training of each model ended, and how their forecasts add up.
    pub(crate) fn fitted(&self, fitted: &Fitted) {
        if let Some((_, method)) = fitted.hierarchy() {
            let method = method.to_string();
            let gains = fitted.sums_gain().unwrap_or_default();
            let told: String = gains.iter().map(|gain| format!("; {gain}")).collect();
            self.report(
                &format!("forecasts add up by {method}{told}"),
                &json!({ "event": "sums", "method": method, "errors": gains }),
            );
        }
        for (model, name) in fitted.models().iter().zip(fitted.column_names()) {
            let Some(outcome) = model.outcome() else { continue };
            let losses = match outcome.steps {
                0 => String::new(),
                _ => format!(", {}", losses(outcome.train_loss, outcome.valid_loss)),
            };
            let parameters = grouped(model.parameters());
            let skipped = match outcome.skipped_steps {
                0 => String::new(),
                skipped => format!(", {skipped} of them skipped since gradients overflowed in f16"),
            };
            let mut event = json!({
                "event": "fitted", "model": name, "parameters": model.parameters(), "steps": outcome.steps,
                "train_loss": outcome.train_loss, "valid_loss": outcome.valid_loss,
            });
            add_skipped(&mut event, outcome.skipped_steps);
            self.report(
                &format!("trained {name}: {parameters} parameters, {} steps{skipped}{losses}", outcome.steps),
                &event,
            );
        }
    }

    /// Reports a warning: a problem that stops no work, but that users of its result should know.
    pub(crate) fn warning(&self, message: &str) {
        match self.log {
            // Who wants no progress still wants to know what to doubt.
            Log::None => line(&format!("warning: {message}")),
            _ => self
                .report(&format!("warning: {message}"), &json!({ "event": "warning", "message": message })),
        }
    }

    /// Reports a warning; programs are told all series of those that name some.
    pub(crate) fn warned(&self, warning: &Warning) {
        match warning {
            // Training, each window of a score and forecasts see the same series.
            Warning::EarlyEnds(_) if self.ends_are_known.swap(true, Ordering::Relaxed) => {}
            Warning::Fallback { model, reason, instead, series, .. } if self.log == Log::Json => {
                let message = warning.to_string();
                let event = json!({
                    "event": "warning", "message": message, "model": model, "reason": reason, "instead": instead,
                    "series": series,
                });
                self.report(&message, &event);
            }
            warning => self.warning(&warning.to_string()),
        }
    }

    /// Reports an error, which none but JSON changes.
    pub(crate) fn error(&self, facts: &ErrorFacts) {
        match (self.log, self.error_form) {
            (Log::Json, _) => event_line(&tagged("error", json!(facts))),
            (_, ErrorForm::Json) => event_line(&json!(facts)),
            (Log::Text | Log::None | Log::Quiet, ErrorForm::Text) => {
                line(&format!("error: {}", facts.message))
            }
        }
    }
}

/// Writes a line to standard error. That no one listens is no reason to stop.
fn line(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", printable(text));
}

/// Writes an event as a line of JSON to standard error.
fn event_line(event: &Value) {
    line(&printable_as_json(&event.to_string(), &[]));
}

/// The object with its kind of event in front.
pub(crate) fn tagged(event: &str, object: Value) -> Value {
    let mut all = json!({ "event": event });
    if let (Value::Object(all), Value::Object(object)) = (&mut all, object) {
        all.extend(object);
    }
    all
}

/// A length of time in words.
fn minutes(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..7200 => format!("{} min", seconds / 60),
        seconds => format!("{:.1} h", seconds as f64 / 3600.0),
    }
}

fn losses(train: f64, valid: Option<f64>) -> String {
    let valid = valid.map(|loss| format!(", validation loss {}", short(loss))).unwrap_or_default();
    format!("training loss {}{valid}", short(train))
}

/// Reports the steps of training.
pub(crate) struct Reporter {
    context: &'static Context,
    bars: MultiProgress,
    models: HashMap<String, LastReport>,
    last_line: Instant,
}

/// The last report of a model.
struct LastReport {
    step: u64,
    valid_loss: Option<f64>,
    bar: Option<ProgressBar>,
}

impl Reporter {
    pub(crate) fn new(context: &'static Context) -> Self {
        Self { context, bars: MultiProgress::new(), models: HashMap::new(), last_line: Instant::now() }
    }

    /// Reports a step; training continues unless Ctrl-C was pressed.
    pub(crate) fn step(&mut self, model: &str, progress: &Progress) -> Verdict {
        // Another training of the same model starts before its last step.
        if self.models.get(model).is_none_or(|last| last.step >= progress.step) {
            if progress.step > 1 {
                let done = progress.step - 1;
                self.context.report(
                    &format!("{model}: resuming after step {done} of {}", progress.max_steps),
                    &json!({ "event": "resumed", "model": model, "step": done }),
                );
            }
            self.models.remove(model);
            let drawn = self.context.log == Log::Text && io::stderr().is_terminal();
            let bar = drawn.then(|| self.bars.add(bar(model, progress)));
            self.models.insert(model.to_owned(), LastReport { step: 0, valid_loss: None, bar });
        }
        self.context.processes.took_step(model, progress.step);
        let last = self.models.get_mut(model).expect("inserted above");
        last.step = progress.step;
        last.valid_loss = progress.valid_loss.or(last.valid_loss);
        if self.context.log == Log::Json {
            events(model, progress).iter().for_each(event_line);
        } else if let Some(bar) = &last.bar {
            bar.set_message(losses(progress.train_loss, last.valid_loss));
            bar.set_position(progress.step);
        } else if self.context.log == Log::Text && self.last_line.elapsed() >= PAUSE {
            self.last_line = Instant::now();
            let losses = losses(progress.train_loss, last.valid_loss);
            line(&format!("{model}: step {} of {}, {losses}", progress.step, progress.max_steps));
        }
        if self.context.interrupts.asked() { Verdict::Interrupt } else { Verdict::Continue }
    }
}

/// Tells of steps that changed no weight, if there were some.
fn add_skipped(event: &mut Value, skipped_steps: u64) {
    if skipped_steps > 0 {
        event["skipped_steps"] = skipped_steps.into();
    }
}

/// The step, and the check that came after it.
fn events(model: &str, progress: &Progress) -> Vec<Value> {
    let Progress { step, max_steps, train_loss, valid_loss, learning_rate, skipped_steps, elapsed } =
        *progress;
    let elapsed = elapsed.as_secs_f64();
    let mut events = vec![json!({
        "event": "step", "model": model, "step": step, "max_steps": max_steps, "train_loss": train_loss,
        "learning_rate": learning_rate, "elapsed_s": elapsed,
    })];
    add_skipped(&mut events[0], skipped_steps);
    events.extend(valid_loss.map(|loss| {
        json!({ "event": "valid", "model": model, "step": step, "valid_loss": loss, "elapsed_s": elapsed })
    }));
    events
}

/// A bar that leaves the terminal when training is done.
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
    fn a_step_is_an_event_and_a_check_after_it_another() {
        let mut progress = Progress {
            step: 3,
            max_steps: 9,
            train_loss: f64::NAN,
            valid_loss: None,
            learning_rate: 1e-3,
            skipped_steps: 0,
            elapsed: Duration::from_millis(1500),
        };
        let text = r#"{"event":"step","model":"a \"b\"","step":3,"max_steps":9,"train_loss":null,"learning_rate":0.001,"elapsed_s":1.5}"#;
        assert_eq!(events("a \"b\"", &progress).iter().map(Value::to_string).collect::<Vec<_>>(), [text]);
        progress.skipped_steps = 2;
        assert_eq!(events("a", &progress)[0]["skipped_steps"], 2);
        progress.valid_loss = Some(2.0);
        let text = r#"{"event":"valid","model":"a","step":3,"valid_loss":2.0,"elapsed_s":1.5}"#;
        assert_eq!(events("a", &progress)[1].to_string(), text);
    }

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(printable("süd 1"), "süd 1");
        let id: String = (0..0x2100).filter_map(char::from_u32).collect();
        let written = printable_as_json(&json!({ "id": id }).to_string(), &[]);
        assert!(!written.contains(char::is_control) && written.contains("\\u009b"));
        assert_eq!(serde_json::from_str::<Value>(&written).unwrap()["id"], id);
        assert_eq!(printable("a\0b\u{1b}[2J\nc\u{9b}d"), "a\\u{0}b\\u{1b}[2J\\nc\\u{9b}d");
    }

    #[test]
    fn losses_are_short() {
        assert_eq!(losses(0.123_456, None), "training loss 0.1235");
        assert_eq!(losses(12.0, Some(1e9)), "training loss 12.00, validation loss 1.000e9");
    }
}
