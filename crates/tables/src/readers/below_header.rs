//! Rows below the header that have no values: the units of the columns, or their names where the header has those of groups.

use std::collections::BTreeMap;
use std::collections::HashSet;
use std::sync::Arc;

use super::read_note::ReadNote;

/// The texts of a row by their columns; cells without a text are not among them.
pub(super) type Row = BTreeMap<usize, String>;

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
    /// Names within the groups of the header: what the columns are called by both.
    Names(Row),
}

impl<L: Copy> BelowHeader<L> {
    /// What stands below a header of these cells, by the rows that follow it, each with its place.
    pub(super) fn of(header: &Row, following: &[(L, Row)]) -> Option<Self> {
        let [(at, first), (next, second), rest @ ..] = following else { return None };
        if is_units_row(first, second) {
            let what = match joined(header, first, &Row::new()) {
                Some(names) => Below::Names(names),
                None => Below::Units(shown(first)),
            };
            return Some(Self { rows: vec![*at], what });
        }
        // pandas writes what the columns before the first group are called into a row of its own.
        let leads = second.keys().copied().eq(0..second.len()) && 2 * second.len() <= first.len();
        let (_, third) = rest.first()?;
        let is_index =
            leads && !second.values().any(|cell| begins_with_digit(cell)) && is_units_row(first, third);
        let names = joined(header, first, second).filter(|_| is_index)?;
        Some(Self { rows: vec![*at, *next], what: Below::Names(names) })
    }

    /// The names of the columns, in place of those of the header.
    pub(super) fn names(&self) -> Option<&Row> {
        match &self.what {
            Below::Names(names) => Some(names),
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
                let joined = names.values().filter(|name| name.contains([BETWEEN, ' ']));
                ReadNote::NamesInGroups { file: file.clone(), line, names: joined.take(5).cloned().collect() }
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

/// The names of columns where the header has groups: it repeats a name, or has none over some of the names below, as a merged cell has.
fn joined(header: &Row, names: &Row, index: &Row) -> Option<Row> {
    let mut group = None;
    let (mut all, mut is_grouped, mut seen) = (header.clone(), false, HashSet::new());
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
        all.insert(*column, name);
    }
    all.extend(index.iter().map(|(column, name)| (*column, name.clone())));
    is_grouped.then_some(all)
}

fn is_year(text: &str) -> bool {
    text.len() == 4 && text.parse().is_ok_and(|year| (1600..2200).contains(&year))
}

fn begins_with_digit(cell: &str) -> bool {
    cell.trim_start_matches(|c: char| !c.is_alphanumeric()).starts_with(|c: char| c.is_ascii_digit())
}

/// Whether the cells of the first row are no values, each above a number or a time in the second one.
fn is_units_row(first: &Row, second: &Row) -> bool {
    let mut units = first.iter().filter(|(_, cell)| cell.trim() != "-").peekable();
    units.peek().is_some()
        && units.all(|(column, cell)| {
            !begins_with_digit(cell) && second.get(column).is_some_and(|cell| begins_with_digit(cell))
        })
}

/// The texts of a row of units, as messages show them.
fn shown(cells: &Row) -> Vec<String> {
    let mut texts: Vec<String> = cells.values().map(|cell| cell.trim().to_owned()).collect();
    texts.dedup();
    texts.truncate(5);
    texts
}

/// What stands below the header in a text that begins with it, with the numbers of the lines, from 0.
pub(super) fn below_header(head: &[u8], separator: u8, comment: Option<u8>) -> Option<BelowHeader<u64>> {
    // The last line may be cut.
    let end =
        head.iter().rposition(|byte| *byte == b'\n').filter(|_| head.len() > 1 << 15).unwrap_or(head.len());
    let lines = head[..end].split(|byte| *byte == b'\n').enumerate();
    let filled = lines.filter(|(_, line)| {
        !line.trim_ascii().is_empty() && comment.is_none_or(|mark| line.first() != Some(&mark))
    });
    let first: Vec<(u64, &[u8])> = filled.take(4).map(|(number, line)| (number as u64, line)).collect();
    let open = |line: &[u8]| line.iter().filter(|byte| **byte == b'"').count() % 2 == 1;
    if first.iter().take(3).any(|(_, line)| open(line)) {
        return None;
    }
    let rows: Vec<(u64, Row)> =
        first.iter().map(|(number, line)| (*number, cells(line, separator))).collect();
    let ((_, header), following) = rows.split_first()?;
    BelowHeader::of(header, following)
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
        let found = |text: &str| below_header(text.as_bytes(), b',', Some(b'#')).map(|below| below.rows);
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
        ] {
            assert_eq!(found(text), expected, "{text}");
        }
    }

    #[test]
    fn names_below_groups_are_joined_with_them() {
        let found = |text: &str| {
            let below = below_header(text.as_bytes(), b',', None)?;
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
        ] {
            assert_eq!(found(text), Some((rows, names.to_owned())), "{text}");
        }
        // Units, and values.
        assert_eq!(found("ds,y,price\n,kWh,EUR\n2024-01-01,1,2\n"), None);
        assert_eq!(found("ds,y,y2\n2024-01-01,1,2\n2024-01-02,1,2\n"), None);
    }
}
