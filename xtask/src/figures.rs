//! Medians, spreads and tables of measured figures.

/// The value in the middle; between two the larger one. NaN of nothing.
pub(crate) fn median(values: &[f64]) -> f64 {
    quantile(values, 0.5)
}

/// The value below which a share of the others is, without interpolation.
pub(crate) fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = (share * sorted.len() as f64) as usize;
    sorted.get(at.min(sorted.len().saturating_sub(1))).copied().unwrap_or(f64::NAN)
}

/// Half the distance of the quartiles beside the median: what two runs may differ by without a reason.
pub(crate) fn spread(values: &[f64]) -> f64 {
    (quantile(values, 0.75) - quantile(values, 0.25)) / 2.0 / median(values)
}

/// The mean of ratios.
pub(crate) fn geometric_mean(values: &[f64]) -> f64 {
    (values.iter().map(|value| value.ln()).sum::<f64>() / values.len() as f64).exp()
}

/// A duration in a unit that fits.
pub(crate) fn time(seconds: f64) -> String {
    let (value, unit) = match seconds {
        s if s.is_nan() => return "-".to_owned(),
        s if s < 1e-6 => (s * 1e9, "ns"),
        s if s < 1e-3 => (s * 1e6, "us"),
        s if s < 1.0 => (s * 1e3, "ms"),
        s => (s, "s"),
    };
    format!("{} {unit}", digits(value))
}

/// Three digits that count.
pub(crate) fn digits(value: f64) -> String {
    match value.abs() {
        _ if value.is_nan() => "-".to_owned(),
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 1.0 => format!("{value:.2}"),
        0.0 => "0".to_owned(),
        _ => format!("{value:.3}"),
    }
}

/// A table in Markdown.
pub(crate) fn table<S: AsRef<str>>(head: &[S], rows: &[Vec<String>]) -> String {
    let line =
        |cells: &mut dyn Iterator<Item = &str>| format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "));
    let mut text = line(&mut head.iter().map(AsRef::as_ref));
    text += &line(&mut head.iter().map(|_| "---"));
    rows.iter().for_each(|row| text += &line(&mut row.iter().map(String::as_str)));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_and_spreads_do_not_depend_on_the_order() {
        let values = [5.0, 1.0, 3.0, 2.0, 4.0];
        assert_eq!(median(&values), 3.0);
        assert_eq!((quantile(&values, 0.25), quantile(&values, 0.75)), (2.0, 4.0));
        assert!((spread(&values) - 1.0 / 3.0).abs() < 1e-12);
        assert!(median(&[]).is_nan());
        assert_eq!(median(&[7.0]), 7.0);
    }

    #[test]
    fn ratios_have_a_geometric_mean() {
        assert!((geometric_mean(&[2.0, 8.0]) - 4.0).abs() < 1e-12);
    }

    #[test]
    fn times_are_told_in_a_unit_that_fits() {
        for (seconds, expected) in
            [(2.5e-7, "250 ns"), (3.21e-5, "32.1 us"), (0.0456, "45.6 ms"), (7.0, "7.00 s")]
        {
            assert_eq!(time(seconds), expected);
        }
    }

    #[test]
    fn a_table_has_a_head_and_rows() {
        let rows = [vec!["a".to_owned(), "1".to_owned()]];
        assert_eq!(table(&["model", "ms"], &rows), "| model | ms |\n| --- | --- |\n| a | 1 |\n");
    }
}
