//! Requests that are computed together, each with the bits that it has alone.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use foretell::{Frame, Panel};

use crate::error::EngineError;
use crate::forecast::{Bounds, SeriesRead, ahead, forecast, take_warnings};
use crate::joint_sizes::JointSize;
use crate::memory_account::Room;
use crate::model::ServedModel;
use crate::request::{AheadOptions, ForecastAnswer, ForecastKind, ForecastRequest};
use crate::settings::EngineSettings;

/// Different values that a history needs to tell one order of sums from another.
const LEAST_VALUES: usize = 16;

/// A request for forecasts of one series, which was read, and its model.
pub(crate) struct JointRequest {
    pub(crate) model: Arc<ServedModel>,
    asked: AheadOptions,
    series: SeriesRead,
    is_text: bool,
    room: Room,
}

impl JointRequest {
    /// The request, if it may be computed with others: it has one series and nothing beside it. It takes the room, which is given
    /// back if it may not.
    pub(crate) fn of(
        model: &Arc<ServedModel>,
        request: &ForecastRequest,
        series: &SeriesRead,
        is_text: bool,
        room: Room,
    ) -> Result<Self, Room> {
        let ForecastKind::Ahead(asked) = &request.asks else { return Err(room) };
        let is_plain = asked.future.is_none() && asked.intervals.is_none() && request.statics.is_none();
        if !is_plain || series.panel.n_series() != 1 || model.joint.most_of(usize::MAX) == 1 {
            return Err(room);
        }
        let (model, asked, series) = (model.clone(), asked.clone(), series.clone());
        Ok(Self { model, asked, series, is_text, room })
    }

    /// Its room, which its answer keeps.
    pub(crate) fn into_room(self) -> Room {
        self.room
    }

    fn bounds<'a>(&'a self, settings: &'a EngineSettings, deadline: Instant) -> Bounds<'a> {
        Bounds {
            settings,
            deadline,
            room: &self.room,
            is_text: self.is_text,
            waits: true,
            had: self.room.bytes(),
        }
    }

    /// The id of its series.
    pub(crate) fn id(&self) -> &Arc<str> {
        self.series.panel.id(0)
    }

    /// Whether another request asks the same of the same model.
    pub(crate) fn goes_with(&self, other: &Self) -> bool {
        let asks = |request: &Self| {
            let AheadOptions { h, level, quantiles, strict, .. } = request.asked.clone();
            (h, level, quantiles, strict)
        };
        Arc::ptr_eq(&self.model, &other.model) && asks(self) == asks(other)
    }

    /// Whether its history has many values.
    fn is_varied(&self) -> bool {
        let values: HashSet<u32> = self.series.panel.y(0).iter().map(|y| y.to_bits()).collect();
        values.len() >= LEAST_VALUES
    }

    /// Its answer, computed by itself.
    pub(crate) fn alone(
        &self,
        settings: &EngineSettings,
        deadline: Instant,
    ) -> Result<ForecastAnswer, EngineError> {
        take_warnings();
        let bounds = self.bounds(settings, deadline);
        let asks = ForecastKind::Ahead(self.asked.clone());
        let frame = forecast(&self.model.on_one_thread, &asks, &self.series, bounds)?;
        Ok(ForecastAnswer::of_model(&self.model.facts.name, frame, take_warnings()))
    }
}

/// The answers to requests that go with each other, computed together; nothing where that cannot be or comes with doubts, which
/// would not tell whose they are.
fn together(
    requests: &[&JointRequest],
    settings: &EngineSettings,
    deadline: Instant,
) -> Option<Vec<ForecastAnswer>> {
    let first = requests.first()?;
    let JointRequest { model, asked, .. } = first;
    let panels: Vec<&Panel> = requests.iter().map(|request| &request.series.panel).collect();
    let panel = Panel::joined(&panels)?;
    take_warnings();
    let frame = ahead(&model.on_one_thread, &panel, asked, None, first.bounds(settings, deadline)).ok()?;
    if !take_warnings().is_empty() {
        return None;
    }
    let of = |panel: &&Panel| frame.of_series(|id| id == &**panel.id(0));
    let answer = |frame| ForecastAnswer::of_model(&model.facts.name, frame, Vec::new());
    Some(panels.iter().map(of).map(answer).collect())
}

/// The answers to requests that go with each other, each that which it has alone to the last bit: a number of requests is computed
/// together once trials saw it change none.
pub(crate) fn answers(
    requests: &[&JointRequest],
    settings: &EngineSettings,
    deadline: Instant,
) -> Vec<Result<ForecastAnswer, EngineError>> {
    let alone = || requests.iter().map(|request| request.alone(settings, deadline)).collect::<Vec<_>>();
    let Some(joint) = requests.first().map(|request| &request.model.joint).filter(|_| requests.len() > 1)
    else {
        return alone();
    };
    match joint.get(requests.len()) {
        JointSize::Other => alone(),
        JointSize::Same => match together(requests, settings, deadline) {
            Some(answers) => answers.into_iter().map(Ok).collect(),
            None => alone(),
        },
        JointSize::Unknown => {
            let (together, alone) = (together(requests, settings, deadline), alone());
            // What no request has alone says nothing of them together, nor do histories of few values, whose sums are often the
            // same in any order, and those whose last digits a level hides.
            let tells = requests.iter().all(|request| request.is_varied())
                && alone.iter().all(|answer| answer.as_ref().is_ok_and(is_plain));
            if tells {
                let same = |(together, alone): (&ForecastAnswer, &Result<ForecastAnswer, EngineError>)| {
                    alone.as_ref().is_ok_and(|alone| are_same(&together.frame, &alone.frame))
                };
                let agrees = together.is_some_and(|together| together.iter().zip(&alone).all(same));
                joint.tried(requests.len(), agrees);
            }
            alone
        }
    }
}

/// Whether an answer came without doubts, and has all of its digits.
fn is_plain(answer: &ForecastAnswer) -> bool {
    answer.warnings.is_empty() && answer.frame.wide.is_empty()
}

/// Whether two tables have the same bits.
fn are_same(one: &Frame, other: &Frame) -> bool {
    let bits = |frame: &Frame| -> Vec<Vec<u32>> {
        frame.columns.iter().map(|(_, values)| values.iter().map(|y| y.to_bits()).collect()).collect()
    };
    one.ids == other.ids && one.times == other.times && bits(one) == bits(other)
}
