//! Words of a command line.

use std::env;

/// The command line that this program was called with, as it can be pasted into a shell.
pub(crate) fn this_command() -> String {
    let words = env::args_os().skip(1).map(|word| shell_word(&word.to_string_lossy()));
    std::iter::once("foretell".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

/// The text as it can be pasted into a shell.
pub(crate) fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+~:@,=\\".contains(c);
    let is_plain = !text.is_empty() && text.chars().all(plain);
    if is_plain { text.to_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_can_be_pasted() {
        assert_eq!(shell_word("a/b-1.csv"), "a/b-1.csv");
        assert_eq!(shell_word("my model's"), r"'my model'\''s'");
        assert_eq!(shell_word(""), "''");
    }
}
