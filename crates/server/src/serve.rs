//! Connections: accepted up to a limit, each within its times, and let go of when the server is to stop.

use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use crate::app::{App, ServerState};
use crate::engine::ForecastEngine;
use crate::routes::router;
use crate::serve_settings::ServeSettings;
use crate::timed_stream::TimedStream;

/// Headers that a request may have,
const MOST_HEADERS: usize = 64;

/// and the bytes of its head.
const HEAD_BYTES: usize = 64 << 10;

/// How long requests that were given up have to be told so.
const LAST: Duration = Duration::from_secs(1);

/// Serves `engine` on `listener` until `stop` is ready. Then no connection is accepted, requests that have begun are answered, for
/// [`ServeSettings::drain`] at most, the others are told that it stops, and so does the engine.
///
/// # Errors
/// None but those of the listener as a whole; a connection that breaks off ends alone.
pub async fn serve(
    listener: TcpListener,
    engine: Arc<ForecastEngine>,
    mut settings: ServeSettings,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let memory = engine.settings().memory.bytes();
    // A quarter of the memory is that of bodies.
    settings.max_body = settings.max_body.min(usize::try_from(memory / 4).unwrap_or(usize::MAX));
    let state = Arc::new(ServerState::new(&settings, memory));
    let app = App { engine, settings: Arc::new(settings), state };
    let connections = Arc::new(Semaphore::new(app.settings.max_connections));
    let graceful = GracefulShutdown::new();
    let router = router(&app);
    let mut stop = pin!(stop);
    loop {
        let accepted = async {
            // Taken first: a connection that there is no room for waits to be accepted.
            let room = connections.clone().acquire_owned().await.expect("never closed");
            (room, accept(&listener).await)
        };
        let (room, stream) = tokio::select! {
            accepted = accepted => accepted,
            () = &mut stop => break,
        };
        let stall = app.engine.settings().stall;
        let stream = TimedStream::new(stream, app.settings.receive, stall, app.engine.memory());
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(app.settings.receive)
            .max_headers(MOST_HEADERS)
            .max_buf_size(HEAD_BYTES)
            .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router.clone()));
        let connection = graceful.watch(connection);
        let state = app.state.clone();
        state.connections.fetch_add(1, Ordering::Relaxed);
        tokio::spawn(async move {
            // What breaks off is the client's concern.
            let _ = connection.await;
            state.connections.fetch_sub(1, Ordering::Relaxed);
            drop(room);
        });
    }
    app.state.stopping.store(true, Ordering::Relaxed);
    drop(listener);
    let mut ends = pin!(graceful.shutdown());
    if timeout(app.settings.drain, &mut ends).await.is_err() {
        // Requests that still run are ended, and their answer says so.
        app.engine.give_up();
        let _ = timeout(LAST, ends).await;
    }
    app.engine.give_up();
    Ok(())
}

/// The next connection. That one broke off before it was accepted, or that the process has no descriptors left, passes.
async fn accept(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                // An answer is one write: nothing is gained by waiting for more.
                let _ = stream.set_nodelay(true);
                return stream;
            }
            Err(_) => sleep(Duration::from_millis(10)).await,
        }
    }
}
