//! Models behind a queue, and the threads that forecast with them.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use foretell::while_wanted;
use tokio::sync::oneshot;
use tokio::time::timeout_at;

use crate::anew::forecast_anew;
use crate::error::{EngineError, EngineStartError};
use crate::forecast::{Bounds, check_asked, forecast, read, take_warnings, understood};
use crate::joint_request::{JointRequest, answers};
use crate::joint_sizes::MOST;
use crate::memory_account::{MemoryAccount, Room};
use crate::model::ModelFacts;
use crate::models::{Models, Reload};
use crate::queue::{Queue, Refusal};
use crate::read_request::{Begun, ReadRequest};
use crate::request::{AheadOptions, ForecastAnswer, ForecastKind, ForecastRequest};
use crate::settings::EngineSettings;

/// Work that waits for a thread.
enum Job {
    /// A request as it came.
    New(Box<dyn FnOnce(&Shared) + Send>),
    /// A request whose series were read, and which may be computed with others.
    Read(Box<ReadJob>),
}

/// A request whose series were read.
struct ReadJob {
    request: JointRequest,
    waits: Waits,
    client: Box<dyn Client>,
}

/// Until when an answer is waited for.
#[derive(Clone)]
struct Waits {
    deadline: Instant,
    is_gone: Arc<AtomicBool>,
}

impl Waits {
    fn is_over(&self) -> bool {
        self.is_gone.load(Ordering::Relaxed) || Instant::now() > self.deadline
    }
}

/// Says with its end that no one waits any longer.
struct GoneWithThis(Arc<AtomicBool>);

impl Drop for GoneWithThis {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The one who waits for an answer.
trait Client: Send {
    /// Gives it the answer, and the room that this takes.
    fn answer(self: Box<Self>, answer: Result<(ForecastAnswer, Room), EngineError>);

    /// Lets it wait for so much room.
    fn park(self: Box<Self>, read: Box<ReadRequest>, needed: u64);
}

/// What the one who waits is told.
enum Told<T, F> {
    Answer(Result<T, EngineError>),
    Parked { read: Box<ReadRequest>, needed: u64, finish: F },
}

/// A future that waits for what becomes of an answer.
struct Waiting<T, F> {
    sender: oneshot::Sender<Told<T, F>>,
    finish: F,
}

impl<T: Send, F: FnOnce(ForecastAnswer, Room) -> Result<T, EngineError> + Send> Client for Waiting<T, F> {
    fn answer(self: Box<Self>, answer: Result<(ForecastAnswer, Room), EngineError>) {
        let Self { sender, finish } = *self;
        // Who is gone needs no answer.
        let _ = sender.send(Told::Answer(answer.and_then(|(answer, room)| guarded(|| finish(answer, room)))));
    }

    fn park(self: Box<Self>, read: Box<ReadRequest>, needed: u64) {
        let Self { sender, finish } = *self;
        let _ = sender.send(Told::Parked { read, needed, finish });
    }
}

/// The result of the work, or the error that it panicked.
fn guarded<T>(work: impl FnOnce() -> Result<T, EngineError>) -> Result<T, EngineError> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or(Err(EngineError::Panicked))
}

/// Who is told of models that were replaced.
type ReloadListener = Arc<dyn Fn(Reload) + Send + Sync>;

/// Saved models, and threads that forecast with them: the server without its sockets.
///
/// Calls are futures that any number of tasks may wait for; they need a runtime of tokio's with timers. Requests are taken in the
/// order in which they come: one that is alone is computed on all threads, those of a busy engine on one thread each. No one waits for
/// others to come; but of those that wait while threads are busy, those that ask the same of a model, each for one series, are
/// computed together as far as that changes no bit. So an answer depends on its request alone, and is that of `foretell predict`, to the
/// last bit.
pub struct ForecastEngine {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    /// The one who looks after the directories stops when this is dropped.
    watcher: Option<(Sender<()>, JoinHandle<()>)>,
}

/// The state that the threads share.
pub(crate) struct Shared {
    models: Models,
    settings: EngineSettings,
    queue: Queue<Job>,
    /// Models that were replaced, and changed ones that could not be.
    reloads: [AtomicU64; 2],
    /// Requests that were computed together with others.
    together: AtomicU64,
    /// The memory of requests and answers.
    memory: Arc<MemoryAccount>,
    /// Whether what is computed is of no use any more.
    is_given_up: Arc<AtomicBool>,
}

/// A request as it came, before it is read.
pub(crate) struct Unread<R> {
    /// Reads it.
    pub(crate) read: R,
    /// The bytes of its tables,
    pub(crate) bytes: u64,
    /// and those that its fields and tables take when they are read, beside the series.
    pub(crate) fields: u64,
    /// Whether the answer will be text, in which each row has its id.
    pub(crate) is_text: bool,
}

impl Shared {
    /// Answers a request on the calling thread, or lets it wait once more where others may be computed with it or have its memory.
    fn begin(
        &self,
        unread: Unread<impl FnOnce() -> Result<ForecastRequest, EngineError>>,
        deadline: Instant,
    ) -> Result<Begun, EngineError> {
        take_warnings();
        let Unread { read: read_fields, bytes, fields, is_text } = unread;
        let (settings, mut room) = (&self.settings, self.memory.room());
        if fields > settings.own_memory() {
            room.at_least_soon(fields)?;
        }
        let mut request = read_fields()?;
        if self.models.is_anew(request.model.as_deref()) {
            let threads = if self.queue.is_quiet() { settings.threads } else { 1 };
            let bounds = Bounds { settings, deadline, room: &room, is_text, waits: true, had: room.bytes() };
            let answer = forecast_anew(&mut request, bytes, bounds, threads)?;
            return Ok(Begun::Answered(Box::new(answer), room));
        }
        if let ForecastKind::Ahead(AheadOptions { budget: Some(_), .. }) = &request.asks {
            let message =
                "budget belongs to a search for models (model auto), and this model is fitted; leave it out";
            return Err(EngineError::Request(message.to_owned()));
        }
        let model = self.models.find(request.model.as_deref())?;
        let bounds = Bounds { settings, deadline, room: &room, is_text, waits: false, had: room.bytes() };
        let series = read(&model.on_one_thread, &request, bytes, bounds)?;
        let understood =
            matches!(request.asks, ForecastKind::Look).then(|| understood(&request.data, &series));
        request.forget_series();
        check_asked(model.on_one_thread.h(), &request.asks, &series.panel, bounds)?;
        if self.queue.waiting() > 0 {
            room = match JointRequest::of(&model, &request, &series, is_text, room) {
                Ok(joint) => return Ok(Begun::Joint(Box::new(joint))),
                Err(room) => room,
            };
        }
        let warnings = take_warnings();
        let had = room.bytes();
        self.forecast(
            ReadRequest { model, request, series, understood, warnings, is_text, had, room },
            deadline,
        )
    }

    /// Answers a request whose series were read, or lets it wait for memory that others have.
    fn forecast(&self, read: ReadRequest, deadline: Instant) -> Result<Begun, EngineError> {
        take_warnings();
        let fitted = match self.queue.is_quiet() {
            true => &read.model.on_all_threads,
            false => &read.model.on_one_thread,
        };
        let bounds = read.bounds(&self.settings, deadline);
        match forecast(fitted, &read.request.asks, &read.series, bounds) {
            Ok(frame) => {
                let ReadRequest { model, understood, mut warnings, room, .. } = read;
                warnings.append(&mut take_warnings());
                let answer = ForecastAnswer::of_model(&model.facts.name, frame, warnings);
                Ok(Begun::Answered(Box::new(ForecastAnswer { understood, ..answer }), room))
            }
            Err(EngineError::NoRoom { needed }) => Ok(read.parked(needed)),
            Err(error) => Err(error),
        }
    }

    /// Does `work` for as long as somebody waits for it.
    fn while_waited<R>(&self, waits: Vec<Waits>, work: impl FnOnce() -> R) -> R {
        let is_given_up = self.is_given_up.clone();
        let question =
            move || !is_given_up.load(Ordering::Relaxed) && waits.iter().any(|waits| !waits.is_over());
        while_wanted(Arc::new(question), work)
    }

    /// The error of work that was given up is why it was.
    fn told(&self, error: EngineError) -> EngineError {
        match error {
            EngineError::Forecast(foretell::Error::NotWanted) => {
                match self.is_given_up.load(Ordering::Relaxed) {
                    true => EngineError::Stopping,
                    false => EngineError::Timeout(self.settings.timeout),
                }
            }
            error => error,
        }
    }

    /// Answers a request that was read, and with it those that wait and may be computed together with it.
    fn answer_read(&self, first: ReadJob) {
        let mut ids = vec![first.request.id().clone()];
        let others = self.queue.take_also(MOST - 1, |job| match job {
            Job::Read(job) if job.request.goes_with(&first.request) && !ids.contains(job.request.id()) => {
                ids.push(job.request.id().clone());
                true
            }
            _ => false,
        });
        let of_read = |job| if let Job::Read(job) = job { Some(*job) } else { None };
        let mut jobs: Vec<ReadJob> =
            std::iter::once(first).chain(others.into_iter().filter_map(of_read)).collect();
        jobs.retain(|job| !job.waits.is_over());
        while let Some(ReadJob { request, .. }) = jobs.first() {
            let count = request.model.joint.most_of(jobs.len());
            let requests: Vec<&JointRequest> = jobs[..count].iter().map(|job| &job.request).collect();
            let waits: Vec<Waits> = jobs[..count].iter().map(|job| job.waits.clone()).collect();
            let last = waits.iter().map(|waits| waits.deadline).max().unwrap_or_else(Instant::now);
            let found = self.while_waited(waits, || {
                let found = guarded(|| Ok(answers(&requests, &self.settings, last)));
                found.unwrap_or_else(|_| {
                    // Whichever it was that panicked: the others have an answer.
                    requests.iter().map(|request| guarded(|| request.alone(&self.settings, last))).collect()
                })
            });
            if count > 1 {
                self.together.fetch_add(count as u64, Ordering::Relaxed);
            }
            for (job, answer) in jobs.drain(..count).zip(found) {
                let ReadJob { request, client, .. } = job;
                let answer = answer.map_err(|error| self.told(error));
                client.answer(answer.map(|answer| (answer, request.into_room())));
            }
        }
    }
}

impl ForecastEngine {
    /// Loads models, each from a directory that `foretell fit` or `NeuralForecast.save` wrote, and starts the threads.
    ///
    /// # Errors
    /// A model that cannot be loaded, two of one name, or a system without threads to spare.
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
        let memory = MemoryAccount::new(settings.shared_memory(), settings.patience);
        let shared = Arc::new(Shared {
            models,
            settings,
            queue,
            reloads: Default::default(),
            together: AtomicU64::default(),
            memory,
            is_given_up: Arc::default(),
        });
        let mut engine = Self { shared: shared.clone(), threads: Vec::new(), watcher: None };
        for number in 0..count {
            let (shared, name) = (shared.clone(), format!("forecast-{number}"));
            engine.threads.push(thread::Builder::new().name(name).spawn(move || {
                while let Some(job) = shared.queue.take() {
                    match job {
                        Job::New(begin) => begin(&shared),
                        Job::Read(job) => shared.answer_read(*job),
                    }
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
        let unread = Unread { read: move || Ok(request), bytes: 0, fields: 0, is_text: false };
        self.run(unread, |answer, _| Ok(answer)).await
    }

    /// The facts of the models that requests depend on.
    pub fn models(&self) -> Vec<ModelFacts> {
        self.shared.models.facts()
    }

    /// Requests that wait for a thread.
    pub fn waiting(&self) -> usize {
        self.shared.queue.waiting()
    }

    /// Requests that were computed together with others.
    pub fn together(&self) -> u64 {
        self.shared.together.load(Ordering::Relaxed)
    }

    /// How many models were replaced, and how many were not although their directories changed.
    pub fn reloads(&self) -> [u64; 2] {
        [0, 1].map(|which: usize| self.shared.reloads[which].load(Ordering::Relaxed))
    }

    /// Takes no more requests; those that wait are answered.
    pub fn stop(&self) {
        self.shared.queue.close();
    }

    /// Takes no more requests, and gives up what is computed: no one waits for it.
    pub fn give_up(&self) {
        self.shared.is_given_up.store(true, Ordering::Relaxed);
        self.shared.memory.close();
        self.stop();
    }

    /// The limits.
    pub fn settings(&self) -> &EngineSettings {
        &self.shared.settings
    }

    /// The account of what requests and answers take together.
    pub(crate) fn memory(&self) -> Arc<MemoryAccount> {
        self.shared.memory.clone()
    }

    /// The answer to the request that is read, as `finish` returns it; both run on one of the threads, when its turn comes.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        unread: Unread<impl FnOnce() -> Result<ForecastRequest, EngineError> + Send + 'static>,
        finish: impl FnOnce(ForecastAnswer, Room) -> Result<T, EngineError> + Send + 'static,
    ) -> Result<T, EngineError> {
        let timeout = self.shared.settings.timeout;
        let deadline = Instant::now() + timeout;
        let waits = Waits { deadline, is_gone: Arc::default() };
        let _gone = GoneWithThis(waits.is_gone.clone());
        let begin = move |shared: &Shared| shared.begin(unread, deadline);
        let mut told = self.told_by_a_thread(begin, finish, &waits).await?;
        loop {
            match told {
                Told::Answer(outcome) => return outcome,
                // It waits here and not on a thread, which others need.
                Told::Parked { read, needed, finish } => {
                    match timeout_at(deadline.into(), read.room.wait_for(needed)).await {
                        Ok(found) => found?,
                        Err(_) => return Err(EngineError::NoRoom { needed }),
                    }
                    let again = move |shared: &Shared| shared.forecast(*read, deadline);
                    told = self.told_by_a_thread(again, finish, &waits).await?;
                }
            }
        }
    }

    /// What the one who waits is told of what `begin` does on one of the threads.
    async fn told_by_a_thread<T: Send + 'static, F>(
        &self,
        begin: impl FnOnce(&Shared) -> Result<Begun, EngineError> + Send + 'static,
        finish: F,
        waits: &Waits,
    ) -> Result<Told<T, F>, EngineError>
    where
        F: FnOnce(ForecastAnswer, Room) -> Result<T, EngineError> + Send + 'static,
    {
        let (sender, answered) = oneshot::channel();
        let client = Box::new(Waiting { sender, finish });
        let of_job = waits.clone();
        let job = Box::new(move |shared: &Shared| {
            // No one waits for it any more.
            if of_job.is_over() {
                return;
            }
            if shared.is_given_up.load(Ordering::Relaxed) {
                return client.answer(Err(EngineError::Stopping));
            }
            match shared.while_waited(vec![of_job.clone()], || guarded(|| begin(shared))) {
                Ok(Begun::Answered(answer, room)) => client.answer(Ok((*answer, room))),
                Ok(Begun::Parked(read, needed)) => client.park(read, needed),
                Ok(Begun::Joint(request)) => {
                    let job = ReadJob { request: *request, waits: of_job, client };
                    shared.queue.push_back(Job::Read(Box::new(job)));
                }
                Err(error) => client.answer(Err(shared.told(error))),
            }
        });
        self.shared.queue.push(Job::New(job)).map_err(|refusal| match refusal {
            Refusal::Full => EngineError::Busy(self.shared.settings.queue),
            Refusal::Closed => EngineError::Stopping,
        })?;
        match timeout_at(waits.deadline.into(), answered).await {
            Ok(Ok(told)) => Ok(told),
            Ok(Err(_)) | Err(_) => Err(EngineError::Timeout(self.shared.settings.timeout)),
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
        if self.shared.is_given_up.load(Ordering::Relaxed) {
            // They end at their next look at who waits, and the one who gave up waits for nothing.
            return;
        }
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
