//! The two kinds of time that a panel may have.

/// The kind of a panel's times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TimeKind {
    /// Step numbers.
    Integer,
    /// Microseconds since 1970-01-01 00:00: on a civil clock, or UTC where there is a [`Zone`](crate::Zone).
    Timestamp,
}

impl TimeKind {
    /// The name of times of this kind in a message.
    pub fn name(self) -> &'static str {
        match self {
            Self::Integer => "integers",
            Self::Timestamp => "dates or times",
        }
    }

    /// The remedy where the frequency is for the other kind.
    pub fn frequency_remedy(self) -> &'static str {
        match self {
            Self::Integer => "set an integer frequency such as `1`",
            Self::Timestamp => "set a calendar frequency such as `D` or `h`",
        }
    }
}
