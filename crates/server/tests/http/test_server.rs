//! A server of small models on a port of its own.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use foretell::{Fitted, Forecaster, Freq, Intervals, ModelSpec, Panel};
use foretell_server::{EngineSettings, ForecastEngine, ServeSettings, serve};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::test_client::Client;

pub(crate) const H: usize = 4;

/// The values of a series.
pub(crate) fn values(number: usize, rows: usize) -> Vec<f32> {
    (0..rows).map(|t| 10.0 + number as f32 + (t as f32 * 0.9 + number as f32).sin()).collect()
}

/// Rows of some series, whose times are integers, as JSON columns.
pub(crate) fn columns(series: &[usize], rows: usize) -> serde_json::Value {
    let (mut ids, mut times, mut y) = (Vec::new(), Vec::new(), Vec::new());
    for number in series {
        ids.extend(std::iter::repeat_n(format!("s{number}"), rows));
        times.extend(0..rows);
        y.extend(values(*number, rows));
    }
    serde_json::json!({"unique_id": ids, "ds": times, "y": y})
}

/// A small trained model of a seed, on series whose times are integers.
pub(crate) fn fitted(seed: u64) -> Fitted {
    let panel =
        Panel::from_series(Freq::parse("1").unwrap(), [("s0", 0, values(0, 60)), ("s1", 0, values(1, 60))]);
    let spec = |name| ModelSpec::new(name, H, 8).unwrap().set("max_steps", 5).unwrap();
    let lstm = spec("LSTM").set("encoder_hidden_size", 8).unwrap().set("decoder_hidden_size", 8).unwrap();
    let models = [lstm, spec("NLinear")].map(|spec| spec.set("random_seed", seed).unwrap());
    Forecaster::new(models)
        .unwrap()
        .intervals("4".parse::<Intervals>().unwrap())
        .fit(&panel.unwrap())
        .unwrap()
}

/// The directory of a model that all tests share.
pub(crate) fn model_dir() -> &'static Path {
    static DIR: OnceLock<TempDir> = OnceLock::new();
    let dir = DIR.get_or_init(|| {
        let dir = TempDir::new().unwrap();
        fitted(1).save(dir.path().join("model"), false).unwrap();
        dir
    });
    Box::leak(dir.path().join("model").into_boxed_path())
}

/// The directory of a model that repeats a season, in no time, for any number of steps.
pub(crate) fn season_dir() -> &'static Path {
    static DIR: OnceLock<TempDir> = OnceLock::new();
    let dir = DIR.get_or_init(|| {
        let dir = TempDir::new().unwrap();
        let panel = Panel::from_series(Freq::parse("1").unwrap(), [("s0", 0, values(0, 60))]).unwrap();
        let spec = ModelSpec::new("SeasonalNaive", H, 1).unwrap().set("season_length", 7).unwrap();
        Forecaster::new([spec]).unwrap().fit(&panel).unwrap().save(dir.path().join("model"), false).unwrap();
        dir
    });
    Box::leak(dir.path().join("model").into_boxed_path())
}

/// A server at work, until it is dropped.
pub(crate) struct TestServer {
    pub(crate) address: SocketAddr,
    pub(crate) log: Arc<Mutex<Vec<String>>>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl TestServer {
    pub(crate) fn new() -> Self {
        Self::with(&[("sales", model_dir().to_owned())], EngineSettings::default(), ServeSettings::default())
    }

    pub(crate) fn with(
        models: &[(&str, PathBuf)],
        mut engine: EngineSettings,
        mut settings: ServeSettings,
    ) -> Self {
        engine.threads = 2;
        engine.reload = Duration::from_millis(20);
        let engine = Arc::new(ForecastEngine::load(models.iter().cloned(), engine).unwrap());
        let log = Arc::new(Mutex::new(Vec::new()));
        let into = log.clone();
        settings.log = Some(Arc::new(move |line: &str| into.lock().unwrap().push(line.to_owned())));
        let (stop, stopped) = oneshot::channel::<()>();
        let (tell, told) = std::sync::mpsc::channel();
        let thread = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
            runtime.unwrap().block_on(async move {
                let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
                tell.send(listener.local_addr().unwrap()).unwrap();
                let stopped = async { drop(stopped.await) };
                serve(listener, engine, settings, stopped).await.unwrap();
            });
        });
        Self { address: told.recv().unwrap(), log, stop: Some(stop), thread: Some(thread) }
    }

    pub(crate) fn client(&self) -> Client {
        Client::new(self.address)
    }

    /// Tells it to stop, without waiting for it.
    pub(crate) fn tell_to_stop(&mut self) {
        drop(self.stop.take());
    }

    /// Tells it to stop, and waits until it has.
    pub(crate) fn stop(&mut self) {
        self.tell_to_stop();
        if let Some(thread) = self.thread.take() {
            thread.join().expect("a server that ends without a panic");
        }
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        if !thread::panicking() {
            self.stop();
        }
    }
}
