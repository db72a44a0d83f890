//! The machine that pickles are programs of (protocols 2 to 5, and what of the older ones Python's writers still use), which
//! builds nodes and calls nothing.

use std::collections::HashMap;

/// A node by its number.
pub(super) type Id = usize;

/// A value that an instruction has built. Texts and bytes borrow from the program.
#[derive(Debug)]
pub(super) enum Node<'a> {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(&'a str),
    Bytes(&'a [u8]),
    /// Lists, tuples and sets.
    List(Vec<Id>),
    /// Keys and values in turn.
    Dict(Vec<Id>),
    /// A class or a function: its module and its name.
    Global(&'a str, &'a str),
    /// A call, recorded but not carried out.
    Call(Box<Call>),
    /// An object that the writer stored beside the pickle.
    Persistent(Id),
    /// A number that does not fit into 64 bits.
    Unknown,
}

/// A call of a function or a class, and the state and items that were to be set on the object afterwards.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) callable: Id,
    /// A tuple.
    pub(super) arguments: Id,
    /// The last state that was set on it.
    pub(super) state: Option<Id>,
    /// The items that were appended to it.
    pub(super) items: Vec<Id>,
    /// Keys and values that were set, in turn.
    pub(super) entries: Vec<Id>,
}

/// Bytes that an instruction may take at most: a node, its places on the stack and in the memo, each in a vector or a map that is
/// copied as it grows, or a call.
const INSTRUCTION: usize = 200;

/// The nodes of a pickle, and which is the whole; `most` are the bytes that they may take.
pub(super) fn run(program: &[u8], most: usize) -> Result<(Vec<Node<'_>>, Id), String> {
    let mut machine = Machine { rest: program, ..Machine::default() };
    let mut left = most / INSTRUCTION;
    loop {
        if left == 0 {
            return Err(format!(
                "its objects take more than {} MB of memory, half of what it may take",
                most / 1_000_000
            ));
        }
        let at = program.len() - machine.rest.len();
        let instruction = machine.byte()?;
        if instruction == b'.' {
            let root = machine.pop()?;
            return Ok((machine.nodes, root));
        }
        machine.step(instruction).map_err(|reason| format!("{reason} at byte {at} of the pickle"))?;
        left -= 1;
    }
}

#[derive(Default)]
struct Machine<'a> {
    rest: &'a [u8],
    nodes: Vec<Node<'a>>,
    stack: Vec<Id>,
    /// Heights of the stack at marks.
    marks: Vec<usize>,
    memo: HashMap<u64, Id>,
}

impl<'a> Machine<'a> {
    /// Carries out an instruction: those of numbers and texts, or hands on to those of collections.
    fn step(&mut self, instruction: u8) -> Result<(), String> {
        match instruction {
            // PROTO, FRAME
            0x80 => match self.byte()? {
                ..=5 => {}
                version => return Err(format!("protocol {version}, expected at most 5")),
            },
            0x95 => _ = self.take(8)?,
            b'N' => self.push(Node::None),
            0x88 => self.push(Node::Bool(true)),
            0x89 => self.push(Node::Bool(false)),
            // BININT, BININT1, BININT2, LONG1, LONG4, INT, LONG
            b'J' => {
                let value = i32::from_le_bytes(self.array()?);
                self.push(Node::Int(value.into()));
            }
            b'K' => {
                let value = self.byte()?;
                self.push(Node::Int(value.into()));
            }
            b'M' => {
                let value = u16::from_le_bytes(self.array()?);
                self.push(Node::Int(value.into()));
            }
            0x8a => {
                let len = self.byte()?.into();
                self.long(len)?;
            }
            0x8b => {
                let len = self.length::<4>()?;
                self.long(len)?;
            }
            b'I' => match self.line()? {
                "00" => self.push(Node::Bool(false)),
                "01" => self.push(Node::Bool(true)),
                text => self.push(text.parse().map_or(Node::Unknown, Node::Int)),
            },
            b'L' => {
                let text = self.line()?.trim_end_matches('L');
                self.push(text.parse().map_or(Node::Unknown, Node::Int));
            }
            // BINFLOAT, FLOAT
            b'G' => {
                let value = f64::from_be_bytes(self.array()?);
                self.push(Node::Float(value));
            }
            b'F' => {
                let value = self.line()?.parse().map_err(|_| "a text that is no number".to_owned())?;
                self.push(Node::Float(value));
            }
            // SHORT_BINUNICODE, BINUNICODE, BINUNICODE8
            0x8c => self.text::<1>()?,
            b'X' => self.text::<4>()?,
            0x8d => self.text::<8>()?,
            // SHORT_BINBYTES, BINBYTES, BINBYTES8, BYTEARRAY8; SHORT_BINSTRING and BINSTRING are Python 2's texts.
            b'C' | b'U' => self.bytes::<1>()?,
            b'B' | b'T' => self.bytes::<4>()?,
            0x8e | 0x96 => self.bytes::<8>()?,
            other => return self.collection(other),
        }
        Ok(())
    }

    /// Carries out an instruction that makes or fills a collection, or hands on to those of objects.
    fn collection(&mut self, instruction: u8) -> Result<(), String> {
        match instruction {
            // EMPTY_TUPLE, EMPTY_LIST, EMPTY_SET, EMPTY_DICT
            b')' | b']' | 0x8f => self.push(Node::List(Vec::new())),
            b'}' => self.push(Node::Dict(Vec::new())),
            // MARK, POP_MARK, POP, DUP
            b'(' => self.marks.push(self.stack.len()),
            b'1' => drop(self.since_mark()?),
            b'0' => _ = self.pop()?,
            b'2' => {
                let top = *self.stack.last().ok_or("an empty stack")?;
                self.stack.push(top);
            }
            // TUPLE, LIST, FROZENSET, DICT, TUPLE1 to TUPLE3
            b't' | b'l' | 0x91 => {
                let items = self.since_mark()?;
                self.push(Node::List(items));
            }
            b'd' => {
                let entries = pairs(self.since_mark()?)?;
                self.push(Node::Dict(entries));
            }
            0x85..=0x87 => {
                let count = usize::from(instruction - 0x84);
                let start = self.stack.len().checked_sub(count).ok_or("an empty stack")?;
                let items = self.stack.split_off(start);
                self.push(Node::List(items));
            }
            // APPEND, APPENDS, ADDITEMS
            b'a' => {
                let item = self.pop()?;
                self.append(vec![item])?;
            }
            b'e' | 0x90 => {
                let items = self.since_mark()?;
                self.append(items)?;
            }
            // SETITEM, SETITEMS
            b's' => {
                let (value, key) = (self.pop()?, self.pop()?);
                self.set(vec![key, value])?;
            }
            b'u' => {
                let entries = pairs(self.since_mark()?)?;
                self.set(entries)?;
            }
            other => return self.object(other),
        }
        Ok(())
    }

    /// Carries out an instruction that keeps, names, calls or refers to objects.
    fn object(&mut self, instruction: u8) -> Result<(), String> {
        match instruction {
            // PUT, BINPUT, LONG_BINPUT, MEMOIZE
            b'p' | b'q' | b'r' | 0x94 => {
                let place = match instruction {
                    b'p' => self.number()?,
                    b'q' => self.byte()?.into(),
                    b'r' => u32::from_le_bytes(self.array()?).into(),
                    _ => self.memo.len() as u64,
                };
                let top = *self.stack.last().ok_or("an empty stack")?;
                self.memo.insert(place, top);
            }
            // GET, BINGET, LONG_BINGET
            b'g' | b'h' | b'j' => {
                let place = match instruction {
                    b'g' => self.number()?,
                    b'h' => self.byte()?.into(),
                    _ => u32::from_le_bytes(self.array()?).into(),
                };
                let node = *self.memo.get(&place).ok_or("an object that was not kept")?;
                self.stack.push(node);
            }
            // GLOBAL, STACK_GLOBAL
            b'c' => {
                let (module, name) = (self.line()?, self.line()?);
                self.push(Node::Global(module, name));
            }
            0x93 => {
                let (name, module) = (self.pop()?, self.pop()?);
                let (Node::Text(module), Node::Text(name)) = (&self.nodes[module], &self.nodes[name]) else {
                    return Err("a class whose name is no text".to_owned());
                };
                let global = Node::Global(module, name);
                self.push(global);
            }
            // REDUCE, NEWOBJ, NEWOBJ_EX
            b'R' | 0x81 | 0x92 => {
                if instruction == 0x92 {
                    // Arguments by name do not concern what is known.
                    self.pop()?;
                }
                let (arguments, callable) = (self.pop()?, self.pop()?);
                let call = Call { callable, arguments, state: None, items: Vec::new(), entries: Vec::new() };
                self.push(Node::Call(Box::new(call)));
            }
            // BUILD
            b'b' => {
                let state = self.pop()?;
                if let Node::Call(call) = self.top()? {
                    call.state = Some(state);
                }
            }
            // PERSID, BINPERSID
            b'Q' => {
                let id = self.pop()?;
                self.push(Node::Persistent(id));
            }
            b'P' => {
                let text = self.line()?;
                self.push(Node::Text(text));
                let id = self.pop()?;
                self.push(Node::Persistent(id));
            }
            other => {
                return Err(format!("an instruction {other:#04x}, which PyTorch and pandas do not write,"));
            }
        }
        Ok(())
    }

    fn push(&mut self, node: Node<'a>) {
        self.stack.push(self.nodes.len());
        self.nodes.push(node);
    }

    fn pop(&mut self) -> Result<Id, String> {
        if self.marks.last() == Some(&self.stack.len()) {
            return Err("an empty stack".to_owned());
        }
        self.stack.pop().ok_or_else(|| "an empty stack".to_owned())
    }

    fn top(&mut self) -> Result<&mut Node<'a>, String> {
        let top = *self.stack.last().ok_or("an empty stack")?;
        Ok(&mut self.nodes[top])
    }

    fn since_mark(&mut self) -> Result<Vec<Id>, String> {
        let start = self.marks.pop().filter(|&start| start <= self.stack.len());
        Ok(self.stack.split_off(start.ok_or("no mark")?))
    }

    fn append(&mut self, mut items: Vec<Id>) -> Result<(), String> {
        match self.top()? {
            Node::List(list) => list.append(&mut items),
            Node::Call(call) => call.items.append(&mut items),
            _ => return Err("items for what is no list".to_owned()),
        }
        Ok(())
    }

    fn set(&mut self, mut entries: Vec<Id>) -> Result<(), String> {
        match self.top()? {
            Node::Dict(all) => all.append(&mut entries),
            Node::Call(call) => call.entries.append(&mut entries),
            _ => return Err("entries for what is no dictionary".to_owned()),
        }
        Ok(())
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8], String> {
        let (taken, rest) = self.rest.split_at_checked(len).ok_or("the end of the pickle")?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], String> {
        Ok(self.take(N)?.try_into().expect("as many as were taken"))
    }

    fn byte(&mut self) -> Result<u8, String> {
        Ok(self.array::<1>()?[0])
    }

    /// A length of this many bytes.
    fn length<const N: usize>(&mut self) -> Result<usize, String> {
        let mut bytes = [0; 8];
        bytes[..N].copy_from_slice(&self.array::<N>()?);
        usize::try_from(u64::from_le_bytes(bytes)).map_err(|_| "a length without end".to_owned())
    }

    fn line(&mut self) -> Result<&'a str, String> {
        let end = self.rest.iter().position(|&byte| byte == b'\n').ok_or("the end of the pickle")?;
        let line = self.take(end + 1)?;
        std::str::from_utf8(&line[..end]).map_err(|_| "a text that is no UTF-8".to_owned())
    }

    fn number(&mut self) -> Result<u64, String> {
        self.line()?.parse().map_err(|_| "a text that is no number".to_owned())
    }

    /// A whole number of any length, little-endian in two's complement.
    fn long(&mut self, len: usize) -> Result<(), String> {
        let bytes = self.take(len)?;
        let sign = if bytes.last().is_some_and(|byte| byte & 0x80 != 0) { 0xff } else { 0 };
        let mut whole = [sign; 8];
        let node = match len {
            ..=8 => {
                whole[..len].copy_from_slice(bytes);
                Node::Int(i64::from_le_bytes(whole))
            }
            _ => Node::Unknown,
        };
        self.push(node);
        Ok(())
    }

    fn text<const N: usize>(&mut self) -> Result<(), String> {
        let len = self.length::<N>()?;
        let text = std::str::from_utf8(self.take(len)?).map_err(|_| "a text that is no UTF-8".to_owned())?;
        self.push(Node::Text(text));
        Ok(())
    }

    fn bytes<const N: usize>(&mut self) -> Result<(), String> {
        let len = self.length::<N>()?;
        let bytes = self.take(len)?;
        self.push(Node::Bytes(bytes));
        Ok(())
    }
}

fn pairs(entries: Vec<Id>) -> Result<Vec<Id>, String> {
    match entries.len().is_multiple_of(2) {
        true => Ok(entries),
        false => Err("a key without a value".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fails(program: &[u8], reason: &str) {
        let error = run(program, usize::MAX).unwrap_err();
        assert!(error.contains(reason), "{error}");
    }

    #[test]
    fn instructions_that_make_no_sense_are_refused() {
        fails(b"", "the end of the pickle");
        fails(b".", "an empty stack");
        fails(b"(.", "an empty stack");
        fails(b"(0.", "an empty stack");
        fails(b"t.", "no mark at byte 0");
        fails(b"(K\x01d.", "a key without a value at byte 3");
        fails(b"NK\x01a.", "items for what is no list");
        fails(b"NK\x01K\x02s.", "entries for what is no dictionary");
        fails(b"h\x07.", "an object that was not kept");
        fails(b"X\xff\xff\xff\xffa.", "the end of the pickle");
        fails(b"\x8c\x01\xff.", "a text that is no UTF-8");
        fails(b"\x80\x09.", "protocol 9");
        fails(b"\x82\x01.", "an instruction 0x82");
        fails(b"K\x01K\x02\x93.", "a class whose name is no text");
    }

    #[test]
    fn numbers_of_all_lengths_are_read() {
        let int = |program: &[u8]| {
            let (nodes, root) = run(program, usize::MAX).unwrap();
            match nodes[root] {
                Node::Int(value) => Some(value),
                _ => None,
            }
        };
        assert_eq!(int(b"K\xff."), Some(255));
        assert_eq!(int(b"M\x01\x02."), Some(513));
        assert_eq!(int(b"J\xfe\xff\xff\xff."), Some(-2));
        assert_eq!(int(b"\x8a\x00."), Some(0));
        assert_eq!(int(b"\x8a\x02\x00\x80."), Some(-32768));
        assert_eq!(int(b"\x8b\x05\x00\x00\x00\x00\x00\x00\x00\x01."), Some(1 << 32));
        assert_eq!(int(b"I-7\n."), Some(-7));
        assert_eq!(int(b"L12L\n."), Some(12));
        assert_eq!(int(b"\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\x01."), None);
    }
}
