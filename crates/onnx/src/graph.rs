//! An ONNX graph under construction: nodes, constants, and sizes that are known when it runs.

use std::collections::{HashMap, HashSet};

use crate::extent::Extent;
use crate::proto::{Attribute, Dim, FLOAT, INT64, Message, tensor, value_info};

/// A value of the graph.
pub(crate) type Name = String;

/// The version of the operations.
pub(crate) const OPSET: i64 = 17;
/// The version of the file that goes with it.
const IR_VERSION: i64 = 8;

/// An operation of the graph, and what it reads and makes.
#[derive(Debug)]
struct Node {
    inputs: Vec<Name>,
    outputs: Vec<Name>,
    message: Message,
}

#[derive(Debug, Default)]
pub(crate) struct Graph {
    nodes: Vec<Node>,
    constants: Vec<(Name, Message)>,
    /// Constants of numbers by sizes and bits: a network that is written out step by step asks for the same weights at each.
    floats: HashMap<(Vec<usize>, Vec<u32>), Name>,
    inputs: Vec<Message>,
    /// The names of the outputs, and what is said of them.
    outputs: Vec<(Name, Message)>,
    count: usize,
    /// Constants of whole numbers by sizes and values, and sizes by extents.
    numbers: HashMap<(Vec<usize>, Vec<i64>), Name>,
    sizes: HashMap<(usize, usize), Name>,
    /// The input whose first dimension is the number of windows.
    batch_of: Name,
}

/// Attributes of a node.
pub(crate) type Attributes<'a> = &'a [(&'static str, Attribute)];

pub(crate) fn ints(values: &[usize]) -> Attribute {
    Attribute::Ints(values.iter().map(|&value| value as i64).collect())
}

impl Graph {
    fn fresh(&mut self) -> Name {
        self.count += 1;
        format!("v{}", self.count)
    }

    /// An input of the graph; the first dimension of the first one is the number of windows.
    pub(crate) fn input(&mut self, name: &str, dims: &[Dim]) -> Name {
        if self.inputs.is_empty() {
            self.batch_of = name.to_owned();
        }
        self.inputs.push(value_info(name, dims));
        name.to_owned()
    }

    /// An output of the graph, which is `value`.
    pub(crate) fn output(&mut self, name: &str, value: &str, dims: &[Dim]) {
        self.push("Identity", &[value], &[name.to_owned()], &[]);
        self.outputs.push((name.to_owned(), value_info(name, dims)));
    }

    fn push(&mut self, operation: &str, inputs: &[&str], outputs: &[Name], attributes: Attributes<'_>) {
        let message = inputs.iter().fold(Message::default(), |m, input| m.bytes(1, input.as_bytes()));
        let message = outputs.iter().fold(message, |m, output| m.bytes(2, output.as_bytes()));
        let message = message.bytes(3, outputs[0].as_bytes()).bytes(4, operation.as_bytes());
        let message =
            attributes.iter().fold(message, |m, (name, attribute)| m.message(5, &attribute.message(name)));
        let inputs = inputs.iter().map(|&input| input.to_owned()).collect();
        self.nodes.push(Node { inputs, outputs: outputs.to_vec(), message });
    }

    /// A node with one result. An input without a name is one that is left out.
    pub(crate) fn node(&mut self, operation: &str, inputs: &[&str], attributes: Attributes<'_>) -> Name {
        let [output] = self.nodes_of(operation, inputs, attributes);
        output
    }

    /// A node with several results.
    pub(crate) fn nodes_of<const N: usize>(
        &mut self,
        operation: &str,
        inputs: &[&str],
        attributes: Attributes<'_>,
    ) -> [Name; N] {
        let outputs = std::array::from_fn(|_| self.fresh());
        self.push(operation, inputs, &outputs, attributes);
        outputs
    }

    /// A constant of numbers, row-major.
    pub(crate) fn floats(&mut self, dims: &[usize], values: &[f32]) -> Name {
        debug_assert_eq!(dims.iter().product::<usize>(), values.len(), "values of a constant of {dims:?}");
        let key = (dims.to_vec(), values.iter().map(|value| value.to_bits()).collect::<Vec<u32>>());
        if let Some(name) = self.floats.get(&key) {
            return name.clone();
        }
        let name = self.fresh();
        let data: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.constants.push((name.clone(), tensor(&name, FLOAT, dims, &data)));
        self.floats.insert(key, name.clone());
        name
    }

    /// A single number.
    pub(crate) fn number(&mut self, value: f32) -> Name {
        self.floats(&[], &[value])
    }

    /// A constant of whole numbers, row-major.
    pub(crate) fn whole(&mut self, dims: &[usize], values: &[i64]) -> Name {
        let key = (dims.to_vec(), values.to_vec());
        if let Some(name) = self.numbers.get(&key) {
            return name.clone();
        }
        let name = self.fresh();
        let data: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.constants.push((name.clone(), tensor(&name, INT64, dims, &data)));
        self.numbers.insert(key, name.clone());
        name
    }

    /// A list of whole numbers.
    pub(crate) fn list(&mut self, values: &[i64]) -> Name {
        self.whole(&[values.len()], values)
    }

    /// A size as a list of one.
    fn size(&mut self, extent: Extent) -> Name {
        let Extent { each, fixed } = extent;
        if each == 0 {
            return self.list(&[fixed as i64]);
        }
        if let Some(name) = self.sizes.get(&(each, fixed)) {
            return name.clone();
        }
        let name = if (each, fixed) == (1, 0) {
            let source = self.batch_of.clone();
            let shape =
                self.node("Shape", &[&source], &[("start", Attribute::Int(0)), ("end", Attribute::Int(1))]);
            self.node("Identity", &[&shape], &[])
        } else {
            let windows = self.size(Extent { each: 1, fixed: 0 });
            let each = self.list(&[each as i64]);
            let product = self.node("Mul", &[&windows, &each], &[]);
            match fixed {
                0 => product,
                _ => {
                    let fixed = self.list(&[fixed as i64]);
                    self.node("Add", &[&product, &fixed], &[])
                }
            }
        };
        self.sizes.insert((each, fixed), name.clone());
        name
    }

    /// Sizes as a list.
    pub(crate) fn sizes(&mut self, extents: &[Extent]) -> Name {
        if extents.iter().all(|extent| extent.is_fixed()) {
            return self.list(&extents.iter().map(|extent| extent.fixed as i64).collect::<Vec<_>>());
        }
        let parts: Vec<Name> = extents.iter().map(|&extent| self.size(extent)).collect();
        match &parts[..] {
            [only] => only.clone(),
            _ => {
                let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
                self.node("Concat", &parts, &[("axis", Attribute::Int(0))])
            }
        }
    }

    pub(crate) fn reshape(&mut self, x: &str, shape: &[Extent]) -> Name {
        // One size that grows is what is left of the others, and no node computes it.
        if shape.iter().filter(|extent| !extent.is_fixed()).count() == 1
            && shape.iter().all(|extent| !extent.is_fixed() || extent.fixed > 0)
        {
            let list: Vec<i64> =
                shape.iter().map(|extent| if extent.is_fixed() { extent.fixed as i64 } else { -1 }).collect();
            let list = self.list(&list);
            return self.node("Reshape", &[x, &list], &[]);
        }
        let shape = self.sizes(shape);
        self.node("Reshape", &[x, &shape], &[])
    }

    pub(crate) fn expand(&mut self, x: &str, shape: &[Extent]) -> Name {
        let shape = self.sizes(shape);
        self.node("Expand", &[x, &shape], &[])
    }

    pub(crate) fn transpose(&mut self, x: &str, order: &[usize]) -> Name {
        self.node("Transpose", &[x], &[("perm", ints(order))])
    }

    pub(crate) fn unsqueeze(&mut self, x: &str, axes: &[i64]) -> Name {
        let axes = self.list(axes);
        self.node("Unsqueeze", &[x, &axes], &[])
    }

    pub(crate) fn squeeze(&mut self, x: &str, axes: &[i64]) -> Name {
        let axes = self.list(axes);
        self.node("Squeeze", &[x, &axes], &[])
    }

    /// Elements `start` to before `end` along an axis, every `step`-th.
    pub(crate) fn slice(&mut self, x: &str, axis: i64, start: i64, end: i64, step: i64) -> Name {
        let [start, end, axis, step] = [start, end, axis, step].map(|value| self.list(&[value]));
        self.node("Slice", &[x, &start, &end, &axis, &step], &[])
    }

    pub(crate) fn sum(&mut self, x: &str, axis: i64, keep: bool) -> Name {
        let axes = self.list(&[axis]);
        self.node("ReduceSum", &[x, &axes], &[("keepdims", Attribute::Int(keep.into()))])
    }

    /// `ReduceMean`, `ReduceMax` and their like, whose axes are an attribute.
    pub(crate) fn reduce(&mut self, operation: &str, x: &str, axis: i64, keep: bool) -> Name {
        let keep = Attribute::Int(keep.into());
        self.node(operation, &[x], &[("axes", Attribute::Ints(vec![axis])), ("keepdims", keep)])
    }

    /// `x` and a number.
    pub(crate) fn with_number(&mut self, operation: &str, x: &str, value: f32) -> Name {
        let value = self.number(value);
        self.node(operation, &[x, &value], &[])
    }

    pub(crate) fn two(&mut self, operation: &str, x: &str, y: &str) -> Name {
        self.node(operation, &[x, y], &[])
    }

    pub(crate) fn one(&mut self, operation: &str, x: &str) -> Name {
        self.node(operation, &[x], &[])
    }

    pub(crate) fn concat(&mut self, parts: &[&str], axis: i64) -> Name {
        self.node("Concat", parts, &[("axis", Attribute::Int(axis))])
    }

    pub(crate) fn cast(&mut self, x: &str, kind: i64) -> Name {
        self.node("Cast", &[x], &[("to", Attribute::Int(kind))])
    }

    /// The file, with texts for those who use it.
    pub(crate) fn into_bytes(self, name: &str, texts: &[(&str, String)]) -> Vec<u8> {
        // What no output follows from is left out.
        let mut needed: HashSet<&str> = self.outputs.iter().map(|(name, _)| name.as_str()).collect();
        let mut is_needed = vec![false; self.nodes.len()];
        for (node, is_needed) in self.nodes.iter().zip(&mut is_needed).rev() {
            *is_needed = node.outputs.iter().any(|output| needed.contains(output.as_str()));
            if *is_needed {
                needed.extend(node.inputs.iter().map(String::as_str));
            }
        }
        let nodes = self.nodes.iter().zip(&is_needed).filter(|(_, is_needed)| **is_needed);
        let nodes = nodes.map(|(node, _)| (1, &node.message));
        let constants = self.constants.iter().filter(|(name, _)| needed.contains(name.as_str()));
        let constants = constants.map(|(_, message)| (5, message));
        let ends = self.inputs.iter().map(|message| (11, message));
        let ends = ends.chain(self.outputs.iter().map(|(_, message)| (12, message)));
        let graph = nodes.fold(Message::default(), |graph, (field, message)| graph.message(field, message));
        let graph = graph.bytes(2, name.as_bytes());
        let graph =
            constants.chain(ends).fold(graph, |graph, (field, message)| graph.message(field, message));
        let opset = Message::default().bytes(1, b"").int(2, OPSET);
        let model = Message::default().int(1, IR_VERSION).bytes(2, b"foretell");
        let model =
            model.bytes(3, env!("CARGO_PKG_VERSION").as_bytes()).message(7, &graph).message(8, &opset);
        let model = texts.iter().fold(model, |model, (key, value)| {
            model.message(14, &Message::default().bytes(1, key.as_bytes()).bytes(2, value.as_bytes()))
        });
        model.into_bytes()
    }
}
