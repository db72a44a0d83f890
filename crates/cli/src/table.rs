//! Tables for people, and numbers as people read them.

use std::io::{self, Write};

use foretell::report::grouped;

use crate::printable::printable;

/// Columns of text (flush left) and numbers (flush right), separated by two blanks.
#[derive(Debug)]
pub(crate) struct AlignedTable {
    columns: Vec<(String, Column)>,
}

#[derive(Debug)]
enum Column {
    Text(Vec<String>),
    Numbers(Vec<String>),
}

impl AlignedTable {
    pub(crate) fn new() -> Self {
        Self { columns: Vec::new() }
    }

    pub(crate) fn text<T: Into<String>>(
        mut self,
        name: impl Into<String>,
        cells: impl IntoIterator<Item = T>,
    ) -> Self {
        self.columns.push((name.into(), Column::Text(cells.into_iter().map(Into::into).collect())));
        self
    }

    /// Numbers, all with as many decimals as give the smallest of them 4 digits (but no more than are of
    /// use beside the largest); what is no number is a dash.
    pub(crate) fn numbers(mut self, name: impl Into<String>, cells: impl IntoIterator<Item = f64>) -> Self {
        let cells: Vec<f64> = cells.into_iter().collect();
        let sizes = || cells.iter().filter(|x| x.is_finite() && **x != 0.0).map(|x| x.abs());
        let largest = sizes().fold(0.0, f64::max);
        let smallest = sizes().fold(largest, f64::min).max(largest / 1e3);
        let cell = |x: &f64| match decimals(smallest) {
            _ if !x.is_finite() => "-".to_owned(),
            Some(decimals) => format!("{x:.decimals$}"),
            None => format!("{x:.3e}"),
        };
        self.columns.push((name.into(), Column::Numbers(cells.iter().map(cell).collect())));
        self
    }

    /// Numbers of unlike sizes, as values of several series are: each with 4 digits or more; what is no number is a dash.
    pub(crate) fn unlike(mut self, name: impl Into<String>, cells: impl IntoIterator<Item = f64>) -> Self {
        let cell = |x: f64| if x.is_finite() { short(x) } else { "-".to_owned() };
        self.columns.push((name.into(), Column::Numbers(cells.into_iter().map(cell).collect())));
        self
    }

    /// Numbers with their sign and two decimals; what is no number is a dash.
    pub(crate) fn changes(mut self, name: impl Into<String>, cells: impl IntoIterator<Item = f64>) -> Self {
        let cell = |x: f64| if x.is_finite() { format!("{x:+.2}") } else { "-".to_owned() };
        self.columns.push((name.into(), Column::Numbers(cells.into_iter().map(cell).collect())));
        self
    }

    /// Numbers with one decimal.
    pub(crate) fn tenths(mut self, name: impl Into<String>, cells: impl IntoIterator<Item = f64>) -> Self {
        let cells = cells.into_iter().map(|x| format!("{x:.1}"));
        self.columns.push((name.into(), Column::Numbers(cells.collect())));
        self
    }

    pub(crate) fn counts(mut self, name: impl Into<String>, cells: impl IntoIterator<Item = usize>) -> Self {
        self.columns.push((name.into(), Column::Numbers(cells.into_iter().map(grouped).collect())));
        self
    }

    /// The table without its header.
    pub(crate) fn render_bare(&self) -> String {
        let places: Vec<usize> = (0..self.columns.len()).collect();
        self.of_columns(&places).split_inclusive('\n').skip(1).collect()
    }

    /// The table in lines, header first. If it is wider than the terminal, the columns that do not fit follow below, with the first
    /// column repeated.
    pub(crate) fn render(&self) -> String {
        let places: Vec<usize> = (0..self.columns.len()).collect();
        let width = |(name, column): &(String, Column)| {
            let cells = std::iter::once(name).chain(column.cells());
            cells.map(|cell| printable(cell).chars().count()).max().unwrap_or(0)
        };
        match terminal_columns() {
            Some(room) => {
                let widths: Vec<usize> = self.columns.iter().map(width).collect();
                let blocks = blocks(&widths, room);
                blocks.iter().map(|places| self.of_columns(places)).collect::<Vec<_>>().join("\n")
            }
            None => self.of_columns(&places),
        }
    }

    fn of_columns(&self, places: &[usize]) -> String {
        let rows = self.columns.first().map_or(0, |(_, column)| column.cells().len());
        let mut lines = vec![String::new(); rows + 1];
        for (place, (name, column)) in places.iter().map(|place| &self.columns[*place]).enumerate() {
            let cells =
                || std::iter::once(name).chain(column.cells()).map(|cell: &String| printable(cell.as_str()));
            let width = cells().map(|cell| cell.chars().count()).max().unwrap_or(0).min(WIDEST);
            let flush_left = matches!(column, Column::Text(_));
            let is_last = place + 1 == places.len();
            for (line, cell) in lines.iter_mut().zip(cells()) {
                // A format's width ends at 65,535, where the formatting panics.
                let blanks = " ".repeat(width.saturating_sub(cell.chars().count()));
                let (before, after) = if flush_left { ("", &blanks[..]) } else { (&blanks[..], "") };
                let gap = if place == 0 { "" } else { "  " };
                line.extend([gap, before, &*cell, if is_last { "" } else { after }]);
            }
        }
        lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
    }
}

/// The columns of each block of lines of at most `room` characters: the first, and as many as have room beside it.
fn blocks(widths: &[usize], room: usize) -> Vec<Vec<usize>> {
    let mut blocks: Vec<Vec<usize>> = Vec::new();
    let mut taken = 0;
    for (place, width) in widths.iter().enumerate() {
        let wider = taken + 2 + width;
        match blocks.last_mut() {
            Some(block) if wider <= room || block.len() < 2 => {
                block.push(place);
                taken = wider;
            }
            Some(_) => {
                blocks.push(vec![0, place]);
                taken = widths[0] + 2 + width;
            }
            None => {
                blocks.push(vec![place]);
                taken = *width;
            }
        }
    }
    blocks
}

/// The columns of the terminal that standard output is, if it is one.
fn terminal_columns() -> Option<usize> {
    let terminal = console::Term::stdout();
    let (_, columns) = terminal.size_checked().filter(|_| terminal.is_term())?;
    Some(usize::from(columns))
}

/// Cells that are wider stand out of their column, so that the others need no blanks up to their ends.
const WIDEST: usize = 200;

impl Column {
    fn cells(&self) -> &[String] {
        let (Self::Text(cells) | Self::Numbers(cells)) = self;
        cells
    }
}

/// Writes rows of texts as [`AlignedTable`] does, without holding them: `rows` gives them twice, for their widths first.
pub(crate) fn write_aligned<R: Iterator<Item = Vec<String>>>(
    out: &mut dyn Write,
    header: &[String],
    rows: impl Fn() -> R,
) -> io::Result<()> {
    let mut widths = vec![0; header.len()];
    for cells in std::iter::once(header.to_vec()).chain(rows()) {
        for (width, cell) in widths.iter_mut().zip(&cells) {
            *width = printable(cell).chars().count().min(WIDEST).max(*width);
        }
    }
    let blocks = match terminal_columns() {
        Some(room) => blocks(&widths, room),
        None => vec![(0..header.len()).collect()],
    };
    for (number, block) in blocks.iter().enumerate() {
        if number > 0 {
            writeln!(out)?;
        }
        for cells in std::iter::once(header.to_vec()).chain(rows()) {
            let mut line = String::new();
            for (place, (width, cell)) in
                block.iter().map(|&place| (widths[place], &cells[place])).enumerate()
            {
                let (gap, cell) = (if place == 0 { "" } else { "  " }, printable(cell));
                let blanks = " ".repeat(width.saturating_sub(cell.chars().count()));
                line.extend([gap, &*cell, &*blanks]);
            }
            writeln!(out, "{}", line.trim_end())?;
        }
    }
    Ok(())
}

/// Decimals that give `x` 4 digits; nothing where it is too large or too small to be written plainly.
fn decimals(x: f64) -> Option<usize> {
    if x == 0.0 {
        return Some(0);
    }
    let exponent = x.abs().log10().floor();
    (-5.0..8.0).contains(&exponent).then(|| (3.0 - exponent).max(0.0) as usize)
}

/// A number with 4 digits or more.
pub(crate) fn short(x: f64) -> String {
    match decimals(x) {
        Some(decimals) => format!("{x:.decimals$}"),
        None => format!("{x:.3e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let table = AlignedTable::new()
            .text("model", ["NHITS", "SeasonalNaive"])
            .numbers("MAE", [12.345_67, 9.0])
            .numbers("MASE", [f64::NAN, 0.5])
            .numbers("misses", [0.0, 0.0])
            .counts("parameters", [12, 34_567]);
        let expected = "\
model             MAE    MASE  misses  parameters
NHITS          12.346       -       0          12
SeasonalNaive   9.000  0.5000       0      34,567
";
        assert_eq!(table.render(), expected);
    }

    #[test]
    fn a_table_that_is_too_wide_goes_on_below() {
        let table = AlignedTable::new()
            .text("model", ["NHITS", "MLP"])
            .counts("first", [1, 2])
            .counts("second", [3, 4])
            .counts("third", [5, 6]);
        let widths = [5, 5, 6, 5];
        assert_eq!(blocks(&widths, 80), [vec![0, 1, 2, 3]]);
        assert_eq!(blocks(&widths, 20), [vec![0, 1, 2], vec![0, 3]]);
        assert_eq!(blocks(&widths, 3), [vec![0, 1], vec![0, 2], vec![0, 3]]);
        assert_eq!(table.of_columns(&[0, 3]), "model  third\nNHITS      5\nMLP        6\n");
    }

    #[test]
    fn cells_of_any_width_are_shown_whole() {
        let wide = "x".repeat(100_000);
        let table = AlignedTable::new().text("name", [wide.as_str(), "b"]).text("value", ["1", "2"]).render();
        let lines: Vec<&str> = table.lines().collect();
        assert_eq!(lines[1], format!("{wide}  1"));
        assert_eq!(lines[2], format!("b{}  2", " ".repeat(WIDEST - 1)));
    }

    #[test]
    fn names_do_not_speak_to_the_terminal() {
        let names = ["\u{1b}]0;pwned\u{7}", "b"];
        let table = AlignedTable::new().text("\u{1b}[31mid", names).numbers("x", [1.0, 2.0]).render();
        let header = ["\u{1b}[31mid", "x"].map(str::to_owned);
        let mut streamed = Vec::new();
        let rows = || names.iter().map(|id| vec![(*id).to_owned(), "1.000".to_owned()]);
        write_aligned(&mut streamed, &header, rows).unwrap();
        for table in [table, String::from_utf8(streamed).unwrap()] {
            assert!(!table.replace('\n', "").contains(char::is_control), "{table:?}");
            let lines: Vec<&str> = table.lines().collect();
            assert!(
                lines[0].starts_with("\\u{1b}[31mid") && lines[1].starts_with("\\u{1b}]0;pwned\\u{7}  1.000")
            );
            assert_eq!(lines[2].split_whitespace().next(), Some("b"));
            assert_eq!(lines[2].find('.'), lines[1].find('.'), "{table}");
        }
    }

    #[test]
    fn small_numbers_keep_their_digits_beside_large_ones() {
        let column = |cells| AlignedTable::new().numbers("x", cells).render();
        assert_eq!(column([12.5, 0.125]), "      x\n12.5000\n 0.1250\n");
        assert_eq!(column([12.5, 1e-9]), "       x\n12.50000\n 0.00000\n");
        let unlike = AlignedTable::new().unlike("x", [12.5, 1e-9, 0.0, f64::NAN]).render();
        assert_eq!(unlike, "       x\n   12.50\n1.000e-9\n       0\n       -\n");
    }

    #[test]
    fn numbers_of_all_sizes_are_short() {
        let texts = [0.0, 0.000_123_46, 1.0, 123.456, 12_345_678.9, 1e12, 1e-9, -2.5].map(short);
        assert_eq!(texts, ["0", "0.0001235", "1.000", "123.5", "12345679", "1.000e12", "1.000e-9", "-2.500"]);
        assert_eq!(short(f64::NAN), "NaN");
    }
}
