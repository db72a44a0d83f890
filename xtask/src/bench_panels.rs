//! The panels of `cargo xtask bench-forecast`.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::Context as _;

/// A panel, and what of it is forecast.
pub(crate) struct BenchPanel {
    pub(crate) name: String,
    pub(crate) h: usize,
    pub(crate) season: usize,
    /// Columns that are known ahead.
    pub(crate) columns: Vec<String>,
    pub(crate) series: Vec<BenchSeries>,
}

/// A series.
#[derive(Default)]
pub(crate) struct BenchSeries {
    pub(crate) id: String,
    pub(crate) times: Vec<String>,
    pub(crate) y: Vec<f64>,
    /// The cells of the columns of each row, with a comma before each.
    pub(crate) beside: Vec<String>,
}

/// The panels of a folder, and those of a folder with ETTh1 and M4 Hourly.
pub(crate) fn panels(folder: Option<&Path>, known: Option<&Path>) -> anyhow::Result<Vec<BenchPanel>> {
    let mut panels = Vec::new();
    if let Some(folder) = folder {
        let entries = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
        let mut paths: Vec<_> =
            entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
        paths.sort();
        for path in paths {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if let Some((name, h, season)) = named(&name) {
                let text = fs::read_to_string(&path)?;
                let (columns, series) = long(&text).with_context(|| path.display().to_string())?;
                panels.push(BenchPanel { name, h, season, columns, series });
            }
        }
    }
    if let Some(known) = known {
        if let Ok(text) = fs::read_to_string(known.join("ETTh1.csv")) {
            panels.push(BenchPanel {
                name: "ETTh1".to_owned(),
                h: 24,
                season: 24,
                columns: Vec::new(),
                series: wide(&text, 3000),
            });
        }
        let parts =
            ["M4-Hourly-train.csv", "M4-Hourly-test.csv"].map(|name| fs::read_to_string(known.join(name)));
        if let [Ok(train), Ok(test)] = parts {
            let series = across(&train, &test, 10);
            let (name, columns) = ("M4 Hourly".to_owned(), Vec::new());
            panels.push(BenchPanel { name, h: 48, season: 24, columns, series });
        }
    }
    for panel in &mut panels {
        // What is too short for a window and some history before it tells nothing.
        panel.series.retain(|series| series.y.len() > 2 * panel.h + 2);
    }
    Ok(panels)
}

/// The name, steps and season of a file called NAME-h12-s12.csv.
fn named(file: &str) -> Option<(String, usize, usize)> {
    let (rest, season) = file.strip_suffix(".csv")?.rsplit_once("-s")?;
    let (name, h) = rest.rsplit_once("-h")?;
    Some((name.to_owned(), h.parse().ok()?, season.parse().ok()?))
}

/// The series of a table with a row per series and time, and the names of the other columns.
fn long(text: &str) -> anyhow::Result<(Vec<String>, Vec<BenchSeries>)> {
    let mut lines = text.lines();
    let head: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let place = |name: &str| {
        head.iter().position(|column| *column == name).with_context(|| format!("it has no column {name}"))
    };
    let [id, ds, y] = [place("unique_id")?, place("ds")?, place("y")?];
    let others: Vec<usize> = (0..head.len()).filter(|place| ![id, ds, y].contains(place)).collect();
    let mut all: Vec<BenchSeries> = Vec::new();
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        if all.last().is_none_or(|series| series.id != cells[id]) {
            all.push(BenchSeries { id: cells[id].to_owned(), ..BenchSeries::default() });
        }
        if let Some(series) = all.last_mut() {
            series.times.push(cells[ds].to_owned());
            series.y.push(cells[y].parse().with_context(|| format!("{line}: y is no number"))?);
            series.beside.push(others.iter().map(|place| format!(",{}", cells[*place])).collect());
        }
    }
    Ok((others.into_iter().map(|place| head[place].to_owned()).collect(), all))
}

/// The last rows of a table with a column per series.
fn wide(text: &str, rows: usize) -> Vec<BenchSeries> {
    let mut lines = text.lines();
    let head: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let all: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    let last = &all[all.len().saturating_sub(rows)..];
    let series = |column: usize| BenchSeries {
        id: head[column].to_owned(),
        times: last.iter().map(|row| row[0].to_owned()).collect(),
        y: last.iter().map(|row| row[column].parse().unwrap_or(f64::NAN)).collect(),
        beside: Vec::new(),
    };
    (1..head.len()).map(series).collect()
}

/// Every n-th series of a table with a row per series, continued by another, as hours.
fn across(train: &str, test: &str, every: usize) -> Vec<BenchSeries> {
    let row = |line: &str| -> (String, Vec<f64>) {
        let mut cells = line.split(',').map(|cell| cell.trim_matches('"'));
        let id = cells.next().unwrap_or_default().to_owned();
        (id, cells.map_while(|cell| cell.parse().ok()).collect())
    };
    let pairs = train.lines().zip(test.lines()).skip(1).step_by(every);
    pairs
        .map(|(train, test)| {
            let ((id, mut y), (_, after)) = (row(train), row(test));
            y.extend(after);
            // Days from a Monday on; the months of a year of 365 days.
            let times = (0..y.len()).map(hour_of_2018).collect();
            BenchSeries { id, times, y, beside: Vec::new() }
        })
        .collect()
}

/// An hour of the years from 2018 on, whose first day is a Monday, as text.
fn hour_of_2018(hour: usize) -> String {
    const MONTHS: [usize; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let (mut day, mut month) = (hour / 24 % 365, 0);
    while day >= MONTHS[month] {
        day -= MONTHS[month];
        month += 1;
    }
    format!("{}-{:02}-{:02} {:02}:00:00", 2018 + hour / 24 / 365, month + 1, day + 1, hour % 24)
}

impl BenchPanel {
    /// The panel as a file, without the last rows of each series.
    pub(crate) fn text_without_last(&self, rows: usize) -> String {
        let mut text = format!("unique_id,ds,y{}\n", self.names());
        for series in &self.series {
            let known = series.y.len().saturating_sub(rows);
            for (row, (time, y)) in series.times.iter().zip(&series.y).take(known).enumerate() {
                _ = writeln!(text, "{},{time},{y}{}", series.id, series.beside(row));
            }
        }
        text
    }

    /// Leaves out what is known ahead.
    pub(crate) fn forget_columns(&mut self) {
        self.columns.clear();
        self.series.iter_mut().for_each(|series| series.beside.clear());
    }

    /// What is known ahead of the rows behind those of [`text_without_last`](Self::text_without_last).
    pub(crate) fn text_ahead(&self, rows: usize) -> String {
        let mut text = format!("unique_id,ds{}\n", self.names());
        for series in &self.series {
            let known = series.y.len().saturating_sub(rows);
            for (row, time) in series.times.iter().enumerate().skip(known).take(self.h) {
                _ = writeln!(text, "{},{time}{}", series.id, series.beside(row));
            }
        }
        text
    }

    /// The names of the columns that are known ahead, with a comma before each.
    fn names(&self) -> String {
        self.columns.iter().map(|name| format!(",{name}")).collect()
    }
}

impl BenchSeries {
    fn beside(&self, row: usize) -> &str {
        self.beside.get(row).map_or("", String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_say_what_is_forecast() {
        assert_eq!(named("co2-weekly-h13-s52.csv"), Some(("co2-weekly".to_owned(), 13, 52)));
        assert_eq!(named("co2.csv"), None);
        assert_eq!(named("co2-h13-s52.meta"), None);
    }

    #[test]
    fn other_columns_are_known_ahead() {
        let text = "unique_id,price,ds,y,promo\na,9.5,1,2,0\na,8,2,3,1\na,7,3,4,0\n";
        let (columns, series) = long(text).unwrap();
        let mut panel = BenchPanel { name: String::new(), h: 1, season: 1, columns, series };
        assert_eq!(panel.text_without_last(2), "unique_id,ds,y,price,promo\na,1,2,9.5,0\n");
        assert_eq!(panel.text_ahead(2), "unique_id,ds,price,promo\na,2,8,1\n");
        panel.forget_columns();
        assert_eq!(panel.text_without_last(2), "unique_id,ds,y\na,1,2\n");
    }

    #[test]
    fn tables_of_each_kind_are_read() {
        let (columns, series) = long("unique_id,ds,y\na,1,2.5\na,2,3\nb,1,4\n").unwrap();
        assert_eq!(
            (series.len(), &series[0].y, &series[1].times),
            (2, &vec![2.5, 3.0], &vec!["1".to_owned()])
        );
        assert!(columns.is_empty() && long("id,ds,y\n").is_err());
        let series = wide("date,a,b\n1,2,3\n4,5,6\n7,8,9\n", 2);
        assert_eq!(
            (&series[1].y, &series[0].times),
            (&vec![6.0, 9.0], &vec!["4".to_owned(), "7".to_owned()])
        );
        let series = across("V1,V2,V3\nH1,1,2\nH2,3,\n", "V1,V2\nH1,5\nH2,6\n", 1);
        assert_eq!((&series[0].y, &series[1].y), (&vec![1.0, 2.0, 5.0], &vec![3.0, 6.0]));
        assert_eq!(series[0].times[1], "2018-01-01 01:00:00");
        assert_eq!(hour_of_2018(24 * 59 + 5), "2018-03-01 05:00:00");
        let panel = BenchPanel { name: String::new(), h: 1, season: 1, columns, series };
        assert_eq!(panel.text_without_last(1).lines().count(), 1 + 2 + 1);
    }
}
