//! The columns of forecasts of any tool, by their names.

/// The part of a forecast that a column holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Part {
    /// Its single number.
    Point,
    /// The quantile of this probability.
    Quantile(f64),
}

/// A column's name as the model's, and what of its forecast it holds.
pub(crate) fn part_of(column: &str) -> (&str, Part) {
    if let Some(model) = column.strip_suffix("-median") {
        return (model, Part::Quantile(0.5));
    }
    for (side, sign) in [("-lo-", -1.0), ("-hi-", 1.0)] {
        if let Some((model, level)) = column.rsplit_once(side)
            && let Ok(level) = level.parse::<f64>()
            && (0.0..100.0).contains(&level)
        {
            return (model, Part::Quantile(0.5 + sign * level / 200.0));
        }
    }
    // Quantiles as neuralforecast names those that were asked for, and those of conformal prediction.
    match column.rsplit_once("_ql").or_else(|| column.rsplit_once("-ql")) {
        Some((model, q)) if q.parse::<f64>().is_ok_and(|q| 0.0 < q && q < 1.0) => {
            (model, Part::Quantile(q.parse().unwrap_or(0.5)))
        }
        _ => (column, Part::Point),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_known_by_their_ends() {
        for (column, model, q) in [
            ("NHITS-lo-90", "NHITS", Some(0.05)),
            ("NHITS-hi-99.5", "NHITS", Some(0.9975)),
            ("a-lo-b", "a-lo-b", None),
            ("LSTM_ql0.25", "LSTM", Some(0.25)),
            ("MLP-ql0.9", "MLP", Some(0.9)),
            ("a-ql1.5", "a-ql1.5", None),
            ("T-median", "T", Some(0.5)),
        ] {
            let (base, part) = part_of(column);
            let quantile = match part {
                Part::Point => None,
                Part::Quantile(q) => Some(q),
            };
            assert_eq!(
                (base, quantile.map(|q| (q * 1e6).round())),
                (model, q.map(|q: f64| (q * 1e6).round())),
                "{column}"
            );
        }
    }
}
