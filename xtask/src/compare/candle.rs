//! The operations that candle has as well, by the criterion suite of `foretell-candle`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::Context;

use crate::figures::{digits, table, time};
use crate::system::{cargo, read_json, run, target};

/// An operation, and the median seconds of candle and of foretell.
type Operations = BTreeMap<String, [Option<f64>; 2]>;

/// Runs the suite, in which both take turns in one process; its figures.
pub(super) fn measure(threads: &str) -> anyhow::Result<Operations> {
    let folder = target()?.join("criterion");
    let mut command = cargo();
    command.args(["bench", "--quiet", "--package", "foretell-candle", "--bench", "candle"]);
    run(command.args(["--", "--noplot"]).env("RAYON_NUM_THREADS", threads))?;
    read(&folder)
}

/// The times that criterion wrote of operations that both sides have.
fn read(folder: &Path) -> anyhow::Result<Operations> {
    let mut operations = Operations::new();
    for group in folders(folder)? {
        for bench in folders(&group)? {
            let new = bench.join("new");
            if !new.join("benchmark.json").is_file() {
                continue;
            }
            let [about, estimates] =
                [read_json(&new.join("benchmark.json"))?, read_json(&new.join("estimates.json"))?];
            let (Some(group), Some((what, who))) = (
                about["group_id"].as_str(),
                about["function_id"].as_str().and_then(|id| id.rsplit_once('/')),
            ) else {
                continue;
            };
            let Some(side) = ["candle", "foretell"].iter().position(|side| *side == who) else { continue };
            let nanoseconds = estimates["median"]["point_estimate"].as_f64();
            operations.entry(format!("{group}, {what}")).or_default()[side] =
                nanoseconds.map(|time| time / 1e9);
        }
    }
    operations.retain(|_, sides| sides.iter().all(Option::is_some));
    Ok(operations)
}

fn folders(folder: &Path) -> anyhow::Result<Vec<std::path::PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    let paths = entries.map(|entry| Ok(entry?.path())).collect::<anyhow::Result<Vec<_>>>()?;
    Ok(paths.into_iter().filter(|path| path.is_dir()).collect())
}

/// The operations as a table.
pub(super) fn report(operations: &Operations) -> String {
    let rows: Vec<Vec<String>> = operations
        .iter()
        .map(|(name, sides)| {
            let [candle, foretell] = sides.map(|side| side.unwrap_or(f64::NAN));
            vec![name.clone(), time(foretell), time(candle), digits(candle / foretell)]
        })
        .collect();
    format!("\nOperations of candle:\n\n{}", table(&["operation", "foretell", "candle", "ratio"], &rows))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::system::write;

    #[test]
    fn operations_of_both_sides_are_laid_side_by_side() {
        let folder = std::env::temp_dir().join(format!("foretell-criterion-{}", std::process::id()));
        for (group, bench, nanoseconds) in [
            ("softmax 8x8", "forward/candle", 3000.0),
            ("softmax 8x8", "forward/foretell", 1000.0),
            ("softmax 8x8", "and backward/foretell", 1.0),
            ("products", "faer", 1.0),
        ] {
            let new = folder.join(group).join(bench.replace('/', "_")).join("new");
            let about = json!({ "group_id": group, "function_id": bench });
            write(&new.join("benchmark.json"), about.to_string()).unwrap();
            let estimates = json!({ "median": { "point_estimate": nanoseconds } });
            write(&new.join("estimates.json"), estimates.to_string()).unwrap();
        }
        write(&folder.join("report/index.html"), "").unwrap();
        let operations = read(&folder).unwrap();
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(operations, [("softmax 8x8, forward".to_owned(), [Some(3e-6), Some(1e-6)])].into());
        assert!(
            report(&operations).contains("| softmax 8x8, forward | 1.00 us | 3.00 us | 3.00 |"),
            "{}",
            report(&operations)
        );
    }
}
