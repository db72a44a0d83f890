//! A connection whose other end must read what is written to it.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep_until};

use crate::memory_account::MemoryAccount;

/// Bytes that the other end has to take in the time of a stall, where others wait for the memory of its answer.
const LEAST: usize = 16 << 10;

/// A connection that ends with an error where what is written has waited so long that the other end seems to read nothing: it would
/// hold its answer in memory and keep a connection from others for as long as it likes. Where others wait for that memory, it ends
/// where the other end reads too slowly.
pub(crate) struct TimedStream {
    stream: TcpStream,
    most: Duration,
    stall: Duration,
    memory: Arc<MemoryAccount>,
    /// When the other end took something the last time, or was to.
    since: Option<Instant>,
    /// When the present time of a stall began, and the bytes that were taken since.
    turn: (Instant, usize),
    /// Runs while something waits to be written.
    waiting: Option<Pin<Box<Sleep>>>,
}

impl TimedStream {
    pub(crate) fn new(
        stream: TcpStream,
        most: Duration,
        stall: Duration,
        memory: Arc<MemoryAccount>,
    ) -> Self {
        Self { stream, most, stall, memory, since: None, turn: (Instant::now(), 0), waiting: None }
    }

    /// The outcome of a write, or the end of its time; `size` are the bytes of one that was done.
    fn in_time<T>(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<T>>,
        size: impl Fn(&T) -> usize,
    ) -> Poll<io::Result<T>> {
        if let Poll::Ready(outcome) = &written {
            if self.turn.0.elapsed() > self.stall {
                self.turn = (Instant::now(), 0);
            }
            self.turn.1 += outcome.as_ref().map_or(0, size);
            (self.since, self.waiting) = (None, None);
            return written;
        }
        let now = Instant::now();
        if self.since.is_none() && self.turn.0 + self.stall < now {
            self.turn = (now, 0);
        }
        let since = *self.since.get_or_insert(now);
        loop {
            let next = (since + self.most).min((self.turn.0 + self.stall).max(now));
            let waiting = self.waiting.get_or_insert_with(|| Box::pin(sleep_until(next)));
            ready!(waiting.as_mut().poll(cx));
            self.waiting = None;
            let now = Instant::now();
            if now >= since + self.most {
                // The one who writes again has as much time again.
                self.since = None;
                return late("the answer was not read in time");
            }
            if self.turn.1 < LEAST && self.memory.is_short() {
                return late("the answer was read too slowly while others waited for its memory");
            }
            self.turn = (now, 0);
        }
    }
}

/// The error of a connection that is given up.
fn late<T>(why: &str) -> Poll<io::Result<T>> {
    Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, why)))
}

impl AsyncRead for TimedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for TimedStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.in_time(cx, written, |size| *size)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.in_time(cx, written, |size| *size)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(cx);
        self.in_time(cx, flushed, |()| 0)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.stream).poll_shutdown(cx);
        self.in_time(cx, shut, |()| 0)
    }
}
