//! A row below the header that has no values: the units of the columns.

use std::collections::BTreeMap;

/// Whether the cells of the first row are no values, each above a number or a time in the second one. Cells are known by their columns; those
/// without a text are not among them.
pub(super) fn is_units_row(first: &BTreeMap<usize, String>, second: &BTreeMap<usize, String>) -> bool {
    let begins_with_digit = |cell: &String| {
        cell.trim_start_matches(|c: char| !c.is_alphanumeric()).starts_with(|c: char| c.is_ascii_digit())
    };
    let mut units = first.iter().filter(|(_, cell)| cell.trim() != "-").peekable();
    units.peek().is_some()
        && units.all(|(column, cell)| {
            !begins_with_digit(cell) && second.get(column).is_some_and(begins_with_digit)
        })
}

/// The texts of such a row, as messages show them.
pub(super) fn shown(cells: &BTreeMap<usize, String>) -> Vec<String> {
    let mut texts: Vec<String> = cells.values().map(|cell| cell.trim().to_owned()).collect();
    texts.dedup();
    texts.truncate(5);
    texts
}

/// The number of the line with the units in a text that begins with its header, from 0, and its texts.
pub(super) fn units_line(head: &[u8], separator: u8, comment: Option<u8>) -> Option<(usize, Vec<String>)> {
    // The last line may be cut.
    let end =
        head.iter().rposition(|byte| *byte == b'\n').filter(|_| head.len() > 1 << 15).unwrap_or(head.len());
    let lines = head[..end].split(|byte| *byte == b'\n').enumerate();
    let mut filled = lines.filter(|(_, line)| {
        !line.trim_ascii().is_empty() && comment.is_none_or(|mark| line.first() != Some(&mark))
    });
    let [(_, header), (number, first), (_, second)] = [filled.next()?, filled.next()?, filled.next()?];
    if [header, first, second].iter().any(|line| line.iter().filter(|byte| **byte == b'"').count() % 2 == 1) {
        return None;
    }
    let first = cells(first, separator);
    is_units_row(&first, &cells(second, separator)).then(|| (number, shown(&first)))
}

fn cells(line: &[u8], separator: u8) -> BTreeMap<usize, String> {
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
        let found = |text: &str| units_line(text.as_bytes(), b',', Some(b'#')).map(|(line, _)| line);
        for (text, expected) in [
            ("ds,y\n,kWh\n2024-01-01,5\n", Some(1)),
            ("ds,y,price\n\n# note\nUTC,\"kWh\",(EUR)\n2024-01-01,-5,.5\n", Some(3)),
            ("store,ds,y\n-,,°C\nA,2024-01-01,5\n", Some(1)),
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
}
