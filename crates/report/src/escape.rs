//! Texts of others within markup and scripts.

use std::fmt;

use serde_json::Value;

/// A text within an element or a quoted attribute.
pub(crate) struct Escaped<'a>(pub(crate) &'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.0.chars() {
            match character {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                // HTML allows no control characters, and marks of direction would turn the text around it.
                '\t' | '\n' => fmt::Write::write_char(f, character)?,
                _ if character.is_control() || is_direction(character) => f.write_str("\u{fffd}")?,
                _ => fmt::Write::write_char(f, character)?,
            }
        }
        Ok(())
    }
}

fn is_direction(character: char) -> bool {
    matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// JSON within a `script` element: nothing in it ends the element or begins a comment.
pub(crate) fn json_in_script(value: &Value) -> String {
    value.to_string().replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_is_markup() {
        let hostile = "</script><img src=x onerror='a(\"b\")'>&\u{0}\u{202e}x";
        let text = Escaped(hostile).to_string();
        let expected =
            "&lt;/script&gt;&lt;img src=x onerror=&#39;a(&quot;b&quot;)&#39;&gt;&amp;\u{fffd}\u{fffd}x";
        assert_eq!(text, expected);
        let json = json_in_script(&Value::from(hostile));
        assert!(!json.contains(['<', '>', '&']), "{json}");
        assert_eq!(serde_json::from_str::<Value>(&json).unwrap(), Value::from(hostile));
    }
}
