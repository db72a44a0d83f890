//! A server as a whole program: its own runtime, its socket, and the signals that end it.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::runtime::Builder;

use crate::engine::ForecastEngine;
use crate::serve::serve;
use crate::serve_settings::ServeSettings;

/// Serves `engine` at `address` until SIGTERM or Ctrl-C, as [`serve`] does. `ready` is told the address once clients can
/// connect: its port is one that the system chose if `address` has port 0.
///
/// # Errors
/// An address that cannot be listened at; a system without threads to spare.
pub fn run(
    address: SocketAddr,
    engine: ForecastEngine,
    settings: ServeSettings,
    ready: impl FnOnce(SocketAddr),
) -> io::Result<()> {
    // One thread moves bytes; all others forecast.
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    runtime.block_on(async {
        let stop = stop_signal()?;
        let listener = TcpListener::bind(address).await?;
        ready(listener.local_addr()?);
        serve(listener, Arc::new(engine), settings, stop).await
    })
}

/// Ready with the first SIGTERM or Ctrl-C. Signals are caught from the call on.
#[cfg(unix)]
fn stop_signal() -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

#[cfg(not(unix))]
fn stop_signal() -> io::Result<impl Future<Output = ()>> {
    Ok(async { drop(tokio::signal::ctrl_c().await) })
}
