//! Numbers in text: plain decimals, or with separators as they are written in other countries.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::adorned::{APOSTROPHES, Adorned, SPACES, is_zero_of_accounts};
use super::number_flags::seen_flags;
use crate::error::TableError;
use crate::error::flaw::Flaw;

/// How numbers are written in text.
///
/// ```
/// use foretell_tables::{FileOptions, NumberFormat, TableReader, TextTable};
///
/// let csv = "unique_id;ds;y\nshop;1;1.250,5\n";
/// let mut table = TextTable::new(csv.as_bytes(), "sales.csv".into(), &FileOptions::default())?;
/// table.read_numbers(NumberFormat::new(',', Some('.'))?);
/// table.advance()?;
/// assert_eq!(table.number(2), Ok(1250.5));
/// # Ok::<(), foretell_tables::TableError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "KeptFormat", into = "KeptFormat")]
pub struct NumberFormat {
    decimal: char,
    thousands: Option<char>,
    /// Whether someone said so: a point that is usual may still be one between thousands.
    is_said: bool,
}

impl Default for NumberFormat {
    fn default() -> Self {
        Self { decimal: '.', thousands: None, is_said: false }
    }
}

/// How models keep a format.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum KeptFormat {
    Marks(char, Option<char>),
    /// The usual marks, where someone said so.
    Said(char, Option<char>, bool),
}

impl From<NumberFormat> for KeptFormat {
    fn from(format: NumberFormat) -> Self {
        let NumberFormat { decimal, thousands, is_said } = format;
        match (decimal, thousands, is_said) {
            ('.', None, true) => Self::Said(decimal, thousands, is_said),
            _ => Self::Marks(decimal, thousands),
        }
    }
}

impl TryFrom<KeptFormat> for NumberFormat {
    type Error = TableError;

    fn try_from(kept: KeptFormat) -> Result<Self, TableError> {
        match kept {
            KeptFormat::Marks('.', None) => Ok(Self::default()),
            KeptFormat::Marks(decimal, thousands) | KeptFormat::Said(decimal, thousands, _) => {
                Self::new(decimal, thousands)
            }
        }
    }
}

/// Words for "no value": those of pandas, of statistical offices (`..`, `:`, `.`), of spreadsheets and of databases.
const MISSING: [&str; 23] = [
    "", "na", "n/a", "#n/a", "nan", "-nan", "null", "none", "<na>", "nat", "n.a.", ".", "..", "...", ":",
    "\\n", "#div/0!", "#value!", "#ref!", "#num!", "#name?", "#null!", "no data",
];

/// Dashes, which stand for no value as often as for 0.
const DASHES: [&str; 6] = ["-", "--", "---", "\u{2212}", "\u{2013}", "\u{2014}"];

/// A number in single precision.
pub fn narrow(value: f64) -> Result<f32, Flaw> {
    if (value as f32).is_infinite() { Err(Flaw::TooLarge) } else { Ok(value as f32) }
}

/// The marks that may stand between thousands: also spaces that do not break, wide and narrow.
const THOUSANDS: [char; 10] = ['.', ',', ' ', '\'', '’', '_', '\u{a0}', '\u{202f}', '\u{2009}', '\u{2007}'];

impl NumberFormat {
    /// Numbers with this mark before their decimals (a point or a comma), and maybe one between their thousands
    /// (a point, a comma, an apostrophe, an underscore or a space).
    ///
    /// # Errors
    /// [`SettingError::OutOfRange`](crate::SettingError::OutOfRange) for other marks, and for one that would stand for both.
    pub fn new(decimal: char, thousands: Option<char>) -> Result<Self, TableError> {
        if !['.', ','].contains(&decimal) {
            return Err(TableError::setting("decimal", decimal, "a point or a comma"));
        }
        match thousands {
            Some(mark) if !THOUSANDS.contains(&mark) => {
                let expected = "a point, a comma, an apostrophe, an underscore or a space";
                Err(TableError::setting("thousands", mark, expected))
            }
            Some(mark) if mark == decimal => {
                Err(TableError::setting("thousands", mark, "another mark than that before decimals"))
            }
            _ => Ok(Self { decimal, thousands, is_said: true }),
        }
    }

    /// The same where someone said so, also of the usual marks.
    pub fn said(self) -> Self {
        Self { is_said: true, ..self }
    }

    /// The mark before decimals.
    pub fn decimal(self) -> char {
        self.decimal
    }

    /// Reads a number; values pass through `f64`, as they do in pandas.
    pub(crate) fn number(self, field: &[u8]) -> Result<f32, Flaw> {
        narrow(self.wide_number(field)?)
    }

    /// Reads a number with all its digits.
    pub(crate) fn wide_number(self, field: &[u8]) -> Result<f64, Flaw> {
        let text = str::from_utf8(field).map_err(|_| Flaw::Text)?.trim();
        match self.plain(text).and_then(|plain| plain.parse::<f64>().ok()) {
            Some(value) if value.is_nan() => Err(Flaw::Missing),
            Some(value) if value.is_infinite() && !text.contains(|c: char| c.is_ascii_digit()) => {
                Err(Flaw::Infinite)
            }
            Some(value) if value.is_infinite() => Err(Flaw::TooLarge),
            Some(value) => Ok(value),
            None if MISSING.iter().any(|word| text.eq_ignore_ascii_case(word)) => Err(Flaw::Missing),
            None if DASHES.contains(&text) => Err(Flaw::Dash),
            None if is_zero_of_accounts(text) => Ok(0.0),
            None => self.adorned(text),
        }
    }

    /// A number of few digits and a mark before its decimals, as most are; others are nothing here, and
    /// [`wide_number`](Self::wide_number) reads them.
    ///
    /// Digits below 2^53 and powers of ten up to 10^22 are exact in `f64`, and so their quotient is rounded once, as the
    /// decimal itself would be (W. Clinger, "How to read floating point numbers accurately", 1990).
    pub(crate) fn short(self, field: &[u8]) -> Option<f64> {
        const POWERS: [f64; 19] = [
            1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17,
            1e18,
        ];
        let digits = field.strip_prefix(b"-").unwrap_or(field);
        let (mut number, mut point) = (0_u64, None);
        if digits.len() > POWERS.len() {
            return None;
        }
        for (i, &byte) in digits.iter().enumerate() {
            match byte.wrapping_sub(b'0') {
                digit @ 0..=9 => number = number * 10 + u64::from(digit),
                _ if char::from(byte) == self.decimal && point.is_none() => point = Some(i),
                _ => return None,
            }
        }
        let decimals = point.map_or(0, |point| digits.len() - 1 - point);
        if digits.len() == usize::from(point.is_some()) || number >= 1 << 53 {
            return None;
        }
        let value = number as f64 / POWERS[decimals];
        Some(if digits.len() < field.len() { -value } else { value })
    }

    fn other_decimal(self) -> Self {
        Self { decimal: if self.decimal == '.' { ',' } else { '.' }, ..self }
    }

    fn grouped_by(self, mark: char) -> Self {
        Self { thousands: Some(mark), ..self }
    }

    /// Reads a number with signs around it, and spaces or apostrophes between its thousands: nothing else they could mean.
    fn adorned(self, text: &str) -> Result<f64, Flaw> {
        let bare = Adorned::of(text).ok_or_else(|| self.flaw(text))?;
        let spaced = |mark: char| SPACES.contains(&mark) || APOSTROPHES.contains(&mark);
        let first = bare.digits.chars().find(|mark| spaced(*mark));
        let plain = match (first, self.thousands) {
            (Some(mark), None) => self.grouped_by(mark).plain(bare.digits),
            (Some(mark), Some(said)) if SPACES.contains(&said) && SPACES.contains(&mark) => {
                self.grouped_by(mark).plain(bare.digits)
            }
            _ => self.plain(bare.digits),
        };
        let unsigned = plain.filter(|plain| plain.starts_with(|c: char| c.is_ascii_digit() || c == '.'));
        match unsigned.and_then(|plain| plain.parse::<f64>().ok()) {
            None => Err(match first {
                // Only the mark before decimals is in question.
                Some(mark) if self.other_decimal().grouped_by(mark).plain(bare.digits).is_some() => {
                    if self.decimal == '.' { Flaw::DecimalComma } else { Flaw::DecimalPoint }
                }
                _ => self.flaw(bare.digits),
            }),
            Some(value) => {
                let value = if bare.percent { value / 100.0 } else { value };
                let value = if bare.negative { -value } else { value };
                if value.is_infinite() { Err(Flaw::TooLarge) } else { Ok(value) }
            }
        }
    }

    /// Reads a number, or a truth value as 1 or 0.
    pub(crate) fn number_or_truth(self, field: &[u8]) -> Result<f32, Flaw> {
        self.number(field).or_else(|flaw| match field.trim_ascii() {
            b"True" | b"true" | b"TRUE" => Ok(1.0),
            b"False" | b"false" | b"FALSE" => Ok(0.0),
            _ => Err(flaw),
        })
    }

    /// The same number with a decimal point and nothing between thousands; nothing for marks that stand where they
    /// may not: between thousands there are three digits, or, as in India, two.
    fn plain(self, text: &str) -> Option<Cow<'_, str>> {
        if self == Self::default() {
            return Some(text.into());
        }
        let (whole, decimals) = match text.split_once(self.decimal) {
            Some((whole, decimals)) => (whole, Some(decimals)),
            None => (text, None),
        };
        let foreign = |part: &str| part.contains(['.', ',']);
        if decimals.is_some_and(foreign) {
            return None;
        }
        let mut plain = match self.thousands.filter(|mark| whole.contains(*mark)) {
            None if foreign(whole) => return None,
            None => whole.to_owned(),
            Some(mark) => {
                let groups: Vec<&str> = whole.split(mark).collect();
                let digits = |group: &str| group.bytes().all(|byte| byte.is_ascii_digit());
                let (first, rest) = groups.split_first()?;
                let first = first.strip_prefix(['-', '+']).unwrap_or(first);
                let (last, middle) = rest.split_last()?;
                let sound = (1..=3).contains(&first.len())
                    && digits(first)
                    && middle.iter().all(|group| (2..=3).contains(&group.len()) && digits(group))
                    // Without decimals, an exponent may follow.
                    && last.len() == 3
                    && digits(last);
                if !sound {
                    return None;
                }
                groups.concat()
            }
        };
        if let Some(decimals) = decimals {
            plain.push('.');
            plain.push_str(decimals);
        }
        Some(plain.into())
    }

    /// Whether a number stands in the text beside a flag, a unit or a comparison: `12.3 p`, `5 MW`, `1.5M`, `<1`.
    fn has_company(self, text: &str) -> bool {
        let beside = |c: char| !c.is_ascii_digit();
        let number = text.trim_matches(beside);
        let company = |c: char| c.is_alphabetic() || c.is_whitespace() || "<>~*°".contains(c);
        (1..=8).contains(&(text.len() - number.len()))
            && text.replacen(number, "", 1).chars().all(company)
            && text.matches(number).count() == 1
            && self.plain(number).is_some_and(|plain| plain.parse::<f64>().is_ok())
    }

    /// The flaw of a text that is no number: often it is one with other marks.
    fn flaw(self, text: &str) -> Flaw {
        if let Some((number, flags)) = seen_flags(text) {
            match self.wide_number(number.as_bytes()) {
                Ok(_) | Err(Flaw::Missing) => return Flaw::Flagged(flags),
                Err(
                    flaw @ (Flaw::DecimalComma | Flaw::CommaOfThousands | Flaw::DecimalPoint | Flaw::Grouped),
                ) => return flaw,
                Err(_) => {}
            }
        }
        // Most texts end here, at their first letter: a column may hold long ones.
        let may_count = |c: char| c.is_ascii_digit() || "+-eE.,".contains(c) || THOUSANDS.contains(&c);
        if !text.chars().all(may_count) {
            return if self.has_company(text) { Flaw::Accompanied } else { Flaw::Text };
        }
        let fits = |format: Self| format.plain(text).is_some_and(|plain| plain.parse::<f64>().is_ok());
        let decimal = if self.decimal == '.' { ',' } else { '.' };
        if fits(Self { decimal, thousands: self.thousands.filter(|mark| *mark != decimal), ..self }) {
            let thousands = decimal == ',' && Self::default().grouped_by(',').plain(text).is_some();
            return match decimal {
                _ if thousands && !text.trim_start_matches(['-', '+']).starts_with('0') => {
                    Flaw::CommaOfThousands
                }
                ',' => Flaw::DecimalComma,
                _ => Flaw::DecimalPoint,
            };
        }
        let grouped = |decimal: char| {
            let marks = THOUSANDS.into_iter().filter(|mark| *mark != decimal);
            marks.into_iter().any(|mark| fits(Self { decimal, thousands: Some(mark), ..self }))
        };
        if grouped('.') || grouped(',') { Flaw::Grouped } else { Flaw::Text }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::flaw::Flags;
    use proptest::prelude::*;

    fn read(format: (char, Option<char>), text: &str) -> Result<f32, Flaw> {
        NumberFormat::new(format.0, format.1).unwrap().number(text.as_bytes())
    }

    #[test]
    fn plain_numbers_are_read_or_named_for_what_they_are() {
        let plain = NumberFormat::default();
        for (text, value) in [
            ("1", 1.0),
            (" -2.5e-3 ", -0.0025),
            ("+7", 7.0),
            ("0.1", 0.1),
            // As spreadsheets show zeros in columns of accounts.
            ("$-", 0.0),
            (" $ -   ", 0.0),
            ("\u{2013} €", 0.0),
        ] {
            assert_eq!(plain.number(text.as_bytes()), Ok(value));
        }
        for (text, flaw) in [
            ("", Flaw::Missing),
            (" NaN", Flaw::Missing),
            ("<NA>", Flaw::Missing),
            ("..", Flaw::Missing),
            (": ", Flaw::Missing),
            ("#DIV/0!", Flaw::Missing),
            ("-", Flaw::Dash),
            ("12.3 p", Flaw::Flagged(Flags::of("p").unwrap())),
            ("12.3e", Flaw::Flagged(Flags::of("e").unwrap())),
            (": c", Flaw::Flagged(Flags::of("c").unwrap())),
            ("1,5 p", Flaw::DecimalComma),
            ("12 km", Flaw::Accompanied),
            ("<1", Flaw::Accompanied),
            ("1.5M", Flaw::Accompanied),
            ("x1y2", Flaw::Text),
            ("inf", Flaw::Infinite),
            ("-Infinity", Flaw::Infinite),
            ("1e39", Flaw::TooLarge),
            ("1e400", Flaw::TooLarge),
            ("1,5", Flaw::DecimalComma),
            ("1,130", Flaw::CommaOfThousands),
            ("-12,500", Flaw::CommaOfThousands),
            ("0,990", Flaw::DecimalComma),
            ("1,000,000", Flaw::Grouped),
            ("1 000 000,5", Flaw::DecimalComma),
            ("1.000,5 €", Flaw::Grouped),
            ("12,5 %", Flaw::DecimalComma),
            ("1.000.000", Flaw::Grouped),
            ("12 %%", Flaw::Text),
            ("--12", Flaw::Text),
            ("(-12)", Flaw::Text),
            ("12 34", Flaw::Text),
            ("$", Flaw::Text),
            ("€ 5 $", Flaw::Text),
            ("1,2,3", Flaw::Text),
            ("True", Flaw::Text),
        ] {
            assert_eq!(plain.number(text.as_bytes()), Err(flaw), "{text:?}");
        }
        assert_eq!(plain.number(b"\xff"), Err(Flaw::Text));
        assert_eq!(plain.number_or_truth(b"True"), Ok(1.0));
        assert_eq!(plain.number_or_truth(b" false"), Ok(0.0));
        assert_eq!(plain.number_or_truth(b"yes"), Err(Flaw::Text));
    }

    #[test]
    fn numbers_are_read_as_people_write_them() {
        for (text, value) in [
            ("\u{2212}12.5", -12.5),
            ("\u{2013}3", -3.0),
            ("12.5-", -12.5),
            ("(12.5)", -12.5),
            ("($1 234.50)", -1234.5),
            ("$12", 12.0),
            ("-$12", -12.0),
            ("$-12", -12.0),
            ("12 €", 12.0),
            ("EUR 1 234 567", 1_234_567.0),
            ("12.5 kr", 12.5),
            ("12.5%", 0.125),
            ("-12.5 %", -0.125),
            ("1\u{a0}234.5", 1234.5),
            ("1\u{202f}234\u{202f}567", 1_234_567.0),
            ("1'234.5", 1234.5),
            ("1’234", 1234.0),
            ("+7 £", 7.0),
        ] {
            assert_eq!(read(('.', None), text), Ok(value), "{text}");
        }
        for (format, text, value) in [
            ((',', None), "1 234,50 €", 1234.5),
            ((',', Some('.')), "\u{2212}1.234,50 €", -1234.5),
            ((',', Some(' ')), "1\u{a0}234,50", 1234.5),
            ((',', Some(' ')), "\u{2212}12,50", -12.5),
            ((',', None), "87,5 %", 0.875),
        ] {
            assert_eq!(read(format, text), Ok(value), "{text}");
        }
    }

    #[test]
    fn models_keep_whether_the_usual_marks_were_said() {
        let said = NumberFormat::new('.', None).unwrap();
        assert_ne!(said, NumberFormat::default());
        let german = NumberFormat::new(',', Some('.')).unwrap();
        for (format, kept) in [
            (NumberFormat::default(), r#"[".",null]"#),
            (said, r#"[".",null,true]"#),
            (german, r#"[",","."]"#),
        ] {
            assert_eq!(serde_json::to_string(&format).unwrap(), kept);
            assert_eq!(serde_json::from_str::<NumberFormat>(kept).unwrap(), format);
        }
    }

    #[test]
    fn separators_mean_what_they_are_said_to_mean() {
        for (format, text, value) in [
            ((',', None), "1,5", Ok(1.5)),
            ((',', None), "-0,25", Ok(-0.25)),
            ((',', None), "1,5e3", Ok(1500.0)),
            ((',', None), "12", Ok(12.0)),
            ((',', None), "NaN", Err(Flaw::Missing)),
            ((',', None), "-inf", Err(Flaw::Infinite)),
            ((',', None), "1.5", Err(Flaw::DecimalPoint)),
            ((',', None), "1.234.567,5", Err(Flaw::Grouped)),
            ((',', Some('.')), "1.234.567,5", Ok(1_234_567.5)),
            ((',', Some('.')), "-1.234", Ok(-1234.0)),
            ((',', Some('.')), "900", Ok(900.0)),
            // The one who drops the marks without a look makes 15 of it.
            ((',', Some('.')), "1.5", Err(Flaw::DecimalPoint)),
            (('.', Some(',')), "1,234.5", Ok(1234.5)),
            (('.', Some(',')), "12,34,567", Ok(1_234_567.0)),
            (('.', Some(',')), "1,5", Err(Flaw::DecimalComma)),
            (('.', Some(',')), "1,234,56", Err(Flaw::Text)),
            (('.', Some('\'')), "1'234.5", Ok(1234.5)),
            ((',', Some(' ')), "1 234,5", Ok(1234.5)),
            ((',', Some('\u{202f}')), "1\u{202f}234,5", Ok(1234.5)),
            (('.', Some(',')), ",123", Err(Flaw::DecimalComma)),
        ] {
            assert_eq!(read(format, text), value, "{format:?}: {text}");
        }
        for (decimal, thousands) in [(';', None), ('.', Some('.')), (',', Some('5')), (',', Some(','))] {
            let error = NumberFormat::new(decimal, thousands).unwrap_err().to_string();
            assert!(error.contains("must be"), "{error}");
        }
    }

    proptest! {
        #[test]
        fn short_numbers_have_the_bits_of_the_standard_library(text in "-{0,2}\\d{0,18}[.,]?\\d{0,18}e?") {
            for (decimal, other) in [('.', ','), (',', '.')] {
                let format = NumberFormat::new(decimal, None).unwrap();
                let plain = text.replace(other, "x").replace(decimal, ".");
                if let Some(number) = format.short(text.as_bytes()) {
                    prop_assert_eq!(Ok(number.to_bits()), plain.parse::<f64>().map(f64::to_bits));
                    prop_assert_eq!(format.wide_number(text.as_bytes()), Ok(number));
                }
            }
        }

        #[test]
        fn most_numbers_are_short(number in -9_000_000_000_000_000_i64..9_000_000_000_000_000, decimals in 0..17_usize) {
            let value = number as f64 / 10_f64.powi(decimals as i32);
            let text = format!("{value:.decimals$}");
            if text.trim_start_matches('-').len() < 17 {
                let short = NumberFormat::default().short(text.as_bytes()).map(f64::to_bits);
                prop_assert_eq!(short, text.parse::<f64>().ok().map(f64::to_bits));
            }
        }

        #[test]
        fn what_is_written_with_marks_is_read_back(value in any::<i32>(), decimals in 0..100_u32) {
            let digits = value.unsigned_abs().to_string();
            let mut whole = String::new();
            for (i, digit) in digits.chars().enumerate() {
                if i > 0 && (digits.len() - i) % 3 == 0 {
                    whole.push('.');
                }
                whole.push(digit);
            }
            let sign = if value < 0 { "-" } else { "" };
            let expected = format!("{sign}{digits}.{decimals:02}").parse::<f64>().unwrap() as f32;
            prop_assert_eq!(read((',', Some('.')), &format!("{sign}{whole},{decimals:02}")), Ok(expected));
        }

        #[test]
        fn no_text_panics(text in "\\PC{0,12}|[0-9., e+-]{0,16}") {
            for format in [('.', None), (',', None), (',', Some('.')), ('.', Some('’'))] {
                let _ = read(format, &text);
            }
        }
    }
}
