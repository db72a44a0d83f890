//! The messages of `onnx.proto` that a graph needs, as protobuf has them: fields as tag and value, numbers as varints, all else with its
//! length before it. Seven messages and no reader: a generated crate would be larger than this file.

/// A message under construction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Message(Vec<u8>);

/// The kinds of values on the wire.
const VARINT: u64 = 0;
const BYTES: u64 = 2;
const FIXED32: u64 = 5;

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    /// A field that is a whole number.
    pub(crate) fn int(mut self, field: u64, value: i64) -> Self {
        self.varint((field << 3) | VARINT);
        self.varint(value as u64);
        self
    }

    /// A field that is a number of 32 bits.
    pub(crate) fn float(mut self, field: u64, value: f32) -> Self {
        self.varint((field << 3) | FIXED32);
        self.0.extend(value.to_le_bytes());
        self
    }

    /// A field that is bytes, or text.
    pub(crate) fn bytes(mut self, field: u64, value: &[u8]) -> Self {
        self.varint((field << 3) | BYTES);
        self.varint(value.len() as u64);
        self.0.extend(value);
        self
    }

    /// A field that is a message.
    pub(crate) fn message(self, field: u64, value: &Self) -> Self {
        self.bytes(field, &value.0)
    }

    /// The encoded message.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

/// Types of elements.
pub(crate) const FLOAT: i64 = 1;
pub(crate) const INT64: i64 = 7;
pub(crate) const BOOL: i64 = 9;

/// An argument of a node.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Attribute {
    Int(i64),
    Float(f32),
    Text(&'static str),
    Ints(Vec<i64>),
    Texts(Vec<&'static str>),
}

impl Attribute {
    pub(crate) fn message(&self, name: &str) -> Message {
        let named = Message::default().bytes(1, name.as_bytes());
        match self {
            Self::Float(value) => named.float(2, *value).int(20, 1),
            Self::Int(value) => named.int(3, *value).int(20, 2),
            Self::Text(value) => named.bytes(4, value.as_bytes()).int(20, 3),
            Self::Ints(values) => values.iter().fold(named, |m, &value| m.int(8, value)).int(20, 7),
            Self::Texts(values) => {
                values.iter().fold(named, |m, value| m.bytes(9, value.as_bytes())).int(20, 8)
            }
        }
    }
}

/// A constant of a graph.
pub(crate) fn tensor(name: &str, kind: i64, dims: &[usize], data: &[u8]) -> Message {
    let message = dims.iter().fold(Message::default(), |m, &dim| m.int(1, dim as i64));
    message.int(2, kind).bytes(8, name.as_bytes()).bytes(9, data)
}

/// A size of an input or output.
#[derive(Clone, Debug)]
pub(crate) enum Dim {
    Size(usize),
    Named(&'static str),
}

/// An input or output of floats.
pub(crate) fn value_info(name: &str, dims: &[Dim]) -> Message {
    let shape = dims.iter().fold(Message::default(), |shape, dim| {
        let dim = match dim {
            Dim::Size(size) => Message::default().int(1, *size as i64),
            Dim::Named(name) => Message::default().bytes(2, name.as_bytes()),
        };
        shape.message(1, &dim)
    });
    let kind = Message::default().int(1, FLOAT).message(2, &shape);
    Message::default().bytes(1, name.as_bytes()).message(2, &Message::default().message(1, &kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_written_as_protobuf_has_them() {
        let inner = Message::default().int(1, 150);
        let bytes = Message::default().message(3, &inner).float(2, 1.0).int(1, -1).into_bytes();
        assert_eq!(bytes[..5], [0x1a, 3, 0x08, 0x96, 0x01]);
        assert_eq!(bytes[5..10], [0x15, 0, 0, 0x80, 0x3f]);
        assert_eq!(bytes[10..], [&[0x08][..], &[0xff; 9], &[1]].concat());
    }
}
