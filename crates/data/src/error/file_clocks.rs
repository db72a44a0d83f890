//! What the times of a file tell of its clocks.

use foretell_messages::Setting;

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
