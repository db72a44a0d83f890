//! ARIMA models fitted to a series.
//!
//! Hyndman and Khandakar 2008, Automatic Time Series Forecasting: The forecast Package for R. Coefficients that lessen the conditional
//! sum of squares are the start of the search for those of the largest exact likelihood of the differences.

use std::f64::consts::TAU;

use foretell_estimator::is_wanted;

use super::likelihood::{Filter, conditional};
use super::order::{Order, Polynomials};
use super::stationary::{autoregression, partial_correlations, roots_are_outside};
use super::unit_root::is_constant;
use crate::numeric::bfgs::minimise;
use crate::numeric::least_squares::least_squares_of;

/// A model with all that was estimated.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fit {
    pub order: Order,
    /// In the order of [`Order::polynomials`].
    pub coefficients: Vec<f64>,
    /// The mean of the differences.
    pub mean: f64,
    /// What a unit of each column adds to the values.
    pub slopes: Vec<f64>,
    /// The variance of the errors.
    pub sigma2: f64,
    /// The value of the criterion that models are compared by.
    pub criterion: f64,
}

/// The criterion that models are compared by: the less the better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Criterion {
    /// Akaike's.
    Aic,
    /// Akaike's, corrected for short series.
    Aicc,
    /// Schwarz's.
    Bic,
}

impl Criterion {
    /// Its value for minus twice a log-likelihood of `n` values with `k` estimated numbers.
    fn value(self, deviance: f64, n: f64, k: f64) -> f64 {
        let aic = deviance + 2.0 * k;
        match self {
            Self::Aic => aic,
            Self::Bic => aic + k * (n.ln() - 2.0),
            Self::Aicc if n - k - 1.0 == 0.0 => f64::INFINITY,
            Self::Aicc => aic + 2.0 * k * (k + 1.0) / (n - k - 1.0),
        }
    }
}

/// Which coefficients a model gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coefficients {
    /// Those of the least conditional sum of squares; of a history that is likelier with zeros before its first value, as one of rare sales
    /// is, those of the largest likelihood with these zeros. It is where statsforecast's search ends: after its first look it takes the
    /// values before the first for known ones, zeros.
    Conditional,
    /// Those of the largest exact likelihood.
    Likeliest,
}

/// The differences that a model is of.
struct Differences {
    /// Those of the values.
    w: Vec<f64>,
    /// What a mean of 1 adds to them.
    ones: Vec<f64>,
    /// Those of the columns, so scaled that their coefficients are of the size of the others.
    columns: Vec<Vec<f64>>,
}

impl Differences {
    fn new(y: &[f64], columns: &[Vec<f64>], order: Order) -> Self {
        let w = order.differenced(y);
        let ones = vec![1.0; w.len()];
        Self { ones, columns: columns.iter().map(|column| order.differenced(column)).collect(), w }
    }

    /// Those of values, drift and columns with zeros before the first, as many as differences take.
    fn after_zeros(y: &[f64], columns: &[Vec<f64>], order: Order) -> Self {
        let after_zeros = |values: &[f64]| [&vec![0.0; order.lost()], values].concat();
        let drift: Vec<f64> = (1..=y.len()).map(|t| t as f64 / order.mean_steps()).collect();
        let columns: Vec<Vec<f64>> = columns.iter().map(|column| after_zeros(column)).collect();
        let ones = order.differenced(&after_zeros(&drift));
        Self { ones, ..Self::new(&after_zeros(y), &columns, order) }
    }

    fn scale_columns(&mut self, scales: &[f64]) {
        for (column, scale) in self.columns.iter_mut().zip(scales) {
            column.iter_mut().for_each(|x| *x *= scale);
        }
    }
}

/// The data and buffers of the search for coefficients.
struct Search<'a> {
    order: Order,
    data: &'a Differences,
    /// The unit of the mean, so that it is of the size of the other coefficients.
    unit: f64,
    centred: Vec<f64>,
    coefficients: Vec<f64>,
    errors: Vec<f64>,
    polynomials: Polynomials,
    filter: Filter,
}

impl Search<'_> {
    /// Takes the polynomials and the mean from a point.
    fn read(&mut self, point: &[f64], are_partial: bool) {
        let arma = self.order.arma();
        self.coefficients.clear();
        self.coefficients.extend_from_slice(&point[..arma]);
        if are_partial {
            for range in [0..self.order.step.ar, self.order.season_ar()] {
                let partial = &mut self.coefficients[range];
                partial.iter_mut().for_each(|x| *x = x.tanh());
                autoregression(partial);
            }
        }
        self.order.polynomials(&self.coefficients, &mut self.polynomials);
        let mean = if self.order.constant { point[arma] * self.unit } else { 0.0 };
        self.centred.clear();
        self.centred.extend(self.data.w.iter().zip(&self.data.ones).map(|(w, one)| w - mean * one));
        for (column, slope) in self.data.columns.iter().zip(&point[self.order.coefficients()..]) {
            self.centred.iter_mut().zip(column).for_each(|(w, x)| *w -= slope * x);
        }
    }

    /// Half the logarithm of the mean conditional square.
    fn conditional(&mut self, point: &[f64]) -> f64 {
        self.read(point, false);
        let mean = conditional(&self.polynomials, &self.centred, &mut self.errors);
        mean.map(|mean| 0.5 * mean.ln()).filter(|value| value.is_finite()).unwrap_or(f64::INFINITY)
    }

    /// Minus the exact log-likelihood by the number of values, but for a constant.
    fn exact(&mut self, point: &[f64]) -> f64 {
        // Of a long season and a long history each takes long, and a step of the search takes many.
        if !is_wanted() {
            return f64::INFINITY;
        }
        self.read(point, true);
        let n = self.data.w.len() as f64;
        let sums = self.filter.run(&self.polynomials, &self.centred, |_, _| ());
        let value = sums.map(|sums| 0.5 * ((sums.squares / n).ln() + sums.logarithms / n));
        value.filter(|value| value.is_finite()).unwrap_or(f64::INFINITY)
    }

    /// The model at a point, compared by `value` in place of [`Search::exact`] if there is one.
    fn fit_at(&mut self, point: &[f64], value: Option<f64>, criterion: Criterion) -> Option<Fit> {
        let exact = self.exact(point);
        let value = value.unwrap_or(exact);
        let (n, estimated) = (self.data.w.len(), self.order.coefficients() + self.data.columns.len());
        let deviance = n as f64 * (2.0 * value + 1.0 + TAU.ln());
        let squares = self.filter.run(&self.polynomials, &self.centred, |_, _| ())?.squares;
        value.is_finite().then(|| Fit {
            order: self.order,
            coefficients: self.coefficients.clone(),
            mean: if self.order.constant { point[self.order.arma()] * self.unit } else { 0.0 },
            slopes: point[self.order.coefficients()..].to_vec(),
            sigma2: squares / n.saturating_sub(estimated).max(1) as f64,
            criterion: criterion.value(deviance, n as f64, (estimated + 1) as f64),
        })
    }
}

/// Makes autoregressions partial correlations without bounds, as [`Search::exact`] has them; nothing if one is not stationary.
fn unbound(order: &Order, point: &mut [f64]) -> Option<()> {
    for range in [0..order.step.ar, order.season_ar()] {
        let partial = partial_correlations(&point[range.clone()])?;
        point[range].iter_mut().zip(partial).for_each(|(x, partial)| *x = partial.atanh());
    }
    Some(())
}

/// Leaves out moving averages that cannot be inverted: from there the search for the likelihood ends on the unit circle.
fn leave_out_uninvertible(order: &Order, point: &mut [f64]) {
    for range in [order.step.ar..order.season_ar().start, order.season_ar().end..order.arma()] {
        let moving = &mut point[range];
        moving.iter_mut().for_each(|x| *x = -*x);
        let is_invertible = roots_are_outside(moving, 1.0);
        moving.iter_mut().for_each(|x| *x = if is_invertible { -*x } else { 0.0 });
    }
}

/// Fits a model to a series and the columns that it depends on; the criterion is of the exact likelihood in any case. None if the series is too short, or if conditional
/// coefficients are asked for and not stationary.
pub(super) fn fit(
    y: &[f64],
    columns: &[Vec<f64>],
    order: Order,
    criterion: Criterion,
    coefficients: Coefficients,
) -> Option<Fit> {
    if y.len() <= order.lost() {
        return None;
    }
    let mut data = Differences::new(y, columns, order);
    let n = data.w.len() as f64;
    let spread = |values: &[f64]| {
        let mean = values.iter().sum::<f64>() / n;
        (values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt()
    };
    let unit = if spread(&data.w) > 0.0 { spread(&data.w) } else { 1.0 };
    // A column whose differences are all the same says no more than the mean.
    let scale = |column: &Vec<f64>| if is_constant(column) { 0.0 } else { unit / spread(column) };
    let scales: Vec<f64> = data.columns.iter().map(scale).collect();
    data.scale_columns(&scales);
    let mut nothing = vec![0.0; order.arma()];
    if columns.is_empty() {
        nothing.extend(order.constant.then(|| data.w.iter().sum::<f64>() / n / unit));
    } else {
        let ones = order.constant.then(|| vec![unit; data.w.len()]);
        nothing.extend(least_squares_of(
            ones.into_iter().chain(data.columns.iter().cloned()).collect(),
            &data.w,
        ));
    }
    let with_zeros = (coefficients == Coefficients::Conditional).then(|| {
        let mut with_zeros = Differences::after_zeros(y, columns, order);
        with_zeros.scale_columns(&scales);
        with_zeros
    });
    let mut search = Search {
        order,
        data: &data,
        unit,
        centred: Vec::new(),
        coefficients: Vec::new(),
        errors: Vec::new(),
        polynomials: Polynomials::default(),
        filter: Filter::default(),
    };
    let (mut point, found) = minimise(&nothing, |point| search.conditional(point));
    let is_stationary = found.is_finite() && unbound(&order, &mut point).is_some();
    let mut value = None;
    match &with_zeros {
        None => {
            let mut start = if is_stationary { point } else { nothing };
            leave_out_uninvertible(&order, &mut start);
            (point, _) = minimise(&start, |point| search.exact(point));
        }
        Some(with_zeros) if is_stationary => {
            let without = search.exact(&point);
            search.data = with_zeros;
            if search.exact(&point) < without {
                let (likelier, there) = minimise(&point, |point| search.exact(point));
                (point, value) = (likelier, Some(there));
            }
            search.data = &data;
        }
        Some(_) => return None,
    }
    let mut fit = search.fit_at(&point, value, criterion)?;
    fit.slopes.iter_mut().zip(&scales).for_each(|(slope, scale)| *slope *= scale);
    Some(fit)
}

/// A model without coefficients of differences that are all the same.
pub(super) fn constant(order: Order, mean: f64) -> Fit {
    let order = Order { constant: order.may_have_constant(), ..order };
    let mean = if order.constant { mean } else { 0.0 };
    Fit {
        order,
        coefficients: Vec::new(),
        mean,
        slopes: Vec::new(),
        sigma2: 0.0,
        criterion: f64::NEG_INFINITY,
    }
}
