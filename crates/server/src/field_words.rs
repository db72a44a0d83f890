//! The fields of requests under which the server offers what messages of the libraries tell users to change.

use foretell::{SettingWords, request_field};

/// The names of settings in requests, in which the server words its answers, for [`foretell::in_words_of`]; others keep the name that the
/// process gives them.
pub const FIELD_WORDS: SettingWords =
    SettingWords { name: request_field, with_value: |_, name, value| format!("{name} = {value}") };
