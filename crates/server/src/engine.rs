//! Models behind a queue, and the threads that forecast with them.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use tokio::sync::oneshot;
use tokio::time::timeout_at;

use crate::error::{EngineError, EngineStartError};
use crate::forecast::forecast;
use crate::model::ModelFacts;
use crate::models::{Models, Reload};
use crate::queue::{Queue, Refusal};
use crate::request::{ForecastAnswer, ForecastRequest};
use crate::settings::EngineSettings;

type Job = Box<dyn FnOnce(&Shared) + Send>;

/// Who is told of models that were replaced.
type ReloadListener = Arc<dyn Fn(Reload) + Send + Sync>;

/// Saved models, and threads that forecast with them: the server without its sockets.
///
/// Calls are futures that any number of tasks may wait for; they need a runtime of tokio's with timers. Requests are taken in the
/// order in which they come, and each is computed by itself: on all threads while it is alone, else beside others on one thread
/// each. So an answer depends on its request alone, and is that of `foretell predict`, to the last bit.
pub struct ForecastEngine {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    /// Whoever looks after the directories stops when this is dropped.
    watcher: Option<(Sender<()>, JoinHandle<()>)>,
}

/// What the threads share.
pub(crate) struct Shared {
    models: Models,
    settings: EngineSettings,
    queue: Queue<Job>,
    /// Models that were replaced, and changed ones that could not be.
    reloads: [AtomicU64; 2],
}

impl Shared {
    /// The answer to a request, computed on the calling thread.
    pub(crate) fn answer(
        &self,
        request: &ForecastRequest,
        deadline: Instant,
    ) -> Result<ForecastAnswer, EngineError> {
        let model = self.models.find(request.model.as_deref())?;
        let fitted = match self.queue.is_quiet() {
            true => &model.on_all_threads,
            false => &model.on_one_thread,
        };
        let (frame, warnings) = forecast(fitted, request, &self.settings, deadline)?;
        Ok(ForecastAnswer { model: model.facts.name.clone(), frame, warnings })
    }
}

impl ForecastEngine {
    /// Loads models, each from a directory that `foretell fit` or `NeuralForecast.save` wrote, and starts the threads.
    ///
    /// # Errors
    /// A model that cannot be loaded, no model, two of one name, or a system without threads to spare.
    pub fn load(
        models: impl IntoIterator<Item = (impl Into<String>, impl Into<PathBuf>)>,
        settings: EngineSettings,
    ) -> Result<Self, EngineStartError> {
        Self::load_and_tell(models, settings, |_| {})
    }

    /// [`ForecastEngine::load`], with a listener that is told of every model that is replaced, or that is not although its directory
    /// changed.
    ///
    /// # Errors
    /// Those of [`ForecastEngine::load`].
    pub fn load_and_tell(
        models: impl IntoIterator<Item = (impl Into<String>, impl Into<PathBuf>)>,
        settings: EngineSettings,
        on_reload: impl Fn(Reload) + Send + Sync + 'static,
    ) -> Result<Self, EngineStartError> {
        let models = Models::load(models, &settings)?;
        let count = match settings.threads {
            0 => thread::available_parallelism()?.get(),
            count => count,
        };
        let queue = Queue::new(settings.queue);
        let shared = Arc::new(Shared { models, settings, queue, reloads: Default::default() });
        let mut engine = Self { shared: shared.clone(), threads: Vec::new(), watcher: None };
        for number in 0..count {
            let (shared, name) = (shared.clone(), format!("forecast-{number}"));
            engine.threads.push(thread::Builder::new().name(name).spawn(move || {
                while let Some(job) = shared.queue.take() {
                    job(&shared);
                    shared.queue.done();
                }
            })?);
        }
        if !shared.settings.reload.is_zero() {
            engine.watcher = Some(watch(shared, Arc::new(on_reload))?);
        }
        Ok(engine)
    }

    /// Forecasts.
    ///
    /// # Errors
    /// A model that there is not, data that do not suit it, more than the [settings](EngineSettings) allow, too many requests that
    /// wait, or a forecast that takes too long.
    pub async fn forecast(&self, request: ForecastRequest) -> Result<ForecastAnswer, EngineError> {
        self.run(move |shared, deadline| shared.answer(&request, deadline)).await
    }

    /// What requests need to know of the models.
    pub fn models(&self) -> Vec<ModelFacts> {
        self.shared.models.facts()
    }

    /// Requests that wait for a thread.
    pub fn waiting(&self) -> usize {
        self.shared.queue.waiting()
    }

    /// How many models were replaced, and how many were not although their directories changed.
    pub fn reloads(&self) -> [u64; 2] {
        [0, 1].map(|which: usize| self.shared.reloads[which].load(Ordering::Relaxed))
    }

    /// Takes no more requests; those that wait are answered.
    pub fn stop(&self) {
        self.shared.queue.close();
    }

    /// The limits.
    pub fn settings(&self) -> &EngineSettings {
        &self.shared.settings
    }

    /// The result of `work` on one of the threads, when its turn comes.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Shared, Instant) -> Result<T, EngineError> + Send + 'static,
    ) -> Result<T, EngineError> {
        let timeout = self.shared.settings.timeout;
        let deadline = Instant::now() + timeout;
        let (answer, answered) = oneshot::channel();
        let job = Box::new(move |shared: &Shared| {
            // Nobody waits for it any more.
            if answer.is_closed() || Instant::now() > deadline {
                return;
            }
            let outcome = catch_unwind(AssertUnwindSafe(|| work(shared, deadline)));
            let _ = answer.send(outcome.unwrap_or(Err(EngineError::Panicked)));
        });
        self.shared.queue.push(job).map_err(|refusal| match refusal {
            Refusal::Full => EngineError::Busy(self.shared.settings.queue),
            Refusal::Closed => EngineError::Stopping,
        })?;
        match timeout_at(deadline.into(), answered).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(_)) | Err(_) => Err(EngineError::Timeout(timeout)),
        }
    }
}

/// Starts the thread that looks after the models' directories.
fn watch(
    shared: Arc<Shared>,
    on_reload: ReloadListener,
) -> Result<(Sender<()>, JoinHandle<()>), EngineStartError> {
    let (stop, stopped) = mpsc::channel();
    let thread = thread::Builder::new().name("reload".to_owned()).spawn(move || {
        let every = shared.settings.reload;
        while stopped.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
            shared.models.reload(&shared.settings, |reload| {
                let failed = matches!(reload, Reload::Failed(..));
                shared.reloads[usize::from(failed)].fetch_add(1, Ordering::Relaxed);
                on_reload(reload);
            });
        }
    })?;
    Ok((stop, thread))
}

impl Drop for ForecastEngine {
    fn drop(&mut self) {
        self.stop();
        let watcher = self.watcher.take().map(|(stop, thread)| {
            drop(stop);
            thread
        });
        for thread in self.threads.drain(..).chain(watcher) {
            // A thread that panicked has told of it.
            let _ = thread.join();
        }
    }
}

impl fmt::Debug for ForecastEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ForecastEngine({} models, {} threads)", self.models().len(), self.threads.len())
    }
}
