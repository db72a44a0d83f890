//! Answers requests natively, one JSON a line: what the module's answers are compared with.
//!
//! `cargo run -p foretell-requests --example answer < requests.jsonl > answers.jsonl`; the milliseconds of each are on standard error.

use std::io::{self, BufRead, Write};
use std::time::Instant;

use foretell_requests::{Host, Session, join, split};

fn main() -> io::Result<()> {
    let (mut session, mut out) = (Session::new(Host::default()), io::stdout().lock());
    for line in io::stdin().lock().lines() {
        let (line, begun) = (line?, Instant::now());
        let answer = session.answer(&join(line.as_bytes(), &[]));
        eprintln!("{:.3}", 1e3 * begun.elapsed().as_secs_f64());
        let (json, _) = split(&answer).map_err(io::Error::other)?;
        out.write_all(json)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}
