//! How the file of the series is laid out.

use clap::{ArgGroup, Args};
use foretell::{Across, Hours, ReadOptions};

/// How the file of the series is laid out.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("of_hours").args(["time_cols", "hours_across"]).multiple(true))]
pub(crate) struct LayoutArgs {
    /// The file has one time column, and one column per series. Blanks at the start or the end of a column are rows
    /// before the series begins or after it ends
    #[arg(long)]
    pub(crate) wide: bool,
    /// The file has a row per series and time, although that which the models were trained on had not
    #[arg(long, conflicts_with_all = ["wide", "transposed", "hours_across", "months_across"])]
    long: bool,
    /// The file has a row per series, and its times across: 2024-01, Jan-24, ... or numbers of steps (1, V2, d_3). The id is
    /// --id-col or the first column
    #[arg(long, conflicts_with_all = ["wide", "hours_across", "months_across", "time_cols"])]
    transposed: bool,
    /// The file has a row per day (and series), and its hours across: HE01 to HE24, 0 to 23, 00:00 to 23:30
    #[arg(long, conflicts_with_all = ["wide", "time_cols"])]
    hours_across: bool,
    /// The file has a row per year (and series), and its months across: Jan to Dec, also in the languages of --locale, M01 to M12, or 1 to 12
    #[arg(long, conflicts_with_all = ["wide", "hours_across", "time_cols"])]
    months_across: bool,
    /// Columns that make the time together: a date, or year,month,day, then hour and minute, as date,hour. --time-format is
    /// then that of the date
    #[arg(long, value_name = "C,C", value_delimiter = ',')]
    time_cols: Vec<String>,
    /// Which hour its number names in --time-cols: starting (0 to 23), ending (1 to 24, read as the start of the hour), or
    /// counted from midnight (1 to 24, to 23 or 25 where clocks are changed, with --zone), also with --hours-across [default: as the
    /// column's name or an hour 24 says]
    #[arg(long, value_name = "WHICH", value_parser = str::parse::<Hours>, requires = "of_hours")]
    hours: Option<Hours>,
}

impl LayoutArgs {
    /// The options with the flags that were set.
    pub(crate) fn apply(&self, mut options: ReadOptions) -> ReadOptions {
        let across = [
            (self.transposed, Across::Times),
            (self.hours_across, Across::Hours),
            (self.months_across, Across::Months),
        ];
        let across = across.into_iter().find_map(|(asked, across)| asked.then_some(across));
        if self.wide || self.long || across.is_some() || !self.time_cols.is_empty() {
            (options.wide, options.across) = (self.wide, across);
            (options.time_cols, options.hours) = (self.time_cols.clone(), self.hours);
        }
        options
    }
}
