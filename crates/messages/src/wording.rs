//! Parts of messages.

/// A cell as it is shown in a message: a stray quote may have swallowed half a file.
pub fn excerpt(field: &[u8]) -> String {
    let text = String::from_utf8_lossy(&field[..field.len().min(160)]);
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.into_owned(),
    }
}

/// The question behind a name that is not known: nothing where none is near.
pub fn did_you_mean(nearest: &Option<String>) -> String {
    nearest
        .as_ref()
        .map_or_else(String::new, |name| format!(", did you mean `{}`?", excerpt(name.as_bytes())))
}

/// Names for a message, the first eight of them.
pub fn listed(names: &[String]) -> String {
    const SHOWN: usize = 8;
    let mut text = names
        .iter()
        .take(SHOWN)
        .map(|name| format!("`{}`", excerpt(name.as_bytes())))
        .collect::<Vec<_>>()
        .join(", ");
    match names.len() {
        0 => text.push_str("none"),
        n if n > SHOWN => text.push_str(&format!(" and {} more", n - SHOWN)),
        _ => {}
    }
    text
}
