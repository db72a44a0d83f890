//! ARIMA by name.

use foretell_calendar::{Freq, usual_season};
use foretell_estimator::{Fallback, KnownColumn, NamedNumbers};
use serde_json::{Value, json};

use super::fit::{Coefficients, Criterion, Fit, fit};
use super::forecast::{forecast, of_columns};
use super::order::{Order, Terms};
use super::search::{Space, search};
use crate::hyper::{self, HyperParameter, Seasonal};
use crate::local::{LocalMethod, SeriesForecast};
use crate::method::HistoryFacts;
use crate::numeric::box_cox::BoxCox;

const PAPER: &str =
    "Hyndman and Khandakar 2008, Automatic Time Series Forecasting: The forecast Package for R";

/// Numbers in front of the coefficients in what is learned.
const HEAD: usize = 11;

/// What a fit is of, in its first number: the values as they were given, or transformed by the model's power.
const OF_VALUES: f64 = 1.0;
const TRANSFORMED: f64 = 2.0;

/// A fit as numbers: what it is of, the orders, whether there is a constant, the mean, the variance, the criterion, the
/// coefficients, and the slopes of columns.
fn to_numbers(of: f64, fit: &Fit) -> Vec<f64> {
    let Order { step, season, constant, .. } = fit.order;
    let orders = [step.ar, step.differences, step.ma, season.ar, season.differences, season.ma];
    let mut numbers = vec![of];
    numbers.extend(orders.map(|order| order as f64));
    numbers.extend([f64::from(u8::from(constant)), fit.mean, fit.sigma2, fit.criterion]);
    numbers.extend(&fit.coefficients);
    numbers.extend(&fit.slopes);
    numbers
}

/// The fit behind the numbers of [`to_numbers`], of a model with this season and number of columns; `None` of a series that was too short.
fn from_numbers(numbers: &[f64], period: usize, columns: usize) -> Option<Fit> {
    let (
        &[
            of,
            ar,
            differences,
            ma,
            season_ar,
            season_differences,
            season_ma,
            constant,
            mean,
            sigma2,
            criterion,
        ],
        rest,
    ) = numbers.split_first_chunk::<HEAD>()?;
    let terms = |ar: f64, differences: f64, ma: f64| Terms {
        ar: ar as usize,
        differences: differences as usize,
        ma: ma as usize,
    };
    let order = Order {
        step: terms(ar, differences, ma),
        season: terms(season_ar, season_differences, season_ma),
        period,
        constant: constant != 0.0,
    };
    let coefficients = rest.get(..order.arma())?.to_vec();
    let slopes = rest[order.arma()..].iter().copied().take(columns).collect();
    (of != 0.0).then_some(Fit { order, coefficients, mean, slopes, sigma2, criterion })
}

/// The numbers of what `fit` makes of a history: of its values transformed, if there is a power and all of them are above zero.
fn learn_by(blambda: Option<f64>, y: &[f64], fit: impl FnOnce(&[f64]) -> Option<Fit>) -> Vec<f64> {
    let transformed = blambda.and_then(|power| BoxCox { power }.all(y));
    let of = if transformed.is_some() { TRANSFORMED } else { OF_VALUES };
    fit(transformed.as_deref().unwrap_or(y)).map_or(Vec::new(), |fit| to_numbers(of, &fit))
}

/// The transformation that a fit is of, by a model with this power.
fn transformation(learned: &[f64], blambda: Option<f64>) -> Option<BoxCox> {
    blambda.filter(|_| learned.first() == Some(&TRANSFORMED)).map(|power| BoxCox { power })
}

fn forecast_learned(
    y: &[f64],
    learned: &[f64],
    columns: &[KnownColumn],
    (period, blambda): (usize, Option<f64>),
    h: usize,
) -> Option<SeriesForecast> {
    let fit = from_numbers(learned, period, columns.len())?;
    let by = transformation(learned, blambda);
    let transformed = match by {
        Some(by) => Some(by.all(y)?),
        None => None,
    };
    let y = transformed.as_deref().unwrap_or(y);
    let (past, ahead): (Vec<Vec<f64>>, Vec<Vec<f64>>) =
        columns.iter().map(|column| (column.past.clone(), column.ahead.clone())).unzip();
    let rest: Vec<f64> = y.iter().enumerate().map(|(row, y)| y - of_columns(&fit, &past, row)).collect();
    let mut forecast = forecast(&rest, &fit, h)?;
    forecast.mean.iter_mut().enumerate().for_each(|(step, mean)| *mean += of_columns(&fit, &ahead, step));
    if let Some(by) = by {
        let back = forecast.mean.iter().map(|&mean| by.back(mean)).collect();
        forecast.transformed = Some((by, std::mem::replace(&mut forecast.mean, back)));
    }
    Some(forecast)
}

/// The slope of each column in what was learned of a series, by the model with these columns; with a power, of transformed values.
fn slopes(learned: &[f64], columns: usize) -> Option<Vec<f64>> {
    from_numbers(learned, 1, columns).map(|fit| fit.slopes)
}

/// That a model with a power is of the values themselves, as one of them is not above zero.
fn passed_over(learned: &[f64], blambda: Option<f64>) -> Option<Fallback> {
    (blambda.is_some() && learned.first() == Some(&OF_VALUES)).then(|| Fallback {
        reason: "a value that is not above zero, which is not transformed by a power".to_owned(),
        instead: "a model of the values themselves",
        remedy: "set blambda to null, or choose a model of rare demand (IMAPA, TSB) if it is 0 at times",
    })
}

/// The orders in their usual notation with what the model is of, and the coefficients; a drift is that of one step.
fn describe(
    learned: &[f64],
    (period, blambda): (usize, Option<f64>),
    columns: &[String],
) -> Option<(String, NamedNumbers)> {
    let Fit { order, coefficients, mean, slopes, sigma2, criterion } =
        from_numbers(learned, period, columns.len())?;
    let (step, season) = (order.step, order.season);
    let mut form = format!("ARIMA({},{},{})", step.ar, step.differences, step.ma);
    if season != Terms::default() {
        form += &format!("({},{},{})[{period}]", season.ar, season.differences, season.ma);
    }
    let has_drift = step.differences + season.differences > 0;
    let constant = if has_drift { "drift" } else { "mean" };
    if order.constant {
        form += &format!(" with {constant}");
    }
    match transformation(learned, blambda) {
        Some(BoxCox { power: 0.0 }) => form += " of logarithms",
        Some(BoxCox { power }) => form += &format!(" of values to the power {power}"),
        None => {}
    }
    let kinds = [("ar", step.ar), ("ma", step.ma), ("sar", season.ar), ("sma", season.ma)];
    let names =
        kinds.into_iter().flat_map(|(kind, count)| (1..=count).map(move |lag| format!("{kind}{lag}")));
    let mut numbers: NamedNumbers = names.map(Into::into).zip(coefficients).collect();
    if order.constant {
        numbers.push((constant.into(), mean / if has_drift { order.mean_steps() } else { 1.0 }));
    }
    numbers.extend(columns.iter().map(|name| name.clone().into()).zip(slopes));
    numbers.extend([("sigma2".into(), sigma2), ("criterion".into(), criterion)]);
    Some((form, numbers))
}

/// The columns that a model reads.
macro_rules! columns {
    () => {
        hyper::field!(
            "futr_exog_list",
            "Columns known in advance that values depend on, each by a slope; the model is of what they leave.",
            hyper::COLUMNS,
            |value| hyper::or_null(value, hyper::columns).map(Option::unwrap_or_default),
            futr_exog_list
        )
    };
}

/// The power that values are transformed by.
macro_rules! blambda {
    () => {
        hyper::field!(
            "blambda",
            "The power by which values are transformed (Box and Cox): 0 for a model of their logarithms, whose forecasts grow by a share and stay \
             above zero; null for one of the values. Point forecasts are medians; a series with a value of zero or less is modelled without this transformation.",
            "a number between 0 and 2, or null",
            |value| hyper::or_null(value, |power| power.as_f64().filter(|power| (0.0..=2.0).contains(power))),
            blambda
        )
    };
}

/// What both models have of [`LocalMethod`] because of their columns and their power.
macro_rules! reads_columns {
    () => {
        const READS_COLUMNS: bool = true;

        fn columns(&self) -> &[String] {
            &self.futr_exog_list
        }

        fn slopes(&self, learned: &[f64]) -> Option<Vec<f64>> {
            slopes(learned, self.futr_exog_list.len())
        }

        fn describe(&self, learned: &[f64]) -> Option<(String, NamedNumbers)> {
            describe(learned, (self.season_length.unwrap_or(1), self.blambda), &self.futr_exog_list)
        }

        fn passed_over(&self, learned: &[f64]) -> Option<Fallback> {
            passed_over(learned, self.blambda)
        }

        /// A later value may not be above zero.
        fn holds_for(&self, learned: &[f64], y: &[f64]) -> bool {
            transformation(learned, self.blambda).is_none_or(|by| by.all(y).is_some())
        }

        fn learn(&self, y: &[f64]) -> Vec<f64> {
            self.learn_with(y, &[])
        }

        fn forecast(&self, y: &[f64], learned: &[f64], h: usize) -> Option<SeriesForecast> {
            self.forecast_with(y, learned, &[], h)
        }

        fn forecast_with(
            &self,
            y: &[f64],
            learned: &[f64],
            columns: &[KnownColumn],
            h: usize,
        ) -> Option<SeriesForecast> {
            forecast_learned(y, learned, columns, (self.season_length.unwrap_or(1), self.blambda), h)
        }
    };
}

/// The largest order of autoregressions, moving averages and differences.
const MOST: u64 = 24;

fn order(value: &Value) -> Option<usize> {
    value.as_u64().filter(|&order| order <= MOST).map(|order| order as usize)
}

const ORDER: &str = "a whole number up to 24";

/// Three numbers as terms.
fn terms(value: &Value) -> Option<Terms> {
    let [ar, differences, ma] = value.as_array()?.as_slice() else { return None };
    Some(Terms { ar: order(ar)?, differences: order(differences)?, ma: order(ma)? })
}

impl From<Terms> for Value {
    fn from(Terms { ar, differences, ma }: Terms) -> Self {
        json!([ar, differences, ma])
    }
}

const TERMS: &str =
    "three whole numbers up to 24, such as [1, 0, 1]: autoregression, differences, moving average";

/// An ARIMA model by its orders. Its coefficients have the largest likelihood; the quantiles are normal.
#[derive(Clone, Debug, PartialEq)]
pub struct Arima {
    order: Terms,
    season_length: Option<usize>,
    seasonal_order: Terms,
    include_mean: bool,
    include_drift: bool,
    blambda: Option<f64>,
    futr_exog_list: Vec<String>,
}

impl Default for Arima {
    fn default() -> Self {
        Self {
            order: Terms::default(),
            season_length: None,
            seasonal_order: Terms::default(),
            include_mean: true,
            include_drift: false,
            blambda: None,
            futr_exog_list: Vec::new(),
        }
    }
}

impl Seasonal for Arima {
    fn season_length(&mut self) -> &mut Option<usize> {
        &mut self.season_length
    }
}

impl Arima {
    fn whole_order(&self) -> Order {
        let constant = match self.order.differences + self.seasonal_order.differences {
            0 => self.include_mean,
            1 => self.include_drift,
            _ => false,
        };
        let period = self.season_length.unwrap_or(1);
        Order { step: self.order, season: self.seasonal_order, period, constant }
    }

    /// The values that are lost to differences and lags, and the numbers to estimate.
    fn numbers(&self) -> usize {
        let order = self.whole_order();
        order.lost() + order.phi_lags() + order.coefficients()
    }
}

impl LocalMethod for Arima {
    const NAME: &'static str = "ARIMA";
    const PAPER: &'static str = PAPER;
    const HYPER_PARAMETERS: &'static [HyperParameter<Self>] = &[
        hyper::field!("order", "Autoregression, differences and moving average.", TERMS, terms, order),
        hyper::season_length(),
        hyper::field!(
            "seasonal_order",
            "Autoregression, differences and moving average of a season.",
            TERMS,
            terms,
            seasonal_order
        ),
        hyper::flag!("include_mean", "Whether values without differences have a level.", include_mean),
        hyper::flag!("include_drift", "Whether single differences have a mean.", include_drift),
        blambda!(),
        columns!(),
    ];
    const LEARNS: bool = true;

    fn settled(&self, freq: Freq) -> Self {
        Self { season_length: Some(self.season_length.unwrap_or_else(|| usual_season(freq))), ..self.clone() }
    }

    fn fallback(&self, history: &HistoryFacts) -> Option<Fallback> {
        let needed = self.numbers() + self.futr_exog_list.len() + 1;
        (history.rows < needed).then(|| Fallback::too_few(needed))
    }

    fn learn_with(&self, y: &[f64], columns: &[Vec<f64>]) -> Vec<f64> {
        // Orders that the series is too short for: as many values as numbers to estimate.
        if y.len() <= self.numbers() + columns.len() {
            return Vec::new();
        }
        let order = self.whole_order();
        learn_by(self.blambda, y, |y| fit(y, columns, order, Criterion::Aicc, Coefficients::Likeliest))
    }

    reads_columns!();
}

/// ARIMA with the orders that suit a series best. Differences are found by tests, the other orders by a search from neighbour to
/// neighbour, of `nmodels` models at most. The quantiles are normal.
#[derive(Clone, Debug, PartialEq)]
pub struct AutoArima {
    season_length: Option<usize>,
    seasonal: bool,
    stationary: bool,
    space: Space,
    blambda: Option<f64>,
    futr_exog_list: Vec<String>,
}

impl Default for AutoArima {
    fn default() -> Self {
        let space = Space {
            period: 1,
            differences: [None; 2],
            max_differences: [2, 1],
            most: [5, 5, 2, 2],
            start: [2, 2, 1, 1],
            allow: [true; 2],
            criterion: Criterion::Aicc,
            budget: 94,
        };
        let (season_length, blambda, futr_exog_list) = (None, None, Vec::new());
        Self { season_length, seasonal: true, stationary: false, space, blambda, futr_exog_list }
    }
}

impl Seasonal for AutoArima {
    fn season_length(&mut self) -> &mut Option<usize> {
        &mut self.season_length
    }
}

/// An order of the search.
macro_rules! order {
    ($name:literal, $meaning:literal, $($field:tt)+) => {
        hyper::field!($name, $meaning, ORDER, order, space.$($field)+)
    };
}

/// Differences, or null to test for them.
macro_rules! differences {
    ($name:literal, $meaning:literal, $place:literal) => {
        hyper::field!(
            $name,
            $meaning,
            "a whole number up to 24, or null",
            |value| hyper::or_null(value, order),
            space.differences[$place]
        )
    };
}

impl LocalMethod for AutoArima {
    const NAME: &'static str = "AutoARIMA";
    const PAPER: &'static str = PAPER;
    const HYPER_PARAMETERS: &'static [HyperParameter<Self>] = &[
        hyper::season_length(),
        differences!("d", "Differences of one step; null to test for them.", 0),
        differences!("D", "Differences of one season; null to test for them.", 1),
        order!("max_p", "The most autoregression.", most[0]),
        order!("max_q", "The most moving average.", most[1]),
        order!("max_P", "The most autoregression of a season.", most[2]),
        order!("max_Q", "The most moving average of a season.", most[3]),
        order!("max_d", "The most differences that the test may find.", max_differences[0]),
        order!("max_D", "The most differences of a season that the test may find.", max_differences[1]),
        order!("start_p", "The autoregression that the search starts from.", start[0]),
        order!("start_q", "The moving average that the search starts from.", start[1]),
        order!("start_P", "The autoregression of a season that the search starts from.", start[2]),
        order!("start_Q", "The moving average of a season that the search starts from.", start[3]),
        hyper::flag!("stationary", "Whether there are no differences at all.", stationary),
        hyper::flag!("seasonal", "Whether there may be terms of a season.", seasonal),
        hyper::flag!("allowmean", "Whether values without differences may have a level.", space.allow[0]),
        hyper::flag!("allowdrift", "Whether single differences may have a mean.", space.allow[1]),
        HyperParameter {
            name: "ic",
            meaning: "The criterion that models are compared by.",
            expected: "aic, aicc or bic",
            get: |method| {
                match method.space.criterion {
                    Criterion::Aic => "aic",
                    Criterion::Aicc => "aicc",
                    Criterion::Bic => "bic",
                }
                .into()
            },
            set: |method, value| {
                let criterion = match value.as_str() {
                    Some("aic") => Some(Criterion::Aic),
                    Some("aicc") => Some(Criterion::Aicc),
                    Some("bic") => Some(Criterion::Bic),
                    _ => None,
                };
                hyper::store(&mut method.space.criterion, criterion)
            },
        },
        hyper::field!(
            "nmodels",
            "Models that are tried at most, for each series.",
            hyper::STEPS,
            hyper::steps,
            space.budget
        ),
        blambda!(),
        columns!(),
    ];
    const LEARNS: bool = true;

    fn settled(&self, freq: Freq) -> Self {
        Self { season_length: Some(self.season_length.unwrap_or_else(|| usual_season(freq))), ..self.clone() }
    }

    fn learn_with(&self, y: &[f64], columns: &[Vec<f64>]) -> Vec<f64> {
        let period = if self.seasonal { self.season_length.unwrap_or(1) } else { 1 };
        let differences = if self.stationary { [Some(0); 2] } else { self.space.differences };
        let space = Space { period, differences, ..self.space };
        learn_by(self.blambda, y, |y| search(y, columns, space))
    }

    reads_columns!();
}
