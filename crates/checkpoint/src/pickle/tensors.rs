//! The calls that stand for plain data: PyTorch's tensors, numpy's arrays and numbers, ordered dictionaries, bytes.

use safetensors::Dtype;

use super::machine::{Call, Id, Node};
use super::value::{Builder, PickleValue};
use crate::tensor::{TensorData, TensorValues};

/// PyTorch's classes of storages and the types of their numbers.
const STORAGES: [(&str, Dtype); 12] = [
    ("FloatStorage", Dtype::F32),
    ("DoubleStorage", Dtype::F64),
    ("HalfStorage", Dtype::F16),
    ("BFloat16Storage", Dtype::BF16),
    ("LongStorage", Dtype::I64),
    ("IntStorage", Dtype::I32),
    ("ShortStorage", Dtype::I16),
    ("CharStorage", Dtype::I8),
    ("ByteStorage", Dtype::U8),
    ("BoolStorage", Dtype::BOOL),
    ("ComplexFloatStorage", Dtype::C64),
    ("UInt16Storage", Dtype::U16),
];

/// numpy's names of types, without the order of bytes.
const NUMPY: [(&str, Dtype); 13] = [
    ("f4", Dtype::F32),
    ("f8", Dtype::F64),
    ("f2", Dtype::F16),
    ("i8", Dtype::I64),
    ("i4", Dtype::I32),
    ("i2", Dtype::I16),
    ("i1", Dtype::I8),
    ("u8", Dtype::U64),
    ("u4", Dtype::U32),
    ("u2", Dtype::U16),
    ("u1", Dtype::U8),
    ("b1", Dtype::BOOL),
    ("c8", Dtype::C64),
];

/// No tensor of a model has as many dimensions.
const MOST_DIMENSIONS: usize = 16;

impl Builder<'_, '_, '_, '_> {
    /// The value that a call stands for; an object of unknown class where its function is none of those known here.
    pub(super) fn call(&mut self, call: &Call) -> Result<PickleValue, String> {
        let Node::Global(module, name) = self.nodes[call.callable] else { return self.object(call) };
        let arguments = self.list(call.arguments);
        match (module, name, arguments) {
            (
                "torch._utils",
                "_rebuild_tensor_v2" | "_rebuild_tensor",
                &[storage, offset, size, stride, ..],
            ) => self.tensor(storage, offset, size, stride),
            // The tensor, and what makes a parameter of it.
            ("torch._utils", "_rebuild_parameter" | "_rebuild_parameter_with_state", &[tensor, ..]) => {
                self.value(tensor)
            }
            ("collections", "OrderedDict" | "defaultdict", _) => {
                Ok(PickleValue::Dict(self.pairs(&call.entries)?))
            }
            ("_codecs", "encode", &[text, _]) => Ok(self.latin(text)?.map_or_else(
                || PickleValue::Unknown("bytes that are no text of Latin 1".to_owned()),
                PickleValue::Bytes,
            )),
            ("numpy._core.multiarray" | "numpy.core.multiarray", "scalar", &[kind, number]) => {
                self.numpy_number(kind, number)
            }
            ("numpy._core.multiarray" | "numpy.core.multiarray", "_reconstruct", _) => self.numpy_array(call),
            ("builtins" | "__builtin__", "set" | "frozenset" | "list" | "tuple", &[items]) => {
                self.value(items)
            }
            _ => self.object(call),
        }
    }

    fn list(&self, id: Id) -> &'_ [Id] {
        match &self.nodes[id] {
            Node::List(items) => items,
            _ => &[],
        }
    }

    fn int(&self, id: Id) -> Option<usize> {
        match self.nodes[id] {
            Node::Int(value) => value.try_into().ok(),
            _ => None,
        }
    }

    fn ints(&self, id: Id) -> Option<Vec<usize>> {
        let items = self.list(id);
        let few = items.len() <= MOST_DIMENSIONS && matches!(self.nodes[id], Node::List(_));
        few.then(|| items.iter().map(|&item| self.int(item)).collect())?
    }

    /// A tensor: a view of a storage.
    fn tensor(&mut self, storage: Id, offset: Id, size: Id, stride: Id) -> Result<PickleValue, String> {
        let elsewhere = || PickleValue::Unknown("a tensor whose numbers are not in the file".to_owned());
        let wrong = || "a tensor with a strange offset, size or stride".to_owned();
        let (Some(offset), Some(size), Some(stride)) = (self.int(offset), self.ints(size), self.ints(stride))
        else {
            return Err(wrong());
        };
        let persistent = match self.nodes[storage] {
            Node::Persistent(id) => self.list(id),
            _ => &[],
        };
        let &[_, kind, key, ..] = persistent else {
            return Ok(elsewhere());
        };
        let (Node::Global(_, kind), Node::Text(key)) = (&self.nodes[kind], &self.nodes[key]) else {
            return Err("a storage without type or name".to_owned());
        };
        let Some(&(_, dtype)) = STORAGES.iter().find(|(name, _)| name == kind) else {
            return Ok(PickleValue::Unknown(format!("a tensor in a {kind}")));
        };
        let Some(archive) = &mut self.archive else {
            return Ok(elsewhere());
        };
        let width = dtype.bitsize() / 8;
        let bytes = archive.storage(key)?;
        let count = size.iter().try_fold(1usize, |count, &n| count.checked_mul(n)).ok_or_else(wrong)?;
        self.budget.spend(count.checked_mul(width).ok_or_else(wrong)?)?;
        let data = gather(bytes, width, offset, &size, &stride).ok_or_else(wrong)?;
        array(dtype, size, &data).ok_or_else(wrong)
    }

    /// The bytes that a text of Latin 1 stands for: how older protocols write bytes.
    fn latin(&mut self, text: Id) -> Result<Option<Vec<u8>>, String> {
        let Node::Text(text) = self.nodes[text] else { return Ok(None) };
        self.budget.spend(text.len())?;
        Ok(text.chars().map(|c| u8::try_from(u32::from(c)).ok()).collect())
    }

    /// The bytes of a node, however they are written.
    fn bytes_of(&mut self, id: Id) -> Result<Option<Vec<u8>>, String> {
        match &self.nodes[id] {
            Node::Bytes(bytes) => {
                self.budget.spend(bytes.len())?;
                Ok(Some(bytes.to_vec()))
            }
            Node::Call(call) => match (&self.nodes[call.callable], self.list(call.arguments)) {
                (Node::Global("_codecs", "encode"), &[text, _]) => self.latin(text),
                _ => Ok(None),
            },
            _ => Ok(None),
        }
    }

    /// The name of a numpy type, "f8", if its bytes are little-endian.
    fn numpy_kind(&self, kind: Id) -> Option<&str> {
        let Node::Call(call) = &self.nodes[kind] else { return None };
        let Node::Global("numpy", "dtype") = self.nodes[call.callable] else { return None };
        let &[name, ..] = self.list(call.arguments) else { return None };
        let Node::Text(name) = self.nodes[name] else { return None };
        // (version, order, ...)
        let order = call.state.and_then(|state| self.list(state).get(1).copied());
        match order.map(|order| &self.nodes[order]) {
            Some(Node::Text(">")) => None,
            _ => Some(name),
        }
    }

    fn numpy_number(&mut self, kind: Id, number: Id) -> Result<PickleValue, String> {
        let unknown = || PickleValue::Unknown("a number or text of numpy's".to_owned());
        let Some(bytes) = self.bytes_of(number)? else { return Ok(unknown()) };
        let Some(kind) = self.numpy_kind(kind) else { return Ok(unknown()) };
        if kind.starts_with('U') {
            // UTF-32, filled up with zeros.
            let text: Option<String> = bytes
                .as_chunks()
                .0
                .iter()
                .map(|&code| char::from_u32(u32::from_le_bytes(code)))
                .filter(|code| *code != Some('\0'))
                .collect();
            return Ok(text.map_or_else(unknown, PickleValue::Text));
        }
        let dtype = NUMPY.iter().find(|(name, _)| *name == kind).map(|(_, dtype)| *dtype);
        let values = dtype.filter(|dtype| dtype.bitsize() / 8 == bytes.len());
        let values = values.and_then(|dtype| TensorValues::from_bytes(dtype, &bytes));
        Ok(match values {
            Some(TensorValues::Bool(values)) => PickleValue::Bool(values[0] != 0),
            Some(TensorValues::F32(values)) => PickleValue::Float(shortest(values[0])),
            Some(TensorValues::F64(values)) => PickleValue::Float(values[0]),
            Some(values) => match TensorData::new([1], values).integers() {
                Some(integers) => PickleValue::Int(integers[0]),
                None => unknown(),
            },
            None => unknown(),
        })
    }

    /// An array, whose state is (version, shape, type, whether columns come first, bytes).
    fn numpy_array(&mut self, call: &Call) -> Result<PickleValue, String> {
        let unknown = || Ok(PickleValue::Unknown("an array of numpy's that holds no numbers".to_owned()));
        let state = call.state.map_or(&[][..], |state| self.list(state));
        let &[_, shape, kind, by_columns, data] = state else { return unknown() };
        let (Some(shape), Some(kind)) = (self.ints(shape), self.numpy_kind(kind)) else { return unknown() };
        let Some(&(_, dtype)) = NUMPY.iter().find(|(name, _)| *name == kind) else { return unknown() };
        let by_columns = matches!(self.nodes[by_columns], Node::Bool(true));
        let Some(bytes) = self.bytes_of(data)? else { return unknown() };
        let (width, mut stride, mut step) = (dtype.bitsize() / 8, vec![0; shape.len()], 1usize);
        let axes: Vec<usize> = (0..shape.len()).collect();
        let from_the_fastest: Vec<usize> = if by_columns { axes } else { axes.into_iter().rev().collect() };
        for axis in from_the_fastest {
            stride[axis] = step;
            step = step.checked_mul(shape[axis]).ok_or("an array of strange shape")?;
        }
        self.budget.spend(step.checked_mul(width).ok_or("an array of strange shape")?)?;
        let data = gather(&bytes, width, 0, &shape, &stride);
        let tensor = data.and_then(|data| array(dtype, shape, &data));
        tensor.ok_or_else(|| "an array whose shape does not fit its numbers".to_owned())
    }
}

/// The number that reads the same with fewest digits.
fn shortest(value: f32) -> f64 {
    value.to_string().parse().unwrap_or(f64::from(value))
}

fn array(dtype: Dtype, shape: Vec<usize>, bytes: &[u8]) -> Option<PickleValue> {
    Some(PickleValue::Array(TensorData::new(shape, TensorValues::from_bytes(dtype, bytes)?)))
}

/// The elements of a strided view in order, each of `width` bytes; `None` if one is outside. The caller has seen to it that
/// their bytes can be counted.
fn gather(bytes: &[u8], width: usize, offset: usize, size: &[usize], stride: &[usize]) -> Option<Vec<u8>> {
    if size.len() != stride.len() {
        return None;
    }
    let count: usize = size.iter().product();
    let mut out = Vec::with_capacity(count * width);
    if count == 0 {
        return Some(out);
    }
    let mut last = offset;
    for (&n, &step) in size.iter().zip(stride) {
        last = last.checked_add((n - 1).checked_mul(step)?)?;
    }
    if last.checked_add(1)?.checked_mul(width)? > bytes.len() {
        return None;
    }
    let (mut index, mut place) = (vec![0; size.len()], offset);
    for _ in 0..count {
        out.extend_from_slice(&bytes[place * width..(place + 1) * width]);
        for axis in (0..size.len()).rev() {
            // The step beyond the last element is taken back at once, and may be of any length.
            (index[axis], place) = (index[axis] + 1, place.wrapping_add(stride[axis]));
            if index[axis] < size[axis] {
                break;
            }
            (index[axis], place) = (0, place.wrapping_sub(size[axis].wrapping_mul(stride[axis])));
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_are_read_in_order_and_within_their_storage() {
        let bytes: Vec<u8> = (0..12).collect();
        assert_eq!(gather(&bytes, 1, 1, &[2, 3], &[1, 2]).unwrap(), [1, 3, 5, 2, 4, 6]);
        assert_eq!(gather(&bytes, 2, 0, &[2, 2], &[3, 1]).unwrap(), [0, 1, 2, 3, 6, 7, 8, 9]);
        assert_eq!(gather(&bytes, 4, 2, &[], &[]).unwrap(), [8, 9, 10, 11]);
        assert_eq!(gather(&bytes, 1, 5, &[3], &[0]).unwrap(), [5, 5, 5]);
        assert_eq!(gather(&bytes, 1, 5, &[1, 2], &[usize::MAX, 1]).unwrap(), [5, 6]);
        assert_eq!(gather(&bytes, 4, 99, &[0, 7], &[1, 1]).unwrap(), [0; 0]);
        for (offset, size, stride) in [
            (12, &[1][..], &[1][..]),
            (0, &[13], &[1]),
            (0, &[2], &[usize::MAX]),
            (usize::MAX, &[1], &[1]),
            (0, &[2, 2], &[1]),
        ] {
            assert!(gather(&bytes, 1, offset, size, stride).is_none());
        }
    }
}
