//! Where the header of a text table is, and what separates its fields.
//!
//! Spreadsheets put titles above their tables. A line is taken for one only if it has fewer cells than the header, and the
//! header as many fields as most lines of the table and no numbers but times.

use super::below_header::{are_groups, cells};

/// Lines that are looked at.
const LINES: usize = 64;

const SEPARATORS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// The header in the beginning of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) separator: u8,
    /// Lines before it that are titles, blank ones among them,
    pub(super) lines: usize,
    /// and their bytes.
    pub(super) bytes: usize,
}

/// The cells of a line.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub(super) fields: usize,
    /// Fields that are not blank.
    pub(super) filled: usize,
    /// Whether one of them is a number that is no time.
    pub(super) numbers: bool,
    /// Whether the first one is a number or time.
    pub(super) begins_with_digit: bool,
}

impl Shape {
    fn of(line: &[u8], separator: u8) -> Self {
        let mut shape = Self { fields: 0, filled: 0, numbers: false, begins_with_digit: false };
        let mut quoted = false;
        for field in line.split(|&byte| {
            quoted ^= byte == b'"';
            !quoted && byte == separator
        }) {
            let field = unquoted(field.trim_ascii());
            shape.numbers |= is_number(field) && !is_time(field);
            shape.begins_with_digit |= shape.fields == 0 && is_number(field);
            shape.fields += 1;
            shape.filled += usize::from(!field.is_empty());
        }
        shape
    }
}

/// A cell without the quotes around it.
fn unquoted(field: &[u8]) -> &[u8] {
    field.strip_prefix(b"\"").and_then(|field| field.strip_suffix(b"\"")).unwrap_or(field)
}

fn is_number(field: &[u8]) -> bool {
    let digits = field.strip_prefix(b"-").or(field.strip_prefix(b"+")).unwrap_or(field);
    digits.first().is_some_and(u8::is_ascii_digit)
}

/// Whether a number may be a time that heads a column: a year, or one with dashes, slashes, colons or letters.
fn is_time(field: &[u8]) -> bool {
    let year = field.len() == 4
        && str::from_utf8(field)
            .is_ok_and(|text| text.parse().is_ok_and(|year| (1600..2200).contains(&year)));
    year || field[1..].iter().any(|byte| byte.is_ascii_alphabetic() || b"-/:".contains(byte))
}

/// Finds the header in the first lines of a text, of which the last may be cut.
pub(super) fn find_header(head: &[u8], comment: Option<u8>) -> Header {
    let mut lines = Vec::new();
    let (mut bytes, mut number) = (0, 0);
    for line in head.split_inclusive(|&byte| byte == b'\n').take(4 * LINES) {
        let skipped = line.trim_ascii().is_empty() || comment.is_some_and(|mark| line[0] == mark);
        if !skipped && lines.len() < LINES {
            lines.push((line, number, bytes));
        }
        bytes += line.len();
        number += 1;
    }
    let Some(&(first, ..)) = lines.first() else { return Header { separator: b',', lines: 0, bytes: 0 } };
    let separator = most_frequent(first);
    let plain = Header { separator, lines: 0, bytes: 0 };
    let shape = Shape::of(first, separator);
    let alike = lines.iter().all(|(line, ..)| Shape::of(line, separator).fields == shape.fields);
    let alone =
        shape.fields == 1 && lines.iter().any(|(line, ..)| Shape::of(line, most_frequent(line)).fields > 1);
    if let Some(header) = below_pairs(&lines, separator).filter(|_| alike && shape.fields == 2) {
        return Header { separator, lines: lines[header].1, bytes: lines[header].2 };
    }
    if alike && !alone && (shape.filled * 2 > shape.fields || shape.fields == 1) {
        return plain;
    }
    let candidates = SEPARATORS.iter().filter_map(|&separator| {
        let shapes: Vec<Shape> = lines.iter().map(|(line, ..)| Shape::of(line, separator)).collect();
        let (header, like_it) = header_of(&shapes)?;
        Some((like_it, shapes[header].fields, separator, header))
    });
    match candidates.max_by_key(|&(like_it, fields, ..)| (like_it, fields)) {
        Some((_, _, separator, header)) if header > 0 => {
            let row = |number: usize| cells(lines[number].0, separator);
            let is_next = lines[header - 1].1 + 1 == lines[header].1;
            let header = header - usize::from(is_next && are_groups(&row(header - 1), &row(header)));
            Header { separator, lines: lines[header].1, bytes: lines[header].2 }
        }
        _ => plain,
    }
}

/// Names of the column of times in tables of two columns.
const TIMES: [&str; 16] = [
    "ds", "date", "datetime", "datum", "time", "timestamp", "day", "tag", "week", "woche", "month", "monat",
    "quarter", "year", "jahr", "observation_date",
];

/// The line of a header of two cells, below lines that say in two cells what the table is, as `Title,Production`: its first cell is called as
/// times are.
fn below_pairs(lines: &[(&[u8], usize, usize)], separator: u8) -> Option<usize> {
    let first_cell = |line: &[u8]| cells(line, separator).remove(&0);
    let is_header = |line: &[u8]| {
        let row = cells(line, separator);
        row.len() == 2 && row.get(&0).is_some_and(|name| TIMES.contains(&name.to_lowercase().as_str()))
    };
    let header = lines.iter().position(|(line, ..)| is_header(line))?;
    let is_title = |line: &[u8]| first_cell(line).is_some_and(|cell| cell.starts_with(char::is_alphabetic));
    let (next, ..) = lines.get(header + 1)?;
    let begins_rows = first_cell(next).is_some_and(|cell| cell.starts_with(|c: char| c.is_ascii_digit()));
    (header > 0 && begins_rows && lines[..header].iter().all(|(line, ..)| is_title(line))).then_some(header)
}

/// The first line with as many fields as most lines have that may be a header, and the lines from there on that are as wide.
pub(super) fn header_of(shapes: &[Shape]) -> Option<(usize, usize)> {
    let wide = |width: usize| shapes.iter().filter(move |shape| shape.fields == width);
    let width = shapes.iter().map(|shape| shape.fields).max_by_key(|&width| (wide(width).count(), width))?;
    let most = wide(width).map(|shape| shape.filled).max()?;
    let may_be = |shape: &Shape| {
        width > 1
            && shape.fields == width
            && 2 * shape.filled > most
            && !shape.numbers
            && !shape.begins_with_digit
    };
    let header = shapes.iter().position(may_be)?;
    let titles = shapes[..header].iter().all(|shape| shape.filled < shapes[header].filled);
    titles.then(|| (header, shapes[header..].iter().filter(|shape| shape.fields == width).count()))
}

/// The separator of the first line that is neither blank nor a comment.
pub(super) fn separator_after(head: &[u8], comment: Option<u8>) -> u8 {
    let mut lines = head.split(|&byte| byte == b'\n');
    let header = lines.find(|line| !line.trim_ascii().is_empty() && line.first().copied() != comment);
    most_frequent(header.unwrap_or_default())
}

/// The separator that the line has most of, outside quotes; a comma if it has none.
fn most_frequent(line: &[u8]) -> u8 {
    let fields = SEPARATORS.map(|separator| Shape::of(line, separator).fields);
    let most = fields.into_iter().max().unwrap_or(0);
    SEPARATORS
        .into_iter()
        .zip(fields)
        .find(|(_, count)| *count == most)
        .map_or(b',', |(separator, _)| separator)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> (char, usize) {
        let header = find_header(text.as_bytes(), Some(b'#'));
        let before = &text[..header.bytes];
        assert_eq!(before.matches('\n').count(), header.lines, "{text:?}");
        (header.separator.into(), header.lines)
    }

    #[test]
    fn titles_are_told_from_headers() {
        for (text, expected) in [
            ("Monthly report;;\nUnits;;\nMonth;North;South\n2018-01;10;5\n2018-02;11;6\n", (';', 2)),
            ("Monthly report\n\nMonth;North;South\n2018-01;1,5;5,5\n2018-02;1,5;6,5\n", (';', 2)),
            ("Sales, all shops, in EUR\nMonth;Sales\n2018-01;1\n2018-02;2\n", (';', 1)),
            (
                "Source,World Bank,\n\nUpdated,2024-01-05,\n\nds,a,b,c,d\n2020,1,2,3,4\n2021,1,2,3,4\n",
                (',', 4),
            ),
            (
                "\"Data Source\",\"World Bank\",\n\n\"Country\",\"Code\",\"1990\",\"1991\",\n\"Aruba\",\"ABW\",\"1\",\"2\",\n",
                (',', 2),
            ),
            ("Report;\nds;y\n1;2\n", (';', 1)),
            ("Title,Production\nUnit,MWh\nDate,Value\n2024-01,5\n2024-02,6\n", (',', 2)),
            ("Stock;;;\nSKU;2018;2019;2020\nA;1;2;3\nB;4;5;6\n", (';', 1)),
            ("# note\nT,,\nds,a,b\n1,2,3\n", (',', 2)),
        ] {
            assert_eq!(found(text), expected, "{text}");
        }
    }

    #[test]
    fn other_tables_begin_with_their_first_line() {
        for (text, separator) in [
            ("unique_id,ds,y\na,1,2\n", ','),
            ("id;y\nshop;1,5\nshop;2,5\n", ';'),
            (",sales\n2020-01,5\n2020-02,6\n", ','),
            (",ds,,y\n0,1,,2\n", ','),
            ("a,b\n1,2\n3\n", ','),
            ("y,x\na,2,3\nb,4,5\n", ','),
            ("unique_id,ds,y\na,2024-01-01\nb,2024-01-02\n", ','),
            ("y\n1\n2\n", ','),
            // Columns of two levels, of which the upper one is no title.
            ("Price,Close\nTicker,ABC\nDate,\n2024-01-01,1\n", ','),
            ("\"a;b;c\",d\n1,2\n", ','),
            ("a\tb\n1\t2", '\t'),
            ("", ','),
        ] {
            assert_eq!(found(text), (separator, 0), "{text}");
        }
    }
}
