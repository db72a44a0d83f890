//! Windows brought to a scale of their own, and forecasts back: the formulas of [`WindowScaler`] as operations.

use foretell_data::WindowScaler;

use crate::graph::{Graph, Name};
use crate::proto::{Attribute, BOOL, INT64};

/// Shift and unit of each row.
#[derive(Clone, Debug)]
pub(crate) struct Scale {
    pub(crate) loc: Name,
    pub(crate) scale: Name,
}

/// Added to every unit.
const EPS: f32 = 1e-6;

/// Median absolute deviation of a normal distribution of deviation 1.
const NORMAL_MAD: f32 = 0.674_489_75;

/// Statistics over the known steps of `x`, whose last dimension is time, as its last dimension of size 1; `mask` is 1 where a step is
/// known, and spreads over `x`. `None` of a scaler that has none.
pub(crate) fn scale_of(graph: &mut Graph, scaler: WindowScaler, x: &str, mask: &str) -> Option<Scale> {
    if scaler == WindowScaler::Identity {
        return None;
    }
    let known = Known::of(graph, x, mask);
    let (loc, spread) = match scaler {
        WindowScaler::MinMax | WindowScaler::MinMax1 => {
            let range = graph.two("Sub", &known.max, &known.min);
            (known.min.clone(), range)
        }
        WindowScaler::Robust | WindowScaler::Invariant => known.robust(graph, x),
        _ => known.standard(graph, x),
    };
    let [zero, one] = [0.0, 1.0].map(|number| graph.number(number));
    let loc = graph.node("Where", &[&known.any, &loc, &zero], &[]);
    let spread = graph.node("Where", &[&known.any, &spread, &zero], &[]);
    let flat = graph.two("Equal", &spread, &zero);
    let spread = graph.node("Where", &[&flat, &one, &spread], &[]);
    let scale = graph.with_number("Add", &spread, EPS);
    Some(Scale { loc, scale })
}

/// What statistics are made of.
struct Known {
    /// The mask, as a truth.
    mask: Name,
    weights: Name,
    /// The known steps, and whether there are any.
    count: Name,
    any: Name,
    min: Name,
    max: Name,
}

impl Known {
    fn of(graph: &mut Graph, x: &str, weights: &str) -> Self {
        let mask = graph.cast(weights, BOOL);
        let count = graph.sum(weights, -1, true);
        let zero = graph.number(0.0);
        let any = graph.two("Greater", &count, &zero);
        let mut extreme = |beyond: f32, operation: &str| {
            let beyond = graph.number(beyond);
            let seen = graph.node("Where", &[&mask, x, &beyond], &[]);
            graph.reduce(operation, &seen, -1, true)
        };
        let min = extreme(f32::INFINITY, "ReduceMin");
        let max = extreme(f32::NEG_INFINITY, "ReduceMax");
        Self { mask, weights: weights.to_owned(), count, any, min, max }
    }

    /// Mean and biased deviation; of equal values the value and exactly 0.
    fn standard(&self, graph: &mut Graph, x: &str) -> (Name, Name) {
        let one = graph.number(1.0);
        let count = graph.two("Max", &self.count, &one);
        let mean_of = |graph: &mut Graph, values: &str| {
            let sum = graph.sum(values, -1, true);
            graph.two("Div", &sum, &count)
        };
        let seen = graph.two("Mul", x, &self.weights);
        let mean = mean_of(graph, &seen);
        let apart = graph.two("Sub", x, &mean);
        let apart = graph.two("Mul", &apart, &self.weights);
        let square = graph.two("Mul", &apart, &apart);
        let variance = mean_of(graph, &square);
        let deviation = graph.one("Sqrt", &variance);
        let equal = graph.two("Equal", &self.min, &self.max);
        let zero = graph.number(0.0);
        let deviation = graph.node("Where", &[&equal, &zero, &deviation], &[]);
        (graph.node("Where", &[&equal, &self.min, &mean], &[]), deviation)
    }

    /// Median and median absolute deviation; where that is 0, 0.6745 deviations.
    fn robust(&self, graph: &mut Graph, x: &str) -> (Name, Name) {
        let median = self.lower_median(graph, x);
        let apart = graph.two("Sub", x, &median);
        let apart = graph.one("Abs", &apart);
        let mad = self.lower_median(graph, &apart);
        let (_, deviation) = self.standard(graph, x);
        let instead = graph.with_number("Mul", &deviation, NORMAL_MAD);
        let zero = graph.number(0.0);
        let none = graph.two("Equal", &mad, &zero);
        (median, graph.node("Where", &[&none, &instead, &mad], &[]))
    }

    /// The middle of the known values, the lower one of two.
    fn lower_median(&self, graph: &mut Graph, x: &str) -> Name {
        let beyond = graph.number(f32::INFINITY);
        let seen = graph.node("Where", &[&self.mask, x, &beyond], &[]);
        let shape = graph.one("Shape", &seen);
        let len = graph.slice(&shape, 0, -1, i64::MAX, 1);
        let attributes = [("largest", Attribute::Int(0)), ("axis", Attribute::Int(-1))];
        let [sorted, _] = graph.nodes_of("TopK", &[&seen, &len], &attributes);
        let zero = graph.number(0.0);
        let place = graph.with_number("Add", &self.count, -1.0);
        let place = graph.two("Max", &place, &zero);
        let place = graph.with_number("Mul", &place, 0.5);
        let place = graph.one("Floor", &place);
        let place = graph.cast(&place, INT64);
        let row = graph.reduce("ReduceMin", &seen, -1, true);
        let shape = graph.one("Shape", &row);
        let place = graph.two("Expand", &place, &shape);
        graph.node("GatherElements", &[&sorted, &place], &[("axis", Attribute::Int(-1))])
    }
}

/// Values on the scale of their rows.
pub(crate) fn scaled(graph: &mut Graph, scaler: WindowScaler, x: &str, scale: &Scale) -> Name {
    let apart = graph.two("Sub", x, &scale.loc);
    let y = graph.two("Div", &apart, &scale.scale);
    match scaler {
        WindowScaler::MinMax1 => {
            let y = graph.with_number("Mul", &y, 2.0);
            graph.with_number("Add", &y, -1.0)
        }
        WindowScaler::Invariant => graph.one("Asinh", &y),
        _ => y,
    }
}

/// Values of that scale back on the scale of the data.
pub(crate) fn unscaled(graph: &mut Graph, scaler: WindowScaler, y: &str, scale: &Scale) -> Name {
    let y = match scaler {
        WindowScaler::MinMax1 => {
            let y = graph.with_number("Add", y, 1.0);
            graph.with_number("Mul", &y, 0.5)
        }
        WindowScaler::Invariant => graph.one("Sinh", y),
        _ => y.to_owned(),
    };
    let y = graph.two("Mul", &y, &scale.scale);
    graph.two("Add", &y, &scale.loc)
}

/// Columns `[rows, steps, columns]` on the scale of their first steps, as many as the mask `[rows, input_size]` has; those that hold
/// categories, not numbers, as they were.
pub(crate) fn scaled_columns(
    graph: &mut Graph,
    scaler: WindowScaler,
    (x, mask): (&str, &str),
    input_size: usize,
    holds_numbers: &[bool],
) -> Name {
    if scaler == WindowScaler::Identity || !holds_numbers.contains(&true) {
        return x.to_owned();
    }
    let by_column = graph.transpose(x, &[0, 2, 1]);
    let mask = graph.unsqueeze(mask, &[1]);
    let past = graph.slice(&by_column, 2, 0, input_size as i64, 1);
    let Some(scale) = scale_of(graph, scaler, &past, &mask) else { return x.to_owned() };
    let y = scaled(graph, scaler, &by_column, &scale);
    let y = graph.transpose(&y, &[0, 2, 1]);
    if holds_numbers.iter().all(|holds| *holds) {
        return y;
    }
    let numbers: Vec<f32> = holds_numbers.iter().map(|&holds| f32::from(holds)).collect();
    let numbers = graph.floats(&[numbers.len()], &numbers);
    let numbers = graph.cast(&numbers, BOOL);
    graph.node("Where", &[&numbers, &y, x], &[])
}
