//! A request whose series were read, and what became of it on a thread.

use std::sync::Arc;
use std::time::Instant;

use foretell_auto::Understood;

use crate::forecast::{Bounds, SeriesRead};
use crate::joint_request::JointRequest;
use crate::memory_account::Room;
use crate::model::ServedModel;
use crate::request::{ForecastAnswer, ForecastRequest};
use crate::settings::EngineSettings;

/// A request whose series were read, by itself.
pub(crate) struct ReadRequest {
    pub(crate) model: Arc<ServedModel>,
    pub(crate) request: ForecastRequest,
    pub(crate) series: SeriesRead,
    pub(crate) understood: Option<Understood>,
    /// Doubts about the series.
    pub(crate) warnings: Vec<String>,
    pub(crate) is_text: bool,
    /// The bytes of its room that its series take.
    pub(crate) had: u64,
    pub(crate) room: Room,
}

impl ReadRequest {
    /// The bounds of its work, which ends where others have the memory.
    pub(crate) fn bounds<'a>(&'a self, settings: &'a EngineSettings, deadline: Instant) -> Bounds<'a> {
        let Self { room, is_text, had, .. } = self;
        Bounds { settings, deadline, room, is_text: *is_text, waits: false, had: *had }
    }

    /// The request while it waits for so much room. One that waited with more than its series could wait for one that waits for it.
    pub(crate) fn parked(self, needed: u64) -> Begun {
        self.room.at_most(self.had);
        Begun::Parked(Box::new(self), needed)
    }
}

/// What became of a request on its thread.
pub(crate) enum Begun {
    Answered(Box<ForecastAnswer>, Room),
    /// It may be computed with others.
    Joint(Box<JointRequest>),
    /// It needs as much room as others have at present.
    Parked(Box<ReadRequest>, u64),
}
