//! The forms in which tables come in and go out.

use foretell::FileFormat;

/// A form of tables, by the type that a request's headers name it by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MediaType {
    Json,
    Csv,
    Parquet,
    Arrow,
    Excel,
    OpenDocument,
}

impl MediaType {
    pub(crate) const ALL: [Self; 6] =
        [Self::Json, Self::Csv, Self::Parquet, Self::Arrow, Self::Excel, Self::OpenDocument];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Csv => "text/csv",
            Self::Parquet => "application/vnd.apache.parquet",
            Self::Arrow => "application/vnd.apache.arrow.stream",
            Self::Excel => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            Self::OpenDocument => "application/vnd.oasis.opendocument.spreadsheet",
        }
    }

    /// The type of that name, if this program was built with it; parameters such as `charset` change nothing.
    pub(crate) fn of(name: &str) -> Option<Self> {
        let name = name.split(';').next().unwrap_or_default().trim();
        Self::built().find(|media| media.name().eq_ignore_ascii_case(name))
    }

    /// The type of a file of that name, if the name tells one.
    pub(crate) fn of_file(name: &str) -> Option<Self> {
        Self::built().find(|media| media.format().is_some_and(|format| format.is_ending(name)))
    }

    /// The type of an answer to a body of this one: the same, if this program can write it.
    pub(crate) fn answer(self) -> Self {
        if self.is_written() { self } else { Self::Json }
    }

    /// The first type of an `Accept` header that this program can write; nothing if there is none.
    pub(crate) fn accepted(header: &str, by_default: Self) -> Option<Self> {
        header.split(',').find_map(|range| match range.split(';').next().unwrap_or_default().trim() {
            "*/*" | "application/*" => Some(by_default),
            "text/*" => Some(Self::Csv),
            name => Self::of(name).filter(|media| media.is_written()),
        })
    }

    /// Whether answers can have this type.
    pub(crate) fn is_written(self) -> bool {
        self.format().is_none_or(FileFormat::is_written)
    }

    /// The types that this program was built with.
    pub(crate) fn built() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|media| media.format().is_none_or(|format| !format.is_not_built()))
    }

    /// Those of them that answers can have.
    pub(crate) fn written() -> impl Iterator<Item = Self> {
        Self::built().filter(|media| media.is_written())
    }

    /// Names of types, for messages.
    pub(crate) fn names(types: impl Iterator<Item = Self>) -> String {
        types.map(Self::name).collect::<Vec<_>>().join(", ")
    }

    /// The format of files that it is, if it is one.
    pub(crate) fn format(self) -> Option<&'static FileFormat> {
        match self {
            Self::Json => None,
            Self::Csv => Some(FileFormat::of("t.csv")),
            Self::Parquet => Some(FileFormat::of("t.parquet")),
            Self::Arrow => Some(FileFormat::of("t.arrows")),
            Self::Excel => Some(FileFormat::of("t.xlsx")),
            Self::OpenDocument => Some(FileFormat::of("t.ods")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_name_types() {
        assert_eq!(MediaType::of("Text/CSV; charset=utf-8"), Some(MediaType::Csv));
        assert_eq!(MediaType::of("text/html"), None);
        let accepted = |header| MediaType::accepted(header, MediaType::Csv);
        assert_eq!(accepted("*/*"), Some(MediaType::Csv));
        assert_eq!(accepted("text/html, application/json;q=0.9"), Some(MediaType::Json));
        assert_eq!(accepted("image/png"), None);
        let workbook = MediaType::Excel;
        assert_eq!((workbook.answer(), MediaType::Csv.answer()), (MediaType::Json, MediaType::Csv));
        assert_eq!(accepted(workbook.name()), None);
    }
}
