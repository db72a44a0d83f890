//! Panels read file by file are those of one table, no matter who reads the files.

use std::fs;
use std::path::PathBuf;
use std::sync::{Barrier, Mutex};
use std::thread;

use tempfile::TempDir;

use super::*;
use crate::Fill;
use foretell_calendar::Freq;

/// A file of each text, after the header.
fn files(texts: &[&str]) -> (TempDir, Vec<PathBuf>) {
    let dir = TempDir::new().unwrap();
    let path = |(number, text): (usize, &&str)| {
        let path = dir.path().join(format!("part-{number}.csv"));
        fs::write(&path, format!("unique_id,ds,y,kind,x,available_mask,size\n{text}")).unwrap();
        path
    };
    let paths = texts.iter().enumerate().map(path).collect();
    (dir, paths)
}

fn options() -> ReadOptions {
    let [categories, static_cols] = [vec!["kind".into()], vec!["size".into()]];
    ReadOptions { categories, static_cols, ..ReadOptions::default() }
}

const PARTS: [&str; 3] = [
    "m,1,1,new,0.5,1,3\nm,2,2,old,0.25,1,3\nc,5,3,old,0.125,1,4\nc,6,4,new,7,0,4\nc,4,9,new,7,1,4\n",
    "z,1,5,used,1,1,5\nz,2,6,new,2,1,5\n",
    "a,3,7,used,3,1,6\na,4,8,old,4,0,6\n",
];

#[test]
fn files_by_turns_are_the_panel_of_one_table() {
    let (dir, paths) = files(&PARTS);
    same_as_one_table(&paths, &dir, &options());
}

/// Reads the files by turns, and by several processes together, and compares the panels with that of one table.
fn same_as_one_table(paths: &[PathBuf], dir: &TempDir, options: &ReadOptions) {
    let whole = Panel::from_files(paths, options).unwrap();
    let turns = Panel::from_files_by_turns(paths, options, dir.path()).unwrap();
    assert_same(&turns, &whole);
    assert!(turns.bytes() < whole.bytes(), "the numbers take no memory");
    for (processes, dir) in (2..=4).flat_map(|processes| [Some(dir.path()), None].map(|dir| (processes, dir)))
    {
        let read = |peers: &dyn Peers| Panel::from_files_together(paths, options, dir, peers).unwrap();
        Threads::run(processes, read).iter().for_each(|panel| assert_same(panel, &whole));
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), paths.len(), "files without names");
}

fn assert_same(turns: &Panel, whole: &Panel) {
    assert_eq!(turns.ids().collect::<Vec<_>>(), whole.ids().collect::<Vec<_>>());
    assert_eq!((turns.freq(), turns.n_rows()), (whole.freq(), whole.n_rows()));
    // Far rows that are left out stay in the memory of one table.
    assert!(turns.copied_bytes() <= whole.copied_bytes());
    assert_eq!(turns.trimmed().far, whole.trimmed().far);
    let vocabulary = [("kind".to_owned(), whole.categories_of("kind").unwrap())].into_iter().collect();
    let [whole, turns] = [whole, turns].map(|panel| panel.encode_categories(&vocabulary).unwrap());
    for series in 0..whole.n_series() {
        assert_eq!(turns.y(series), whole.y(series));
        assert_eq!(turns.available_mask(series), whole.available_mask(series));
        assert_eq!(turns.times(series).collect::<Vec<_>>(), whole.times(series).collect::<Vec<_>>());
        for column in ["kind", "x"] {
            assert_eq!(turns.column(column, series).unwrap(), whole.column(column, series).unwrap());
        }
        let size = |panel: &Panel| panel.static_value("size", series).unwrap();
        assert_eq!(size(&turns), size(&whole));
    }
}

/// Threads in place of processes.
struct Threads<'a> {
    rank: usize,
    count: usize,
    passed: &'a Mutex<Vec<u8>>,
    turn: &'a Barrier,
}

impl Threads<'_> {
    fn run<T: Send>(count: usize, run: impl Fn(&dyn Peers) -> T + Sync) -> Vec<T> {
        let (passed, turn) = (Mutex::default(), Barrier::new(count));
        let process = |rank| Threads { rank, count, passed: &passed, turn: &turn };
        thread::scope(|scope| {
            let started: Vec<_> = (0..count)
                .map(|rank| {
                    scope.spawn({
                        let run = &run;
                        move || run(&process(rank))
                    })
                })
                .collect();
            started.into_iter().map(|thread| thread.join().unwrap()).collect()
        })
    }
}

impl Peers for Threads<'_> {
    fn rank(&self) -> usize {
        self.rank
    }

    fn count(&self) -> usize {
        self.count
    }

    fn broadcast(&self, from: usize, bytes: &mut Vec<u8>) {
        if self.rank == from {
            self.passed.lock().unwrap().clone_from(bytes);
        }
        self.turn.wait();
        bytes.clone_from(&self.passed.lock().unwrap());
        self.turn.wait();
    }
}

#[test]
fn mistakes_are_met_by_all_processes() {
    let (dir, paths) = files(&[PARTS[0], PARTS[1], "a,3,x,used,3,1,6\n", PARTS[2]]);
    let errors = Threads::run(3, |peers| {
        Panel::from_files_together(&paths, &options(), Some(dir.path()), peers).unwrap_err().to_string()
    });
    errors.iter().for_each(|error| assert!(error.contains("part-2.csv, line 2, column `y`"), "{error}"));
    // A cell that is no number is one only where the column is used.
    let (dir, paths) = files(&[PARTS[0], "z,1,5,used,what,1,5\nz,2,6,new,2,1,5\n", PARTS[2]]);
    let panels = Threads::run(2, |peers| {
        Panel::from_files_together(&paths, &options(), Some(dir.path()), peers).unwrap()
    });
    for panel in panels {
        let error = panel.column("x", 0).unwrap_err().to_string();
        assert!(error.contains("part-1.csv, line 2, column `x`") && panel.y(3) == [5.0, 6.0], "{error}");
    }
    let errors = Threads::run(2, |peers| {
        let paths = &paths[..3 - peers.rank()];
        Panel::from_files_together(paths, &options(), Some(dir.path()), peers).unwrap_err().to_string()
    });
    errors.iter().for_each(|error| {
        assert!(
            error.contains("process 1 finds the file none where process 0 finds ")
                && error.contains("part-2")
        );
    });
}

#[test]
fn rows_of_far_times_are_left_out_of_each_file_and_counted() {
    let days = |id: &str| {
        let near = (1..=9).map(|day| format!("{id},2024-05-0{day},{day},new,1,1,3\n"));
        near.collect::<String>() + &format!("{id},2042-07-01,1,new,1,1,3\n")
    };
    let (dir, paths) = files(&[&days("a"), &days("b")]);
    let options = options().without_far_times_after("2024-05");
    assert_eq!(Panel::from_files(&paths, &options).unwrap().trimmed().far, 2);
    same_as_one_table(&paths, &dir, &options);
}

#[test]
fn series_that_no_file_has_values_of_are_left_out_on_request() {
    let dead = |from: usize| {
        (from..from + 2).map(|t| format!("dead,{t},,new,1,1,3\nend,{t},,new,1,1,3\n")).collect::<String>()
    };
    let end = "end,1,5,new,1,1,3\nend,2,6,new,1,1,3\n";
    let first = format!("{}{end}dead,1,,new,1,1,3\ndead,2,,new,1,1,3\n", PARTS[0]);
    let (dir, paths) = files(&[&first, &format!("{}{}", PARTS[1], dead(3))]);
    let options = ReadOptions { freq: Freq::parse("1").ok(), ..options() };
    assert!(Panel::from_files_by_turns(&paths, &options, dir.path()).is_err());
    let options = options.without_unknown();
    let whole = Panel::from_files(&paths, &options).unwrap();
    let told = |panel: &Panel| {
        (panel.trimmed(), panel.notes().iter().flat_map(unknown_in).cloned().collect::<Vec<_>>())
    };
    assert_eq!(told(&whole).1, [("dead".to_owned(), 4)]);
    let values = |panel: &Panel| {
        let ids: Vec<_> = panel.ids().cloned().collect();
        ids.into_iter().enumerate().map(|(i, id)| (id, panel.y(i).to_vec())).collect::<Vec<_>>()
    };
    let check = |panel: &Panel| assert_eq!((told(panel), values(panel)), (told(&whole), values(&whole)));
    check(&Panel::from_files_by_turns(&paths, &options, dir.path()).unwrap());
    let read = |peers: &dyn Peers| Panel::from_files_together(&paths, &options, None, peers).unwrap();
    Threads::run(2, read).iter().for_each(check);
}

#[test]
fn series_that_go_on_in_another_file_are_whole() {
    // `m` and `c` are in several files, which are in no order.
    let later = [
        "m,5,1,late,0.5,0,3\nc,7,8,new,3,1,4\nm,6,2,old,0.5,1,3\n",
        "m,3,1,new,0.5,1,3\nm,4,1,new,0.5,1,3\n",
    ];
    let (dir, paths) = files(&[PARTS[0], later[0], PARTS[1], later[1], PARTS[2]]);
    same_as_one_table(&paths, &dir, &options());
}

/// A Parquet file with a row group of each text.
fn row_groups(texts: &[&str]) -> (TempDir, PathBuf) {
    use arrow_array::{Array, Float64Array, Int64Array, RecordBatch, StringArray};
    use parquet::arrow::ArrowWriter;

    let batch = |text: &str| {
        let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
        let texts = |column: usize| rows.iter().map(move |row| row[column]);
        let strings = |column| Arc::new(StringArray::from_iter_values(texts(column))) as Arc<dyn Array>;
        let integers = |column| {
            Arc::new(Int64Array::from_iter_values(texts(column).map(|cell| cell.parse().unwrap())))
                as Arc<dyn Array>
        };
        let numbers = |column| {
            Arc::new(Float64Array::from_iter_values(texts(column).map(|cell| cell.parse().unwrap())))
                as Arc<dyn Array>
        };
        RecordBatch::try_from_iter([
            ("unique_id", strings(0)),
            ("ds", integers(1)),
            ("y", numbers(2)),
            ("kind", strings(3)),
            ("x", numbers(4)),
            ("available_mask", integers(5)),
            ("size", integers(6)),
        ])
        .unwrap()
    };
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("rows.parquet");
    let schema = batch(texts[0]).schema();
    let mut writer = ArrowWriter::try_new(fs::File::create(&path).unwrap(), schema, None).unwrap();
    for text in texts {
        writer.write(&batch(text)).unwrap();
        writer.flush().unwrap();
    }
    writer.close().unwrap();
    (dir, path)
}

#[test]
fn row_groups_of_one_file_are_read_apart() {
    let integers = options().freq(foretell_calendar::Freq::parse("1").unwrap());
    let groups = [
        PARTS[0],
        "z,1,5,used,1,1,5\nz,2,6,new,2,1,5\nm,3,1,late,0.5,0,3\nm,4,1,new,0.5,1,3\n",
        "c,7,8,new,3,1,4\nm,5,2,old,0.5,1,3\na,3,7,used,3,1,6\na,4,8,old,4,0,6\n",
    ];
    let (dir, path) = row_groups(&groups);
    assert_eq!(FilePart::all_of(&path, PART_ROWS).len(), 3);
    same_as_one_table(&[path], &dir, &integers);
    // Rows of a series that are strewn over row groups are read as one table all the same.
    let strewn = [
        "m,1,1,new,0.5,1,3\nm,3,2,old,0.25,1,3\nc,5,3,old,0.125,1,4\nc,6,4,new,7,0,4\n",
        "m,2,5,used,1,1,3\nm,4,6,new,2,1,3\nc,4,1,late,0.5,0,4\nz,1,1,new,0.5,1,3\n",
    ];
    let (dir, path) = row_groups(&strewn);
    assert_eq!(FilePart::all_of(&path, PART_ROWS).len(), 2);
    same_as_one_table(&[path], &dir, &integers);
}

#[test]
fn a_file_that_one_process_cannot_read_is_read_by_none() {
    let (dir, paths) = files(&PARTS);
    let errors = Threads::run(3, |peers| {
        let options = options().target_col(if peers.rank() == 1 { "x" } else { "y" });
        let options =
            ReadOptions { columns: Some(vec!["x".into(), "kind".into(), "size".into()]), ..options };
        Panel::from_files_together(&paths, &options, Some(dir.path()), peers).unwrap_err().to_string()
    });
    let own = &errors[1];
    assert!(own.contains("part-0.csv"), "{own}");
    for other in [0, 2] {
        assert!(errors[other].starts_with(&format!("process 1: {own}; ")), "{errors:?}");
    }
}

#[test]
fn rows_of_two_files_that_cannot_follow_each_other_are_told() {
    let refused = |later: &str, options: &ReadOptions, why: &str| {
        let (dir, paths) = files(&[PARTS[0], PARTS[1], later]);
        let error = Panel::from_files_by_turns(&paths, options, dir.path()).unwrap_err().to_string();
        let both = error.contains("`m` has rows in ") && error.contains("part-0") && error.contains("part-2");
        assert!(both && error.contains(why), "{error}");
    };
    let follows = "m,3,1,new,0.5,1,3\nm,4,1,new,0.5,1,3\n";
    refused("m,4,1,new,0.5,1,3\nm,5,1,new,0.5,1,3\n", &options(), "do not begin at the step after");
    refused("m,2,1,new,0.5,1,3\nm,3,1,new,0.5,1,3\n", &options(), "do not begin at the step after");
    refused(follows, &options().fill(Fill::Zero), "needs all rows of a series at once");
    refused("m,3,20000000,new,0.5,1,3\nm,4,20000001,new,0.5,1,3\n", &options(), "more digits");
    // Each half is held unchanged, both together would need a level.
    let constant = "m,1,10000000,new,1,1,3\nm,2,10000000,new,1,1,3\nm,3,10000000,new,1,1,3\n";
    let (dir, paths) = files(&[constant, "m,4,10000001,new,1,1,3\n"]);
    let error = Panel::from_files_by_turns(&paths, &options(), dir.path()).unwrap_err().to_string();
    assert!(error.contains("more digits"), "{error}");
    let (dir, paths) = files(&[PARTS[0], "m,3,1,new,0.5,1,4\nm,4,1,new,0.5,1,4\n"]);
    let error = Panel::from_files_by_turns(&paths, &options(), dir.path()).unwrap_err().to_string();
    assert!(error.contains("`size`") && error.contains("series `m`"), "{error}");
}

#[test]
fn what_is_no_part_of_the_panel_is_refused() {
    let (dir, paths) = files(&PARTS);
    fs::write(&paths[1], "unique_id,ds,y,kind,size\nz,1,5,used,5\nz,2,6,new,5\n").unwrap();
    let error = Panel::from_files_by_turns(&paths, &options(), dir.path()).unwrap_err().to_string();
    assert!(
        error.contains("part-1.csv: its columns are kind, size, and of the first file kind, x, size"),
        "{error}"
    );
    let nowhere = dir.path().join("nowhere");
    let error = Panel::from_files_by_turns(&paths, &options(), &nowhere).unwrap_err().to_string();
    assert!(error.contains("cannot keep numbers in ") && error.contains("nowhere"), "{error}");
}

#[test]
fn rows_that_come_later_bring_a_series_into_memory() {
    let (dir, paths) = files(&PARTS);
    let panel = Panel::from_files_by_turns(&paths, &options(), dir.path()).unwrap();
    let vocabulary = [("kind".to_owned(), panel.categories_of("kind").unwrap())].into_iter().collect();
    let mut panel = panel.encode_categories(&vocabulary).unwrap();
    panel.append("z", &[10.0], &[("kind", &[1.0]), ("x", &[3.0])]).unwrap();
    assert_eq!(panel.y(3), [5.0, 6.0, 10.0]);
}

#[test]
fn what_is_noted_of_later_files_is_told_once() {
    let dir = TempDir::new().unwrap();
    let rows = |id: &str| format!("unique_id,ds,y\n{id},1,5\n{id},2,6\n{id},3,6\n");
    let notes = ["", "Source: Office\n", "Source: Office\n", "* provisional,,\n"];
    let paths: Vec<PathBuf> = (notes.iter().zip(["a", "b", "c", "d"]))
        .map(|(note, id)| {
            let path = dir.path().join(format!("{id}.csv"));
            fs::write(&path, rows(id) + note).unwrap();
            path
        })
        .collect();
    let told = |panel: &Panel| panel.notes().iter().map(ToString::to_string).collect::<Vec<_>>();
    let options = ReadOptions::default();
    let whole = told(&Panel::from_files(&paths, &options).unwrap());
    let [first, second] = &whole[..] else { panic!("{whole:?}") };
    assert!(first.contains("b.csv and 1 more files: lines left out as notes below the table: 1"), "{first}");
    assert!(second.contains("d.csv: lines left out"), "{second}");
    assert_eq!(told(&Panel::from_files_by_turns(&paths, &options, dir.path()).unwrap()), whole);
    for processes in 2..=3 {
        let read = |peers: &dyn Peers| Panel::from_files_together(&paths, &options, None, peers).unwrap();
        Threads::run(processes, read).iter().for_each(|panel| assert_eq!(told(panel), whole));
    }
}
