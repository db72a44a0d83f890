//! Errors of the times of series, and of the frequency whose steps they should be.

use std::fmt;
use std::sync::Arc;

use foretell_calendar::{Freq, IntegerFormat, MostlyMissing, OddSteps, StepHint, TimeKind};
use foretell_messages::Setting;
use foretell_tables::{Place, Whereabouts};

/// Times that are no steps of a frequency.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum StepError {
    /// Times that are integers could be dates or step numbers, and no option says which.
    #[error("{table}, column `{column}`: all times are integers that look like {format}")]
    IntegerDates {
        /// The file or table.
        table: Arc<str>,
        /// The time column.
        column: String,
        /// The format that they fit.
        format: IntegerFormat,
    },
    /// A row is not the next step of its series.
    #[error("{0}")]
    Gap(Box<Gap>),
    /// The frequency cannot be told from the data.
    #[error(
        "cannot infer the frequency: the longest series, `{id}`, has {rows} of the 3 rows it takes; {}",
        unknown_freq(*.kind, *.proposed)
    )]
    NoFreq {
        /// The longest series.
        id: String,
        /// Its rows.
        rows: usize,
        /// The kind of its times.
        kind: TimeKind,
        /// The frequency that they would follow, if there are two.
        proposed: Option<Freq>,
    },
    /// The frequency is for the other kind of time.
    #[error(
        "the time column holds {}, but the {}frequency is `{freq}`; {}",
        .kind.name(),
        if *.trained { "models' " } else { "" }, other_kind(*.kind, *.trained, *.follows)
    )]
    FreqKind {
        /// The kind of times in the column.
        kind: TimeKind,
        /// The frequency.
        freq: Freq,
        /// Whether it is that of trained models, which forecast no other.
        trained: bool,
        /// The frequency that the times seem to follow.
        follows: Option<Freq>,
    },
    /// A time is outside the calendar, or would be.
    #[error(
        "series `{id}`: its times, or those to forecast, leave the years -9999 to 9999 (or 64 \
         bits); check the time column and its unit (microseconds since 1970)"
    )]
    TimeRange {
        /// The series.
        id: String,
    },
    /// Filling would add far more rows than there are.
    #[error(
        "series `{id}`: filling its gaps by the frequency `{freq}` would add over {limit} rows to \
         the {rows} there are; check the times and set the frequency"
    )]
    FillTooLarge {
        /// The series at which it became too much.
        id: String,
        /// The frequency.
        freq: Freq,
        /// Rows of the whole table.
        rows: usize,
        /// The most that may be added.
        limit: usize,
    },
}

impl StepError {
    /// Where the mistake is.
    pub(super) fn whereabouts(&self) -> Whereabouts {
        match self {
            Self::Gap(gap) => Whereabouts::at(&gap.at).series(&gap.id),
            Self::IntegerDates { table, column, .. } => Whereabouts::file(table).column(column),
            Self::NoFreq { id, .. } | Self::TimeRange { id } | Self::FillTooLarge { id, .. } => {
                Whereabouts::of_series(id)
            }
            Self::FreqKind { .. } => Whereabouts::default(),
        }
    }
}

/// A row that is not the next step of its series.
#[derive(Clone, Debug)]
pub struct Gap {
    /// The row.
    pub at: Place,
    /// Its series.
    pub id: String,
    /// Time of the row before it.
    pub after: String,
    /// The next time by the frequency.
    pub expected: String,
    /// The time it has.
    pub found: String,
    /// The frequency.
    pub freq: Freq,
    /// Whether the frequency was inferred from the data.
    pub inferred: bool,
    /// Whether it is that of trained models, which forecast no other.
    pub trained: bool,
    /// A frequency that this series does follow.
    pub fits: Option<Freq>,
    /// The steps of its series in words, if they are no steps of the frequency.
    pub odd: Option<OddSteps>,
    /// The frequency of its shortest steps, which all its times follow, in place of an inferred one that they do not.
    pub finer: Option<Freq>,
    /// The rows that it would lack by an inferred frequency, if these are most.
    pub missing: Option<MostlyMissing>,
    /// Whether another series seems to follow yet another one than that.
    pub mixed: bool,
    /// What is behind the break, if it is not missing rows.
    pub hint: Option<StepHint>,
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, id, after, expected, found, freq, .. } = self;
        let how = match (self.trained, self.inferred) {
            (true, _) => "models' ",
            (false, true) => "inferred ",
            (false, false) => "",
        };
        let series = at.and_series(id);
        write!(
            f,
            "{series} goes from {after} to {found}, but by the {how}frequency `{freq}` {expected} comes next; "
        )?;
        let fill = if at.in_slices() { "`PanelBuilder::fill`".to_owned() } else { Setting::Fill.to_string() };
        match self.fits {
            Some(fits) if self.trained => {
                write!(
                    f,
                    "its times follow `{fits}`: give data of the models' frequency, or train models on these"
                )
            }
            Some(fits) if self.mixed && self.odd.is_none() => write!(
                f,
                "add the rows in between ({fill} does so on request); if `{fits}`, which its times follow, is its frequency, keep the series of \
                 each frequency in a file of their own"
            ),
            Some(fits) if self.mixed => write!(
                f,
                "its times follow `{fits}`, and those of other series do not: keep the series of each frequency in a file \
                 of their own, or, where others only lack rows, set that frequency and fill them ({fill})"
            ),
            Some(fits) => write!(f, "its times follow `{fits}`: set that frequency"),
            None => match &self.hint {
                Some(hint) if hint.is_all() && !self.trained => write!(f, "{hint}"),
                hint => {
                    if let Some(hint) = hint.as_ref().filter(|hint| !hint.is_all()) {
                        write!(f, "{hint}")?;
                    }
                    self.write_advice(f, &fill)
                }
            },
        }
    }
}

impl Gap {
    /// The remedy for times that follow no frequency.
    fn write_advice(&self, f: &mut fmt::Formatter<'_>, fill: &str) -> fmt::Result {
        match &self.odd {
            Some(OddSteps { text, .. }) if let Some(finer) = self.finer => write!(
                f,
                "its steps are {text}: set the frequency of the shortest ({}), and say what is between the rows ({fill}: zero, if there \
                 are rows only where something happened, as where something was sold)",
                Setting::Freq.to(finer)
            ),
            Some(OddSteps { text, grid, may_be_zone_days }) => {
                write!(f, "its steps are {text}; ")?;
                if *may_be_zone_days {
                    write!(
                        f,
                        "if they are days of a zone whose clocks change, name it ({}); ",
                        Setting::Zone.to("Europe/Berlin")
                    )?;
                }
                if let Some(grid) = grid {
                    write!(
                        f,
                        "if its times are only early or late, move them to their grid ({}), or, ",
                        Setting::Snap.to(grid)
                    )?;
                }
                f.write_str(match self.trained {
                    true => "give data of the models' frequency, or train models on these",
                    false => "where only the order of rows matters, number them with integers",
                })
            }
            None if self.trained => write!(
                f,
                "add the rows in between ({fill} does so on request), or train models on data of this frequency"
            ),
            None => {
                match &self.missing {
                    Some(missing) if missing.is_irregular() => return write!(f, "{missing}"),
                    Some(missing) => write!(f, "{missing}, ")?,
                    // Other days are filled as well, where a frequency of some days of the week is not said.
                    None if self.inferred && self.freq.to_string().starts_with("C-") => write!(
                        f,
                        "add the rows in between ({fill} with {} does so on request), ",
                        Setting::Freq.to(self.freq)
                    )?,
                    None => write!(f, "add the rows in between ({fill} does so on request), ")?,
                }
                if self.freq.has_holidays() {
                    write!(f, "name days without rows ({}), ", Setting::Holidays)?;
                }
                f.write_str("set another frequency, or, where only the order of rows matters, number them with integers")
            }
        }
    }
}

/// The remedy where a frequency cannot be told.
fn unknown_freq(kind: TimeKind, proposed: Option<Freq>) -> String {
    match (proposed, kind) {
        (Some(freq), _) => {
            format!("set it: its rows would be steps of `{freq}` ({})", Setting::Freq.to(freq))
        }
        (None, TimeKind::Integer) => format!("set it ({})", Setting::Freq.to(1)),
        (None, TimeKind::Timestamp) => format!(
            "set it, as {} for days, or W-MON, MS, ME and h for weeks from Mondays on, months by their first or last day, and hours",
            Setting::Freq.to("D")
        ),
    }
}

/// The remedy where the frequency is for the other kind of times, which seem to follow one.
fn other_kind(kind: TimeKind, trained: bool, follows: Option<Freq>) -> String {
    match (trained, follows) {
        (true, _) => "give data of that frequency, or train models on these".to_owned(),
        (false, Some(freq)) => format!("set the one that they seem to follow ({})", Setting::Freq.to(freq)),
        (false, None) => kind.frequency_remedy().to_owned(),
    }
}
