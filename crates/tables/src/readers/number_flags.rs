//! Flags behind numbers that say how these came about, as statistical offices write them: `101.9 p`, `12.3*`, `88.1(R)`, `: c`.

use crate::error::TableError;
use crate::error::flaw::Flags;

/// The letters that Eurostat, the OECD and others use: a break, confidential, a definition that differs, estimated, a forecast, imputed, not
/// significant, provisional, revised, Eurostat's own estimate, low reliability, not applicable. K and M, which are factors, are none.
const LETTERS: &str = "bcdefinprsuvz";

const MARKS: &str = "*†‡§^#";

/// What may stand around flags and between them.
const AROUND: &str = " \u{a0}\u{202f},;()[]";

/// A text as a number, or a sign for none, and what follows it.
fn split(text: &str) -> Option<(&str, &str)> {
    let text = text.trim();
    // Most texts that are no numbers are labels, and may be long.
    if text.len() > 64 {
        return None;
    }
    let last = text.rfind(|c: char| c.is_ascii_digit() || c == ':' || c == '.')?;
    let (number, behind) = text.split_at(last + 1);
    (!behind.is_empty()).then_some((number, behind))
}

/// The number before what seems to be flags, and these: letters and marks that statistical offices use, or letters in brackets.
pub(super) fn seen_flags(text: &str) -> Option<(&str, Flags)> {
    let (number, behind) = split(text)?;
    let bracketed = behind.contains(['(', '[']);
    let mut flags: Vec<char> = behind.chars().filter(|c| !AROUND.contains(*c)).collect();
    // Billions, and the letters of a number in base 16.
    let is_factor = behind.trim() == "bn" || behind.starts_with('b');
    let is_flag =
        |c: &char| LETTERS.contains(*c) || MARKS.contains(*c) || bracketed && c.is_ascii_alphabetic();
    let sound = (1..=3).contains(&flags.len()) && flags.iter().all(is_flag) && !is_factor;
    flags.dedup();
    let listed: Vec<String> = flags.iter().map(char::to_string).collect();
    sound.then(|| Some((number, Flags::of(&listed.join(","))?))).flatten()
}

/// Words for thousands, millions and billions.
const FACTORS: [&[&str]; 3] = [
    &["k", "t", "th", "thsd", "tsd", "thousand"],
    &["m", "mm", "mn", "mln", "mio", "million"],
    &["b", "bn", "mrd", "md", "billion"],
];

/// Whether a flag is a word for thousands, millions or billions, and no letter that statistical offices use: 1.2K is not 1.2 in a
/// column that has 950 as well.
pub(super) fn is_factor(flag: &str) -> bool {
    let plain = flag.trim_matches(|c: char| !c.is_alphabetic()).to_lowercase();
    (plain == "k" || plain.len() > 1) && FACTORS.iter().any(|words| words.contains(&plain.as_str()))
}

/// Whether flags may be left away: numbers before factors of several sizes would be read as of one.
///
/// # Errors
/// If they are such factors.
pub(super) fn check_flags(flags: &[String]) -> Result<(), TableError> {
    let plain = |flag: &String| flag.trim_matches(|c: char| !c.is_alphabetic()).to_lowercase();
    let plain: Vec<String> = flags.iter().map(plain).collect();
    let size = |flag: &String| FACTORS.iter().position(|words| words.contains(&flag.as_str()));
    // Statistical offices use single letters, but for K, as flags.
    let are_factors = plain.iter().any(|flag| is_factor(flag));
    let mut sizes: Vec<usize> = plain.iter().filter_map(size).collect();
    sizes.sort_unstable();
    sizes.dedup();
    match sizes.len() > 1 && are_factors {
        false => Ok(()),
        true => Err(TableError::setting(
            "number_flags",
            flags.join(","),
            "flags that leave a number as it was; these are factors of several sizes, so write the numbers out in one unit",
        )),
    }
}

/// The number before flags of this list, if nothing else follows it.
pub(super) fn without_flags<'a>(text: &'a str, flags: &[String]) -> Option<&'a str> {
    let (number, behind) = split(text)?;
    let mut rest = behind;
    loop {
        rest = rest.trim_start_matches(|c| AROUND.contains(c));
        if rest.is_empty() {
            return (!behind.trim().is_empty()).then_some(number);
        }
        let known = flags.iter().filter_map(|flag| rest.strip_prefix(flag.as_str()));
        rest = known.min_by_key(|rest| rest.len())?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_of_several_sizes_are_no_flags() {
        let check = |flags: &[&str]| check_flags(&flags.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert!(
            check(&["p", "e"]).is_ok()
                && check(&["K"]).is_ok()
                && check(&["K", "tsd."]).is_ok()
                && check(&["b", "m"]).is_ok()
        );
        let error = check(&["K", "M"]).unwrap_err().to_string();
        assert!(error.contains("factors of several sizes") && error.contains("K,M"), "{error}");
    }

    #[test]
    fn flags_are_told_from_units_and_factors() {
        for (text, number, flags) in [
            ("101.9 p", "101.9", "p"),
            ("12.3*", "12.3", "*"),
            ("88.1r", "88.1", "r"),
            ("1,234 e", "1,234", "e"),
            ("106.3 be", "106.3", "b,e"),
            ("157.3(P)", "157.3", "P"),
            (": c", ":", "c"),
        ] {
            let seen = seen_flags(text).map(|(number, flags)| (number, flags.text().to_owned()));
            assert_eq!(seen, Some((number, flags.to_owned())), "{text}");
            let flags: Vec<String> = flags.split(',').map(str::to_owned).collect();
            assert_eq!(without_flags(text, &flags), Some(number), "{text}");
            assert_eq!(without_flags(text, &["q".to_owned()]), None, "{text}");
        }
        for text in ["5 MW", "1.5M", "900K", "1.5bn", "1.5 bn", "1.5b", "<1", "12 %", "12", "p", "", "12 -"] {
            assert!(seen_flags(text).is_none(), "{text}");
        }
    }
}
