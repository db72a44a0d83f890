//! The columns of a forecast.

use foretell_tables::{ColumnPart, ForecastColumn};

/// A column of an estimator's forecast.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// The part of the column's name after the estimator's name.
    pub suffix: String,
    /// The quantile that the column is of, if it is of one.
    pub quantile: Option<f32>,
}

impl Output {
    /// The only column of a forecast of a single number, which bears the estimator's name.
    pub fn point() -> Self {
        Self { suffix: String::new(), quantile: None }
    }

    /// The columns of a model that forecasts a single number and any quantiles: the number, then these quantiles.
    pub fn point_and_quantiles(quantiles: &[f64]) -> Vec<Self> {
        let quantile = |&q: &f64| Self::of(ColumnPart::Quantile(q));
        std::iter::once(Self::point()).chain(quantiles.iter().map(quantile)).collect()
    }

    /// That part of a forecast, in a column named as neuralforecast names it.
    pub fn of(part: ColumnPart) -> Self {
        let suffix = ForecastColumn::new("", part).suffix().to_owned();
        Self { suffix, quantile: part.probability().map(|q| q as f32) }
    }

    /// A quantile of conformal prediction.
    pub fn calibrated_quantile(q: f64) -> Self {
        let suffix = ForecastColumn::calibrated_quantile("", q).suffix().to_owned();
        Self { suffix, quantile: Some(q as f32) }
    }

    /// The part of the forecast.
    pub fn part(&self) -> ColumnPart {
        let unnamed = || self.quantile.map_or(ColumnPart::Parameter, |q| ColumnPart::Quantile(q.into()));
        ColumnPart::of_suffix(&self.suffix).unwrap_or_else(unnamed)
    }

    /// The column of the estimator that is called so.
    pub fn column(&self, estimator: &str) -> ForecastColumn {
        ForecastColumn::with_suffix(estimator, self.part(), &*self.suffix)
    }

    /// The name of the column of the estimator that is called so.
    pub fn name(&self, estimator: &str) -> String {
        self.column(estimator).name()
    }
}

/// Which of the columns is the forecast of a single number: one that is no quantile, else the quantile nearest the median.
pub fn point_column(outputs: &[Output]) -> usize {
    let distance = |&i: &usize| outputs[i].quantile.map_or(-1.0, |q| (q - 0.5).abs());
    (0..outputs.len()).min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or(0)
}

/// Sorts the quantiles of each step of `values [.., columns]`, so that none is above one that is higher.
/// Quantiles that were learned independently may cross; sorted quantiles are never worse (Chernozhukov, Fernández-Val and
/// Galichon 2010).
pub fn sort_quantiles(outputs: &[Output], values: &mut [f32]) {
    let quantile = |&i: &usize| outputs[i].quantile;
    let mut places: Vec<usize> = (0..outputs.len()).filter(|i| quantile(i).is_some()).collect();
    places.sort_by(|a, b| quantile(a).partial_cmp(&quantile(b)).expect("quantiles are numbers"));
    if places.len() < 2 {
        return;
    }
    let mut sorted = vec![0.0; places.len()];
    for row in values.chunks_exact_mut(outputs.len()) {
        sorted.iter_mut().zip(&places).for_each(|(value, &place)| *value = row[place]);
        sorted.sort_unstable_by(f32::total_cmp);
        sorted.iter().zip(&places).for_each(|(&value, &place)| row[place] = value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outputs(quantiles: &[Option<f32>]) -> Vec<Output> {
        quantiles.iter().map(|&quantile| Output { suffix: String::new(), quantile }).collect()
    }

    #[test]
    fn the_point_forecast_is_a_mean_or_the_quantile_nearest_the_median() {
        assert_eq!(point_column(&outputs(&[Some(0.5), None])), 1);
        assert_eq!(point_column(&outputs(&[Some(0.1), Some(0.6), Some(0.9)])), 1);
        assert_eq!(point_column(&[Output::point()]), 0);
    }

    #[test]
    fn outputs_are_parts_of_forecasts() {
        let low = Output::of(ColumnPart::Lower(80.0));
        assert_eq!((&*low.suffix, low.quantile, low.part()), ("-lo-80", Some(0.1), ColumnPart::Lower(80.0)));
        assert_eq!(Output::calibrated_quantile(0.1).name("MLP"), "MLP-ql0.1");
        assert_eq!(Output::of(ColumnPart::Quantile(0.1)).name("MLP"), "MLP_ql0.1");
        assert_eq!(Output::point().part(), ColumnPart::Point);
        let own = |suffix: &str, quantile| Output { suffix: suffix.to_owned(), quantile };
        assert_eq!(own("-loc", None).part(), ColumnPart::Location);
        assert_eq!(own("-shape", None).part(), ColumnPart::Parameter);
        assert_eq!(own("-p25", Some(0.25)).part(), ColumnPart::Quantile(0.25));
    }

    #[test]
    fn quantiles_are_sorted_where_they_stand() {
        let sorted = |quantiles: &[Option<f32>], values: &[f32]| {
            let mut values = values.to_vec();
            sort_quantiles(&outputs(quantiles), &mut values);
            values
        };
        // Median, lower, upper.
        let level = [Some(0.5), Some(0.1), Some(0.9)];
        assert_eq!(sorted(&level, &[3.0, 2.0, 1.0, 2.0, 1.0, 3.0]), [2.0, 1.0, 3.0, 2.0, 1.0, 3.0]);
        assert_eq!(sorted(&[Some(0.9), Some(0.1), Some(0.5)], &[1.0, 2.0, 3.0]), [3.0, 1.0, 2.0]);
        // Mean and parameters stay.
        let normal = [None, Some(0.1), Some(0.9), None, None];
        assert_eq!(sorted(&normal, &[9.0, 2.0, 1.0, 8.0, 7.0]), [9.0, 1.0, 2.0, 8.0, 7.0]);
        assert_eq!(sorted(&[None], &[2.0, 1.0]), [2.0, 1.0]);
    }
}
