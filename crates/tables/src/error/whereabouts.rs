//! Where in the data a mistake is, for programs.

use std::sync::Arc;

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
    /// The file.
    pub fn file(file: impl AsRef<str>) -> Self {
        Self { file: Some(file.as_ref().to_owned()), ..Self::default() }
    }

    /// A row.
    pub fn at(place: &Place) -> Self {
        let text = |text: &Option<Arc<str>>| text.as_ref().map(ToString::to_string);
        Self { file: text(&place.file), row: Some(place.row), column: None, series: text(&place.series) }
    }

    /// A series.
    pub fn of_series(id: &str) -> Self {
        Self::default().series(id)
    }

    /// The same with the column.
    pub fn column(self, column: &str) -> Self {
        Self { column: Some(column.to_owned()), ..self }
    }

    /// The same with the series.
    pub fn series(self, id: &str) -> Self {
        Self { series: Some(id.to_owned()), ..self }
    }
}

impl UnreadableTable {
    pub(super) fn whereabouts(&self) -> Whereabouts {
        match self {
            Self::NotText { file, .. }
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
            Self::PointsInQuestion { file, column, line, .. } => {
                Whereabouts { row: Some(*line), ..Whereabouts::file(file).column(column) }
            }
            Self::MixedUnits { file, column, cells } => {
                let row = Some(cells[1].0);
                Whereabouts { row, ..Whereabouts::file(file).column(column) }
            }
            Self::Columns { file, column, .. } | Self::NumberedPeriods { file, column } => {
                Whereabouts::file(file).column(column)
            }
            Self::NoFiles { path } => Whereabouts::file(path),
            Self::Ragged { at, .. }
            | Self::UnclosedQuote { at, .. }
            | Self::NotUtf8 { at }
            | Self::Summary { at, .. } => Whereabouts::at(at),
            Self::UnclearId { at, id } => Whereabouts::at(at).series(id),
        }
    }
}

impl TooLarge {
    pub(super) fn whereabouts(&self) -> Whereabouts {
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
