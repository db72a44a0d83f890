//! The matrix as a chart: of each workload, what each optimisation adds on the way from nothing to everything.

use std::fmt::Write;

use super::cells::{Cell, Link, Row};
use super::report::speed_up;

const LEFT: f64 = 270.0;
const WIDTH: f64 = 640.0;
const LINE: f64 = 18.0;
const TOP: f64 = 54.0;

/// A colour for each optimisation and for bfloat16, that people who see few colours can tell apart (Okabe and Ito 2008).
const COLOURS: [&str; 7] = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442"];

/// Bars on a logarithmic scale, a part for each cell on the way to everything. Where a cell is slower than the one before, the
/// bar ends at the faster one, and a line marks where everything ends.
pub(super) fn svg(cells: &[Cell], rows: &[Row]) -> String {
    let path: Vec<usize> = steps(cells);
    let most = rows.iter().flat_map(|row| path.iter().map(|&i| speed_up(row, i))).fold(10.0, f64::max);
    let place = |ratio: f64| LEFT + WIDTH * ratio.max(1.0).ln() / most.ln();
    let height = TOP + LINE * rows.len() as f64 + 10.0;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{height}\" font-family=\"sans-serif\" \
         font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"10\" y=\"18\" font-size=\"13\">times as fast as with no optimisation (logarithmic)</text>\n",
        LEFT + WIDTH + 70.0
    );
    let mut x = LEFT;
    for (colour, &i) in COLOURS.iter().cycle().zip(path.iter().skip(1)) {
        let name = escaped(&cells[i].name);
        _ = writeln!(text, "<rect x=\"{x}\" y=\"26\" width=\"10\" height=\"10\" fill=\"{colour}\"/>");
        _ = writeln!(text, "<text x=\"{}\" y=\"35\">{name}</text>", x + 14.0);
        x += 100.0;
    }
    for tick in
        [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0].into_iter().filter(|tick| *tick <= most)
    {
        let x = place(tick);
        _ = writeln!(
            text,
            "<line x1=\"{x:.1}\" y1=\"{TOP}\" x2=\"{x:.1}\" y2=\"{height}\" stroke=\"#ddd\"/><text x=\"{x:.1}\" y=\"{}\" \
             text-anchor=\"middle\" fill=\"#666\">{tick}</text>",
            TOP - 4.0
        );
    }
    for (number, row) in rows.iter().enumerate() {
        let y = TOP + LINE * number as f64 + 4.0;
        _ = writeln!(
            text,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>",
            LEFT - 6.0,
            y + 10.0,
            escaped(&row.workload)
        );
        let mut reached: f64 = 1.0;
        for (colour, &i) in COLOURS.iter().cycle().zip(path.iter().skip(1)) {
            let ratio = speed_up(row, i);
            if ratio > reached {
                let (from, to) = (place(reached), place(ratio));
                let width = to - from;
                _ = writeln!(
                    text,
                    "<rect x=\"{from:.1}\" y=\"{y}\" width=\"{width:.1}\" height=\"12\" fill=\"{colour}\"/>"
                );
                reached = ratio;
            }
        }
        let Some(&last) = path.last() else { continue };
        let (ratio, end) = (speed_up(row, last), place(speed_up(row, last)));
        _ = writeln!(
            text,
            "<line x1=\"{end:.1}\" y1=\"{}\" x2=\"{end:.1}\" y2=\"{}\" stroke=\"black\"/><text x=\"{:.1}\" y=\"{}\">{ratio:.1}</text>",
            y - 2.0,
            y + 14.0,
            place(reached) + 5.0,
            y + 10.0
        );
    }
    text + "</svg>\n"
}

/// The cells in which each has all that the one before had, and more: another feature, or bfloat16.
fn steps(cells: &[Cell]) -> Vec<usize> {
    let mut path: Vec<usize> = Vec::new();
    for (i, cell) in cells.iter().enumerate().filter(|(_, cell)| cell.link == Link::Plain) {
        let grows = path.last().is_none_or(|&last| {
            let before = &cells[last];
            let more = (cell.features.len(), cell.precision) != (before.features.len(), before.precision);
            more && cell.features.starts_with(&before.features)
        });
        if grows {
            path.push(i);
        }
    }
    path
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::super::{FEATURES, Figures};
    use super::*;

    fn cells() -> Vec<Cell> {
        vec![
            Cell::plain("baseline", &[]),
            Cell::plain("+ simd", &FEATURES[..1]),
            Cell::plain("everything", &FEATURES),
            Cell::plain("without simd", &FEATURES[1..]),
            Cell { precision: "bf16", ..Cell::plain("everything, bf16", &FEATURES) },
            Cell { link: Link::Whole, ..Cell::plain("everything, LTO", &FEATURES) },
        ]
    }

    #[test]
    fn the_way_to_everything_leaves_nothing_out() {
        assert_eq!(steps(&cells()), [0, 1, 2, 4]);
    }

    #[test]
    fn every_workload_has_a_bar_and_its_number() {
        let figures = |seconds: f64| Figures { seconds: vec![seconds], ..Figures::default() };
        let rows = [Row {
            workload: "step A & B".to_owned(),
            cells: [8.0, 2.0, 0.25, 1.0, 0.2, 0.2].map(figures).to_vec(),
        }];
        let svg = svg(&cells(), &rows);
        for part in ["step A &amp; B", ">40.0</text>", COLOURS[0], COLOURS[2], "everything, bf16", "</svg>"] {
            assert!(svg.contains(part), "{part} in {svg}");
        }
        assert_eq!(svg.matches("height=\"12\"").count(), 3);
    }
}
