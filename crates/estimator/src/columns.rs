//! The columns of a panel that an estimator reads beside the target.

/// When the values of a column are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// Known for the past only.
    Hist,
    /// Known for past and future.
    Futr,
    /// One value per series.
    Stat,
    /// Holds categories; the column is also of one of the other kinds.
    Cat,
}

/// The names of the columns that an estimator reads, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ColumnsRead<'a> {
    /// Columns known for the past only.
    pub hist: &'a [String],
    /// Columns known for past and future.
    pub futr: &'a [String],
    /// Static columns.
    pub stat: &'a [String],
    /// The columns among these that hold categories.
    pub cat: &'a [String],
}

impl<'a> ColumnsRead<'a> {
    /// The columns that are read row by row.
    pub fn of_rows(&self) -> impl Iterator<Item = &'a String> {
        self.hist.iter().chain(self.futr)
    }
}
