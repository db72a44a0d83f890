//! The contents of a pickle as plain data.

use super::archive::Archive;
use super::machine::{Call, Id, Node};
use crate::tensor::TensorData;

/// A value of a pickle.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum PickleValue {
    /// `None`.
    None,
    /// `True` or `False`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A real number.
    Float(f64),
    /// A text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// A list, a tuple or a set.
    List(Vec<Self>),
    /// A dictionary, ordered as written.
    Dict(Vec<(Self, Self)>),
    /// A tensor of PyTorch's or an array of numpy's, row-major whatever its strides were.
    Array(TensorData),
    /// A class or a function by its whole name: `torch.optim.adam.Adam`.
    Class(String),
    /// An object of a class that has no counterpart here.
    Object(Box<PickledObject>),
    /// Something else: what Python calls it.
    Unknown(String),
}

/// An object: the class, and what the pickle says of it.
#[derive(Debug, Clone, PartialEq)]
pub struct PickledObject {
    /// The whole name of its class, or of the function that would make it.
    pub class: String,
    /// Its attributes, as far as they are stored by name.
    pub attributes: Vec<(String, PickleValue)>,
    /// The entries, if its class is a kind of dictionary.
    pub entries: Vec<(PickleValue, PickleValue)>,
}

impl PickledObject {
    /// The name of its class without the module.
    pub fn class_name(&self) -> &str {
        self.class.rsplit('.').next().unwrap_or_default()
    }

    /// The attribute of this name; of a PyTorch module also a parameter or a buffer.
    pub fn attribute(&self, name: &str) -> Option<&PickleValue> {
        let own = |name: &str| self.attributes.iter().find(|(own, _)| own == name).map(|(_, value)| value);
        let registered = |table: &str| own(table).and_then(|table| table.entry(name));
        own(name).or_else(|| registered("_parameters")).or_else(|| registered("_buffers"))
    }
}

impl PickleValue {
    /// The text, if it is one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The value of this key of a dictionary, or of an object that is a kind of dictionary.
    pub fn entry(&self, key: &str) -> Option<&Self> {
        self.entries()?.iter().find(|(found, _)| found.as_text() == Some(key)).map(|(_, value)| value)
    }

    /// Keys and values of a dictionary, or of an object that is a kind of dictionary.
    pub fn entries(&self) -> Option<&[(Self, Self)]> {
        match self {
            Self::Dict(entries) => Some(entries),
            Self::Object(object) if !object.entries.is_empty() => Some(&object.entries),
            _ => None,
        }
    }

    /// The kind of value, for messages.
    pub fn kind(&self) -> String {
        match self {
            Self::None => "None".to_owned(),
            Self::Bool(_) => "a truth value".to_owned(),
            Self::Int(_) | Self::Float(_) => "a number".to_owned(),
            Self::Text(_) => "a text".to_owned(),
            Self::Bytes(_) => "bytes".to_owned(),
            Self::List(_) => "a list".to_owned(),
            Self::Dict(_) => "a dictionary".to_owned(),
            Self::Array(array) => format!("an array of shape {:?}", array.shape()),
            Self::Class(name) => format!("the class {name}"),
            Self::Object(object) => format!("an object of {}", object.class),
            Self::Unknown(name) => name.clone(),
        }
    }
}

/// Bytes that values may take: a pickle may refer to one object so often that a tree of all would have no end.
pub(super) struct Budget {
    left: usize,
    depth: usize,
}

impl Budget {
    const ALWAYS: usize = 1 << 20;
    const FACTOR: usize = 64;
    /// Bytes that a value in memory of its own takes beside its content.
    const PLACE: usize = 32;
    /// Values within values.
    const DEPTH: usize = 64;

    /// For a file of this many bytes, whose values may take at most `most`.
    pub(super) fn of(size: usize, most: usize) -> Self {
        let proportional = Self::ALWAYS.saturating_add(size.saturating_mul(Self::FACTOR));
        Self { left: proportional.min(most), depth: Self::DEPTH }
    }

    pub(super) fn spend(&mut self, bytes: usize) -> Result<(), String> {
        self.left = self
            .left
            .checked_sub(bytes)
            .ok_or("it repeats objects so often that it would take memory out of proportion, or more than it may take")?;
        Ok(())
    }
}

/// Makes values of nodes.
pub(super) struct Builder<'n, 'a, 'z, 'f> {
    pub(super) nodes: &'n [Node<'a>],
    pub(super) archive: Option<&'z mut Archive<'f>>,
    pub(super) budget: Budget,
}

impl<'n, 'a, 'z, 'f> Builder<'n, 'a, 'z, 'f> {
    pub(super) fn new(nodes: &'n [Node<'a>], archive: Option<&'z mut Archive<'f>>, budget: Budget) -> Self {
        Self { nodes, archive, budget }
    }

    pub(super) fn value(&mut self, id: Id) -> Result<PickleValue, String> {
        self.budget.spend(size_of::<PickleValue>())?;
        self.placed(id)
    }

    /// A value whose own place was counted.
    fn placed(&mut self, id: Id) -> Result<PickleValue, String> {
        let Some(depth) = self.budget.depth.checked_sub(1) else {
            return Err(format!("its objects are nested more than {} deep", Budget::DEPTH));
        };
        self.budget.depth = depth;
        let value = self.value_within(id);
        self.budget.depth += 1;
        value
    }

    fn value_within(&mut self, id: Id) -> Result<PickleValue, String> {
        Ok(match &self.nodes[id] {
            Node::None => PickleValue::None,
            Node::Bool(value) => PickleValue::Bool(*value),
            Node::Int(value) => PickleValue::Int(*value),
            Node::Float(value) => PickleValue::Float(*value),
            Node::Text(text) => {
                self.budget.spend(text.len() + Budget::PLACE)?;
                PickleValue::Text((*text).to_owned())
            }
            Node::Bytes(bytes) => {
                self.budget.spend(bytes.len() + Budget::PLACE)?;
                PickleValue::Bytes(bytes.to_vec())
            }
            Node::List(items) => PickleValue::List(self.values(items)?),
            Node::Dict(entries) => PickleValue::Dict(self.pairs(entries)?),
            Node::Global(module, name) => PickleValue::Class(self.name(module, name)?),
            Node::Call(call) => self.call(call)?,
            Node::Persistent(_) => PickleValue::Unknown("a storage without a tensor".to_owned()),
            Node::Unknown => PickleValue::Unknown("a number of more than 64 bits".to_owned()),
        })
    }

    fn name(&mut self, module: &str, name: &str) -> Result<String, String> {
        self.budget.spend(module.len() + name.len() + 1 + Budget::PLACE)?;
        Ok(format!("{module}.{name}"))
    }

    fn values(&mut self, ids: &[Id]) -> Result<Vec<PickleValue>, String> {
        self.budget.spend(Budget::PLACE + ids.len() * size_of::<PickleValue>())?;
        // As many as there are: a vector that grows has room for twice as many.
        let mut values = Vec::with_capacity(ids.len());
        for &id in ids {
            values.push(self.placed(id)?);
        }
        Ok(values)
    }

    pub(super) fn pairs(&mut self, ids: &[Id]) -> Result<Vec<(PickleValue, PickleValue)>, String> {
        let chunks = ids.as_chunks().0;
        self.budget.spend(Budget::PLACE + chunks.len() * size_of::<(PickleValue, PickleValue)>())?;
        let mut pairs = Vec::with_capacity(chunks.len());
        for &[key, value] in chunks {
            pairs.push((self.placed(key)?, self.placed(value)?));
        }
        Ok(pairs)
    }

    /// An object whose class is not known: its attributes and its entries.
    pub(super) fn object(&mut self, call: &Call) -> Result<PickleValue, String> {
        self.budget.spend(size_of::<PickledObject>() + Budget::PLACE)?;
        let class = match self.nodes[call.callable] {
            // The way in which older protocols build objects: the class is the first argument.
            Node::Global("copyreg" | "copy_reg", "_reconstructor") => self.first(call.arguments),
            _ => Some(call.callable),
        };
        let class = match class.map(|class| &self.nodes[class]) {
            Some(Node::Global(module, name)) => self.name(module, name)?,
            _ => "an object that another object makes".to_owned(),
        };
        let entries = self.pairs(&call.entries)?;
        let mut attributes = Vec::new();
        if let Some(state) = call.state {
            // A dictionary, or a pair of it and the values of slots.
            let parts = match &self.nodes[state] {
                Node::List(parts) if parts.len() == 2 => parts.clone(),
                _ => vec![state],
            };
            for part in parts {
                let Node::Dict(part) = &self.nodes[part] else { continue };
                self.budget.spend(part.len() / 2 * size_of::<(String, PickleValue)>())?;
                for (name, value) in self.pairs(part)? {
                    if let PickleValue::Text(name) = name {
                        attributes.push((name, value));
                    }
                }
            }
        }
        Ok(PickleValue::Object(Box::new(PickledObject { class, attributes, entries })))
    }

    /// The first item of a list.
    fn first(&self, list: Id) -> Option<Id> {
        match &self.nodes[list] {
            Node::List(items) => items.first().copied(),
            _ => None,
        }
    }
}
