//! Tables of other layouts read as long ones, and how a table that was read as another seems to be laid out.

use super::options::ReadOptions;
use crate::error::DataError;
use crate::error::misread::MisreadTable;
use crate::error::series::SeriesError;
use foretell_calendar::{TimeKind, readings::readings};
use foretell_messages::{Setting, listed};
use foretell_tables::{
    Across, BlockIds, CellError, ColumnError, JoinedIds, JoinedTimes, LongNames, MarkedTable, Marks,
    MeltedTable, ReadNote, TableError, TableReader, is_called_year, is_of_id, named_months, parts_of_year,
    steps_of_day, times_of,
};

/// A wide table of fewer columns across is one of series.
const FEW: usize = 6;

/// Columns that are looked at for how a table seems to be laid out: each is tried as a time of many forms.
const LOOKED_AT: usize = 2000;

impl ReadOptions {
    /// The data as a table of one column of times and, in the long layout, one of values.
    pub(super) fn laid_out<'a>(
        &self,
        table: Box<dyn TableReader + 'a>,
    ) -> Result<Box<dyn TableReader + 'a>, DataError> {
        let table = self.with_time(table)?;
        let Some(across) = self.across.filter(|_| !self.wide) else { return Ok(table) };
        let names = LongNames {
            id: &self.id_col,
            time: self.time_name(),
            value: &self.target_col,
            format: self.time_format.as_ref(),
            hours: self.hours,
            locale: self.locale,
        };
        Ok(Box::new(MeltedTable::new(table, across, &names)?))
    }

    /// The table with one column of times.
    pub(super) fn with_time<'a>(
        &self,
        table: Box<dyn TableReader + 'a>,
    ) -> Result<Box<dyn TableReader + 'a>, DataError> {
        let table = self.with_marks(table)?;
        if self.time_cols.is_empty() {
            return Ok(table);
        }
        let format = self.time_format.clone();
        Ok(Box::new(JoinedTimes::new(table, &self.time_cols, self.time_name(), format, self.hours)?))
    }

    /// The table with one column of ids, in which some texts stand for missing values or for 0, and numbers may have flags.
    pub(super) fn with_marks<'a>(
        &self,
        inner: Box<dyn TableReader + 'a>,
    ) -> Result<Box<dyn TableReader + 'a>, DataError> {
        let inner = self.with_ids(inner)?;
        Ok(match Marks::new(&self.missing, &self.zeros, &self.number_flags)? {
            Some(marks) => Box::new(MarkedTable::new(inner, marks.into(), self.numbers)),
            None => inner,
        })
    }

    /// The table with one column of ids; those that make it are columns of their own where someone named them as such.
    pub(super) fn with_ids<'a>(
        &self,
        inner: Box<dyn TableReader + 'a>,
    ) -> Result<Box<dyn TableReader + 'a>, DataError> {
        let is_named = |name: &str| {
            let named = self.columns.iter().flatten().chain(&self.static_cols).chain(&self.categories);
            named.chain(&self.end_col).any(|column| column == name)
        };
        if self.wide {
            return Ok(inner);
        }
        let above = self.notation.ids_above.iter().filter(|name| is_of_id(&self.id_col, name));
        let inner = BlockIds::over(inner, &above.cloned().collect::<Vec<_>>());
        Ok(JoinedIds::over(inner, &self.id_col, is_named)?)
    }

    /// The names of columns that the layout needs of a file, beside those that are kept.
    pub(super) fn reads_all_columns(&self) -> bool {
        self.wide || self.across.is_some() || !self.time_cols.is_empty()
    }
}

/// The error, with how the table seems to be laid out where that explains it.
pub(super) fn explained(error: DataError, table: &dyn TableReader, options: &ReadOptions) -> DataError {
    if options.across.is_some() || !options.time_cols.is_empty() {
        let counts = options.hours.is_none() && options.across.is_none();
        return match error {
            DataError::Misread(MisreadTable::SkippedHour { .. }) if counts => DataError::LaidOut {
                error: Box::new(error),
                hint: format!(
                    "if hours are counted through the day, of which that one has 23, say so ({})",
                    Setting::Hours.to("counted")
                ),
            },
            error => error,
        };
    }
    let header = &table.header()[..table.header().len().min(LOOKED_AT)];
    let sheets = table.sheets();
    let hint = match &error {
        DataError::Table(TableError::Column(ColumnError::Missing { .. }))
        | DataError::Table(TableError::Cell(CellError::Time { .. } | CellError::Value { .. })) => {
            if let DataError::Table(TableError::Column(ColumnError::Missing { table, .. })) = &error
                && looks_like_row(header)
            {
                let error = MisreadTable::NoHeader { file: table.clone(), cells: header.to_vec() }.into();
                return match sheets {
                    Some(sheets) => DataError::LaidOut { error: Box::new(error), hint: sheets.hint() },
                    None => error,
                };
            }
            parts(header)
                .map(|(across, first, last)| {
                    let what =
                        if across == Across::Months { "the months of a year" } else { "the hours of a day" };
                    format!("the columns {first} to {last} look like {what} ({})", across.setting())
                })
                .or_else(|| {
                    let (what, first, last) = years(header)?;
                    Some(format!(
                        "the columns {first} to {last} look like the {what} of a year; write a row for each of them, with its time{}",
                        if what.starts_with("periods") { ", or its number, counted on from year to year, and name the season (13)" } else { "" }
                    ))
                })
                .or_else(|| times(header, options))
                .or_else(|| units(&error, header))
                .or_else(|| second_times(&error, options))
                .or_else(|| match &error {
                    DataError::Table(TableError::Column(ColumnError::Missing { .. })) if header.len() == 1 => {
                        Some(below_titles())
                    }
                    DataError::Table(TableError::Column(ColumnError::Missing { .. })) => dated_parts(header),
                    // A first sheet may be one of remarks.
                    DataError::Table(TableError::Cell(CellError::Time { .. })) if options.file.sheet.is_none() => Some(sheets?.hint()),
                    _ => None,
                })
        }
        DataError::Series(SeriesError::DuplicateRow { .. } | SeriesError::DuplicateTime { .. }) => {
            part_of_a_year(header, options)
                .or_else(|| time_parts(header, options))
                .or_else(|| other_columns(header, options))
        }
        _ => None,
    };
    match hint {
        Some(hint) => DataError::LaidOut { error: Box::new(error), hint },
        None => error,
    }
}

/// The columns that look like the parts of a period: what they are, the first and the last.
fn parts(header: &[String]) -> Option<(Across, &str, &str)> {
    let names = || header.iter().map(String::as_str);
    let hours = || {
        let steps = steps_of_day(names())?;
        Some((Across::Hours, steps.first()?.0, steps.last()?.0))
    };
    let months = || named_months(names()).map(|months| (Across::Months, months[0], months[11]));
    let (across, first, last) = hours().or_else(months)?;
    Some((across, &header[first], &header[last]))
}

/// The same of parts of a year that no layout reads.
fn years(header: &[String]) -> Option<(&'static str, &str, &str)> {
    let (what, [first, last]) = parts_of_year(header.iter().map(String::as_str))?;
    Some((what, &header[first], &header[last]))
}

fn times(header: &[String], options: &ReadOptions) -> Option<String> {
    let times = times_of(header, 0, options.time_format.as_ref(), options.locale)
        .filter(|times| times.len() >= FEW)?;
    let (first, last) = (&header[times.first()?.0], &header[times.last()?.0]);
    Some(format!(
        "the columns {first} to {last} look like the times of a series in each row ({})",
        Setting::TimesAcross
    ))
}

/// That lines above the header may have been taken for it.
fn below_titles() -> String {
    format!(
        "if its names stand further down, below lines of titles, say how many lines stand before them ({})",
        Setting::SkipRows
    )
}

/// A line of units below the header, which has a word or nothing where a time or a number is expected.
fn units(error: &DataError, header: &[String]) -> Option<String> {
    let (at, column, value) = match error {
        DataError::Table(TableError::Cell(CellError::Time { at, column, value, .. })) => (at, column, value),
        DataError::Table(TableError::Cell(CellError::Value { at, column, value, .. }))
            if !value.is_empty() =>
        {
            (at, column, value)
        }
        _ => return None,
    };
    let is_first = at.line && at.row == 2 && !value.bytes().any(|byte| byte.is_ascii_digit());
    is_first.then(|| {
        let leave_out = match header.first() == Some(column) {
            true => Setting::SkipMatching.to(value).to_string(),
            false => format!("{} with the beginning of its first cell", Setting::SkipMatching),
        };
        format!("if line 2 holds units and no values, leave it out ({leave_out})")
    })
}

/// A column of times beside the first, in a table of which every other column is a series.
fn second_times(error: &DataError, options: &ReadOptions) -> Option<String> {
    let DataError::Table(TableError::Cell(CellError::Value { column, value, .. })) = error else {
        return None;
    };
    let is_time = value.parse::<f64>().is_err() && TimeKind::Timestamp.parse(value).is_ok();
    (options.wide && is_time).then(|| {
        format!("if `{column}` holds times as the first column does, take it out of the table, every other column of which is a series")
    })
}

/// Whether the names of columns are the cells of a row: one is a date, and another a number or a date.
fn looks_like_row(header: &[String]) -> bool {
    let is_date = |name: &&String| {
        name.contains(['-', '/', ':', '.'])
            && name.bytes().filter(u8::is_ascii_digit).count() >= 6
            && (TimeKind::Timestamp.parse(name).is_ok() || readings(name).is_some())
    };
    let dates = header.iter().filter(is_date).count();
    let numbers = header.iter().filter(|name| name.parse::<f64>().is_ok()).count();
    dates == 1 && numbers > 0
}

/// A column of hours beside that of the dates, or of months beside that of the years.
fn dated_parts(header: &[String]) -> Option<String> {
    const DATES: [&str; 6] = ["date", "day", "deliverydate", "operdate", "settlementdate", "year"];
    let date = header.iter().find(|name| DATES.contains(&plain(name).as_str()))?;
    let options = ReadOptions { time_col: Some(date.clone()), ..ReadOptions::default() };
    let months_alone = plain(date) == "year" && header.iter().all(|name| plain(name) != "month");
    if months_alone { None } else { time_parts(header, &options) }
}

/// Names of the column of a part of a year beside that of the year, without blanks and the like.
const PARTS_OF_A_YEAR: [&str; 29] = [
    "week", "weekno", "weeknr", "weekofyear", "isoweek", "wk", "kw", "woche", "semaine", "semana", "month",
    "monat", "mois", "mes", "quarter", "qtr", "quartal", "period", "kalenderwoche", "vecka", "uke",
    "settimana", "mese", "mês", "måned", "månad", "trimestre", "kvartal", "periode",
];

/// The columns of a year and of a part of it, as of its week, if there is one of each.
pub(super) fn year_and_part<'a>(names: impl Iterator<Item = &'a String> + Clone) -> Option<[String; 2]> {
    let only = |is_called: &dyn Fn(&str) -> bool| {
        let mut called = names.clone().filter(|name| is_called(name));
        called.next().filter(|_| called.next().is_none()).cloned()
    };
    let is_part = |name: &str| PARTS_OF_A_YEAR.contains(&plain(name).as_str());
    Some([only(&is_called_year)?, only(&is_part)?])
}

/// Why rows of one id and time may be those of several series: columns that are not read.
fn other_columns(header: &[String], options: &ReadOptions) -> Option<String> {
    let others = options.unread_columns(header);
    let has_ids = header.contains(&options.id_col);
    (has_ids && !others.is_empty()).then(|| {
        let both = Setting::IdColumn.to(format!("{},{}", options.id_col, others[0]));
        format!(
            "if these rows differ in one of the other columns ({}), they are of several series: name it together with `{}`, as in {both}",
            listed(&others),
            options.id_col
        )
    })
}

/// The error of rows of one id and time, with the columns that tell them apart together, as `open` gives the table once more.
pub(super) fn told_apart<'a>(
    error: DataError,
    options: &ReadOptions,
    open: impl Fn() -> Result<Box<dyn TableReader + 'a>, TableError>,
) -> DataError {
    let (repeated, hint) = match error {
        DataError::LaidOut { error, hint } => (*error, Some(hint)),
        error => (error, None),
    };
    let is_repeated = matches!(
        repeated,
        DataError::Series(SeriesError::DuplicateRow { .. } | SeriesError::DuplicateTime { .. })
    );
    let makes_times =
        |header: &[String]| part_of_a_year(header, options).or_else(|| time_parts(header, options)).is_some();
    let table = if is_repeated && options.is_long() { open().ok() } else { None };
    let together = match table {
        Some(table) if !makes_times(table.header()) => options.together(table),
        _ => Vec::new(),
    };
    let hint = match (together.is_empty(), hint) {
        (false, _) => format!(
            "if these rows are of several series, {} tell them apart together: name them ({})",
            listed(&together),
            Setting::IdColumn.to(together.join(","))
        ),
        (true, Some(hint)) => hint,
        (true, None) => return repeated,
    };
    DataError::LaidOut { error: Box::new(repeated), hint }
}

/// That a year stands in another column than the times, which are parts of it.
fn part_of_a_year(header: &[String], options: &ReadOptions) -> Option<String> {
    let [year, part] = year_and_part(header.iter())?;
    let columns = Setting::TimeColumns.to(format!("{year},{part}"));
    [&year, &part]
        .iter()
        .any(|name| *name == options.time_name())
        .then(|| format!("if `{year}` and `{part}` make the time together, say so ({columns})"))
}

fn plain(name: &str) -> String {
    name.to_lowercase().replace(['_', ' ', '-'], "")
}

/// Whether a column holds parts of a day by its name.
pub(super) fn is_called_part_of_day(name: &str) -> bool {
    PARTS.contains(&plain(name).as_str()) && plain(name) != "month"
}

const PARTS: [&str; 19] = [
    "settlementperiod", "hour", "hourending", "hourbeginning", "hr", "he", "time", "timeofday", "month",
    "minute", "hourend", "uhrzeit", "zeit", "stunde", "heure", "hora", "ora", "uur", "klokkeslett",
];

/// A column of hours beside that of the times.
fn time_parts(header: &[String], options: &ReadOptions) -> Option<String> {
    let time = header.iter().find(|name| *name == options.time_name())?;
    let part = header.iter().find(|name| PARTS.contains(&plain(name).as_str()) && *name != time)?;
    let columns = Setting::TimeColumns.to(format!("{},{part}", options.time_name()));
    Some(format!("if `{}` and `{part}` make the time together, say so ({columns})", options.time_name()))
}

/// An error where the first line of a table is no header, which would be read as one, and so be lost.
pub(super) fn check_named(table: &dyn TableReader) -> Result<(), DataError> {
    match looks_like_row(table.header()) {
        false => Ok(()),
        true => {
            let cells = table.header().to_vec();
            Err(MisreadTable::NoHeader { file: table.file().clone(), cells }.into())
        }
    }
}

/// The note on a wide table whose series look like the parts of a period.
pub(super) fn note_of_parts(table: &dyn TableReader) -> Option<ReadNote> {
    let file = || table.file().clone();
    let of_layout = parts(table.header()).map(|(across, first, last)| ReadNote::PartsAcross {
        file: file(),
        across,
        first: first.to_owned(),
        last: last.to_owned(),
    });
    of_layout.or_else(|| {
        let (parts, first, last) = years(table.header())?;
        Some(ReadNote::YearsAcross { file: file(), parts, first: first.to_owned(), last: last.to_owned() })
    })
}

#[cfg(test)]
mod tests {
    use crate::{Panel, ReadOptions};
    use foretell_calendar::TimeFormat;

    fn refused(text: &str, options: &ReadOptions) -> String {
        Panel::read_csv(text.as_bytes(), "t.csv", options).map(|_| ()).unwrap_err().to_string()
    }

    #[test]
    fn a_first_row_is_not_lost_as_a_header() {
        let (long, wide) = (ReadOptions::new(), ReadOptions { wide: true, ..ReadOptions::new() });
        for (text, options) in [
            ("2023-01-02,5\n2023-01-03,6\n2023-01-04,7\n", &long),
            ("2023-01-02,5\n2023-01-03,6\n2023-01-04,7\n", &wide),
            ("a,2023-01-02,5\na,2023-01-03,6\n", &long),
            ("02.01.2023;5;6\n03.01.2023;6;6\n", &wide),
        ] {
            let message = refused(text, options);
            assert!(message.starts_with("t.csv: its first line looks like a row ("), "{message}");
        }
        // Series may be called by numbers, and times across are dates.
        assert!(
            Panel::read_csv(&b"ds,1,2\n2023-01-02,5,6\n2023-01-03,5,6\n2023-01-04,5,6\n"[..], "t.csv", &wide)
                .is_ok()
        );
        let across = "id,2023-01,2023-02,2023-03\na,1,2,3\n";
        assert!(!refused(across, &long).contains("looks like a row"));
    }

    #[test]
    fn quarters_across_are_told_as_the_parts_of_a_year() {
        let text = "Year,Q1,Q2,Q3,Q4\n2020,1,2,3,4\n2021,1,2,3,4\n2022,1,2,3,4\n";
        let message = refused(text, &ReadOptions::new());
        assert!(
            message.contains("the columns Q1 to Q4 look like the quarters of a year; write a row"),
            "{message}"
        );
        let time_format = TimeFormat::parse("%Y").ok();
        let options = ReadOptions { wide: true, time_format, ..ReadOptions::new() };
        let panel = Panel::read_csv(text.as_bytes(), "t.csv", &options).unwrap();
        let [note] = panel.notes() else { panic!("{:?}", panel.notes()) };
        assert!(
            note.to_string().contains("the columns Q1 to Q4 look like the quarters of one series"),
            "{note}"
        );
    }

    #[test]
    fn second_times_and_titles_above_the_names_are_told() {
        let wide = ReadOptions { wide: true, ..ReadOptions::new() };
        let message = refused("DATE,TIME PERIOD,rate\n2019-01-31,2019Jan,5\n2019-02-28,2019Feb,6\n", &wide);
        assert!(
            message.contains("; if `TIME PERIOD` holds times as the first column does, take it out"),
            "{message}"
        );
        let message = refused("Table 45212-0004\nTurnover\n", &ReadOptions::new());
        assert!(
            message.contains("say how many lines stand before them (`FileOptions::skip_rows`)"),
            "{message}"
        );
    }

    #[test]
    fn columns_that_belong_together_are_told() {
        for (text, expected) in [
            ("date,hour_ending,load\n2023-01-01,1,5\n", "= date,hour_ending`"),
            ("Year,Month,Sales\n2023,1,5\n", "= Year,Month`"),
        ] {
            let message = refused(text, &ReadOptions::new());
            assert!(message.contains(expected), "{message}");
        }
        assert!(!refused("year,region,y\n2023,1,5\n", &ReadOptions::new()).contains("make the time"));
    }
}
