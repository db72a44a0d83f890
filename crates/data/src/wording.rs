//! Parts of messages.

use crate::flaw::Place;
use crate::time::TimeKind;

/// The earlier of two rows of a series, which has been named.
pub(crate) fn earlier_place(place: &Place) -> String {
    match place.series {
        Some(_) => format!("row {}", place.row),
        None => place.to_string(),
    }
}

/// A cell as it is shown in a message: a stray quote may have swallowed half a file.
pub(crate) fn excerpt(field: &[u8]) -> String {
    let text = String::from_utf8_lossy(&field[..field.len().min(160)]);
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.into_owned(),
    }
}

pub(crate) fn did_you_mean(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or_else(String::new, |name| format!(", did you mean `{name}`?"))
}

pub(crate) fn listed(names: &[String]) -> String {
    const SHOWN: usize = 8;
    let mut text = names.iter().take(SHOWN).map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
    match names.len() {
        0 => text.push_str("none"),
        n if n > SHOWN => text.push_str(&format!(" and {} more", n - SHOWN)),
        _ => {}
    }
    text
}

pub(crate) fn kind_name(kind: TimeKind) -> &'static str {
    match kind {
        TimeKind::Integer => "integers",
        TimeKind::Timestamp => "dates or times",
    }
}

pub(crate) fn kind_remedy(kind: TimeKind) -> &'static str {
    match kind {
        TimeKind::Integer => "set an integer frequency such as `1`",
        TimeKind::Timestamp => "set a calendar frequency such as `D` or `h`",
    }
}
