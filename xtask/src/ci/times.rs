//! How long each step and each test program took, beside the run before.

use std::{collections::BTreeMap, fs, path::Path, time::Duration};

use serde_json::{Value, json};

/// Seconds by name: `test`, or `test: foretell-cli it`.
#[derive(Default)]
pub(super) struct Times {
    now: Vec<(String, f64)>,
    before: BTreeMap<String, f64>,
}

impl Times {
    /// With those of the run before, if its file is there.
    pub(super) fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap_or_default();
        let value: Value = serde_json::from_str(&text).unwrap_or_default();
        let entries = value["seconds"].as_object().into_iter().flatten();
        let before = entries.filter_map(|(name, seconds)| Some((name.clone(), seconds.as_f64()?))).collect();
        Self { now: Vec::new(), before }
    }

    pub(super) fn add(&mut self, name: impl Into<String>, time: Duration) {
        self.now.push((name.into(), time.as_secs_f64()));
    }

    /// Writes them for the next run; what did not run this time keeps its time.
    pub(super) fn write(&self, path: &Path, machine: &str) -> anyhow::Result<()> {
        let mut seconds = self.before.clone();
        seconds.extend(self.now.iter().cloned());
        let text = serde_json::to_string_pretty(&json!({ "machine": machine, "seconds": seconds }))?;
        crate::system::write(path, text)
    }

    /// The table of the slowest: seconds, those of the run before, name.
    pub(super) fn table(&self, most: usize) -> String {
        let mut sorted: Vec<&(String, f64)> = self.now.iter().collect();
        sorted.sort_by(|a, b| b.1.total_cmp(&a.1));
        let mut text = String::from("\n=== seconds (before), slowest first\n");
        for (name, seconds) in sorted.iter().take(most) {
            let before = self.before.get(name).map_or("-".to_owned(), |before| format!("{before:.1}"));
            text += &format!("{seconds:8.1} {:>9} {name}\n", format!("({before})"));
        }
        let rest = sorted.iter().skip(most);
        let (count, seconds) = rest.fold((0, 0.0), |(count, sum), (_, seconds)| (count + 1, sum + seconds));
        if count > 0 {
            text += &format!("{seconds:8.1}           {count} others together\n");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_stand_first_beside_the_run_before() {
        let mut times = Times { now: Vec::new(), before: BTreeMap::from([("test".to_owned(), 9.0)]) };
        times.add("fmt", Duration::from_secs(1));
        times.add("test", Duration::from_secs(12));
        times.add("docs", Duration::from_millis(2500));
        let table = times.table(2);
        let lines: Vec<&str> = table.trim().lines().collect();
        assert_eq!(lines[1], "    12.0     (9.0) test");
        assert_eq!(lines[2], "     2.5       (-) docs");
        assert_eq!(lines[3], "     1.0           1 others together");
    }

    #[test]
    fn what_did_not_run_keeps_its_time() {
        let folder = std::env::temp_dir().join(format!("foretell-times-{}", std::process::id()));
        let path = folder.join("times.json");
        let mut times = Times { now: Vec::new(), before: BTreeMap::from([("wheel".to_owned(), 90.0)]) };
        times.add("fmt", Duration::from_secs(1));
        times.write(&path, "an abacus").unwrap();
        let read = Times::read(&path);
        fs::remove_dir_all(folder).unwrap();
        assert_eq!(read.before, BTreeMap::from([("fmt".to_owned(), 1.0), ("wheel".to_owned(), 90.0)]));
        assert!(Times::read(Path::new("no/such/file")).before.is_empty());
    }
}
