//! `foretell serve`: saved models for other programs, over HTTP.

use std::env;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytesize::ByteSize;
use clap::Args;
use foretell::WeightPrecision;
use foretell_server::{EngineSettings, ForecastEngine, ServeSettings, Token, run};

use crate::args::{MemoryArgs, steps, thread_count};
use crate::context::{Context, Log};
use crate::failure::Usage;
use crate::precision::weight_precision;

/// Where the token is looked for.
const TOKEN: &str = "FORETELL_TOKEN";

/// Answer requests for forecasts over HTTP with saved models
///
/// POST /v1/forecast takes series as JSON columns, CSV or Parquet and answers with forecasts in the same form, those of `foretell
/// predict`. A page to drop a file on is at /, the description of all addresses at /openapi.json. Models are replaced when their
/// directories change. A line of JSON for each request goes to standard error, without data. If the environment has
/// FORETELL_TOKEN, requests must show it (Authorization: Bearer TOKEN). SIGTERM ends the server once what has begun is
/// answered.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  foretell serve --model model
  foretell serve --model sales=models/sales --model power=models/power \\
    --listen 0.0.0.0:8080
  # no model: those that suit the series are fitted for each request
  foretell serve
  curl -H 'content-type: text/csv' \\
    --data-binary @sales.csv 'localhost:8080/v1/forecast?h=14&model=auto'
  curl -H 'content-type: text/csv' \\
    --data-binary @sales.csv localhost:8080/v1/forecast")]
pub(crate) struct Serve {
    /// Directory of a model, or NAME=DIR for several; without a name it is called as its directory
    /// [default: none; each request is answered by models that suit its series]
    #[arg(long, value_name = "[NAME=]DIR")]
    model: Vec<String>,
    /// Address to listen at. Others than those of this machine (127.0.0.1) want a token, and TLS by a proxy
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    listen: SocketAddr,
    /// Threads that forecast; 0 for as many as the machine has
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = thread_count())]
    threads: usize,
    /// Format in which forecasts read the weights of products, as in `foretell predict`
    #[arg(long, alias = "precision", value_name = "FORMAT", default_value = "f32", value_parser = weight_precision())]
    weights: WeightPrecision,
    /// Requests that may wait for a thread; more are told to come again
    #[arg(long, value_name = "N", default_value_t = 1024)]
    queue: usize,
    /// Seconds in which a request must be answered
    #[arg(long, value_name = "S", default_value_t = 30.0, value_parser = seconds)]
    timeout: f64,
    /// Seconds in which the head of a request must arrive, and then its body; and in which some of an answer must be read
    #[arg(long, value_name = "S", default_value_t = 30.0, value_parser = seconds)]
    receive_timeout: f64,
    /// Seconds that requests may continue after SIGTERM
    #[arg(long, value_name = "S", default_value_t = 30.0, value_parser = seconds)]
    drain: f64,
    /// Seconds from one look at the models' directories to the next
    #[arg(long, value_name = "S", default_value_t = 1.0, value_parser = seconds)]
    reload: f64,
    /// Most bytes of a request, as 64MB
    #[arg(long, value_name = "SIZE", default_value = "64MiB")]
    max_body: ByteSize,
    /// Most rows of a request, and of an answer
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    max_rows: usize,
    /// Most steps that a request may ask for
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = steps())]
    max_h: usize,
    /// Most levels or quantiles that a request may ask for
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = steps())]
    max_levels: usize,
    /// Connections at a time; others wait
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = steps())]
    max_connections: usize,
    #[command(flatten)]
    memory: MemoryArgs,
}

/// A time span.
fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (0.0..=86_400.0).contains(&seconds) => Ok(seconds),
        _ => Err("write seconds from 0 to 86400, as 0.5".to_owned()),
    }
}

impl Serve {
    pub(crate) fn run(&self, context: &'static Context) -> anyhow::Result<()> {
        let engine = EngineSettings::with(|settings| {
            settings.threads = self.threads;
            settings.queue = self.queue;
            settings.timeout = Duration::from_secs_f64(self.timeout);
            settings.max_rows = self.max_rows;
            settings.max_h = self.max_h;
            settings.max_levels = self.max_levels;
            settings.precision = self.weights;
            settings.memory = self.memory.limit();
            settings.reload = Duration::from_secs_f64(self.reload);
        });
        let token = env::var(TOKEN).ok().map(|secret| Token::new(&secret)).transpose();
        let is_quiet = context.log == Log::Quiet;
        let log = Arc::new(move |line: &str| {
            if !is_quiet {
                // A log that cannot be written is no reason to answer nothing.
                let _ = writeln!(std::io::stderr(), "{line}");
            }
        });
        let settings = ServeSettings {
            max_body: usize::try_from(self.max_body.as_u64()).unwrap_or(usize::MAX),
            max_connections: self.max_connections,
            receive: Duration::from_secs_f64(self.receive_timeout),
            drain: Duration::from_secs_f64(self.drain),
            token: token.map_err(|error| Usage(format!("{TOKEN} of the environment: {error}")))?,
            log: Some(log.clone()),
        };
        let models = self.model.iter().map(|text| named(text));
        let engine = ForecastEngine::load_and_tell(models, engine, move |reload| log(&reload.line()))?;
        run(self.listen, engine, settings, |address| context.serves(address))
            .map_err(|error| anyhow::anyhow!("{}: {error}; name another address (--listen)", self.listen))
    }
}

/// The name of a model and its directory.
fn named(text: &str) -> (String, PathBuf) {
    match text.split_once('=') {
        Some((name, dir)) => (name.to_owned(), dir.into()),
        None => {
            let dir = Path::new(text);
            // `models/sales/..` and `.` have names only once they are resolved.
            let resolved = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
            let name =
                resolved.file_name().map_or("model".into(), |name| name.to_string_lossy().into_owned());
            (name, dir.to_owned())
        }
    }
}
