//! The arguments of a feature, as `28:0.1,0.9` behind its name: parts between colons, items between commas.

use std::collections::BTreeMap;
use std::str::FromStr;

use foretell_calendar::jiff::civil::Date;

/// Lists of days by their names.
pub(crate) type DayLists = BTreeMap<String, Vec<Date>>;

/// The arguments of a feature.
#[derive(Debug)]
pub(crate) struct Arguments<'a> {
    parts: Vec<Vec<&'a str>>,
    /// The lists of days that there are, by their names; without them files may be read.
    pub(crate) lists: Option<&'a DayLists>,
}

impl<'a> Arguments<'a> {
    /// Reads what stands behind the first colon, if there is one.
    pub(crate) fn new(text: Option<&'a str>, lists: Option<&'a DayLists>) -> Self {
        let parts = text.map(|text| text.split(':').map(|part| part.split(',').collect()).collect());
        Self { parts: parts.unwrap_or_default(), lists }
    }

    /// The parts, if they are as many as that.
    pub(crate) fn parts<const N: usize>(&self) -> Result<&[Vec<&'a str>; N], String> {
        let parts: Result<&[Vec<&'a str>; N], _> = self.parts.as_slice().try_into();
        parts.map_err(|_| match (N, self.parts.len()) {
            (0, _) => "it takes no arguments".to_owned(),
            (1, 0) => "its argument is missing".to_owned(),
            (expected, found) => format!("it takes {expected} arguments between colons, found {found}"),
        })
    }

    /// All parts.
    pub(crate) fn all(&self) -> &[Vec<&'a str>] {
        &self.parts
    }
}

/// Numbers of a part.
pub(crate) fn numbers<T: FromStr + PartialOrd>(
    part: &[&str],
    what: &str,
    is_good: impl Fn(&T) -> bool,
) -> Result<Vec<T>, String> {
    let number = |text: &&str| text.parse().ok().filter(|number| is_good(number));
    let numbers = part.iter().map(|text| number(text).ok_or_else(|| format!("`{text}` is not {what}")));
    numbers.collect()
}

/// The most rows that a lag or a window may reach over: no panel is longer.
const LONGEST: usize = 1 << 31;

/// Numbers of rows, each at least `least`.
pub(crate) fn row_counts(part: &[&str], least: usize) -> Result<Vec<usize>, String> {
    numbers(part, &format!("a number of rows from {least} on"), |rows| (least..=LONGEST).contains(rows))
}
