//! Where in the data a mistake is, for programs.

use std::sync::Arc;

use super::DataError;
use super::file::UnreadableTable;
use super::place::Place;
use super::too_large::TooLarge;

/// Where in the data a mistake is, as far as that is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Whereabouts {
    /// The file, or what the table is called.
    pub file: Option<String>,
    /// The line of a text, counted from 1 with its header, or the row of any other table, counted from 0.
    pub row: Option<u64>,
    /// The column.
    pub column: Option<String>,
    /// The series.
    pub series: Option<String>,
}

impl Whereabouts {
    fn file(file: impl AsRef<str>) -> Self {
        Self { file: Some(file.as_ref().to_owned()), ..Self::default() }
    }

    fn at(place: &Place) -> Self {
        let text = |text: &Option<Arc<str>>| text.as_ref().map(ToString::to_string);
        Self { file: text(&place.file), row: Some(place.row), column: None, series: text(&place.series) }
    }

    fn of_series(id: &str) -> Self {
        Self::default().series(id)
    }

    fn column(self, column: &str) -> Self {
        Self { column: Some(column.to_owned()), ..self }
    }

    fn series(self, id: &str) -> Self {
        Self { series: Some(id.to_owned()), ..self }
    }
}

impl DataError {
    /// Where the mistake is.
    pub fn whereabouts(&self) -> Whereabouts {
        match self {
            Self::Unreadable(error) => error.whereabouts(),
            Self::TooLarge(error) => error.whereabouts(),
            Self::LaidOut { error, .. } => error.whereabouts(),
            Self::Read { file, .. } | Self::Empty { file } => Whereabouts::file(file),
            Self::NoSeries(table)
            | Self::NoRows { table }
            | Self::StaticMissing { table, .. }
            | Self::SpeltOtherwise { table, .. }
            | Self::FutureMissing { table, .. } => Whereabouts::file(table),
            Self::MissingColumn { table, column, .. }
            | Self::TakenColumn { table, column, .. }
            | Self::DuplicateColumn { table, column }
            | Self::IntegerDates { table, column, .. } => Whereabouts::file(table).column(column),
            Self::UnclearColumn(unclear) => Whereabouts::file(&unclear.table),
            Self::Labels { column } => Whereabouts::default().column(column),
            Self::UnnamedColumn { at, .. } => Whereabouts::at(at),
            Self::BadValue { at, column, .. }
            | Self::BadTime { at, column, .. }
            | Self::EmptyId { at, column }
            | Self::NulInId { at, column }
            | Self::NotPositive { at, column, .. } => Whereabouts::at(at).column(column),
            Self::DuplicateTime { at, .. } => Whereabouts::at(at),
            Self::DuplicateRow { at, id, .. } | Self::FutureExtra { at, id, .. } => {
                Whereabouts::at(at).series(id)
            }
            Self::DuplicateStatic { at, id } => Whereabouts::at(at).series(id),
            Self::Gap(gap) => Whereabouts::at(&gap.at).series(&gap.id),
            Self::NotConstant { column, id, .. } => Whereabouts::of_series(id).column(column),
            Self::UnknownSeries { id, .. }
            | Self::EmptySeries { id }
            | Self::NoFreq { id, .. }
            | Self::TimeRange { id }
            | Self::TooShort { id, .. }
            | Self::FillTooLarge { id, .. } => Whereabouts::of_series(id),
            _ => Whereabouts::default(),
        }
    }
}

impl UnreadableTable {
    fn whereabouts(&self) -> Whereabouts {
        match self {
            Self::NotText { file, .. }
            | Self::NoHeader { file, .. }
            | Self::FewerLines { file, .. }
            | Self::Compressed { file, .. }
            | Self::Encoding { file, .. }
            | Self::NothingAcross { file, .. }
            | Self::MonthAcross { file, .. }
            | Self::BeyondDay { file, .. }
            | Self::YearsAcross { file, .. }
            | Self::Workbook { file, .. }
            | Self::NoSheet { file, .. }
            | Self::Parquet { file, .. }
            | Self::ArrowStream { file, .. }
            | Self::Json { file, .. }
            | Self::NotBuilt { file, .. }
            | Self::Batches { table: file, .. } => Whereabouts::file(file),
            Self::TimesInParts { table, .. } | Self::NoWholePeriod { table } => Whereabouts::file(table),
            Self::Hole { id, .. } => Whereabouts::of_series(id),
            Self::PointedThousands { file, column, line, .. } => {
                Whereabouts { row: Some(*line), ..Whereabouts::file(file).column(column) }
            }
            Self::MixedUnits { file, column, cells } => {
                let row = Some(cells[1].0);
                Whereabouts { row, ..Whereabouts::file(file).column(column) }
            }
            Self::Columns { file, column, .. }
            | Self::MixedPeriods { file, column, .. }
            | Self::NumberedPeriods { file, column } => Whereabouts::file(file).column(column),
            Self::NoFiles { path } => Whereabouts::file(path),
            Self::Unlike { file, .. } => Whereabouts::file(file),
            Self::Pieces { id, second, .. } => Whereabouts::file(second).series(id),
            Self::BuddhistYears { at, id, .. } | Self::YearsAsMonths { at, id } => {
                Whereabouts::at(at).series(id)
            }
            Self::SkippedHour { at, id, .. } => Whereabouts::at(at).series(id),
            Self::Ragged { at, .. }
            | Self::UnclosedQuote { at, .. }
            | Self::NotUtf8 { at }
            | Self::Summary { at, .. } => Whereabouts::at(at),
            Self::UnclearId { at, id } => Whereabouts::at(at).series(id),
            Self::OtherFiles { found, .. } => Whereabouts::file(found),
            Self::OfProcess { .. } | Self::Unwritten { .. } => Whereabouts::default(),
        }
    }
}

impl TooLarge {
    fn whereabouts(&self) -> Whereabouts {
        match self {
            Self::Columns { file, .. }
            | Self::Stream { file, .. }
            | Self::Rows { table: file, .. }
            | Self::Memory { table: file, .. } => Whereabouts::file(file),
            Self::ColumnName { file, .. } => Whereabouts::file(file),
            Self::Id { at, .. } => Whereabouts::at(at),
            Self::Record { file, after, .. } => {
                Whereabouts { row: Some(after + 1), ..Whereabouts::file(file) }
            }
        }
    }
}
