//! Remedies for errors, where they depend on the request.

use std::borrow::Cow;
use std::fmt;

use foretell_calendar::{Freq, TimeFlaw, TimeKind, readings::readings};
use foretell_messages::{Setting, listed};

/// What to do about a column that is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ColumnRemedy {
    /// To say which columns have these roles, all of which are missing.
    Name(ColumnRoles),
    /// Whatever this says.
    Other(Cow<'static, str>),
    /// A remedy, and something else about the table.
    With(Box<(Self, String)>),
}

/// Roles of the columns of a table that no column has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ColumnRoles {
    /// The ids of series.
    pub ids: bool,
    /// The times.
    pub times: bool,
    /// The values of the target.
    pub values: bool,
    /// Whether the table may be read as one in which each further column is a series.
    pub or_wide: bool,
}

impl ColumnRoles {
    /// The ids alone.
    pub const IDS: Self = Self { ids: true, times: false, values: false, or_wide: false };
    /// The times alone.
    pub const TIMES: Self = Self { ids: false, times: true, ..Self::IDS };
}

impl From<ColumnRoles> for ColumnRemedy {
    fn from(roles: ColumnRoles) -> Self {
        Self::Name(roles)
    }
}

impl From<&'static str> for ColumnRemedy {
    fn from(text: &'static str) -> Self {
        Self::Other(text.into())
    }
}

impl From<String> for ColumnRemedy {
    fn from(text: String) -> Self {
        Self::Other(text.into())
    }
}

impl fmt::Display for ColumnRemedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let roles = match self {
            Self::Name(roles) => roles,
            Self::Other(text) => return f.write_str(text),
            Self::With(both) => return write!(f, "{}; {}", both.0, both.1),
        };
        let all = [
            (roles.times, "the times", Setting::TimeColumn),
            (roles.values, "the values to forecast", Setting::TargetColumn),
            (roles.ids, "the ids of the series", Setting::IdColumn),
        ];
        f.write_str("say which column has ")?;
        let mut before = "";
        for (_, what, setting) in all.into_iter().filter(|(missing, ..)| *missing) {
            write!(f, "{before}{what} ({setting})")?;
            before = ", and which ";
        }
        // One series needs none.
        if roles.ids && (roles.times || roles.values) {
            f.write_str(" if there are several")?;
        }
        match roles.or_wide {
            true => write!(f, ", or, if each further column is a series, say so ({})", Setting::Wide),
            false => Ok(()),
        }
    }
}

/// How a remedy for a missing column begins where another one may have been meant.
const GIVE_ONE: &str = "give one of these names, or ";

/// The columns that a table has, and the remedy for one that it lacks: no name can be given where there are none.
pub(super) fn columns_and_remedy(available: &[String], remedy: &ColumnRemedy) -> String {
    match available {
        [] => {
            let remedy = remedy.to_string();
            let remedy = remedy.strip_prefix(GIVE_ONE).unwrap_or(&remedy);
            format!("no columns beside those it must have, such as ids and times; {remedy}")
        }
        available => format!("{}; {remedy}", listed(available)),
    }
}

/// The flaw of a time, and the formats that would read it.
pub(super) fn unread_time(text: &str, why: TimeFlaw) -> String {
    match readings(text) {
        None => why.to_string(),
        Some(readings) => why.with_readings(&readings),
    }
}

/// The remedy that lets a series of few rows be trained on.
pub(super) fn too_short_remedy(padded: bool) -> String {
    let shorter =
        if padded { "lower val_size" } else { "lower input_size or val_size, set start_padding_enabled" };
    format!("{shorter}, or leave out the series that are too short ({})", Setting::DropShort)
}

/// The remedy where a frequency cannot be told.
pub(super) fn unknown_freq(kind: TimeKind, proposed: Option<Freq>) -> String {
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
pub(super) fn other_kind(kind: TimeKind, trained: bool, follows: Option<Freq>) -> String {
    match (trained, follows) {
        (true, _) => "give data of that frequency, or train models on these".to_owned(),
        (false, Some(freq)) => format!("set the one that they seem to follow ({})", Setting::Freq.to(freq)),
        (false, None) => kind.frequency_remedy().to_owned(),
    }
}

/// Where two rows of one series and time stand, which says what to do about them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeated {
    /// In the data.
    InData,
    /// In the data, at an hour that clocks show twice when they are put back.
    ByClocks,
    /// The same, though a zone was named whose clocks should tell the two apart.
    InZone,
    /// In a table beside the data, whose rows do not become one.
    Beside,
}

impl Repeated {
    /// How one of the two rows, which may be of two files, is kept if they are surely of one series, and the remedies beside that.
    pub(super) fn others(self, are_of_one: bool, of_files: bool) -> String {
        match self {
            // A row that is there twice by mistake would count twice in a sum.
            Self::InData => {
                let keeps = match (are_of_one, of_files) {
                    // A later file may have corrected an earlier one.
                    (true, true) => format!(
                        ": {} that of the file that is read last, {} the other",
                        Setting::Aggregate.to("last"),
                        Setting::Aggregate.to("first")
                    ),
                    (true, false) => format!(", as {} does", Setting::Aggregate.to("first")),
                    (false, _) => String::new(),
                };
                let sum = Setting::Aggregate.to("sum");
                format!("{keeps}, or, if both count, say how they become one ({sum})")
            }
            Self::ByClocks => format!(
                ", or, if clocks were put back there and both are hours of their own, name the zone ({}), and the order of \
                 the rows tells them apart",
                Setting::Zone.to("Europe/Berlin")
            ),
            Self::InZone => ", or, if clocks were put back there and both are hours of their own, put the rows in the order of time, the \
                             oldest first, which tells them apart, or name another zone if these clocks are not those of the file"
                .to_owned(),
            Self::Beside => String::new(),
        }
    }
}

/// What the times of a file tell of its clocks, beside one that clocks of its zone never showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileClocks {
    /// They are put back in autumn: an hour is there twice.
    PutBack,
    /// They are not: it is there once, and no hour is missing.
    Unchanged,
    /// There is no such night.
    Unknown,
}

impl FileClocks {
    /// What to do, where clocks kept this offset.
    pub(super) fn remedy(self, kept: &str) -> String {
        let offset = Setting::Zone.to(kept);
        match self {
            Self::PutBack => "these are local times, since an hour in autumn is there twice: leave out the row of the time that never was, or \
                              correct its time"
                .to_owned(),
            Self::Unchanged => format!(
                "no clocks are changed in these times: if they are in standard time all year, name its offset ({offset}); if they are local, \
                 and hours were added and left out so that each day has 24, read them without a zone"
            ),
            Self::Unknown => format!(
                "if these times are local, leave out the row of the time that never was, or correct its time; if they are in standard time, \
                 also in summer, name its offset ({offset})"
            ),
        }
    }
}

/// The remedies that make room for a window to train on.
pub(super) fn no_windows_remedy(held_out: usize, [insample, outsample]: [usize; 2], padded: bool) -> String {
    let thresholds = outsample > 1 || padded && insample > 1;
    let remedies = [
        (true, "give more rows"),
        (held_out > 0, "hold out fewer (val_size; n_windows and step_size of a cross-validation)"),
        (!padded, "lower input_size, or set start_padding_enabled"),
        (thresholds, "lower training_data_availability_threshold"),
    ];
    helpful(remedies)
}

/// The remedies that help, joined.
pub(super) fn helpful<const N: usize>(remedies: [(bool, &str); N]) -> String {
    let helpful: Vec<&str> =
        remedies.into_iter().filter(|(helps, _)| *helps).map(|(_, remedy)| remedy).collect();
    helpful.join(", or ")
}
