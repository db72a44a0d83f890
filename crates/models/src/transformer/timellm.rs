//! TimeLLM: a frozen language model that reads a window's statistics in words, and the window's patches as words.
//!
//! Jin, Wang, Ma, Chu, Zhang, Shi, Chen, Liang, Li, Pan, Wen 2023, "Time-LLM: Time Series Forecasting by Reprogramming Large Language
//! Models" (arXiv 2310.01728), section 3. The language model is in a folder of the user's; what is trained, and saved, is the
//! embedding of patches, the prototypes of words, the reprogramming by these, and the head.

use std::path::{Path, absolute};
use std::sync::Arc;

use foretell_language::LanguageModel;
use foretell_nn::{
    Activation, DataEmbedding, DataEmbeddingSizes, Dims, Forward, HyperParameterError, Inputs, Linear, Map,
    Model, Needs, Padding, Reprogramming, ReprogrammingSizes, RevIn, RevInConfig, Scope, Var, trace,
};
use serde_json::{Value, json};

use crate::architecture::{Architecture, Exogenous};
use crate::hyper::{hyper_parameters, require};
use crate::normalised::forecast_normalised;
use crate::rules;
use crate::transformer::shared::window_prompt::WindowPrompt;

/// The most tokens of a prompt; neuralforecast cuts them there.
const MOST_TOKENS: usize = 2048;

/// Windows of a shard, more than a batch has: the prototypes, a product of all words of the language model, are computed once.
const ONE_SHARD: usize = 1 << 20;

/// The description of the folder of a language model.
const FOLDER: &str = "the path of a folder with config.json, model.safetensors and tokenizer.json of a GPT-2 in Hugging Face's layout, \
                      such as the files of that name in https://huggingface.co/openai-community/gpt2";

hyper_parameters! {
    TimeLlm {
        /// Steps of a patch; at most `input_size + stride`.
        patch_len: usize = 16 => rules::units,
        /// Steps from one patch to the next.
        stride: usize = 8 => rules::units,
        /// Width of the heads of the reprogramming, and how many numbers of each state of the language model the forecast is made of;
        /// at most `d_llm`.
        d_ff: usize = 128 => rules::units,
        /// Lags that the prompt names; it calls them the top 5, however many they are.
        top_k: usize = 5 => rules::units,
        /// Width of the language model's states.
        d_llm: usize = 768 => rules::units,
        /// Numbers of a patch.
        d_model: usize = 32 => rules::units,
        /// Heads of the reprogramming.
        n_heads: usize = 8 => rules::units,
        /// No effect, as in neuralforecast.
        enc_in: usize = 7,
        /// No effect, as in neuralforecast.
        dec_in: usize = 7,
        /// The folder of the language model: `config.json`, `model.safetensors` and `tokenizer.json` of a GPT-2 in Hugging Face's
        /// layout.
        llm: Option<String> = None,
        /// No effect; deprecated in neuralforecast.
        llm_config: Value = Value::Null,
        /// No effect; deprecated in neuralforecast.
        llm_tokenizer: Value = Value::Null,
        /// No effect, as in neuralforecast: all layers of the language model are used.
        llm_num_hidden_layers: usize = 32,
        /// No effect, as in neuralforecast.
        llm_output_attention: bool = true,
        /// No effect, as in neuralforecast.
        llm_output_hidden_states: bool = true,
        /// The description of the data in the prompt; null is the word None in it.
        prompt_prefix: Option<String> = None,
        /// Dropout of the embedded patches and of the forecast.
        dropout: f64 = 0.1 => rules::dropout,
        /// Dropout of the reprogramming's attention; 0.1 in neuralforecast.
        attention_dropout: f64 = 0.1 => rules::dropout,
        /// Prototypes that the words of the language model are brought to; 1024 in neuralforecast.
        num_tokens: usize = 1024 => rules::units,
        /// The checksum of the language model's folder, if it must be a certain one; a saved model has it.
        llm_checksum: Option<String> = None,
    }
}

/// Activations are `[windows, patches, width]`.
struct Network {
    dims: Dims,
    language: Arc<LanguageModel>,
    prompt: WindowPrompt,
    norm: RevIn,
    embedding: DataEmbedding,
    /// Over the words.
    mapping: Linear,
    reprogramming: Reprogramming,
    head: Linear,
    patch_len: usize,
    stride: usize,
    patches: usize,
    /// Numbers of each state that the head reads.
    read: usize,
    head_dropout: f32,
}

impl TimeLlm {
    fn language_model(&self) -> Result<Arc<LanguageModel>, HyperParameterError> {
        let llm = self.llm.as_deref().ok_or_else(|| HyperParameterError::new("llm", FOLDER, "null"))?;
        let language = LanguageModel::open(Path::new(llm))
            .map_err(|error| HyperParameterError::new("llm", FOLDER, format!("{llm}: {error}")))?;
        let (expected, found) = (self.llm_checksum.as_deref(), language.checksum());
        if expected.is_some_and(|expected| expected != found) {
            let expected = format!(
                "the folder of the language model that the model was trained with, of checksum {}: put that one's config.json, \
                 model.safetensors and tokenizer.json there",
                expected.unwrap_or_default()
            );
            return Err(HyperParameterError::new("llm", expected, format!("{llm} of checksum {found}")));
        }
        let width = language.width();
        let expected = format!("{width}, the width of the language model in {llm}");
        require("d_llm", self.d_llm == width, expected, json!(self.d_llm))?;
        Ok(language)
    }
}

impl Architecture for TimeLlm {
    const NAME: &'static str = "TimeLLM";
    const PAPER: &'static str = "Jin et al. 2023, arXiv 2310.01728";
    const EXOGENOUS: Exogenous = Exogenous::NONE;
    const ONE_OUTPUT: bool = true;
    const DIFFERENCES: &'static [&'static str] = &[
        "It needs a program with the Cargo feature `timellm`.",
        "`llm` is the folder of a GPT-2; nothing is downloaded.",
        "A prompt is not filled up to the longest of its batch, so that a forecast does not depend on which others are made at the \
         same time: it is that of neuralforecast for a window alone.",
        "Of two lags of the same autocorrelation the smaller one comes first in the prompt; in neuralforecast rounding decides, as it \
         may decide the last digit of a statistic.",
        "A saved model holds what was trained, and the path and the checksum of the language model's folder; neuralforecast neither \
         saves nor loads TimeLLM.",
        "A prompt that leaves no room for the patches is cut; in neuralforecast it is an error of the language model.",
        "`num_tokens`, `attention_dropout` and `llm_checksum` are foretell's own.",
    ];

    fn common_defaults() -> Value {
        json!({ "learning_rate": 1e-4, "max_steps": 5, "num_lr_decays": 0 })
    }

    fn small() -> Vec<Value> {
        // The language model that `compare/language_model.py` makes, as tests see it from the folders of crates.
        let sizes = json!({
            "llm": "../language/tests/gpt2", "d_llm": 32, "d_ff": 6, "d_model": 4, "n_heads": 2, "patch_len": 4, "stride": 3,
            "num_tokens": 30,
        });
        let mut long = sizes.clone();
        long["patch_len"] = 14.into();
        long["dropout"] = 0.0.into();
        long["attention_dropout"] = 0.0.into();
        long["prompt_prefix"] = "Tides. ".into();
        long["top_k"] = 2.into();
        vec![sizes, long]
    }

    fn missing_feature() -> Option<&'static str> {
        LanguageModel::check_feature().is_err().then_some("timellm")
    }

    fn needs(&self, _: &Dims) -> Needs {
        Needs { shard_windows: ONE_SHARD, ..Needs::default() }
    }

    fn pinned(&self) -> Map<String, Value> {
        let pinned = self.llm.as_deref().zip(self.language_model().ok()).map(|(llm, language)| {
            let path = absolute(llm).map_or_else(|_| llm.to_owned(), |path| path.display().to_string());
            [("llm".to_owned(), path.into()), ("llm_checksum".to_owned(), language.checksum().into())]
        });
        pinned.into_iter().flatten().collect()
    }

    fn build(self, dims: &Dims, scope: &mut Scope<'_>) -> Result<Box<dyn Model>, HyperParameterError> {
        let &Dims { input_size, horizon, .. } = dims;
        let padded = input_size.saturating_add(self.stride);
        require("patch_len", self.patch_len <= padded, "at most input_size + stride", json!(self.patch_len))?;
        require("input_size", input_size >= 2, "at least 2, to have lags", json!(input_size))?;
        let lags = WindowPrompt::correlations(input_size);
        let expected = format!("at most {lags}, the lags of input_size = {input_size}");
        require("top_k", self.top_k <= lags, expected, json!(self.top_k))?;
        require("d_ff", self.d_ff <= self.d_llm, "at most d_llm", json!(self.d_ff))?;
        let language = self.language_model()?;
        let patches = (padded - self.patch_len) / self.stride + 1;
        let positions = language.positions();
        let expected = format!("so small that its patches are fewer than the {positions} positions of llm");
        let found = format!("{input_size}, of which patch_len and stride make {patches} patches");
        require("input_size", patches < positions, expected, found.into())?;

        let sizes = DataEmbeddingSizes { inputs: self.patch_len, columns: 0, hidden: self.d_model };
        let dropout = self.dropout as f32;
        let embedding = DataEmbedding::without_positions(&mut scope.at("patch_embedding"), sizes, dropout);
        let words = language.words().shape()[0];
        let mapping = Linear::new(&mut scope.at("mapping_layer"), words, self.num_tokens);
        let sizes = ReprogrammingSizes {
            hidden: self.d_model,
            heads: self.n_heads,
            keys: self.d_ff,
            width: self.d_llm,
            dropout: self.attention_dropout as f32,
        };
        let reprogramming = Reprogramming::new(&mut scope.at("reprogramming_layer"), sizes);
        let read = self.d_ff.saturating_mul(patches);
        let head = Linear::new(&mut scope.at("output_projection.linear"), read, horizon);
        Ok(Box::new(Network {
            dims: *dims,
            language,
            prompt: WindowPrompt { prefix: self.prompt_prefix, horizon, input_size, lags: self.top_k },
            norm: RevIn::new(scope, 1, RevInConfig::default()),
            embedding,
            mapping,
            reprogramming,
            head,
            patch_len: self.patch_len,
            stride: self.stride,
            patches,
            read: self.d_ff,
            head_dropout: dropout,
        }))
    }
}

impl Network {
    /// The tokens of each window's prompt.
    fn prompts(&self, windows: &Inputs) -> Vec<Vec<u32>> {
        let most = MOST_TOKENS.min(self.language.positions() - self.patches);
        trace::choose("the words that describe its windows");
        self.language.tokens(&self.prompt.of(windows.insample_y.value()), most)
    }
}

impl Model for Network {
    fn frozen_bytes(&self) -> u64 {
        self.language.bytes()
    }

    fn forward(&self, cx: &Forward<'_>, windows: &Inputs) -> Var {
        let (batch, horizon) = (windows.batch(), self.dims.horizon);
        let prompts = self.prompts(windows);
        forecast_normalised(Some(&self.norm), cx, &windows.insample_y, |y| {
            let patches = y.pad(1, 0, self.stride, Padding::Replicate).unfold(self.patch_len, self.stride);
            let x = self.embedding.forward(cx, &patches, None);
            let words = Var::constant(self.language.words().clone());
            let prototypes = self.mapping.forward_first_axis(cx, &words);
            let x = self.reprogramming.forward(cx, &x, &prototypes);
            let states = self.language.read_after(&prompts, &x).narrow(2, 0, self.read);
            // The head reads a window as `[numbers, patches]`, not as `[patches, numbers]`.
            let row = states.permute(&[0, 2, 1]).reshape([batch, self.read * self.patches]);
            let y = cx.dropout(self.head.forward(cx, &row, Activation::Identity), self.head_dropout);
            y.reshape([batch, horizon, 1])
        })
    }
}
