//! Two recorded runs of one forecast, compared: which sizes are those of the batch, and what is constant.

use foretell_nn::Tensor;
use foretell_nn::trace::{Argument, Trace, TracedOperand, TracedOperation};

use crate::error::OnnxError;
use crate::extent::{Extent, RUNS};

/// A constant of the graph: the same in both runs, but repeated along the dimensions that grow.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Constant {
    /// The whole sizes.
    pub(crate) shape: Vec<Extent>,
    /// The sizes of what is repeated: those of `shape`, or as many as there are for one window.
    pub(crate) dims: Vec<usize>,
    pub(crate) values: Values,
}

/// The values of a constant, row-major.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Values {
    Numbers(Vec<f32>),
    Places(Vec<i64>),
}

/// What an operand is.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// An input of the graph.
    Input,
    /// A constant of the graph.
    Constant(Constant),
    /// A result of this operation.
    Made { by: usize },
    /// Something else: neither made by an operation nor the same in both runs.
    Unknown,
}

/// The operations of a forecast of any number of windows.
#[derive(Debug)]
pub(crate) struct Plan {
    runs: [Trace; 2],
    pub(crate) shapes: Vec<Vec<Extent>>,
    kinds: Vec<Kind>,
    /// The operand that is the forecast.
    pub(crate) output: usize,
}

/// Two numbers that were computed by the same operations on the same numbers, perhaps in another order.
const CLOSE: f32 = 1e-5;

impl Plan {
    pub(crate) fn new(runs: [Trace; 2], inputs: usize, outputs: [&Tensor; 2]) -> Result<Self, OnnxError> {
        if let Some(&choice) = runs.iter().flat_map(|run| &run.choices).next() {
            return Err(OnnxError::Choice { choice });
        }
        let [a, b] = &runs;
        for (a, b) in a.operations.iter().zip(&b.operations) {
            let same = a.name == b.name && a.inputs == b.inputs && a.outputs == b.outputs;
            if !same {
                let found = format!("{} in one run, {} in another", describe(a), describe(b));
                return Err(OnnxError::Batch { operation: a.name, found });
            }
        }
        let last = a.operations.last().map_or("", |operation| operation.name);
        let differ = |found: String| OnnxError::Batch { operation: last, found };
        if a.operations.len() != b.operations.len() || a.operands.len() != b.operands.len() {
            return Err(differ(format!("{} and {} operations", a.operations.len(), b.operations.len())));
        }
        let places = [0, 1].map(|run| runs[run].place(outputs[run]));
        let [Some(output), Some(other)] = places else {
            return Err(OnnxError::NotRecorded { operation: "forecast" });
        };
        if output != other {
            return Err(differ(format!("the forecasts are values {output} and {other}")));
        }

        let mut makers = vec![None; a.operands.len()];
        for (by, operation) in a.operations.iter().enumerate() {
            operation.outputs.iter().for_each(|&place| makers[place] = Some(by));
        }
        let mut shapes = Vec::with_capacity(makers.len());
        for (place, maker) in makers.iter().enumerate() {
            let [x, y] = [a, b].map(|run| run.operands[place].shape());
            let shape = Extent::of_shapes(&x, &y).ok_or_else(|| OnnxError::Batch {
                operation: maker.map_or("constant", |by| a.operations[by].name),
                found: format!("shapes {x:?} and {y:?} of {} and {} windows", RUNS[0], RUNS[1]),
            });
            shapes.push(shape);
        }
        let mut kinds: Vec<Kind> = Vec::with_capacity(makers.len());
        for (place, maker) in makers.iter().enumerate() {
            let pair = [&a.operands[place], &b.operands[place]];
            let constant = |slack| shapes[place].as_ref().ok().and_then(|shape| constant(pair, shape, slack));
            kinds.push(match maker {
                _ if place < inputs => Kind::Input,
                None => constant(0.0).map_or(Kind::Unknown, Kind::Constant),
                Some(by) => {
                    let made = Kind::Made { by: *by };
                    let is_constant = |input: &usize| matches!(kinds.get(*input), Some(Kind::Constant(_)));
                    let folds = a.operations[*by].inputs.iter().flatten().all(is_constant);
                    match folds.then(|| constant(CLOSE)).flatten() {
                        Some(constant) => Kind::Constant(constant),
                        None => made,
                    }
                }
            });
        }
        // Shapes of what nothing needs may be anything.
        let live = live(a, &kinds, output);
        let shapes = shapes.into_iter().enumerate().map(|(place, shape)| match shape {
            Ok(shape) => Ok(shape),
            Err(error) if live[place] => Err(error),
            Err(_) => Ok(Vec::new()),
        });
        let shapes = shapes.collect::<Result<_, _>>()?;
        let plan = Self { runs, shapes, kinds, output };
        plan.check_arguments()?;
        Ok(plan)
    }

    /// Checks that numbers and words are the same in both runs; sizes may grow.
    fn check_arguments(&self) -> Result<(), OnnxError> {
        for by in self.needed() {
            let [a, b] = [0, 1].map(|run| &self.runs[run].operations[by]);
            let mut pairs = a.arguments.iter().zip(&b.arguments);
            let other = pairs
                .find(|(a, b)| a != b && !matches!((&a.1, &b.1), (Argument::Size(_), Argument::Size(_))));
            if let Some(((name, argument), _)) = other {
                let found =
                    format!("{name} is {argument:?} of {} windows, and another of {}", RUNS[0], RUNS[1]);
                return Err(OnnxError::Batch { operation: a.name, found });
            }
        }
        Ok(())
    }

    pub(crate) fn kind(&self, place: usize) -> &Kind {
        &self.kinds[place]
    }

    /// The operations that the forecast follows from, in their order.
    pub(crate) fn needed(&self) -> Vec<usize> {
        let live = live(&self.runs[0], &self.kinds, self.output);
        let operations = self.runs[0].operations.iter().enumerate();
        // An operand is of the last operation that made it.
        let needed = operations.filter(|(by, operation)| {
            operation.outputs.iter().any(|&place| {
                live[place] && matches!(self.kinds[place], Kind::Made { by: maker } if maker == *by)
            })
        });
        needed.map(|(by, _)| by).collect()
    }

    pub(crate) fn operation(&self, by: usize) -> &TracedOperation {
        &self.runs[0].operations[by]
    }

    /// An argument in both runs.
    pub(crate) fn argument(&self, by: usize, name: &str) -> Option<[&Argument; 2]> {
        let [a, b] = [0, 1].map(|run| {
            let arguments = &self.runs[run].operations[by].arguments;
            arguments.iter().find(|(of, _)| *of == name).map(|(_, argument)| argument)
        });
        Some([a?, b?])
    }
}

fn describe(operation: &TracedOperation) -> String {
    format!("`{}` of {:?}", operation.name, operation.inputs)
}

/// Whether the forecast needs each operand.
fn live(run: &Trace, kinds: &[Kind], output: usize) -> Vec<bool> {
    let mut live = vec![false; kinds.len()];
    let mut waiting = vec![output];
    while let Some(place) = waiting.pop() {
        if !std::mem::replace(&mut live[place], true)
            && let Kind::Made { by } = kinds[place]
        {
            waiting.extend(run.operations[by].inputs.iter().flatten());
        }
    }
    live
}

/// The constant that two operands are, if they are one.
fn constant(pair: [&TracedOperand; 2], shape: &[Extent], slack: f32) -> Option<Constant> {
    if shape.iter().any(|extent| !extent.is_fixed() && extent.fixed > 0) {
        return None;
    }
    let dims: Vec<usize> =
        shape.iter().map(|extent| if extent.is_fixed() { extent.fixed } else { extent.each }).collect();
    let parts = pair.map(|operand| part(operand, &dims, slack));
    let [Some(a), Some(b)] = parts else { return None };
    let same = match (&a, &b) {
        (Values::Numbers(a), Values::Numbers(b)) => a.iter().zip(b).all(|(&a, &b)| close(a, b, slack)),
        _ => a == b,
    };
    same.then(|| Constant { shape: shape.to_vec(), dims, values: a })
}

/// Whether two numbers are the same, up to this relative difference.
fn close(a: f32, b: f32, slack: f32) -> bool {
    a.to_bits() == b.to_bits() || (a - b).abs() <= slack * a.abs().max(b.abs()).max(1.0)
}

/// The first part of these sizes, if the whole is that part repeated.
fn part(operand: &TracedOperand, dims: &[usize], slack: f32) -> Option<Values> {
    let shape = operand.shape();
    let count: usize = dims.iter().product();
    // The place in the part of each element of the whole.
    let place = |mut at: usize| {
        let (mut place, mut step) = (0, 1);
        for (&size, &dim) in shape.iter().zip(dims).rev() {
            place += at % size % dim * step;
            step *= dim;
            at /= size;
        }
        place
    };
    fn repeated<T: Copy>(
        whole: &[T],
        count: usize,
        place: impl Fn(usize) -> usize,
        same: impl Fn(T, T) -> bool,
    ) -> Option<Vec<T>> {
        let mut part: Vec<Option<T>> = vec![None; count];
        for (at, &value) in whole.iter().enumerate() {
            let slot = &mut part[place(at)];
            if slot.is_some_and(|known| !same(known, value)) {
                return None;
            }
            slot.get_or_insert(value);
        }
        part.into_iter().collect()
    }
    match operand {
        TracedOperand::Numbers { .. } => {
            let whole = Tensor::of_operand(operand)?.to_vec();
            repeated(&whole, count, place, |a, b| close(a, b, slack)).map(Values::Numbers)
        }
        TracedOperand::Places { values, .. } => {
            let whole: Vec<i64> = values.iter().map(|&place| place.into()).collect();
            repeated(&whole, count, place, |a, b| a == b).map(Values::Places)
        }
    }
}

#[cfg(test)]
mod tests {
    use foretell_nn::trace::traced;

    use super::*;

    /// The plan of `run`, which is given windows of three numbers.
    fn plan(run: impl Fn(&Tensor, usize) -> Tensor) -> Result<Plan, OnnxError> {
        let runs = RUNS.map(|windows| {
            let x = Tensor::build([windows, 3], |x| {
                x.iter_mut().enumerate().for_each(|(i, x)| *x = ((i * windows) as f32).sin());
            });
            let (y, trace) = traced(vec![(&x).into()], || run(&x, windows));
            (y, trace)
        });
        let [(y, a), (z, b)] = runs;
        Plan::new([a, b], 1, [&y, &z])
    }

    #[test]
    fn what_is_repeated_for_each_window_is_a_constant_of_one() {
        let plan = plan(|x, windows| {
            let column = Tensor::build([windows * 2, 3], |out| {
                out.iter_mut().enumerate().for_each(|(i, out)| *out = (i % 6) as f32);
            });
            Tensor::concat(&[x, x], 0).mul(&column)
        });
        let plan = plan.expect("a plan");
        let Kind::Made { by } = *plan.kind(plan.output) else { panic!("it is made") };
        let constant = plan.operation(by).inputs[1].expect("two inputs");
        let Kind::Constant(constant) = plan.kind(constant) else { panic!("a constant") };
        assert_eq!(constant.shape, [Extent { each: 2, fixed: 0 }, Extent::fixed(3)]);
        assert_eq!(constant.dims, [2, 3]);
        assert_eq!(constant.values, Values::Numbers(vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0]));
        assert_eq!(plan.needed().len(), 2);
    }

    #[test]
    fn what_operations_make_of_constants_is_a_constant() {
        let plan = plan(|x, _| x.add(&Tensor::full([3], 2.0).scale(4.0))).expect("a plan");
        assert_eq!(plan.needed().len(), 1);
    }

    #[test]
    fn a_value_that_follows_from_the_windows_unrecorded_is_unknown() {
        let plan = plan(|x, _| x.mul(&Tensor::full([3], x.to_vec()[1]))).expect("a plan");
        let by = plan.needed()[0];
        let factor = plan.operation(by).inputs[1].expect("two inputs");
        assert!(matches!(plan.kind(factor), Kind::Unknown));
    }

    #[test]
    fn other_operations_for_more_windows_are_an_error() {
        let error =
            plan(|x, windows| if windows > 6 { x.scale(2.0) } else { x.add(x) }).expect_err("no plan");
        assert!(
            error
                .to_string()
                .starts_with("the operations of a forecast depend on the number of windows: `add`"),
            "{error}"
        );
    }

    #[test]
    fn a_number_that_depends_on_the_batch_is_an_error() {
        let error = plan(|x, windows| x.scale(1.0 / windows as f32)).expect_err("no plan");
        assert!(matches!(error, OnnxError::Batch { operation: "scale", .. }), "{error}");
    }

    #[test]
    fn a_choice_by_values_is_an_error() {
        let choose = |x: &Tensor, _| {
            foretell_nn::trace::choose("a period");
            x.scale(1.0)
        };
        assert_eq!(plan(choose).expect_err("no plan"), OnnxError::Choice { choice: "a period" });
    }
}
