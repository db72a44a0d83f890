//! A session: models, and the answers to requests about them.

use std::sync::Once;

use foretell::pool::{Limits, set_limits, trim};
use foretell::{Acceleration, Level, model_names, word_settings};
use foretell_auto::Auto;
use foretell_simd::with_level;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::host::Host;
use crate::kept::Kept;
use crate::message::{join, split};
use crate::refusal::Refusal;
use crate::setting_words::OPTIONS;
use crate::specs::spec;
use crate::{evaluation, forecast, look, models};

/// Models, and the answers to requests about them.
///
/// ```
/// use foretell_requests::{Host, Session, join, split};
///
/// let mut session = Session::new(Host::default());
/// let request = br#"{"op": "forecast", "asked": {"tables": {"values": [3, 5, 4, 6, 5, 7, 6, 8, 7, 9]}, "h": 2}}"#;
/// let answer = session.answer(&join(request, &[]));
/// let (json, _) = split(&answer)?;
/// assert!(String::from_utf8_lossy(json).contains("\"Auto\""));
/// # Ok::<(), &str>(())
/// ```
pub struct Session {
    kept: Kept,
    /// Whether vectors are used.
    simd: bool,
}

/// A request, by its work: `{"op": ..., "asked": {...}}`. In this order the tables are read without a copy.
#[derive(Deserialize)]
#[serde(tag = "op", content = "asked", rename_all = "snake_case")]
enum Request {
    About,
    Look(look::Asked),
    Forecast(forecast::Asked),
    Fit(models::FitAsked),
    Predict(models::PredictAsked),
    CrossValidate(models::ValidationAsked),
    Anomalies(models::AnomaliesAsked),
    Decompose(models::PredictAsked),
    Evaluate(evaluation::Asked),
    /// Whether a model can be as it is described.
    Check {
        model: Value,
        h: Option<usize>,
        input_size: Option<usize>,
    },
    /// How it is computed from now on.
    Settings {
        simd: bool,
        pool: bool,
        /// Left out, as many as the host allows.
        threads: Option<usize>,
    },
    Load,
    Save {
        model: u32,
    },
    Free {
        model: u32,
    },
}

impl Session {
    /// One without models.
    pub fn new(host: Host) -> Self {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            Auto::register();
            word_settings(OPTIONS);
        });
        Self { kept: Kept::new(host), simd: true }
    }

    /// The answer to a message. Whatever it holds, the answer is a message too: an error is `{"error": {...}}`.
    pub fn answer(&mut self, message: &[u8]) -> Vec<u8> {
        let (answer, bytes) = match self.answered(message) {
            Ok(answered) => answered,
            Err(refusal) => (refusal.to_json(), Vec::new()),
        };
        let text = serde_json::to_vec(&answer).expect("texts as names, and numbers that JSON has");
        join(&text, &bytes)
    }

    fn answered(&mut self, message: &[u8]) -> Result<(Value, Vec<u8>), Refusal> {
        let (json, bytes) = split(message).map_err(|error| Refusal::request("op", error))?;
        let request = serde_json::from_slice::<Request>(json).map_err(|error| unreadable(json, &error))?;
        match self.simd {
            true => self.done(request, bytes),
            false => with_level(Level::Scalar, || self.done(request, bytes)),
        }
    }

    fn done(&mut self, request: Request, bytes: &[u8]) -> Result<(Value, Vec<u8>), Refusal> {
        let answer = match request {
            Request::About => self.about(),
            Request::Look(asked) => look::look(asked, self.kept.most(), bytes)?,
            Request::Forecast(asked) => return self.kept.forecast(asked, bytes),
            Request::Fit(asked) => self.kept.fit(asked, bytes)?,
            Request::Predict(asked) => self.kept.predict(asked, bytes)?,
            Request::CrossValidate(asked) => self.kept.cross_validate(asked, bytes)?,
            Request::Anomalies(asked) => self.kept.anomalies(asked, bytes)?,
            Request::Decompose(asked) => self.kept.decompose(asked, bytes)?,
            Request::Evaluate(asked) => evaluation::evaluate(&asked)?,
            Request::Check { model, h, input_size } => {
                let spec = spec(model, h, input_size, None)?;
                json!({ "model": spec.name(), "settings": spec.hyper_parameters() })
            }
            Request::Settings { simd, pool, threads } => self.set(simd, pool, threads),
            Request::Load => self.kept.load(bytes)?,
            Request::Save { model } => return Ok((json!({}), self.kept.save(model)?)),
            Request::Free { model } => json!({ "freed": self.kept.free(model) }),
        };
        Ok((answer, Vec::new()))
    }

    /// Computes with vectors or without, and keeps buffers for their next owners or frees them.
    fn set(&mut self, simd: bool, pool: bool, threads: Option<usize>) -> Value {
        self.simd = simd;
        self.kept.use_threads(threads);
        let none = Limits { cache_class_bytes: 0, cache_bytes: 0, shelf_class_bytes: 0, shelf_bytes: 0 };
        set_limits(if pool { Limits::default() } else { none });
        trim();
        json!({})
    }

    fn about(&self) -> Value {
        json!({
            "version": env!("CARGO_PKG_VERSION"), "models": model_names(), "level": Acceleration::current().level.to_string(),
            "kept": self.kept.count(),
        })
    }
}

/// The refusal of a request that cannot be read: its field is the one that serde names, else the last one before the place.
fn unreadable(json: &[u8], error: &serde_json::Error) -> Refusal {
    let text = error.to_string();
    let what = text.rsplit_once(" at line ").map_or(&*text, |(what, _)| what);
    let before = String::from_utf8_lossy(&json[..error.column().min(json.len())]);
    let last = before.rsplit_once("\":").and_then(|(before, _)| before.rsplit('"').next());
    let field = what.split('`').nth(1).or(last).unwrap_or("op");
    Refusal::request(field, format!("{field}: {what}"))
}
