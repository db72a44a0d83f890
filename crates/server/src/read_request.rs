//! A request whose series were read, and what became of it on a thread.

use std::sync::Arc;

use foretell_auto::Understood;

use crate::forecast::SeriesRead;
use crate::joint_request::JointRequest;
use crate::memory_account::Room;
use crate::model::ServedModel;
use crate::request::{ForecastAnswer, ForecastRequest};

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

/// What became of a request on its thread.
pub(crate) enum Begun {
    Answered(Box<ForecastAnswer>, Room),
    /// It may be computed with others.
    Joint(Box<JointRequest>),
    /// It needs as much room as others have at present.
    Parked(Box<ReadRequest>, u64),
}
