//! Answers in the forms that clients ask for.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use foretell::TableError;
use hyper::body::Frame as BodyFrame;

use crate::error::EngineError;
use crate::forecast::check_text;
use crate::media_type::MediaType;
use crate::memory_account::Room;
use crate::pieces::{Pieces, frame_bytes, text_bytes};
use crate::request::ForecastAnswer;
use crate::settings::EngineSettings;

/// Bytes of text that are made at once; of a longer answer the text is made as it is read.
const AT_ONCE: u64 = 1 << 20;

/// Answers that take less need no room: they are as small as the buffers of their connection.
const SMALL: u64 = 1 << 16;

/// The body of an answer in that form, which holds its room until it was sent.
pub(crate) fn encode(
    answer: ForecastAnswer,
    media: MediaType,
    room: Room,
    settings: &EngineSettings,
) -> Result<Body, EngineError> {
    let text = text_bytes(&answer.frame);
    check_text(text, settings)?;
    let slowly = |pieces, room| Ok(Body::new(SlowBody { pieces, _room: room }));
    let pieces = match media {
        MediaType::Json => Pieces::json(answer),
        MediaType::Csv => Pieces::csv(answer),
        media => return whole(&answer, media, room, text),
    };
    if text > AT_ONCE || (text > SMALL && room.at_least(text).is_err()) {
        return slowly(pieces, room);
    }
    in_room(pieces.whole().map_err(TableError::Write)?, room)
}

/// A table in a form of files, which is made at once.
fn whole(answer: &ForecastAnswer, media: MediaType, room: Room, text: u64) -> Result<Body, EngineError> {
    if text > AT_ONCE {
        room.at_least_soon(frame_bytes(&answer.frame).saturating_add(2 * text))?;
    }
    let format = media.format().expect("a form of files");
    let mut out = Vec::new();
    let writer = format.writer(Box::new(&mut out), answer.frame.time_style(), '.');
    let mut writer = writer.expect("a form that is written");
    writer.write(&answer.frame)?;
    writer.finish()?;
    in_room(out, room)
}

/// Bytes that are there as a whole.
fn in_room(bytes: Vec<u8>, room: Room) -> Result<Body, EngineError> {
    let size = bytes.capacity() as u64;
    if size < SMALL {
        return Ok(bytes.into());
    }
    room.at_least_soon(size)?;
    room.at_most(size);
    Ok(Bytes::from_owner(RoomedBytes { bytes, _room: room }).into())
}

/// Bytes that hold their room for as long as any of them waits to be sent.
struct RoomedBytes {
    bytes: Vec<u8>,
    _room: Room,
}

impl AsRef<[u8]> for RoomedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// An answer whose text is made as it is read.
struct SlowBody {
    pieces: Pieces,
    _room: Room,
}

impl HttpBody for SlowBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<io::Result<BodyFrame<Bytes>>>> {
        Poll::Ready(self.pieces.next().map(|piece| Ok(BodyFrame::data(piece?.into()))))
    }
}
