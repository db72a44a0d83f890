//! Tables of forecasts as text, for where no library of tables is installed.

use foretell::Frame;

/// Rows at either end that are shown.
const SHOWN: usize = 5;

/// The columns of these names, each under its name: all rows, or the first and the last ones.
pub(crate) fn text(frame: &Frame, names: &[String]) -> String {
    let rows = frame.n_rows();
    let all = rows <= 2 * SHOWN;
    let shown: Vec<usize> = match all {
        true => (0..rows).collect(),
        false => (0..SHOWN).chain(rows - SHOWN..rows).collect(),
    };
    let columns: Vec<Vec<String>> = names.iter().map(|name| column(frame, name, &shown)).collect();
    let mut lines = vec![String::new(); shown.len() + 1];
    for (place, cells) in columns.iter().enumerate() {
        let width = cells.iter().map(|cell| cell.chars().count()).max().unwrap_or(0);
        for (line, cell) in lines.iter_mut().zip(cells) {
            let gap = if place == 0 { "" } else { "  " };
            let blanks = " ".repeat(width - cell.chars().count());
            line.extend([gap, &blanks, cell]);
        }
    }
    if !all {
        lines.insert(1 + SHOWN, format!("... {rows} rows"));
    }
    lines.join("\n")
}

/// The name of a column and its cells in these rows.
fn column(frame: &Frame, name: &str, rows: &[usize]) -> Vec<String> {
    let time = |time: i64| frame.freq.kind().display_in(frame.zone.as_ref(), time);
    let cell = |&row: &usize| match (name, &frame.cutoffs) {
        (name, _) if name == frame.id_name() => frame.ids[row].to_string(),
        (name, _) if name == frame.time_col => time(frame.times[row]),
        ("cutoff", Some(cutoffs)) => time(cutoffs[row]),
        _ => match (frame.wide.get(name), frame.column(name)) {
            (Some(wide), _) => wide[row].to_string(),
            (None, column) => column.map_or_else(String::new, |values| values[row].to_string()),
        },
    };
    std::iter::once(name.to_owned()).chain(rows.iter().map(cell)).collect()
}
