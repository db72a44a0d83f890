//! Counters, in the text form that Prometheus reads.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Upper bounds of the histogram of latencies, in seconds.
const BUCKETS: [f64; 14] =
    [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0];

/// Counts of the requests that were answered.
#[derive(Default)]
pub(crate) struct Metrics(Mutex<Counts>);

#[derive(Default)]
struct Counts {
    /// By route and status.
    requests: BTreeMap<(String, u16), u64>,
    /// By route.
    latencies: BTreeMap<String, Latencies>,
    windows: u64,
}

#[derive(Default)]
struct Latencies {
    buckets: [u64; BUCKETS.len()],
    count: u64,
    seconds: f64,
}

/// Quantities of the moment.
pub(crate) struct Levels {
    pub(crate) waiting: usize,
    pub(crate) connections: usize,
    pub(crate) models: usize,
    pub(crate) reloads: [u64; 2],
    pub(crate) together: u64,
}

impl Metrics {
    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a request that was answered.
    pub(crate) fn count(&self, route: &str, status: u16, took: Duration, windows: usize) {
        let mut counts = self.counts();
        *counts.requests.entry((route.to_owned(), status)).or_default() += 1;
        counts.windows += windows as u64;
        let latencies = counts.latencies.entry(route.to_owned()).or_default();
        let seconds = took.as_secs_f64();
        if let Some(bucket) = BUCKETS.iter().position(|bound| seconds <= *bound) {
            latencies.buckets[bucket] += 1;
        }
        latencies.count += 1;
        latencies.seconds += seconds;
    }

    /// All of it.
    pub(crate) fn exposition(&self, levels: &Levels) -> String {
        let counts = self.counts();
        let mut out = String::new();
        let head = |out: &mut String, name: &str, kind: &str, help: &str| {
            // Writing to a string cannot fail.
            let _ = writeln!(out, "# HELP foretell_{name} {help}\n# TYPE foretell_{name} {kind}");
        };
        head(&mut out, "requests_total", "counter", "Requests answered, by route and status.");
        for ((route, status), count) in &counts.requests {
            let _ = writeln!(out, "foretell_requests_total{{route=\"{route}\",status=\"{status}\"}} {count}");
        }
        head(
            &mut out,
            "request_seconds",
            "histogram",
            "Time from a request's head to its answer's, by route.",
        );
        for (route, latencies) in &counts.latencies {
            let mut sum = 0;
            for (bound, count) in BUCKETS.iter().zip(latencies.buckets) {
                sum += count;
                let _ = writeln!(
                    out,
                    "foretell_request_seconds_bucket{{route=\"{route}\",le=\"{bound}\"}} {sum}"
                );
            }
            let Latencies { count, seconds, .. } = latencies;
            let _ = writeln!(
                out,
                "foretell_request_seconds_bucket{{route=\"{route}\",le=\"+Inf\"}} {count}\n\
                 foretell_request_seconds_sum{{route=\"{route}\"}} {seconds}\n\
                 foretell_request_seconds_count{{route=\"{route}\"}} {count}"
            );
        }
        let plain = [
            ("windows_total", "counter", "Series that were forecast.", counts.windows),
            ("together_total", "counter", "Requests that were computed with others.", levels.together),
            ("reloads_total", "counter", "Models that were replaced.", levels.reloads[0]),
            ("failed_reloads_total", "counter", "Changed models that cannot be loaded.", levels.reloads[1]),
            ("waiting_requests", "gauge", "Requests that wait for a thread.", levels.waiting as u64),
            ("connections", "gauge", "Open connections.", levels.connections as u64),
            ("models", "gauge", "Models that are served.", levels.models as u64),
            (
                "pool_bytes",
                "gauge",
                "Bytes of recycled buffers, in use and idle.",
                (foretell::pool::metrics().live_bytes + foretell::pool::metrics().idle_bytes) as u64,
            ),
        ];
        for (name, kind, help, value) in plain {
            head(&mut out, name, kind, help);
            let _ = writeln!(out, "foretell_{name} {value}");
        }
        if let Some(bytes) = resident_bytes() {
            head(&mut out, "resident_bytes", "gauge", "Memory of the process.");
            let _ = writeln!(out, "foretell_resident_bytes {bytes}");
        }
        out
    }
}

/// The memory that the process has, where the system tells as Linux does.
fn resident_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(1024 * line.trim().trim_end_matches("kB").trim_end().parse::<u64>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_add_up() {
        let metrics = Metrics::default();
        for millis in [1, 3, 30_000] {
            metrics.count("/v1/forecast", 200, Duration::from_millis(millis), 2);
        }
        let text = metrics.exposition(&Levels {
            waiting: 4,
            connections: 1,
            models: 1,
            reloads: [0; 2],
            together: 0,
        });
        for line in [
            r#"foretell_requests_total{route="/v1/forecast",status="200"} 3"#,
            r#"foretell_request_seconds_bucket{route="/v1/forecast",le="0.001"} 1"#,
            r#"foretell_request_seconds_bucket{route="/v1/forecast",le="10"} 2"#,
            r#"foretell_request_seconds_bucket{route="/v1/forecast",le="+Inf"} 3"#,
            "foretell_windows_total 6",
            "foretell_waiting_requests 4",
        ] {
            assert!(text.lines().any(|other| other == line), "{line} is missing in\n{text}");
        }
    }
}
