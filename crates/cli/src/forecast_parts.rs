//! The columns of a table of `foretell decompose`: of which parts the forecasts of each model are made.

/// The parts of a model.
#[derive(Debug, PartialEq)]
pub(crate) struct ForecastParts<'a> {
    /// The model's name.
    pub(crate) model: &'a str,
    /// The name of each part, and its column.
    pub(crate) parts: Vec<(&'a str, &'a str)>,
}

/// The models whose forecasts a table of these columns takes apart, if it is such a table: all columns beside the `target` are called
/// `MODEL:part`. Contributions of inputs, which have an `@` in their names, are no parts of that kind.
pub(crate) fn forecast_parts<'a>(
    names: impl Iterator<Item = &'a str>,
    target: &str,
) -> Option<Vec<ForecastParts<'a>>> {
    let mut models: Vec<ForecastParts<'a>> = Vec::new();
    for name in names.filter(|name| *name != target) {
        let (model, part) = name.split_once(':').filter(|(_, part)| !part.contains('@'))?;
        match models.iter_mut().find(|known| known.model == model) {
            Some(known) => known.parts.push((part, name)),
            None => models.push(ForecastParts { model, parts: vec![(part, name)] }),
        }
    }
    (!models.is_empty()).then_some(models)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_told_from_forecasts_and_contributions() {
        let parts = |names: &[&'static str]| forecast_parts(names.iter().copied(), "y");
        let found = parts(&["y", "DLinear:trend", "NHITS:level", "DLinear:seasonality"]).unwrap();
        let dlinear = [("trend", "DLinear:trend"), ("seasonality", "DLinear:seasonality")];
        assert_eq!(found[0], ForecastParts { model: "DLinear", parts: dlinear.to_vec() });
        assert_eq!((found.len(), found[1].model), (2, "NHITS"));
        assert_eq!(parts(&["DLinear:trend", "DLinear"]), None);
        assert_eq!(parts(&["NHITS:baseline", "NHITS:y@0"]), None);
        assert_eq!(parts(&["y"]), None);
    }
}
