//! Errors of the windows that models are trained on.

use std::fmt;

use foretell_messages::Setting;
use foretell_tables::Whereabouts;

/// Series from which no window to train on can be cut, or none that teaches enough.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum WindowError {
    /// A series is too short to train on.
    #[error(
        "series `{id}` has {rows} rows to train on ({held_out} held out), but {} needs {needed}; {}",
        if needed < input_size { "start_padding_enabled".to_owned() } else { format!("input_size = {input_size}") },
        too_short_remedy(needed < input_size)
    )]
    #[strum(serialize = "series_too_short")]
    TooShort {
        /// The series.
        id: String,
        /// Its rows before the held-out ones.
        rows: usize,
        /// Rows kept for validation and test.
        held_out: usize,
        /// The insample length.
        input_size: usize,
        /// Rows needed.
        needed: usize,
    },
    /// Series that end at different times, for a model that sees all of them side by side.
    #[error(
        "{0}; a model that forecasts all series together sees them side by side, so they must end together: {remedy}; or take a \
         model that forecasts each series by itself",
        remedy = early_ends_remedy()
    )]
    EndsDiffer(Box<EarlyEnds>),
    /// No series has a window to train on.
    #[error(
        "no training window: it needs {insample} rows of input and {outsample} after them to learn to forecast, and the \
         longest series has {rows} to train on{} ({held_out} held out); {}",
        if *rows < insample + outsample { "" } else { ", of which too few are known" },
        no_windows_remedy(*held_out, [*insample, *outsample], *padded)
    )]
    #[strum(serialize = "no_training_windows")]
    NoWindows {
        /// Rows of the longest series before the held-out ones.
        rows: usize,
        /// Rows kept for validation and test.
        held_out: usize,
        /// The least rows of input,
        insample: usize,
        /// and after them.
        outsample: usize,
        /// Whether windows may begin before the series (`start_padding_enabled`).
        padded: bool,
    },
    /// A horizon of which some steps have no truth in any training window.
    #[error("{0}")]
    UntaughtSteps(Box<UntaughtSteps>),
    /// No row to train on counts.
    #[error(
        "sample_weight is 0 in every row that training could learn to forecast, so that nothing would be learned; give \
         some of them a weight above 0, or leave the column out"
    )]
    NoWeight,
}

impl WindowError {
    /// Where the mistake is.
    pub(super) fn whereabouts(&self) -> Whereabouts {
        match self {
            Self::TooShort { id, .. } => Whereabouts::of_series(id),
            _ => Whereabouts::default(),
        }
    }
}

/// Series that end a step or more before the last time of their panel, or before that of a column; its text says how many there
/// are, and when the first few of them end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EarlyEnds {
    /// The last time of the panel.
    pub last: String,
    /// Their ids, and their last times.
    pub series: Vec<(String, String)>,
    /// Series of the panel.
    pub of: usize,
    /// The static column that holds the times they should end at, if they are not compared with the panel's last.
    pub column: Option<String>,
}

/// What becomes of series that end before others, by why they do, with what it costs.
pub fn early_ends_remedy() -> String {
    format!(
        "leave such series out if they are over ({}); continue them to the last time with rows that are not known yet if their values are \
         late ({}), or with rows of 0 if they were 0 since ({})",
        Setting::End.to("drop"),
        Setting::End.to("masked"),
        Setting::End.to("common")
    )
}

impl fmt::Display for EarlyEnds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 5;
        let Self { last, series, of, column } = self;
        let shown = series.iter().take(SHOWN).map(|(id, end)| format!("{id} ({end})"));
        let shown = shown.collect::<Vec<_>>().join(", ");
        let verb = if series.len() == 1 { "ends" } else { "end" };
        write!(f, "{} of {of} series {verb} before ", series.len())?;
        match column {
            Some(column) => write!(f, "the time of column `{column}`: {shown}")?,
            None => write!(f, "{last}, the last time of the data: {shown}")?,
        }
        match series.len().saturating_sub(SHOWN) {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

/// Steps of the horizon without a truth in any training window; its text names the longest horizon that the data teach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UntaughtSteps {
    /// The horizon.
    pub h: usize,
    /// Its steps without a truth.
    pub count: usize,
    /// The longest horizon whose steps all have one.
    pub longest: usize,
    /// Rows of the longest series before the held-out ones.
    pub rows: usize,
    /// Rows kept for validation and test.
    pub held_out: usize,
    /// The insample length.
    pub input_size: usize,
    /// Whether windows may begin before the series (`start_padding_enabled`).
    pub padded: bool,
}

impl UntaughtSteps {
    /// The remedies that give every step a truth to learn.
    fn remedy(&self) -> String {
        let Self { h, longest, rows, held_out, input_size, padded, .. } = *self;
        let lower = format!("lower h to {longest}, the longest horizon that these data teach");
        let shorter = format!("lower input_size to {}", rows.saturating_sub(h));
        // Where the rows would do, it is their mask, their weights or the steps between windows that hide some.
        let hidden = longest + input_size < rows.min(h + input_size);
        helpful([
            (longest > 0, &*lower),
            (hidden, "give values where available_mask or sample_weight is 0, or lower step_size"),
            (!hidden, "give more rows"),
            (held_out > 0, "hold out fewer (val_size; n_windows and step_size of a cross-validation)"),
            (!padded && !hidden && rows > h && rows - h < input_size, &*shorter),
            (!padded && !hidden && rows > h, "set start_padding_enabled"),
        ])
    }
}

impl fmt::Display for UntaughtSteps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { h, count, rows, held_out, input_size, padded, .. } = self;
        write!(
            f,
            "no training window shows the truth of {count} of the h = {h} steps, which would be forecast by weights that \
             nothing trained: the longest series has {rows} rows to train on ({held_out} held out), and of these {} before \
             the horizon; {}",
            match padded {
                true => "at least one comes".to_owned(),
                false => format!("input_size = {input_size} come"),
            },
            self.remedy()
        )
    }
}

/// The remedy that lets a series of few rows be trained on.
fn too_short_remedy(padded: bool) -> String {
    let shorter =
        if padded { "lower val_size" } else { "lower input_size or val_size, set start_padding_enabled" };
    format!("{shorter}, or leave out the series that are too short ({})", Setting::DropShort)
}

/// The remedies that make room for a window to train on.
fn no_windows_remedy(held_out: usize, [insample, outsample]: [usize; 2], padded: bool) -> String {
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
fn helpful<const N: usize>(remedies: [(bool, &str); N]) -> String {
    let helpful: Vec<&str> =
        remedies.into_iter().filter(|(helps, _)| *helps).map(|(_, remedy)| remedy).collect();
    helpful.join(", or ")
}
