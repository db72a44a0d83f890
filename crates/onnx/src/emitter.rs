//! What an operation of a plan is written with: its operands and arguments, and the graph.

use foretell_nn::trace::Argument;

use crate::error::OnnxError;
use crate::extent::Extent;
use crate::graph::{Graph, Name};
use crate::plan::{Constant, Kind, Plan, Values};

/// Writes the operations of a plan into a graph.
#[derive(Debug)]
pub(crate) struct Emitter<'a> {
    pub(crate) graph: &'a mut Graph,
    plan: &'a Plan,
    names: Vec<Option<Name>>,
}

/// How an operation is written.
pub(crate) type Write = fn(&mut Call<'_, '_>) -> Result<Vec<Name>, OnnxError>;

/// An operation's name, and how it is written.
pub(crate) type Row = (&'static str, Write);

impl<'a> Emitter<'a> {
    /// A graph whose `inputs` are the first operands of the plan.
    pub(crate) fn new(graph: &'a mut Graph, plan: &'a Plan, inputs: Vec<Name>) -> Self {
        let mut names: Vec<Option<Name>> = inputs.into_iter().map(Some).collect();
        names.resize(plan.shapes.len(), None);
        Self { graph, plan, names }
    }

    /// Writes what the forecast needs, and gives its name.
    pub(crate) fn run(mut self, table: impl Fn(&str) -> Option<Write>) -> Result<Name, OnnxError> {
        for by in self.plan.needed() {
            let operation = self.plan.operation(by);
            let Some(write) = table(operation.name) else {
                return Err(OnnxError::Operation { operation: operation.name, detail: String::new() });
            };
            let outputs = write(&mut Call { emitter: &mut self, by })?;
            for (&place, name) in operation.outputs.iter().zip(outputs) {
                self.names[place] = Some(name);
            }
        }
        self.name(self.plan.output, "forecast")
    }

    fn name(&mut self, place: usize, reader: &'static str) -> Result<Name, OnnxError> {
        if let Some(name) = &self.names[place] {
            return Ok(name.clone());
        }
        let Kind::Constant(constant) = self.plan.kind(place) else {
            return Err(OnnxError::NotRecorded { operation: reader });
        };
        let name = write_constant(self.graph, constant);
        self.names[place] = Some(name.clone());
        Ok(name)
    }
}

/// A constant; repeated for each window, where it has as many rows as there are windows.
fn write_constant(graph: &mut Graph, constant: &Constant) -> Name {
    let Constant { shape, dims, values } = constant;
    let write = |graph: &mut Graph, dims: &[usize]| match values {
        Values::Numbers(values) => graph.floats(dims, values),
        Values::Places(values) => graph.whole(dims, values),
    };
    if shape.iter().all(|extent| extent.is_fixed()) {
        return write(graph, dims);
    }
    // [.., each, ..] as [.., 1, each, ..], repeated along the 1.
    let (mut apart, mut repeated) = (Vec::new(), Vec::new());
    for (&extent, &dim) in shape.iter().zip(dims) {
        if !extent.is_fixed() {
            apart.push(1);
            repeated.push(Extent { each: 1, fixed: 0 });
        }
        apart.push(dim);
        repeated.push(Extent::fixed(dim));
    }
    let part = write(graph, &apart);
    let whole = graph.expand(&part, &repeated);
    graph.reshape(&whole, shape)
}

/// An operation that is being written.
#[derive(Debug)]
pub(crate) struct Call<'e, 'a> {
    emitter: &'e mut Emitter<'a>,
    by: usize,
}

impl Call<'_, '_> {
    pub(crate) fn graph(&mut self) -> &mut Graph {
        self.emitter.graph
    }

    fn operation_name(&self) -> &'static str {
        self.emitter.plan.operation(self.by).name
    }

    /// That ONNX has not this of the operation.
    pub(crate) fn refuse(&self, detail: &str) -> OnnxError {
        OnnxError::Operation { operation: self.operation_name(), detail: format!(": {detail}") }
    }

    fn input_place(&self, i: usize) -> Option<usize> {
        self.emitter.plan.operation(self.by).inputs.get(i).copied().flatten()
    }

    pub(crate) fn inputs(&self) -> usize {
        self.emitter.plan.operation(self.by).inputs.len()
    }

    /// An input that may be left out.
    pub(crate) fn optional(&mut self, i: usize) -> Result<Option<Name>, OnnxError> {
        let Some(place) = self.input_place(i) else { return Ok(None) };
        let reader = self.operation_name();
        self.emitter.name(place, reader).map(Some)
    }

    /// An input.
    ///
    /// # Panics
    /// If the operation has not as many.
    #[track_caller]
    pub(crate) fn input(&mut self, i: usize) -> Result<Name, OnnxError> {
        let name = self.operation_name();
        self.optional(i).map(|input| input.unwrap_or_else(|| panic!("`{name}` has no input {i}")))
    }

    /// The shape of an input.
    #[track_caller]
    pub(crate) fn shape(&self, i: usize) -> &[Extent] {
        let place = self.input_place(i);
        &self.emitter.plan.shapes
            [place.unwrap_or_else(|| panic!("`{}` has no input {i}", self.operation_name()))]
    }

    /// The size of a dimension of an input that does not grow with the batch.
    pub(crate) fn dim(&self, i: usize, axis: usize) -> Result<usize, OnnxError> {
        let extent = self.shape(i)[axis];
        match extent.is_fixed() {
            true => Ok(extent.fixed),
            false => Err(self.refuse(&format!("dimension {axis} of input {i} is that of the batch"))),
        }
    }

    pub(crate) fn rank(&self, i: usize) -> usize {
        self.shape(i).len()
    }

    /// The shape of a result.
    pub(crate) fn result(&self, i: usize) -> &[Extent] {
        &self.emitter.plan.shapes[self.emitter.plan.operation(self.by).outputs[i]]
    }

    /// The values of an input that is a constant, with its sizes.
    pub(crate) fn constant(&self, i: usize) -> Result<(Vec<usize>, Vec<f32>), OnnxError> {
        let place = self.input_place(i);
        match place.map(|place| self.emitter.plan.kind(place)) {
            Some(Kind::Constant(Constant { shape, dims, values: Values::Numbers(values) }))
                if shape.iter().all(|extent| extent.is_fixed()) =>
            {
                Ok((dims.clone(), values.clone()))
            }
            _ => Err(self.refuse(&format!("input {i} is computed from the windows"))),
        }
    }

    /// The places of an input that are constants, with their sizes.
    pub(crate) fn places(&self, i: usize) -> Result<(Vec<usize>, Vec<i64>), OnnxError> {
        let place = self.input_place(i);
        match place.map(|place| self.emitter.plan.kind(place)) {
            Some(Kind::Constant(Constant { dims, values: Values::Places(values), .. })) => {
                Ok((dims.clone(), values.clone()))
            }
            _ => Err(self.refuse(&format!("input {i} is computed from the windows"))),
        }
    }

    /// A size among the arguments, if it is there.
    pub(crate) fn optional_extent(&self, name: &str) -> Result<Option<Extent>, OnnxError> {
        match self.emitter.plan.argument(self.by, name) {
            Some([Argument::Size(a), Argument::Size(b)]) => Extent::through([*a, *b])
                .ok_or_else(|| OnnxError::Batch {
                    operation: self.operation_name(),
                    found: format!("{name} {a} and {b}"),
                })
                .map(Some),
            _ => Ok(None),
        }
    }

    #[track_caller]
    pub(crate) fn extent(&self, name: &str) -> Result<Extent, OnnxError> {
        Ok(self.optional_extent(name)?.unwrap_or_else(|| panic!("`{}` has no {name}", self.operation_name())))
    }

    /// A size among the arguments that is the same for any batch.
    #[track_caller]
    pub(crate) fn size(&self, name: &str) -> Result<usize, OnnxError> {
        let extent = self.extent(name)?;
        match extent.is_fixed() {
            true => Ok(extent.fixed),
            false => Err(self.refuse(&format!("{name} grows with the batch"))),
        }
    }

    #[track_caller]
    pub(crate) fn sizes(&self, name: &str) -> Vec<usize> {
        match self.emitter.plan.argument(self.by, name) {
            Some([Argument::Sizes(sizes), _]) => sizes.clone(),
            _ => panic!("`{}` has no {name}", self.operation_name()),
        }
    }

    #[track_caller]
    pub(crate) fn number(&self, name: &str) -> f32 {
        match self.emitter.plan.argument(self.by, name) {
            Some([Argument::Number(number), _]) => *number,
            _ => panic!("`{}` has no {name}", self.operation_name()),
        }
    }

    #[track_caller]
    pub(crate) fn word(&self, name: &str) -> &'static str {
        match self.emitter.plan.argument(self.by, name) {
            Some([Argument::Word(word), _]) => word,
            _ => panic!("`{}` has no {name}", self.operation_name()),
        }
    }
}
