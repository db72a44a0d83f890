//! Rows below the header that have no values: the units of the columns, or their names where the header has those of groups.

use std::collections::BTreeMap;
use std::collections::HashSet;
use std::sync::Arc;

use super::number_format::NumberFormat;
use super::read_note::ReadNote;
use crate::error::flaw::Flaw;
use foretell_calendar::{TimeKind, readings::formats};

/// The texts of a row by their columns; cells without a text are not among them.
pub(super) type Row = BTreeMap<usize, String>;

/// Rows below the header that are looked at.
pub(super) const FOLLOWING: usize = 12;

/// What stands between a group and a name.
const BETWEEN: char = '/';

/// The rows below a header that belong to it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct BelowHeader<L> {
    /// Where they are.
    pub(super) rows: Vec<L>,
    pub(super) what: Below,
}

/// What such rows are.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Below {
    /// The units of the columns: their texts.
    Units(Vec<String>),
    /// Names within the groups of the header.
    Names(NamesInGroups),
}

/// What columns are called by the names of their groups and their own.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct NamesInGroups {
    /// The names of all columns.
    all: Row,
    /// The columns that are in a group.
    joined: Vec<usize>,
}

impl<L: Copy> BelowHeader<L> {
    /// What stands below a header of these cells, by the rows that follow it, each with its place.
    pub(super) fn of(header: &Row, following: &[(L, Row)]) -> Option<Self> {
        let [(at, first), below @ ..] = following else { return None };
        if let [(next, index), below @ ..] = below
            && is_index_row(header, first, index)
        {
            // What columns stand in a level has its name in the column of the index.
            let names = first.iter().filter(|(column, _)| !index.contains_key(column));
            if are_above_values(names, below, Unknown::Allowed) {
                let (names, _) = joined(header, first, index);
                return Some(Self { rows: vec![*at, *next], what: Below::Names(names) });
            }
        }
        let (names, is_grouped) = joined(header, first, &Row::new());
        let unknown = if is_grouped { Unknown::Allowed } else { Unknown::Refused };
        let what = if is_grouped { Below::Names(names) } else { Below::Units(shown(first)) };
        are_above_values(first.iter(), below, unknown).then(|| Self { rows: vec![*at], what })
    }

    /// The names of the columns, in place of those of the header.
    pub(super) fn names(&self) -> Option<&Row> {
        match &self.what {
            Below::Names(names) => Some(&names.all),
            Below::Units(_) => None,
        }
    }
}

impl<L: Copy + Into<u64>> BelowHeader<L> {
    /// The note on them, whose places are lines, from 1.
    pub(super) fn note(&self, file: &Arc<str>) -> Option<ReadNote> {
        let line = (*self.rows.first()?).into();
        Some(match &self.what {
            Below::Units(texts) => ReadNote::UnitsRow { file: file.clone(), line, texts: texts.clone() },
            Below::Names(names) => {
                let joined = names.joined.iter().take(5).map(|column| names.all[column].clone());
                ReadNote::NamesInGroups { file: file.clone(), line, names: joined.collect() }
            }
        })
    }
}

/// Whether a row right above what seems to be the header has the groups of its names: some of these come again, or it has several years.
pub(super) fn are_groups(above: &Row, names: &Row) -> bool {
    let mut seen = HashSet::new();
    let repeats = names.values().any(|name| !seen.insert(name));
    let mut behind = above.iter().filter(|(column, _)| **column > 0).map(|(_, text)| text);
    above.len() > 1 && (repeats || behind.clone().count() > 1 && behind.all(|text| is_year(text)))
}

/// The names of columns by those of their groups, and whether the header has groups: it repeats a name, or has none over some of the names
/// below, as a merged cell has.
fn joined(header: &Row, names: &Row, index: &Row) -> (NamesInGroups, bool) {
    let mut group = None;
    let (mut all, mut joined) = (header.clone(), Vec::new());
    let (mut is_grouped, mut seen) = (false, HashSet::new());
    for (column, name) in names {
        match header.get(column) {
            Some(own) => {
                is_grouped |= !seen.insert(own);
                group = Some(own);
            }
            None => is_grouped |= group.is_some(),
        }
        let name = match group.map(|group| group.trim()) {
            None => name.clone(),
            // `Q1 2024` and `Jan 2024` are times.
            Some(group) if is_year(group) => format!("{} {group}", name.trim()),
            Some(group) => format!("{group}{BETWEEN}{}", name.trim()),
        };
        if group.is_some() && !index.contains_key(column) {
            joined.push(*column);
        }
        all.insert(*column, name);
    }
    all.extend(index.iter().map(|(column, name)| (*column, name.clone())));
    (NamesInGroups { all, joined }, is_grouped)
}

/// Whether a row has what pandas writes into a row of its own below the names of two levels: what the columns before them are called.
fn is_index_row(header: &Row, names: &Row, row: &Row) -> bool {
    row.keys().copied().eq(0..row.len())
        && !row.is_empty()
        && names.keys().filter(|column| !row.contains_key(column)).count() >= row.len()
        && row.iter().all(|(column, cell)| {
            // Above them stand what the levels are called, or nothing.
            header.contains_key(column) == names.contains_key(column) && !begins_with_digit(cell)
        })
}

fn is_year(text: &str) -> bool {
    text.len() == 4 && text.parse().is_ok_and(|year| (1600..2200).contains(&year))
}

fn begins_with_digit(cell: &str) -> bool {
    cell.trim_start_matches(|c: char| !c.is_alphanumeric()).starts_with(|c: char| c.is_ascii_digit())
}

/// Whether columns may be without a value in the rows that are looked at.
#[derive(Clone, Copy, PartialEq)]
enum Unknown {
    Allowed,
    Refused,
}

/// Whether these cells are no values, each above a number or a time: the first value that its column has in the rows below.
fn are_above_values<'a, L>(
    cells: impl Iterator<Item = (&'a usize, &'a String)>,
    below: &[(L, Row)],
    unknown: Unknown,
) -> bool {
    let (mut any, mut all) = (false, true);
    for (column, cell) in cells.filter(|(_, cell)| cell.trim() != "-") {
        let value = below.iter().filter_map(|(_, row)| row.get(column)).find(|cell| !is_missing(cell));
        any |= value.is_some();
        all &= !begins_with_digit(cell)
            && !is_missing(cell)
            && value.map_or(unknown == Unknown::Allowed, |value| begins_with_digit(value));
    }
    any && all
}

/// Whether the cell says that a value is missing.
fn is_missing(cell: &str) -> bool {
    matches!(NumberFormat::default().wide_number(cell.as_bytes()), Err(Flaw::Missing | Flaw::Dash))
}

/// The texts of a row of units, as messages show them.
fn shown(cells: &Row) -> Vec<String> {
    let mut texts: Vec<String> = cells.values().map(|cell| cell.trim().to_owned()).collect();
    texts.dedup();
    texts.truncate(5);
    texts
}

/// What a first column without a name is called that holds times, as pandas writes the index of a table and calls it once it has a name.
pub(super) const INDEX: &str = "index";

/// Names of columns that hold the times of a table: beside one of them a first column without a name keeps none.
const TIMES: [&str; 9] =
    [INDEX, "ds", "date", "datetime", "datum", "time", "timestamp", "zeitpunkt", "zeitstempel"];

/// Whether the first column has no name although it holds dates, and no other is called as times are: the first row below that is none
/// of the header's has one.
pub(super) fn has_unnamed_times<L: Copy + PartialEq>(
    header: &Row,
    following: &[(L, Row)],
    below: Option<&BelowHeader<L>>,
) -> bool {
    let is_row = |(at, _): &&(L, Row)| below.is_none_or(|below| !below.rows.contains(at));
    let first = following.iter().find(is_row).and_then(|(_, row)| row.get(&0));
    let is_date = |text: &String| {
        let text = text.trim();
        let has_marks = text.contains(['-', '/', ':']) || text.matches('.').count() == 2;
        has_marks && (TimeKind::Timestamp.parse(text).is_ok() || !formats(text).is_empty())
    };
    let has_times = header.values().any(|name| TIMES.contains(&name.trim().to_lowercase().as_str()));
    !header.contains_key(&0) && header.contains_key(&1) && !has_times && first.is_some_and(is_date)
}

/// What stands below the header in a text that begins with it, with the numbers of the lines, from 0, and whether its first column
/// [has times and no name](has_unnamed_times).
pub(super) fn below_header(
    head: &[u8],
    separator: u8,
    comment: Option<u8>,
) -> (Option<BelowHeader<u64>>, bool) {
    // The last line may be cut.
    let end =
        head.iter().rposition(|byte| *byte == b'\n').filter(|_| head.len() > 1 << 15).unwrap_or(head.len());
    let lines = head[..end].split(|byte| *byte == b'\n').enumerate();
    let filled = lines.filter(|(_, line)| {
        !line.trim_ascii().is_empty() && comment.is_none_or(|mark| line.first() != Some(&mark))
    });
    let is_open = |line: &[u8]| line.iter().filter(|byte| **byte == b'"').count() % 2 == 1;
    let rows: Vec<(u64, Row)> = filled
        .take(1 + FOLLOWING)
        .take_while(|(_, line)| !is_open(line))
        .map(|(number, line)| (number as u64, cells(line, separator)))
        .collect();
    let Some(((_, header), following)) = rows.split_first() else { return (None, false) };
    let below = BelowHeader::of(header, following);
    let has_unnamed_times = has_unnamed_times(header, following, below.as_ref());
    (below, has_unnamed_times)
}

/// The texts of a line.
pub(super) fn cells(line: &[u8], separator: u8) -> Row {
    let mut quoted = false;
    let fields = line.split(|&byte| {
        quoted ^= byte == b'"';
        !quoted && byte == separator
    });
    let texts = fields.map(|field| String::from_utf8_lossy(field).trim().trim_matches('"').trim().to_owned());
    texts.enumerate().filter(|(_, text)| !text.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_told_from_values() {
        let found = |text: &str| below_header(text.as_bytes(), b',', Some(b'#')).0.map(|below| below.rows);
        for (text, expected) in [
            ("ds,y\n,kWh\n2024-01-01,5\n", Some(vec![1])),
            ("ds,y,price\n\n# note\nUTC,\"kWh\",(EUR)\n2024-01-01,-5,.5\n", Some(vec![3])),
            ("store,ds,y\n-,,°C\nA,2024-01-01,5\n", Some(vec![1])),
            // Rows of values: of a shop that was closed, of months by name, and with units of their own.
            ("store,ds,y\nA,2024-01-01,closed\nA,2024-01-02,5\n", None),
            ("month,y\nJan,NA\nFeb,5\n", None),
            ("ds,y\n2024-01-01,5 kWh\n2024-01-02,5 kWh\n", None),
            ("ds,y\n,\n2024-01-02,5\n", None),
            // A line of a header in two.
            ("region,North,South\nkind,A,B\nds,y,y\n", None),
            ("ds,y\n,kWh\n", None),
            // The first values of columns stand further below.
            ("ds,y,z\n,kWh,EUR\n2024-01-01,,5\n2024-01-02,NaN,6\n2024-01-03,4,7\n", Some(vec![1])),
            ("id,2023,2024\nA,,\nB,5,6\n", None),
            ("shop,y\nA,NA\n1,5\n", None),
        ] {
            assert_eq!(found(text), expected, "{text}");
        }
    }

    #[test]
    fn names_below_groups_are_joined_with_them() {
        let found = |text: &str| {
            let below = below_header(text.as_bytes(), b',', None).0?;
            let names = below.names()?.values().cloned().collect::<Vec<_>>().join("|");
            Some((below.rows, names))
        };
        for (text, rows, names) in [
            (
                "Date,North,,South,\n,Sales,Price,Sales,Price\n2024-01-01,1,2,3,4\n",
                vec![1],
                "Date|North/Sales|North/Price|South/Sales|South/Price",
            ),
            (",y,y\n,a,b\n2024-01-01,1,2\n", vec![1], "y/a|y/b"),
            // As pandas writes columns of two levels, the second time with the names of the levels.
            (",y,y\n,a,b\ndate,,\n2024-01-01,1,2\n", vec![1, 2], "date|y/a|y/b"),
            ("what,y,y\nwhere,a,b\ndate,,\n2024-01-01,1,2\n", vec![1, 2], "date|y/a|y/b"),
            (
                "Account,2023,,2024,\n,Q1,Q2,Q1,Q2\nrent,1,2,3,4\n",
                vec![1],
                "Account|Q1 2023|Q2 2023|Q1 2024|Q2 2024",
            ),
            // The first row lacks values, and a column all that are looked at.
            (",y,y\n,a,b\n2024-01-01,,2\n2024-01-02,1,2\n", vec![1], "y/a|y/b"),
            (",y,y\n,a,b\ndate,,\n2024-01-01,,2\n2024-01-02,NaN,2\n", vec![1, 2], "date|y/a|y/b"),
            (
                "Date,North,,South,\n,Sales,Price,Sales,Price\n2024-01-01,,,3,4\n",
                vec![1],
                "Date|North/Sales|North/Price|South/Sales|South/Price",
            ),
            // Columns of two levels of which the upper one tells them apart.
            (
                "Price,Close,High\nTicker,ABC,ABC\nDate,,\n2024-01-01,1,2\n",
                vec![1, 2],
                "Date|Close/ABC|High/ABC",
            ),
            // A first account without values is no row of names.
            (
                "Account,2023,,2024,\n,Q1,Q2,Q1,Q2\nrent,,,,\nwages,1,2,3,4\n",
                vec![1],
                "Account|Q1 2023|Q2 2023|Q1 2024|Q2 2024",
            ),
        ] {
            assert_eq!(found(text), Some((rows, names.to_owned())), "{text}");
        }
        // Units, and values.
        assert_eq!(found("ds,y,price\n,kWh,EUR\n2024-01-01,1,2\n"), None);
        assert_eq!(found("ds,y,y2\n2024-01-01,1,2\n2024-01-02,1,2\n"), None);
    }

    #[test]
    fn a_first_column_without_a_name_has_times_where_it_holds_dates() {
        let has = |text: &str| below_header(text.as_bytes(), b',', None).1;
        for text in [
            ",y\n2024-01-01,1\n",
            ",y,price\n31.01.2024,1,2\n",
            "\"\",y\n2024-01-01 10:00,1\n",
            ",y,y\n,a,b\n2024-01-01,1,2\n",
            ",y,price\n,kWh,EUR\n2024-01,1,2\n",
        ] {
            assert!(has(text), "{text}");
        }
        for text in [
            ",date,y\n0,2024-01-01,1\n",
            ",y\nNorth,1\n",
            ",y\n,1\n",
            ",index\n2024-01-01,1\n",
            ",Date,y\n2024-01-02,2024-01-01,1\n",
            "ds,y\n2024-01-01,1\n",
            ",y\n1.5,1\n",
            ",,y\n2024-01-01,,1\n",
            "",
        ] {
            assert!(!has(text), "{text}");
        }
    }

    #[test]
    fn notes_name_the_joined_columns_alone() {
        let text = "Sales date,shop/no,North,\n,,Sales,Price\n2024-01-01,7,1,2\n";
        let note = below_header(text.as_bytes(), b',', None).0.unwrap().note(&"f".into());
        let names = ["North/Sales", "North/Price"].map(str::to_owned).into();
        assert_eq!(note, Some(ReadNote::NamesInGroups { file: "f".into(), line: 1, names }));
    }
}
