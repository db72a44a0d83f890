//! Forecasts and actual values of which one have times with a zone.

use std::fmt;
use std::sync::Arc;

use foretell_messages::Setting;

/// Two tables that are compared, one with times of a zone and one with times of clocks that no one knows the place of: its text says what
/// to do.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OneZone {
    /// The table whose times have a zone.
    pub with: Arc<str>,
    /// That zone.
    pub zone: String,
    /// The table whose times have none.
    pub without: Arc<str>,
}

impl fmt::Display for OneZone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { with, zone, without } = self;
        write!(
            f,
            "the times of {with} have a zone ({zone}), and those of {without} have none, so that it is not known which are the same; say \
             the zone of those without ({}), or write both with one",
            Setting::Zone.to(zone)
        )
    }
}

impl std::error::Error for OneZone {}
