//! The directives of a pattern of strptime, and the parts of a time that they read.

/// A directive in a pattern, from its percent sign on.
pub(crate) struct Directive<'a> {
    /// Where it begins.
    pub(crate) at: usize,
    /// The directive, as in `%Y` or `%.3f`.
    pub(crate) text: &'a str,
}

impl Directive<'_> {
    /// The parts of a time that it reads, each as the letter of the plain directive that reads only that.
    pub(crate) fn says(&self) -> &'static str {
        match self.text.as_bytes().last() {
            Some(b'Y' | b'y') => "Y",
            Some(b'G' | b'g') => "G",
            Some(b'm' | b'b' | b'B' | b'h' | b'q') => "m",
            Some(b'd' | b'e') => "d",
            Some(b'H' | b'k' | b'I' | b'l') => "H",
            Some(b'f' | b'N') => "f",
            Some(b'p' | b'P') => "p",
            Some(b'a' | b'A' | b'u' | b'w') => "a",
            Some(b'F') => "Ymd",
            Some(b'D') => "mdY",
            Some(b'T') => "HMS",
            Some(b'R') => "HM",
            Some(b'C') => "C",
            Some(b'j') => "j",
            Some(b'M') => "M",
            Some(b'S') => "S",
            Some(b's') => "s",
            Some(b'U') => "U",
            Some(b'V') => "V",
            Some(b'W') => "W",
            Some(b'Q') => "Q",
            Some(b'z') => "z",
            _ => "",
        }
    }
}

/// The directives of a pattern, in order.
pub(crate) fn directives(pattern: &str) -> Vec<Directive<'_>> {
    let mut directives = Vec::new();
    let mut from = 0;
    while let Some(at) = pattern[from..].find('%').map(|at| from + at) {
        // Flags, a width, colons or a point stand before the letter.
        let modifier = |c: char| "-_0^#:.".contains(c) || c.is_ascii_digit();
        let rest = &pattern[at + 1..];
        let letter = rest.find(|c| !modifier(c)).unwrap_or(rest.len());
        let end = at + 1 + letter + rest[letter..].chars().next().map_or(0, char::len_utf8);
        directives.push(Directive { at, text: &pattern[at..end] });
        from = end;
    }
    directives
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_are_found_with_their_modifiers() {
        let texts = |pattern| {
            directives(pattern).iter().map(|directive| directive.text).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(texts("%Y-%m-%dT%H:%M:%S%.3f%:z"), "%Y %m %d %H %M %S %.3f %:z");
        assert_eq!(texts("100%% of %-d.%ä"), "%% %-d %ä");
        assert_eq!(texts("%"), "%");
        let says: String = directives("%F %R %q").iter().map(Directive::says).collect();
        assert_eq!(says, "YmdHMm");
    }
}
