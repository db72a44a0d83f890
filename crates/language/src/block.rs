//! A block of GPT-2: causal attention and a perceptron, each behind a norm and added to what it reads (Radford et al. 2019,
//! section 2.3), with weights that nothing changes.

use foretell_autograd::{Activation, AttentionOptions, Tensor, Var};

/// A linear layer: weight `[inputs, outputs]`, as Hugging Face's `Conv1D` has it, and bias `[outputs]`.
pub(crate) struct Dense {
    pub(crate) weight: Tensor,
    pub(crate) bias: Tensor,
}

/// Layer normalisation: factor and offset, `[width]` each.
pub(crate) struct Norm {
    pub(crate) factor: Tensor,
    pub(crate) offset: Tensor,
    pub(crate) epsilon: f32,
}

pub(crate) struct Block {
    pub(crate) heads: usize,
    pub(crate) activation: Activation,
    pub(crate) attention_norm: Norm,
    /// Of queries, keys and values.
    pub(crate) projections: [Dense; 3],
    pub(crate) attention_out: Dense,
    pub(crate) perceptron_norm: Norm,
    pub(crate) perceptron: [Dense; 2],
}

/// The keys and values that a text leaves to what follows it, `[windows, tokens, width]` each.
pub(crate) struct Memory([Var; 2]);

impl Memory {
    /// Those of some windows and of those behind them.
    pub(crate) fn joined(parts: &[Self]) -> Self {
        Self([0, 1].map(|i| Var::concat(&parts.iter().map(|part| &part.0[i]).collect::<Vec<_>>(), 0)))
    }
}

fn constant(value: &Tensor) -> Var {
    Var::constant(value.clone())
}

impl Dense {
    fn numbers(&self) -> usize {
        self.weight.numel() + self.bias.numel()
    }

    fn forward(&self, x: &Var, activation: Activation) -> Var {
        x.linear_by_inputs(&constant(&self.weight), Some(&constant(&self.bias)), activation)
    }
}

impl Norm {
    pub(crate) fn numbers(&self) -> usize {
        self.factor.numel() + self.offset.numel()
    }

    pub(crate) fn forward(&self, x: &Var) -> Var {
        x.layer_norm(Some((&constant(&self.factor), Some(&constant(&self.offset)))), self.epsilon)
    }
}

impl Block {
    /// How many weights there are.
    pub(crate) fn numbers(&self) -> usize {
        let layers = self.projections.iter().chain(&self.perceptron).chain([&self.attention_out]);
        let norms = [&self.attention_norm, &self.perceptron_norm].map(Norm::numbers);
        layers.map(Dense::numbers).chain(norms).sum()
    }

    /// The keys and values of the text `x [windows, tokens, width]`, which later tokens attend to.
    pub(crate) fn memory(&self, x: &Var) -> Memory {
        let normed = self.attention_norm.forward(x);
        let [_, keys, values] = &self.projections;
        Memory([keys, values].map(|layer| layer.forward(&normed, Activation::Identity)))
    }

    /// The text itself, and what it leaves.
    pub(crate) fn read_text(&self, x: &Var) -> (Var, Memory) {
        let memory = self.memory(x);
        let options = AttentionOptions { causal: true, ..AttentionOptions::new(self.heads) };
        let [keys, values] = &memory.0;
        (self.attended(x, [keys, values], &options), memory)
    }

    /// Vectors `x [windows, steps, width]` behind the text; `hidden [windows, tokens + steps]` is true where the text has no token.
    pub(crate) fn read_after(&self, x: &Var, memory: &Memory, hidden: &[bool]) -> Var {
        let own = self.memory(x);
        let [keys, values] = [0, 1].map(|i| Var::concat(&[&memory.0[i], &own.0[i]], 1));
        let options = AttentionOptions {
            causal: true,
            earlier_keys: memory.0[0].shape()[1],
            key_padding: Some(hidden),
            ..AttentionOptions::new(self.heads)
        };
        self.attended(x, [&keys, &values], &options)
    }

    fn attended(&self, x: &Var, [keys, values]: [&Var; 2], options: &AttentionOptions<'_>) -> Var {
        let queries = self.projections[0].forward(&self.attention_norm.forward(x), Activation::Identity);
        let read = queries.attention(keys, values, options);
        let x = x + self.attention_out.forward(&read, Activation::Identity);
        let [up, down] = &self.perceptron;
        let inner = up.forward(&self.perceptron_norm.forward(&x), self.activation);
        &x + down.forward(&inner, Activation::Identity)
    }
}
