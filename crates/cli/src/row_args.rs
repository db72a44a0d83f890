//! Flags that change the rows of a file before they become series.

use clap::Args;
use foretell::{Aggregate, Fill, Freq, ReadOptions};

/// Rows that are several, missing, or between two steps.
#[derive(Debug, Args)]
pub(crate) struct RowArgs {
    /// Fill rows and values that are missing between others: forward, zero or interpolate [default: a gap is an
    /// error]
    #[arg(long, value_name = "HOW", value_parser = str::parse::<Fill>)]
    fill: Option<Fill>,
    /// Kept for old scripts: series of which no value is known are left out without it, too
    #[arg(long, hide = true)]
    drop_unknown: bool,
    /// Make one row of several of the same series and time, by sum, mean, last, max, min, first or count; further columns
    /// follow, but become their mean where values are added [default: such rows are an error]
    #[arg(long, value_name = "HOW", value_parser = str::parse::<Aggregate>)]
    aggregate: Option<Aggregate>,
    /// Gather rows in the periods of a coarser frequency, as W-SUN or MS, by --aggregate
    #[arg(long, value_name = "F", value_parser = Freq::parse)]
    resample: Option<Freq>,
    /// Keep the periods of --resample at the beginning and the end of a series that are not complete, as the month in which the data
    /// end [default: they are left out and told: their sums are too low]
    #[arg(long)]
    keep_partial: bool,
    /// Leave such periods out with models, too, that were trained with --keep-partial, or by versions that kept them
    #[arg(long, hide = true, conflicts_with = "keep_partial")]
    drop_partial: bool,
    /// Move each time to the nearest step of this length, as 15min: of sensors whose times jitter
    #[arg(long, value_name = "F", value_parser = Freq::parse)]
    snap: Option<Freq>,
}

impl RowArgs {
    /// The options with the flags that were set.
    pub(crate) fn apply(&self, mut options: ReadOptions) -> ReadOptions {
        let Self { fill, drop_unknown: _, aggregate, resample, keep_partial, drop_partial, snap } = *self;
        options.fill = fill.or(options.fill);
        // One series without values stops no other; a note names it.
        options.drop_unknown = true;
        options.aggregate = aggregate.or(options.aggregate);
        options.resample = resample.or(options.resample);
        options.keep_partial = (options.keep_partial || keep_partial) && !drop_partial;
        options.snap = snap.or(options.snap);
        options
    }
}
