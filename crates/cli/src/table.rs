//! Tables for people, and numbers as people read them.

use std::io::{self, Write};

use foretell_report::grouped;

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
        self.render().split_inclusive('\n').skip(1).collect()
    }

    /// The table, header first, each line ending with a line feed.
    pub(crate) fn render(&self) -> String {
        let rows = self.columns.first().map_or(0, |(_, column)| column.cells().len());
        let mut lines = vec![String::new(); rows + 1];
        for (place, (name, column)) in self.columns.iter().enumerate() {
            let cells =
                || std::iter::once(name).chain(column.cells()).map(|cell: &String| printable(cell.as_str()));
            let width = cells().map(|cell| cell.chars().count()).max().unwrap_or(0).min(WIDEST);
            let flush_left = matches!(column, Column::Text(_));
            let is_last = place + 1 == self.columns.len();
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
    for cells in std::iter::once(header.to_vec()).chain(rows()) {
        let mut line = String::new();
        for (place, (width, cell)) in widths.iter().zip(&cells).enumerate() {
            let (gap, cell) = (if place == 0 { "" } else { "  " }, printable(cell));
            let blanks = " ".repeat(width.saturating_sub(cell.chars().count()));
            line.extend([gap, &*cell, &*blanks]);
        }
        writeln!(out, "{}", line.trim_end())?;
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
