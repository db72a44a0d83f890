//! Names of months in other languages than English.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::error::CalendarError;
use super::time_format::TimeFormat;

/// The language of month names in times, by its code: `de`, `fr`, ...
///
/// ```
/// use foretell_calendar::{Clock, Locale, TimeKind};
///
/// let mut clock = Clock::new(None, None, Some("de".parse::<Locale>()?));
/// let time = clock.read("1. März 2024").expect("a day");
/// assert_eq!(TimeKind::Timestamp.display(time), "2024-03-01");
/// # Ok::<(), foretell_calendar::CalendarError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Locale(&'static Names);

/// A language and how the names of its months begin, in any case that it has.
#[derive(Debug, PartialEq, Eq)]
struct Names {
    code: &'static str,
    months: [&'static str; 12],
}

const fn names(code: &'static str, months: [&'static str; 12]) -> Names {
    Names { code, months }
}

/// Several beginnings of one month are separated by a bar.
#[rustfmt::skip]
static LOCALES: [Names; 14] = [
    names("en", ["january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"]),
    names("de", ["januar|jänner", "februar", "märz|mrz|maerz", "april", "mai", "juni", "juli", "august", "september", "oktober", "november", "dezember"]),
    names("fr", ["janvier", "février|fevrier", "mars", "avril", "mai", "juin", "juillet", "août|aout", "septembre", "octobre", "novembre", "décembre|decembre"]),
    names("es", ["enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre|setiembre", "octubre", "noviembre", "diciembre"]),
    names("it", ["gennaio", "febbraio", "marzo", "aprile", "maggio", "giugno", "luglio", "agosto", "settembre", "ottobre", "novembre", "dicembre"]),
    names("pt", ["janeiro", "fevereiro", "março|marco", "abril", "maio", "junho", "julho", "agosto", "setembro", "outubro", "novembro", "dezembro"]),
    names("nl", ["januari", "februari", "maart|mrt", "april", "mei", "juni", "juli", "augustus", "september", "oktober", "november", "december"]),
    names("pl", ["stycz", "lut", "mar", "kwie", "maj", "czerw", "lip", "sierp", "wrze|wrz", "paź|paz", "list", "grud"]),
    names("cs", ["led", "únor|unor", "březen|březn|brez", "dub", "květen|květn|kvet", "červen|červn", "červenec|červenc", "srp", "září|zář|zari", "říj|rij", "list", "pros"]),
    names("sv", ["januari", "februari", "mars", "april", "maj", "juni", "juli", "augusti", "september", "oktober", "november", "december"]),
    names("da", ["januar", "februar", "marts", "april", "maj", "juni", "juli", "august", "september", "oktober", "november", "december"]),
    names("nb", ["januar", "februar", "mars", "april", "mai", "juni", "juli", "august", "september", "oktober", "november", "desember"]),
    names("fi", ["tammi", "helmi", "maalis", "huhti", "touko", "kesä|kesa", "heinä|heina", "elo", "syys", "loka", "marras", "joulu"]),
    names("tr", ["oca", "şub|sub", "mar", "nis", "may", "haz", "tem", "ağu|agu", "eyl", "eki", "kas", "ara"]),
];

impl Locale {
    /// Every language but English.
    pub(crate) fn others() -> impl Iterator<Item = Self> {
        LOCALES[1..].iter().map(Self)
    }

    /// Every language.
    pub fn all() -> impl Iterator<Item = Self> {
        LOCALES.iter().map(Self)
    }

    /// The month, from 0, whose name or its beginning is all that a column is headed by, but for a point.
    pub fn month_headed(self, name: &str) -> Option<usize> {
        let word = name.trim().trim_end_matches('.');
        word.chars().all(char::is_alphabetic).then(|| self.month(word))?
    }

    /// A time with the English name of its month: of one that `format` describes nothing else is changed, of others the points
    /// behind the day and the name go, too.
    pub(crate) fn in_english<'a>(self, text: &'a str, format: Option<&TimeFormat>) -> Cow<'a, str> {
        let words = text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
        let Some((word, month)) = words.filter_map(|word| Some((word, self.month(word)?))).next() else {
            return text.into();
        };
        let whole = format.is_some_and(|format| format.to_string().contains("%B"));
        let english = if whole { LOCALES[0].months[month] } else { &LOCALES[0].months[month][..3] };
        let Some((before, after)) = text.split_once(word) else { return text.into() };
        if format.is_some() {
            return format!("{before}{english}{after}").into();
        }
        let before = before.strip_suffix(". ").map_or_else(|| before.to_owned(), |day| format!("{day} "));
        format!("{before}{english}{}", after.strip_prefix('.').unwrap_or(after)).into()
    }

    /// The month that a word names, from 0: by its whole name, the beginning of it that no other has, or another case of it.
    fn month(self, word: &str) -> Option<usize> {
        let word = word.to_lowercase();
        if word.chars().count() < 3 {
            return None;
        }
        let names = || {
            let months = self.0.months.iter().enumerate();
            months.flat_map(|(month, names)| names.split('|').map(move |name| (month, name)))
        };
        let whole = names().filter(|(_, name)| word.starts_with(name)).max_by_key(|(_, name)| name.len());
        let mut begun = names().filter(|(_, name)| name.starts_with(&word)).map(|(month, _)| month);
        whole.map(|(month, _)| month).or_else(|| {
            let month = begun.next()?;
            begun.all(|other| other == month).then_some(month)
        })
    }
}

impl FromStr for Locale {
    type Err = CalendarError;

    fn from_str(code: &str) -> Result<Self, CalendarError> {
        let language = code.split(['-', '_', '.']).next().unwrap_or_default();
        let known = LOCALES.iter().find(|names| language.eq_ignore_ascii_case(names.code));
        known.map(Self).ok_or_else(|| CalendarError::Locale {
            code: code.to_owned(),
            known: LOCALES.iter().map(|names| names.code).collect::<Vec<_>>().join(", "),
        })
    }
}

impl fmt::Display for Locale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.code)
    }
}

impl TryFrom<String> for Locale {
    type Error = CalendarError;

    fn try_from(code: String) -> Result<Self, CalendarError> {
        code.parse()
    }
}

impl From<Locale> for String {
    fn from(locale: Locale) -> Self {
        locale.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_are_read_by_their_names_in_any_case_and_length() {
        for (code, text, english) in [
            ("de", "1. März 2024", "1 mar 2024"),
            ("de_DE.UTF-8", "Okt-24", "oct-24"),
            ("de", "31. Dez. 2024 13:45", "31 dec 2024 13:45"),
            ("de", "MAI 2024", "may 2024"),
            ("fr-FR", "1 août 2024", "1 aug 2024"),
            ("fr", "janv. 2024", "jan 2024"),
            ("es", "5 ene 2024", "5 jan 2024"),
            ("nl", "mrt 2024", "mar 2024"),
            ("pl", "3 stycznia 2024", "3 jan 2024"),
            ("cs", "3 července 2024", "3 jul 2024"),
            ("cs", "3 června 2024", "3 jun 2024"),
            ("fi", "1. heinäkuuta 2024", "1 jul 2024"),
            ("tr", "1 Ağu 2024", "1 aug 2024"),
            // Two months begin so.
            ("fr", "1 jui 2024", "1 jui 2024"),
            ("de", "2024-01-31T13:45", "2024-01-31T13:45"),
        ] {
            assert_eq!(code.parse::<Locale>().unwrap().in_english(text, None), english, "{text}");
        }
        let format = TimeFormat::parse("%d. %B %Y").unwrap();
        let german: Locale = "de".parse().unwrap();
        assert_eq!(german.in_english("1. März 2024", Some(&format)), "1. march 2024");
    }

    #[test]
    fn every_name_is_that_of_one_month() {
        for locale in &LOCALES {
            for (month, names) in locale.months.iter().enumerate() {
                for name in names.split('|') {
                    assert_eq!(Locale(locale).month(name), Some(month), "{}: {name}", locale.code);
                }
            }
        }
        let error = "xx".parse::<Locale>().unwrap_err().to_string();
        assert!(error.contains("en, de, fr"), "{error}");
    }
}
