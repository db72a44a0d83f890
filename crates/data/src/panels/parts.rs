//! The parts of a table read on several threads, and their rows joined in its order.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use foretell_threads::Workers;

use super::bounds::{Bounds, Share};
use super::long_rows::LongColumns;
use super::rows::TableRows;
use crate::error::DataError;
use foretell_calendar::Clock;
use foretell_tables::{TableError, TableReader};

/// The parts that are not read yet, with their numbers.
struct Source<'a> {
    table: &'a mut dyn TableReader,
    /// The parts that were taken off the table already.
    ahead: Vec<Box<dyn TableReader>>,
    taken: usize,
}

impl Source<'_> {
    fn next(&mut self) -> (usize, Result<Option<Box<dyn TableReader>>, TableError>) {
        self.taken += 1;
        let part = match self.ahead.is_empty() {
            true => self.table.next_part(),
            false => Ok(Some(self.ahead.remove(0))),
        };
        (self.taken - 1, part)
    }
}

/// The rows of the parts that were joined.
struct Joined<'a, 'b> {
    rows: &'a mut TableRows,
    clock: &'a mut Clock,
    share: &'a mut Share<'b>,
    /// The number of the part that is next, and whether there is a next one: else it ended, for this error or none.
    next: usize,
    ended: Option<Result<(), DataError>>,
}

impl LongColumns<'_> {
    /// Takes the rows of a table that can be read in parts, its first row apart, which has settled `clock`. The rows, and the
    /// first error, are those of reading row by row; at most one part for each thread is in memory. `share` is that of `rows`.
    pub(super) fn take_parts(
        &self,
        table: &mut dyn TableReader,
        rows: &mut TableRows,
        clock: &mut Clock,
        bounds: &Bounds<'_>,
        share: &mut Share<'_>,
    ) -> Result<(), DataError> {
        let Some(mut first) = table.next_part()? else { return Ok(()) };
        let workers = Workers::new(self.options.threads).map_err(|error| {
            TableError::setting("threads", error.found, format!("at most {}", error.most))
        })?;
        let second = if workers.asked() > 1 { table.next_part() } else { Ok(None) };
        // What was wrong with the second part is no concern before the first is read.
        let Ok(Some(second)) = second else {
            self.take_rows(&mut *first, rows, clock, share)?;
            second?;
            while let Some(mut part) = table.next_part()? {
                self.take_rows(&mut *part, rows, clock, share)?;
            }
            return Ok(());
        };
        let (none, settled) = (rows.none(), clock.clone());
        let source = Mutex::new(Source { table, ahead: vec![first, second], taken: 0 });
        let joined = Mutex::new(Joined { rows, clock, share, next: 0, ended: None });
        let turn = Condvar::new();
        let read_parts = || {
            let _guard = WakesOthers { joined: &joined, turn: &turn };
            loop {
                let (number, part) = lock(&source).next();
                let (mut own, mut clock, mut share) = (none.none(), settled.clone(), bounds.share());
                let read = part.map_err(DataError::from).and_then(|part| match part {
                    Some(mut part) => {
                        self.take_rows(&mut *part, &mut own, &mut clock, &mut share).map(|()| true)
                    }
                    None => Ok(false),
                });
                let mut joined = lock(&joined);
                while joined.next < number && joined.ended.is_none() {
                    joined = turn.wait(joined).unwrap_or_else(PoisonError::into_inner);
                }
                if joined.ended.is_some() {
                    return;
                }
                joined.ended = match read {
                    Ok(true) => {
                        let Joined { rows, share: of_joined, .. } = &mut *joined;
                        rows.append(own);
                        drop(share);
                        let looked = of_joined.look(rows);
                        joined.clock.join(&clock);
                        looked.err().map(Err)
                    }
                    Ok(false) => Some(Ok(())),
                    Err(error) => Some(Err(error)),
                };
                joined.next += 1;
                turn.notify_all();
            }
        };
        workers.each(&mut vec![(); workers.threads()], true, |_, ()| read_parts());
        // Threads do not begin what no one waits for.
        joined
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
            .ended
            .unwrap_or(Err(DataError::Table(TableError::NotWanted)))
    }
}

/// Ends the work of others where a thread panics: they would wait for its part for ever.
struct WakesOthers<'a, 'b, 'c> {
    joined: &'a Mutex<Joined<'b, 'c>>,
    turn: &'a Condvar,
}

impl Drop for WakesOthers<'_, '_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            lock(self.joined).ended.get_or_insert(Ok(()));
            self.turn.notify_all();
        }
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use crate::error::DataError;
    use crate::{Panel, ReadOptions};

    /// Some megabytes, with line ends within quotes, labels that come late, and rows of series or of times side by side.
    fn text(by_time: bool) -> String {
        let mut text = "unique_id,ds,y,note,available_mask\n".to_owned();
        let (series, rows) = (40, 900);
        for i in 0..series * rows {
            let (series, row) = if by_time { (i % series, i / series) } else { (i / rows, i % rows) };
            let note = ["plain", "\"in \"\"quotes\"\"\"", "\"two\nlines, and a \"", ""][(i / 700) % 4];
            let note = if note.is_empty() { format!("label {}", i / 5000) } else { note.to_owned() };
            writeln!(text, "\"shop {series}\",{row},{}.{},{note},{}", i % 1013, i % 7, i32::from(i % 11 > 0))
                .unwrap();
        }
        text
    }

    fn read(text: &str, threads: usize) -> Result<Panel, DataError> {
        let categories = vec!["note".to_owned()];
        let options = ReadOptions { categories, threads, ..ReadOptions::default() };
        Panel::read_csv(text.as_bytes(), "t.csv", &options)
    }

    #[test]
    fn panels_do_not_depend_on_the_number_of_threads() {
        for by_time in [false, true] {
            let text = text(by_time);
            assert!(text.len() > 1 << 20, "more than two blocks");
            let one = read(&text, 1).unwrap();
            for threads in [2, 3] {
                let several = read(&text, threads).unwrap();
                assert_eq!(several.categories_of("note").unwrap(), one.categories_of("note").unwrap());
                for series in 0..one.n_series() {
                    assert_eq!((several.id(series), several.y(series)), (one.id(series), one.y(series)));
                    assert_eq!(several.available_mask(series), one.available_mask(series));
                    assert!(several.times(series).eq(one.times(series)));
                }
            }
        }
    }

    #[test]
    fn the_first_mistake_is_told_with_its_line() {
        let text = text(true);
        let line = |end: usize| 1 + text[..end].matches('\n').count();
        for place in [text.len() / 5, text.len() / 2, text.len() - 100] {
            let start = place + text[place..].find("\n\"shop").unwrap() + 1;
            // From behind the time on.
            let rest = &text[start..].splitn(3, ',').last().unwrap();
            for (mistake, message) in
                [("x", "is not an integer"), ("7,1,1\n", "fields where the header has 5")]
            {
                let broken = format!("{}a,{mistake},{rest}", &text[..start]);
                let later = format!("{broken}a,y,z,,\n");
                for threads in [1, 3] {
                    for text in [&broken, &later] {
                        let error = read(text, threads).unwrap_err().to_string();
                        let expected = format!("t.csv, line {}", line(start));
                        assert!(
                            error.starts_with(&expected) && error.contains(message),
                            "{mistake}: {error}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn memory_is_looked_at_while_parts_are_read() {
        let options = ReadOptions { max_memory: Some(1000), threads: 2, ..ReadOptions::default() };
        let rows: String = (0..200_000).map(|row| format!("a,{row},1.5\n")).collect();
        let text = format!("unique_id,ds,y\n{rows}");
        let error = Panel::read_csv(text.as_bytes(), "t.csv", &options).unwrap_err().to_string();
        assert!(error.contains("MB of memory, and the limit is"), "{error}");
    }
}
