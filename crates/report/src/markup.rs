//! Tables as markup, and numbers as people read them.

use std::fmt::Write as _;

use crate::escape::Escaped;

/// A table: its caption, the names of its columns, and rows whose first cell is their name.
pub(crate) fn table(caption: &str, head: &[String], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut text = format!("<div class=\"wide\"><table><caption>{}</caption><thead><tr>", Escaped(caption));
    for name in head {
        let _ = write!(text, "<th scope=\"col\">{}</th>", Escaped(name));
    }
    text += "</tr></thead><tbody>";
    for row in rows {
        text += "<tr>";
        for (place, cell) in row.iter().enumerate() {
            let cell = Escaped(cell);
            let _ = match place {
                0 => write!(text, "<th scope=\"row\">{cell}</th>"),
                _ => write!(text, "<td>{cell}</td>"),
            };
        }
        text += "</tr>";
    }
    text + "</tbody></table></div>\n"
}

/// Names and values.
pub(crate) fn pairs(pairs: &[(String, String)]) -> String {
    let mut text = "<dl>".to_owned();
    for (name, value) in pairs {
        let _ = write!(text, "<dt>{}</dt><dd>{}</dd>", Escaped(name), Escaped(value));
    }
    text + "</dl>\n"
}

/// A count with its digits in groups of three.
pub fn grouped(count: usize) -> String {
    in_groups(&count.to_string())
}

/// Digits in groups of three.
fn in_groups(digits: &str) -> String {
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number with four digits; a dash where there is none.
pub(crate) fn number(value: f64) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    let size = value.abs();
    if size != 0.0 && !(1e-4..1e9).contains(&size) {
        return format!("{value:.3e}");
    }
    let whole = if size == 0.0 { 0 } else { size.log10().floor() as i32 };
    format!("{value:.*}", (3 - whole).clamp(0, 7) as usize)
}

/// An amount as people write it: from a thousand on in whole numbers, with digits in groups of three, of which the first six are kept: a
/// forecast knows no more.
pub fn amount(value: f64) -> String {
    match value.abs() {
        size if (1e3..1e15).contains(&size) => {
            let sign = if value < 0.0 { "-" } else { "" };
            let last_kept = 10_f64.powi((size.log10().floor() as i32 - 5).max(0));
            format!("{sign}{}", in_groups(&format!("{:.0}", (size / last_kept).round() * last_kept)))
        }
        _ => number(value),
    }
}

/// A share in percent.
pub fn percent(share: f64) -> String {
    if share.is_finite() { format!("{:.1} %", 100.0 * share) } else { "–".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_grouped() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn numbers_have_four_digits() {
        let texts = [0.0, 1.0, -12.345, 123_456.7, 0.012_34, 1e12, 1e-9, f64::NAN].map(number);
        assert_eq!(texts, ["0.000", "1.000", "-12.35", "123457", "0.01234", "1.000e12", "1.000e-9", "–"]);
        assert_eq!([0.8, f64::NAN].map(percent), ["80.0 %", "–"]);
    }

    #[test]
    fn amounts_have_groups_of_digits() {
        let texts = [12_345.6, -1e6, 881.84, 0.0, 1e20, f64::NAN].map(amount);
        assert_eq!(texts, ["12,346", "-1,000,000", "881.8", "0.000", "1.000e20", "–"]);
        let texts = [999_999.6, 1_234_567.0, -1_234_567_890_123.0, 9e14].map(amount);
        assert_eq!(texts, ["1,000,000", "1,234,570", "-1,234,570,000,000", "900,000,000,000,000"]);
    }

    #[test]
    fn cells_are_text() {
        let text = table("<b>", &["&".to_owned()], [vec!["<i>".to_owned(), "\"".to_owned()]]);
        assert!(text.contains("&lt;b&gt;") && text.contains("&lt;i&gt;") && !text.contains("<i>"), "{text}");
        assert!(pairs(&[("<u>".to_owned(), "<s>".to_owned())]).contains("&lt;s&gt;"));
    }
}
