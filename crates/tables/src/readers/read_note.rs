//! The assumptions of a reader about a file, for its users to check.

use std::fmt;
use std::sync::Arc;

use super::file_options::Encoding;
use super::layout::Across;
use foretell_calendar::Freq;
use foretell_messages::{Setting, listed};

/// An assumption of a reader about a file; shown as one sentence with the setting that says otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadNote {
    /// Text that is not UTF-8.
    Encoded {
        /// The file.
        file: Arc<str>,
        /// The encoding that it was read as.
        encoding: Encoding,
    },
    /// Times and numbers that are not written as usual, and that can be read in one way alone.
    Written {
        /// The table.
        table: Arc<str>,
        /// The format of the times, and the first of them.
        times: Option<[String; 2]>,
        /// The first number with a decimal comma, or with commas between its thousands and a point before its decimals.
        number: Option<String>,
    },
    /// Times with names of months in another language than English.
    Months {
        /// The table.
        table: Arc<str>,
        /// The language, by its code.
        locale: String,
        /// The first of the times.
        first: String,
    },
    /// Lines before the header that were taken for titles.
    Titles {
        /// The file.
        file: Arc<str>,
        /// How many lines,
        lines: u64,
        /// and the line of the header, from 1.
        header: u64,
    },
    /// Lines below the rows that were left out as notes.
    Footers {
        /// The file.
        file: Arc<str>,
        /// The first line, from 1,
        line: u64,
        /// how many there are,
        lines: u64,
        /// and the first cell of the first.
        first: String,
    },
    /// A row below the header that holds the units of the columns.
    UnitsRow {
        /// The file.
        file: Arc<str>,
        /// Its line, from 1.
        line: u64,
        /// Its texts.
        texts: Vec<String>,
    },
    /// A row of names below a header of groups, which are joined with these.
    NamesInGroups {
        /// The file.
        file: Arc<str>,
        /// Its line, from 1.
        line: u64,
        /// Some of the joined names.
        names: Vec<String>,
    },
    /// Columns of ids whose texts stand in the first row of a series alone.
    IdsAbove {
        /// The table.
        table: Arc<str>,
        /// The columns.
        columns: Vec<String>,
        /// How many ids each has in its first rows: fewer than series, where one was forgotten,
        ids: Vec<usize>,
        /// and how many rows these are.
        rows: usize,
    },
    /// Merged cells of a workbook, which stand for all of their rows.
    Merged {
        /// The file.
        file: Arc<str>,
        /// Their columns.
        columns: Vec<String>,
    },
    /// A workbook of several sheets, of which the first was read.
    Sheet {
        /// The file.
        file: Arc<str>,
        /// The sheet that was read,
        read: String,
        /// and those that were not.
        others: Vec<String>,
    },
    /// Hours that are those that end at their number.
    HoursEnding {
        /// The file.
        file: Arc<str>,
    },
    /// A value of the target that looks like a mark of missing ones.
    Mark {
        /// The table.
        table: Arc<str>,
        /// The value.
        value: String,
        /// How many rows have it.
        rows: usize,
    },
    /// A wide table whose series look like the parts of a period.
    PartsAcross {
        /// The file.
        file: Arc<str>,
        /// The parts: hours of a day or months of a year.
        across: Across,
        /// The first of these columns,
        first: String,
        /// and the last.
        last: String,
    },
    /// The same of parts of a year that no layout reads.
    YearsAcross {
        /// The file.
        file: Arc<str>,
        /// What the parts are: quarters, weeks, or months from another one than January on.
        parts: &'static str,
        /// The first of these columns,
        first: String,
        /// and the last.
        last: String,
    },
    /// Periods that rows were gathered in and that seem not to be complete.
    PartialPeriods {
        /// The table.
        table: Arc<str>,
        /// Series whose first period is one,
        first: usize,
        /// and those whose last is one.
        last: usize,
        /// Whether they were kept.
        kept: bool,
        /// The series that have no other.
        series: Vec<String>,
    },
    /// Periods that rows were gathered in and that may lack rows, which no usual step between rows tells; they are kept.
    PossiblyPartial {
        /// The table.
        table: Arc<str>,
        /// Series whose first period is one,
        first: usize,
        /// and those whose last is one.
        last: usize,
    },
    /// Sums of periods that lack rows in their middle, which are not known.
    SumsUnknown {
        /// The table.
        table: Arc<str>,
        /// The frequency of the periods,
        freq: Freq,
        /// how many of them there are,
        periods: usize,
        /// their series,
        series: Vec<String>,
        /// and the times around the rows that the first of these lacks.
        around: [String; 2],
    },
    /// Columns whose missing values are those before them although 0 was asked for, as they are never 0.
    NeverZero {
        /// The table.
        table: Arc<str>,
        /// The columns.
        columns: Vec<String>,
    },
    /// Ids that differ in nothing but blanks and the case of letters.
    AlikeIds {
        /// The table.
        table: Arc<str>,
        /// One of them,
        first: String,
        /// another that looks like it,
        second: String,
        /// and how many more such pairs there are.
        more: usize,
    },
    /// A series that is the sum of all others at nearly every time.
    TotalOfOthers {
        /// The table.
        table: Arc<str>,
        /// The series.
        id: String,
        /// At how many times it is the sum,
        times: usize,
        /// of how many that it was compared at.
        of: usize,
        /// Whether it is a column.
        wide: bool,
        /// Whether another id begins as it does.
        is_beginning: bool,
    },
    /// A table of future rows without ids, which are those of every series.
    OfAllSeries {
        /// The table.
        table: Arc<str>,
    },
    /// Series that are left out, as no value of them is known.
    NothingKnown {
        /// The table.
        table: Arc<str>,
        /// Their ids, with their rows.
        series: Vec<(String, usize)>,
    },
    /// Columns across that are left out, as they are the sums of others.
    SumsAcross {
        /// The file.
        file: Arc<str>,
        /// The columns.
        columns: Vec<String>,
    },
    /// Numbers that stand in percent.
    Percent {
        /// The file.
        file: Arc<str>,
    },
    /// Cells of a currency and a dash alone.
    ZerosOfAccounts {
        /// The file.
        file: Arc<str>,
        /// The line of the first,
        line: u64,
        /// and its text.
        cell: String,
    },
    /// Numbers that are 0 in single precision alone, beside larger ones of their series.
    ReadAsZero {
        /// The table.
        table: Arc<str>,
        /// The first.
        value: String,
    },
    /// Lines that repeat the header.
    RepeatedHeaders {
        /// The file.
        file: Arc<str>,
        /// How many.
        lines: u64,
    },
    /// Numbers that were read without the flags behind them.
    Flagged {
        /// The file.
        file: Arc<str>,
        /// How many.
        cells: usize,
    },
}

impl fmt::Display for ReadNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sheet { file, read, others } => {
                write!(
                    f,
                    "{file}: read its sheet `{read}`; {} names another: {}",
                    Setting::Sheet,
                    listed(others)
                )
            }
            Self::HoursEnding { file } => write!(
                f,
                "{file}: hours are those that end (1 to 24), and rows stand at their start: hour 1 at 00:00; {} says otherwise",
                Setting::Hours.to("starting")
            ),
            Self::Mark { table, value, rows } => write!(
                f,
                "{table}: the value {value} (rows: {rows}) is far from all others; if it marks missing values, say so with {}",
                Setting::Missing.to(value)
            ),
            Self::PartsAcross { file, across, first, last } => write!(
                f,
                "{file}: the columns {first} to {last} look like {} of one series; they are read as a series each, and as \
                 one with {}",
                if *across == Across::Months { "the months" } else { "the hours" },
                across.setting()
            ),
            Self::YearsAcross { file, parts, first, last } => write!(
                f,
                "{file}: the columns {first} to {last} look like the {parts} of one series; they are read as a series each. If they are \
                 one, write a row for each of its times"
            ),
            Self::PartialPeriods { table, first, last, kept, series } => {
                write!(
                    f,
                    "{table}: periods that miss rows which others have, and so are not complete, are {}: the first of {first} \
                     series, the last of {last}",
                    if *kept { "kept" } else { "left out" }
                )?;
                if *kept {
                    return write!(f, "; {} leaves them out", Setting::KeepPartial.to(false));
                }
                if !series.is_empty() {
                    write!(f, "; series without any other: {}", listed(series))?;
                }
                write!(f, "; {} keeps them", Setting::KeepPartial)
            }
            Self::PossiblyPartial { table, first, last } => write!(
                f,
                "{table}: periods that may miss rows, as theirs begin later or end earlier than is usual, are kept: the first of {first} \
                 series, the last of {last}; leave their rows out if the data begin or end within them"
            ),
            Self::SumsUnknown { table, freq, periods, series, around: [after, before] } => {
                let (id, others) = (&series[0], &series[1..]);
                let others = match others.is_empty() {
                    true => String::new(),
                    false => format!("; others lack some, too: {}", listed(others)),
                };
                let (sums, they) = match periods {
                    1 => (format!("the sum of 1 period (`{freq}`) is"), "it is"),
                    _ => (format!("the sums of {periods} periods (`{freq}`) are"), "they are"),
                };
                write!(
                    f,
                    "{table}: {sums} not known, nor what {they} part of: series `{id}` has no values between {after} and \
                     {before}{others}; models see such steps on the line between their neighbours, and scores leave them out. If missing \
                     values are 0, say so ({}), else fill them in the data before they are added up, or take the mean ({})",
                    Setting::Fill.to("zero"),
                    Setting::Aggregate.to("mean")
                )
            }
            Self::NeverZero { table, columns } => write!(
                f,
                "{table}: columns that are never 0: {}; where they are missing they are filled with the value before, and the target with 0",
                listed(columns)
            ),
            Self::AlikeIds { table, first, second, more } => {
                let others = if *more > 0 { format!(" (and {more} more)") } else { String::new() };
                write!(
                    f,
                    "{table}: the ids {first:?} and {second:?}{others} differ in blanks or the case of letters alone, and are series of \
                     their own; write them alike if they are one"
                )
            }
            Self::TotalOfOthers { table, id, times, of, wide, is_beginning } => {
                write!(
                    f,
                    "{table}: series `{id}` is the sum of the others at {times} of {of} times; it is forecast as a series of its own, and \
                     sums over all series count it twice. If that is not meant, leave its "
                )?;
                match (wide, is_beginning) {
                    (true, _) => f.write_str("column out")?,
                    (false, true) => f.write_str("rows out of the file")?,
                    (false, false) => write!(
                        f,
                        "rows out ({}, if their first cell is the id)",
                        Setting::SkipMatching.to(id)
                    )?,
                }
                f.write_str(", and have sums made of the others, as those of a hierarchy")
            }
            Self::NothingKnown { table, series } => {
                let ids: Vec<String> = series.iter().map(|(id, _)| id.clone()).collect();
                write!(f, "{table}: left out series of which no value is known: {}", listed(&ids))
            }
            Self::OfAllSeries { table } => {
                write!(f, "{table}: it has no column of ids, so its rows are those of every series")
            }
            Self::SumsAcross { file, columns } => write!(
                f,
                "{file}: columns of quarters or half-years that stand among their months are left out, as their sums: {}",
                listed(columns)
            ),
            Self::Percent { file } => {
                write!(
                    f,
                    "{file}: numbers in percent are read as the fractions that they are: 12.5 % as 0.125"
                )
            }
            Self::ZerosOfAccounts { file, line, cell } => write!(
                f,
                "{file}: a currency and a dash alone (`{cell}` in line {line}) are read as 0, as spreadsheets show it in columns of \
                 accounts; {} says that the value is not known",
                Setting::Missing.to(cell)
            ),
            Self::ReadAsZero { table, value } => write!(
                f,
                "{table}: numbers that are next to nothing beside others of their series are read as 0, the first of them {value}; if they \
                 are more than noise, multiply the values, or keep such series in a file of their own"
            ),
            Self::RepeatedHeaders { file, lines } => {
                write!(f, "{file}: lines passed over, since they repeat the header: {lines}")
            }
            Self::Flagged { file, cells } => {
                write!(f, "{file}: cells that were read without the flag behind their number: {cells}")
            }
            Self::Encoded { file, encoding } => {
                write!(
                    f,
                    "{file}: read as {encoding}, for it is not UTF-8; {} names another encoding",
                    Setting::Encoding
                )
            }
            Self::Written { table, times, number } => {
                let times = times
                    .as_ref()
                    .map(|[format, first]| (format!("times by {format} ({first})"), Setting::TimeFormat));
                let numbers = number.as_ref().map(|first| {
                    let is_grouped = first.split_once(',').is_some_and(|(_, rest)| rest.contains('.'));
                    match is_grouped {
                        true => {
                            (format!("numbers with commas between thousands ({first})"), Setting::Thousands)
                        }
                        false => (format!("numbers with a decimal comma ({first})"), Setting::Decimal),
                    }
                });
                let (read, settings): (Vec<String>, Vec<Setting>) = times.into_iter().chain(numbers).unzip();
                let settings: Vec<String> = settings.iter().map(ToString::to_string).collect();
                let say = if settings.len() == 1 { "says" } else { "say" };
                let (read, settings) = (read.join(" and "), settings.join(" and "));
                write!(
                    f,
                    "{table}: read {read}, as its first rows fit nothing else; {settings} {say} otherwise"
                )
            }
            Self::Months { table, locale, first } => write!(
                f,
                "{table}: read the months of its times in the language {locale} ({first}), in which all of its first rows are times; {} says \
                 otherwise",
                Setting::Locale
            ),
            Self::IdsAbove { table, columns, ids, rows } => {
                let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
                write!(
                    f,
                    "{table}: texts of {} stand in the first row of a series, and are those of the empty ones below; ids in the first \
                     {rows} rows: {}",
                    listed(columns),
                    ids.join(", ")
                )
            }
            Self::Merged { file, columns } => {
                write!(f, "{file}: merged cells of {} stand for all of their rows", listed(columns))
            }
            Self::NamesInGroups { file, line, names } => write!(
                f,
                "{file}: line {line} has names below those of groups; columns are called by both, as {}",
                listed(names)
            ),
            Self::Footers { file, line, lines, first } => write!(
                f,
                "{file}: lines left out as notes below the table: {lines}, from line {line} on (`{first}`)"
            ),
            Self::UnitsRow { file, line, texts } => {
                write!(f, "{file}: line {line} is left out as the units of the columns ({})", listed(texts))
            }
            Self::Titles { file, lines, header } => write!(
                f,
                "{file}: lines passed over as titles: {lines}; the header is line {header}. If it is another, say how many \
                 lines stand before it ({})",
                Setting::SkipRows
            ),
        }
    }
}
