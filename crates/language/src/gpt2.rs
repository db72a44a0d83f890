//! GPT-2 (Radford et al. 2019) as a function of vectors behind a text.

use std::collections::BTreeMap;

use foretell_autograd::{Tensor, Var};
use foretell_checkpoint::{TensorData, TensorFile};

use crate::block::{Block, Dense, Memory, Norm};
use crate::config::Config;
use crate::error::LanguageModelError;

/// Texts of a batch are brought to a multiple of this many tokens, so that the buffers of one step are those of the next.
const TOKENS: usize = 16;

/// Texts that are read at a time.
const TEXTS: usize = 16;

pub(crate) struct Gpt2 {
    /// A vector for each token, `[vocabulary, width]`.
    pub(crate) words: Tensor,
    /// A vector for each place in a row, `[positions, width]`.
    places: Tensor,
    blocks: Vec<Block>,
    norm: Norm,
}

/// The tensors of a file, by the names of Hugging Face's `GPT2Model`.
struct Weights<'f> {
    tensors: &'f BTreeMap<String, TensorData>,
    /// The prefix of these names in `GPT2LMHeadModel`.
    prefix: &'static str,
}

impl Weights<'_> {
    fn get(&self, name: &str, shape: &[usize]) -> Result<Tensor, LanguageModelError> {
        let found = self.tensors.get(&format!("{}{name}", self.prefix));
        let values = found.filter(|tensor| tensor.shape() == shape).and_then(TensorData::as_f32);
        let missing = || LanguageModelError::Tensor { name: name.to_owned(), shape: shape.to_vec() };
        Ok(Tensor::from_slice(values.ok_or_else(missing)?, shape))
    }

    fn norm(&self, name: &str, width: usize, epsilon: f32) -> Result<Norm, LanguageModelError> {
        let [factor, offset] = ["weight", "bias"].map(|part| self.get(&format!("{name}.{part}"), &[width]));
        Ok(Norm { factor: factor?, offset: offset?, epsilon })
    }

    fn dense(&self, name: &str, [inputs, outputs]: [usize; 2]) -> Result<Dense, LanguageModelError> {
        let weight = self.get(&format!("{name}.weight"), &[inputs, outputs])?;
        Ok(Dense { weight, bias: self.get(&format!("{name}.bias"), &[outputs])? })
    }

    fn block(&self, layer: usize, config: &Config) -> Result<Block, LanguageModelError> {
        let (width, inner, epsilon) = (config.n_embd, config.inner(), config.layer_norm_epsilon);
        let name = |part: &str| format!("h.{layer}.{part}");
        // Queries, keys and values lie side by side.
        let joint = self.dense(&name("attn.c_attn"), [width, 3 * width])?;
        let projection = |part: usize| Dense {
            weight: joint.weight.narrow(1, part * width, width).contiguous(),
            bias: joint.bias.narrow(0, part * width, width).contiguous(),
        };
        Ok(Block {
            heads: config.n_head,
            activation: config.activation()?,
            attention_norm: self.norm(&name("ln_1"), width, epsilon)?,
            projections: [0, 1, 2].map(projection),
            attention_out: self.dense(&name("attn.c_proj"), [width, width])?,
            perceptron_norm: self.norm(&name("ln_2"), width, epsilon)?,
            perceptron: [
                self.dense(&name("mlp.c_fc"), [width, inner])?,
                self.dense(&name("mlp.c_proj"), [inner, width])?,
            ],
        })
    }
}

impl Gpt2 {
    pub(crate) fn new(file: &TensorFile, config: &Config) -> Result<Self, LanguageModelError> {
        let prefix = if file.tensors.contains_key("wte.weight") { "" } else { "transformer." };
        let weights = Weights { tensors: &file.tensors, prefix };
        let width = config.n_embd;
        Ok(Self {
            words: weights.get("wte.weight", &[config.vocab_size, width])?,
            places: weights.get("wpe.weight", &[config.n_positions, width])?,
            blocks: (0..config.n_layer)
                .map(|layer| weights.block(layer, config))
                .collect::<Result<_, _>>()?,
            norm: weights.norm("ln_f", width, config.layer_norm_epsilon)?,
        })
    }

    /// How many weights there are.
    pub(crate) fn numbers(&self) -> usize {
        let blocks: usize = self.blocks.iter().map(Block::numbers).sum();
        self.words.numel() + self.places.numel() + blocks + self.norm.numbers()
    }

    /// The states behind the last norm of vectors `x [windows, steps, width]`, each row behind the text of its window.
    ///
    /// Rows of text are as long as the longest. The places behind a shorter one are hidden, and the vectors' positions follow its
    /// own last token: what a window gets does not depend on its neighbours.
    pub(crate) fn read_after(&self, texts: &[Vec<u32>], x: &Var) -> Var {
        let steps = x.shape()[1];
        let room = self.places.shape()[0] - steps;
        let longest = texts.iter().map(Vec::len).max().unwrap_or_default();
        assert!(longest <= room, "a text of {longest} tokens and {steps} vectors in {} places", room + steps);
        let tokens = longest.next_multiple_of(TOKENS).min(room);
        let mut hidden = Vec::with_capacity(texts.len() * (tokens + steps));
        for text in texts {
            hidden.extend((0..tokens).map(|place| place >= text.len()));
            hidden.extend((0..steps).map(|_| false));
        }

        let mut x = x + Var::constant(self.places_behind(texts, steps));
        for (block, memory) in self.blocks.iter().zip(self.memories(texts, tokens)) {
            x = block.read_after(&x, &memory, &hidden);
        }
        self.norm.forward(&x)
    }

    /// The keys and values of the texts in each block, for later tokens. They are read some at a time: what is kept of a text is little
    /// against what reading it takes.
    fn memories(&self, texts: &[Vec<u32>], tokens: usize) -> Vec<Memory> {
        let mut parts: Vec<Vec<Memory>> = self.blocks.iter().map(|_| Vec::new()).collect();
        for texts in texts.chunks(TEXTS) {
            let mut text = Var::constant(self.embedded(texts, tokens));
            for (i, (block, parts)) in self.blocks.iter().zip(&mut parts).enumerate() {
                // Behind the last block no one reads the text.
                if i + 1 == self.blocks.len() {
                    parts.push(block.memory(&text));
                } else {
                    let (next, memory) = block.read_text(&text);
                    text = next;
                    parts.push(memory);
                }
            }
        }
        parts.into_iter().map(|parts| Memory::joined(&parts)).collect()
    }

    /// The vectors of the tokens and of their places, zeros behind the end of a text: `[windows, tokens, width]`.
    fn embedded(&self, texts: &[Vec<u32>], tokens: usize) -> Tensor {
        let width = self.words.shape()[1];
        let (words, places) = (self.words.values(), self.places.values());
        Tensor::build([texts.len(), tokens, width], |out| {
            for (text, out) in texts.iter().zip(out.chunks_exact_mut((tokens * width).max(1))) {
                out[text.len() * width..].fill(0.0);
                let rows = out.chunks_exact_mut(width).zip(places.chunks_exact(width));
                for (&token, (out, place)) in text.iter().zip(rows) {
                    let word = &words[token as usize * width..][..width];
                    for ((out, word), place) in out.iter_mut().zip(word).zip(place) {
                        *out = word + place;
                    }
                }
            }
        })
    }

    /// The vectors of the places behind each text: `[windows, steps, width]`.
    fn places_behind(&self, texts: &[Vec<u32>], steps: usize) -> Tensor {
        let width = self.words.shape()[1];
        Tensor::build([texts.len(), steps, width], |out| {
            for (text, out) in texts.iter().zip(out.chunks_exact_mut((steps * width).max(1))) {
                out.copy_from_slice(&self.places.values()[text.len() * width..][..steps * width]);
            }
        })
    }
}
