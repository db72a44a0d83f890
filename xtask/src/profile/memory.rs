//! Instructions, caches and allocations, as valgrind counts them.

use std::collections::BTreeMap;

use anyhow::{Context, ensure};
use serde_json::Value;

use super::bench::{Bench, copy_rate};
use crate::figures::{digits, table};

/// The counts of cachegrind, by the name of the event.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Counts(BTreeMap<String, f64>);

/// The bytes that a miss brings.
const LINE: f64 = 64.0;

impl Counts {
    /// The lines `events:` and `summary:` of cachegrind's file.
    pub(super) fn parse(text: &str) -> anyhow::Result<Self> {
        let words = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name));
            let line = line.with_context(|| format!("no {name} in what cachegrind wrote"))?;
            anyhow::Ok(line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
        };
        let (events, sums) = (words("events:")?, words("summary:")?);
        ensure!(events.len() == sums.len(), "{} events and {} sums", events.len(), sums.len());
        let pairs = events.into_iter().zip(&sums).map(|(event, sum)| Ok((event, sum.parse::<f64>()?)));
        Ok(Self(pairs.collect::<anyhow::Result<_>>()?))
    }

    /// The difference of two runs.
    pub(super) fn less(&self, other: &Self) -> Self {
        Self(self.0.iter().map(|(event, count)| (event.clone(), count - other.get(event))).collect())
    }

    /// A part of it.
    pub(super) fn by(&self, divisor: f64) -> Self {
        Self(self.0.iter().map(|(event, count)| (event.clone(), count / divisor)).collect())
    }

    pub(super) fn get(&self, event: &str) -> f64 {
        self.0.get(event).copied().unwrap_or(f64::NAN)
    }

    /// Reads and writes of data that miss the last cache.
    fn beyond_caches(&self) -> f64 {
        self.get("DLmr") + self.get("DLmw")
    }
}

/// The allocations at one place in the code.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Site {
    function: String,
    blocks: f64,
    bytes: f64,
    at_peak: f64,
}

/// All sites.
pub(super) struct Sites(Vec<Site>);

/// What valgrind counts of a training.
pub(super) struct Counted {
    /// Of a step.
    pub(super) step: Counts,
    /// Allocations of a step.
    pub(super) allocations: f64,
    /// Of a whole training of four steps.
    pub(super) sites: Sites,
}

impl Sites {
    /// Reads the output of valgrind's dhat: program points with counts and the indices of their frames.
    pub(super) fn parse(text: &str) -> anyhow::Result<Self> {
        let document: Value = serde_json::from_str(text).context("dhat wrote no JSON")?;
        let frames = document["ftbl"].as_array().context("dhat wrote no frames")?;
        let points = document["pps"].as_array().context("dhat wrote no program points")?;
        let mut sites: BTreeMap<String, Site> = BTreeMap::new();
        for point in points {
            let names: Vec<&str> = point["fs"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|index| frames.get(index.as_u64()? as usize)?.as_str())
                .map(function_of)
                .collect();
            // The first of ours is who asked; the frames within it are the allocator and the standard library.
            let ours = names.iter().find(|name| name.contains("foretell") && !name.contains("alloc::"));
            let function = ours.or(names.first()).map_or("unknown", |name| name).to_owned();
            let number = |key: &str| point[key].as_f64().unwrap_or(0.0);
            let entry = sites.entry(function.clone()).or_insert(Site {
                function,
                blocks: 0.0,
                bytes: 0.0,
                at_peak: 0.0,
            });
            entry.blocks += number("tbk");
            entry.bytes += number("tb");
            entry.at_peak += number("gb");
        }
        Ok(Self(sites.into_values().collect()))
    }

    /// The sites with the largest values of a figure.
    fn top(&self, count: usize, value: fn(&Site) -> f64) -> Vec<&Site> {
        let mut sites: Vec<&Site> = self.0.iter().collect();
        sites.sort_by(|a, b| value(b).total_cmp(&value(a)));
        sites.truncate(count);
        sites
    }

    pub(super) fn peak_bytes(&self) -> f64 {
        self.0.iter().map(|site| site.at_peak).sum()
    }

    pub(super) fn blocks(&self) -> f64 {
        self.0.iter().map(|site| site.blocks).sum()
    }
}

/// The function of a frame: `0x10A2B3: name (file:line)`.
fn function_of(frame: &str) -> &str {
    let name = frame.split_once(": ").map_or(frame, |(_, name)| name);
    name.rsplit_once(" (").map_or(name, |(name, _)| name)
}

/// Instructions, misses, the share of the machine's bandwidth, and the sites. `batches` are the windows of a step under valgrind
/// and of the bench.
pub(super) fn report(counted: &Counted, bench: &Bench, batches: (usize, usize)) -> String {
    let Counted { step: counts, allocations, sites } = counted;
    let windows = batches.0 as f64;
    // The difference of two runs may be a few misses below none.
    let share = |misses: &str, total: &str| {
        format!("{:.2} %", 100.0 * counts.get(misses).max(0.0) / counts.get(total))
    };
    let row = |name: &str, event: &str, first: &str, last: &str| {
        vec![
            name.to_owned(),
            digits(counts.get(event) / windows / 1e3),
            share(first, event),
            share(last, event),
        ]
    };
    let rows = [
        row("instructions", "Ir", "I1mr", "ILmr"),
        row("reads of data", "Dr", "D1mr", "DLmr"),
        row("writes of data", "Dw", "D1mw", "DLmw"),
    ];
    // Of the step that was timed: valgrind's step has fewer windows.
    let bytes = counts.beyond_caches() * LINE * batches.1 as f64 / windows;
    let rate = bytes / (bench.number("step_ms") / 1e3);
    let copy = copy_rate();
    let mb = |bytes: f64| digits(bytes / 1e6);
    let site = |site: &&Site| {
        vec![
            format!("`{}`", site.function.replace('|', "/")),
            digits(site.blocks),
            mb(site.bytes),
            mb(site.at_peak),
        ]
    };
    let head = ["site", "allocations", "MB in all", "MB at the peak"];
    let tables = [sites.top(10, |site| site.blocks), sites.top(10, |site| site.at_peak)]
        .map(|top| table(&head, &top.iter().map(site).collect::<Vec<_>>()));
    format!(
        "\n## Instructions and caches\n\nBy cachegrind, of a step of {} windows at the AVX2 level: valgrind knows no AVX-512, and its \
         processor says so. Thousands for each window; its caches are modelled after this machine's.\n\n{}\nWhat misses the last \
         cache is {} MB in a step of {} windows on one thread: {} GB/s, {:.0} % of the {} GB/s of a plain copy.\n\n\
         ## Allocations\n\nBy dhat, of a whole training of four steps: {} allocations, {} of them for each step more; {} MB at the \
         peak. By number, then by what they hold at the peak:\n\n{}\n{}",
        batches.0,
        table(&["what", "thousands a window", "miss the first cache", "miss the last"], &rows),
        mb(bytes),
        batches.1,
        digits(rate / 1e9),
        100.0 * rate / copy,
        digits(copy / 1e9),
        digits(sites.blocks()),
        digits(*allocations),
        mb(sites.peak_bytes()),
        tables[0],
        tables[1],
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const FILE: &str = "desc: D1 cache\ncmd: foretell\nevents: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw\nfl=x\n\
                        summary: 3200000 32 16 640000 6400 3200 320000 3200 1600\n";

    #[test]
    fn counts_are_read_and_subtracted() {
        let counts = Counts::parse(FILE).unwrap();
        assert_eq!(counts.get("Ir"), 3.2e6);
        assert_eq!(counts.less(&counts.by(2.0)).get("DLmw"), 800.0);
        assert!(counts.get("Bc").is_nan());
        assert!(Counts::parse("events: Ir\n").unwrap_err().to_string().contains("summary:"));
    }

    fn sites() -> Sites {
        let text = json!({
            "ftbl": ["[root]", "0x1: malloc (in vg.so)", "0x2: alloc::vec::push (vec.rs:1)",
                     "0x3: foretell_nn::table::Table::new (table.rs:7)", "0x4: main (main.rs:1)"],
            "pps": [
                { "tb": 3_000_000, "tbk": 30, "gb": 2_000_000, "fs": [1, 2, 3, 4] },
                { "tb": 1_000_000, "tbk": 10, "gb": 0, "fs": [1, 3] },
                { "tb": 500, "tbk": 100, "fs": [1, 4] },
            ],
        });
        Sites::parse(&text.to_string()).unwrap()
    }

    #[test]
    fn a_site_is_the_first_function_of_ours() {
        let sites = sites();
        let expected = Site {
            function: "foretell_nn::table::Table::new".to_owned(),
            blocks: 40.0,
            bytes: 4e6,
            at_peak: 2e6,
        };
        assert_eq!(sites.top(1, |site| site.at_peak), [&expected]);
        assert_eq!(sites.top(1, |site| site.blocks)[0].function, "malloc");
        assert_eq!((sites.blocks(), sites.peak_bytes()), (140.0, 2e6));
    }

    #[test]
    fn the_report_has_figures_of_a_window_and_of_the_machine() {
        let bench = Bench(json!({ "step_ms": 1.0 }));
        let counted = Counted { step: Counts::parse(FILE).unwrap(), allocations: 0.5, sites: sites() };
        let text = report(&counted, &bench, (32, 128));
        assert!(text.contains("| instructions | 100 | 0.00 % | 0.00 % |"), "{text}");
        assert!(text.contains("| reads of data | 20.0 | 1.00 % | 0.50 % |"), "{text}");
        // 4800 misses of 64 bytes for 32 windows.
        assert!(
            text.contains("cache is 1.23 MB in a step of 128 windows on one thread: 1.23 GB/s"),
            "{text}"
        );
        assert!(
            text.contains("140 allocations, 0.500 of them for each step more; 2.00 MB at the peak"),
            "{text}"
        );
    }
}
