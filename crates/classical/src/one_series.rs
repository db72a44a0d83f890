//! One series, fitted and forecast without a panel of many.

use foretell_calendar::Freq;
use foretell_data::{Panel, Span};
use foretell_estimator::{Asked, HeldOut, Run, Trained as _, Verdict, Workers};

use crate::arima::{Arima, AutoArima};
use crate::averages::{HistoricAverage, RandomWalkWithDrift, SeasonalWindowAverage, WindowAverage};
use crate::ces::AutoCes;
use crate::error::ClassicalError;
use crate::ets::{AutoEts, Ets, Holt, HoltWinters};
use crate::hyper::Seasonal as _;
use crate::intermittent::{Adida, CrostonClassic, CrostonOptimized, CrostonSba, Imapa, Tsb};
use crate::method::{Classical, Method, TrainedClassical};
use crate::mfles::Mfles;
use crate::mstl::Mstl;
use crate::naive::Naive;
use crate::seasonal_naive::SeasonalNaive;
use crate::theta::{AutoTheta, DynamicOptimizedTheta, DynamicTheta, OptimizedTheta, Theta};

/// A method that was fitted to one series, which it forecasts.
///
/// ```
/// use foretell_classical::AutoEts;
///
/// // Monthly values: a season has 12 steps.
/// let sales = |month: usize| 100.0 + (month % 12 * 10) as f64 + (month * 7 % 5) as f64;
/// let y: Vec<f64> = (0..48).map(sales).collect();
/// let fitted = AutoEts::new(12).fit(&y)?;
/// let year = fitted.forecast(12);
/// assert_eq!(year.len(), 12);
/// assert!(year[11] > year[0] + 90.0);
/// let [low, high] = &fitted.quantiles(12, &[0.1, 0.9])?[..] else { panic!("two columns") };
/// assert!(low[0] < year[0] && year[0] < high[0]);
/// # Ok::<(), foretell_classical::ClassicalError>(())
/// ```
#[derive(Clone, Debug)]
pub struct FittedSeries<M> {
    trained: TrainedClassical<M>,
    panel: Panel,
    workers: Workers,
}

impl<M: Method> FittedSeries<M> {
    fn of(method: &M, y: &[f64]) -> Result<Self, ClassicalError> {
        let model = M::NAME;
        if y.is_empty() {
            return Err(ClassicalError::NoValues { model });
        }
        if let Some(row) = y.iter().position(|y| !(*y as f32).is_finite()) {
            return Err(ClassicalError::NotANumber { model, row, found: y[row] });
        }
        let failed = |error: String| ClassicalError::Series { model, reason: error };
        let steps = Freq::parse("1").map_err(|error| failed(error.to_string()))?;
        let values: Vec<f32> = y.iter().map(|y| *y as f32).collect();
        let panel =
            Panel::from_series(steps, [("y", 0, values)]).map_err(|error| failed(error.to_string()))?;
        let workers = Workers::new(1).map_err(|error| failed(error.to_string()))?;
        let estimator = Classical { method: method.clone(), ..Classical::new(1) };
        let (vocabulary, listen) = (Default::default(), &mut |_: &_| Verdict::Continue);
        let run = Run::alone(&workers, &vocabulary, listen);
        let trained = estimator.trained(&panel, HeldOut::default(), &run);
        Ok(Self { trained, panel, workers })
    }

    fn columns(&self, h: usize, quantiles: Option<&[f64]>) -> Vec<Vec<f64>> {
        let count = 1 + quantiles.map_or(0, <[f64]>::len);
        let asked = Asked { span: Span::Predict { future: None }, h, quantiles };
        let forecast = self.trained.forecast(&self.panel, &asked, &self.workers);
        let values = forecast.expect("a series that it was fitted to").values;
        (0..count)
            .map(|column| values.iter().skip(column).step_by(count).map(|y| f64::from(*y)).collect())
            .collect()
    }

    /// The forecast of the next `h` steps.
    pub fn forecast(&self, h: usize) -> Vec<f64> {
        if h == 0 {
            return Vec::new();
        }
        self.columns(h, None).swap_remove(0)
    }

    /// These quantiles, between 0 and 1, of the next `h` steps, a list of steps for each.
    ///
    /// # Errors
    /// If the method has no quantiles ([`Method::HAS_QUANTILES`]), or one of these is not between 0 and 1.
    pub fn quantiles(&self, h: usize, quantiles: &[f64]) -> Result<Vec<Vec<f64>>, ClassicalError> {
        let model = M::NAME;
        if let Some(&found) = quantiles.iter().find(|q| !(**q > 0.0 && **q < 1.0)) {
            return Err(ClassicalError::Quantile { model, found });
        }
        if self.trained.estimator().outputs_at(quantiles).is_none() {
            return Err(ClassicalError::NoQuantiles { model });
        }
        if h == 0 {
            return Ok(vec![Vec::new(); quantiles.len()]);
        }
        Ok(self.columns(h, Some(quantiles)).split_off(1))
    }
}

macro_rules! fits_one_series {
    ($($method:ident),* $(,)?) => {
        $(impl $method {
            /// Fits it to one series, whose values are known and are held in single precision. A method with a season that was not said
            /// takes the series for one without.
            ///
            /// # Errors
            /// If there are no values, or one is no finite number.
            pub fn fit(&self, y: &[f64]) -> Result<FittedSeries<Self>, ClassicalError> {
                FittedSeries::of(self, y)
            }
        })*
    };
}

macro_rules! has_season {
    ($($method:ident),* $(,)?) => {
        $(impl $method {
            /// One with a season of this number of steps, 1 for none.
            ///
            /// # Panics
            /// If it is 0.
            pub fn new(season_length: usize) -> Self {
                assert!(season_length > 0, "a season has at least one step; say 1 for a series without");
                let mut method = Self::default();
                *method.season_length() = Some(season_length);
                method
            }
        })*
    };
}

fits_one_series!(
    Adida, Arima, AutoArima, AutoCes, AutoEts, AutoTheta, CrostonClassic, CrostonOptimized, CrostonSba,
    DynamicOptimizedTheta, DynamicTheta, Ets, HistoricAverage, Holt, HoltWinters, Imapa, Mfles, Mstl, Naive,
    OptimizedTheta, RandomWalkWithDrift, SeasonalNaive, SeasonalWindowAverage, Theta, Tsb, WindowAverage,
);

has_season!(
    AutoArima, AutoCes, AutoEts, AutoTheta, DynamicOptimizedTheta, DynamicTheta, Ets, HoltWinters,
    OptimizedTheta, SeasonalNaive, SeasonalWindowAverage, Theta,
);

impl Mfles {
    /// One with seasons of these steps, 1 for none.
    pub fn new(season_lengths: impl Into<Vec<usize>>) -> Self {
        Self { season_length: season_lengths.into(), ..Self::default() }
    }
}

impl Mstl {
    /// One with seasons of these steps.
    pub fn new(season_lengths: impl Into<Vec<usize>>) -> Self {
        Self { season_length: season_lengths.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_is_forecast_as_in_a_panel() {
        let y: Vec<f64> = (0..28).map(|t| f64::from(t % 7)).collect();
        assert_eq!(
            SeasonalNaive::new(7).fit(&y).unwrap().forecast(9)[..8],
            [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 0.0]
        );
        assert_eq!(Naive.fit(&y).unwrap().forecast(2), [6.0, 6.0]);
        assert!(Naive.fit(&y).unwrap().forecast(0).is_empty());
        assert_eq!(Mstl::new([7]).fit(&y).unwrap().quantiles(3, &[0.5]).unwrap()[0].len(), 3);
    }

    #[test]
    fn mistakes_are_told() {
        let told = |error: ClassicalError| error.to_string();
        assert!(told(Naive.fit(&[]).unwrap_err()).contains("no values"));
        assert!(told(Naive.fit(&[1.0, f64::NAN]).unwrap_err()).contains("value 2 is NaN"));
        let fitted = WindowAverage::default().fit(&[0.0, 1.0, 0.0, 2.0]).unwrap();
        assert!(told(fitted.quantiles(1, &[0.5]).unwrap_err()).contains("WindowAverage"));
        let naive = Naive.fit(&[1.0, 2.0]).unwrap();
        assert!(told(naive.quantiles(1, &[1.5]).unwrap_err()).contains("1.5"));
    }
}
