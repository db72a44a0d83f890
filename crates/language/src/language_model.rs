//! A language model that was read from its folder.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use foretell_autograd::{Tensor, Var};
use foretell_checkpoint::TensorFile;
use foretell_threads::rows;

use crate::config::Config;
use crate::error::LanguageModelError;
use crate::folder::{self, FILES, Stamp};
use crate::gpt2::Gpt2;
use crate::tokens::Tokens;

/// A frozen language model: it turns text into tokens, and reads vectors behind them.
pub struct LanguageModel {
    tokens: Tokens,
    gpt2: Gpt2,
    positions: usize,
    checksum: String,
}

/// The model that was opened last: a forecaster is built several times before it is trained, and reading half a gigabyte each time
/// would take longer than all the rest.
static LAST: Mutex<Option<(PathBuf, Stamp, Arc<LanguageModel>)>> = Mutex::new(None);

/// The work of finding the tokens of a text, in numbers of a plain pass over memory: a tenth of a millisecond.
const TEXT_COST: usize = 1 << 18;

impl LanguageModel {
    /// Checks that this program reads language models at all.
    ///
    /// # Errors
    /// If it was built without the feature `timellm`.
    pub fn check_feature() -> Result<(), LanguageModelError> {
        if cfg!(feature = "timellm") { Ok(()) } else { Err(LanguageModelError::WithoutFeature) }
    }

    /// The model in this folder.
    ///
    /// # Errors
    /// If a file is missing or damaged, or of a model that is no GPT-2; any folder without the feature `timellm`.
    pub fn open(folder: &Path) -> Result<Arc<Self>, LanguageModelError> {
        Self::check_feature()?;
        let stamp = Stamp::of(folder);
        let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, _, model)) = last.as_ref().filter(|(path, read, _)| path == folder && *read == stamp)
        {
            return Ok(Arc::clone(model));
        }
        let model = Arc::new(Self::read(folder)?);
        *last = Some((folder.to_path_buf(), stamp, Arc::clone(&model)));
        Ok(model)
    }

    fn read(folder: &Path) -> Result<Self, LanguageModelError> {
        let files = folder::read(folder)?;
        let [config, tokenizer, weights] = &files;
        let config = Config::parse(config)?;
        let tokens = Tokens::parse(tokenizer)?;
        let most = (config.vocab_size - 1) as u32;
        if tokens.largest() > most {
            let found =
                format!("{}, though the tokenizer has a token {}", config.vocab_size, tokens.largest());
            let expected = "the number of the tokenizer's tokens".to_owned();
            return Err(LanguageModelError::Setting { name: "vocab_size", expected, found });
        }
        let weights = TensorFile::from_bytes(weights, &folder.join(FILES[2]))?;
        let gpt2 = Gpt2::new(&weights, &config)?;
        Ok(Self { tokens, gpt2, positions: config.n_positions, checksum: folder::checksum(&files) })
    }

    /// Bytes of its weights in memory.
    pub fn bytes(&self) -> u64 {
        self.gpt2.numbers() as u64 * 4
    }

    /// Width of its states.
    pub fn width(&self) -> usize {
        self.gpt2.words.shape()[1]
    }

    /// The most tokens and vectors that it reads in a row.
    pub fn positions(&self) -> usize {
        self.positions
    }

    /// The vectors of all tokens, `[vocabulary, width]`.
    pub fn words(&self) -> &Tensor {
        &self.gpt2.words
    }

    /// The CRC-32 of its files, in eight hexadecimal digits.
    pub fn checksum(&self) -> &str {
        &self.checksum
    }

    /// The tokens of each text, the first `most` of them. Tokenizers allocate.
    pub fn tokens(&self, texts: &[impl AsRef<str> + Sync], most: usize) -> Vec<Vec<u32>> {
        let mut all = vec![Vec::new(); texts.len()];
        rows(texts.len(), TEXT_COST, [&mut all[..]], |range, [all]| {
            for (text, tokens) in texts[range].iter().zip(all) {
                *tokens = self.tokens.of(text.as_ref());
                tokens.truncate(most);
            }
        });
        all
    }

    /// The last hidden states of vectors `x [windows, steps, width]`, those of each window behind its own text: of the same shape.
    /// Gradients flow to `x`.
    ///
    /// # Panics
    /// If there is not one text for each window, or text and vectors are more than [`LanguageModel::positions`].
    #[track_caller]
    pub fn read_after(&self, texts: &[Vec<u32>], x: &Var) -> Var {
        let (shape, texts_len) = (x.shape(), texts.len());
        let fits = matches!(*shape, [windows, _, width] if windows == texts_len && width == self.width());
        assert!(fits, "vectors of shape {shape:?} behind {texts_len} texts, in a width of {}", self.width());
        self.gpt2.read_after(texts, x)
    }
}

impl fmt::Debug for LanguageModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LanguageModel({:?} words, checksum {})", self.words().shape(), self.checksum)
    }
}

#[cfg(all(test, feature = "timellm"))]
mod tests {
    use std::fs;

    use foretell_autograd::Key;

    use super::*;

    /// The small random model that `compare/language_model.py` makes.
    fn folder() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gpt2")
    }

    fn random(seed: u64, windows: usize, steps: usize) -> Tensor {
        Tensor::build([windows, steps, 32], |out| {
            (0..).zip(out).for_each(|(i, out)| *out = 2.0 * Key::new(seed).uniform(i) - 1.0);
        })
    }

    #[test]
    fn what_a_window_gets_depends_on_its_own_text_alone() {
        let model = LanguageModel::open(&folder()).expect("the model");
        // More than are read at a time.
        let text =
            |window: usize| format!("the trend of input is upward{}", ", top 5 lags".repeat(window % 4));
        let texts = model.tokens(&(0..20).map(text).collect::<Vec<_>>(), 100);
        let x = random(3, 20, 4);
        let together = model.read_after(&texts, &Var::constant(x.clone()));
        let of_window = |states: &Tensor, window| states.narrow(0, window, 1).to_vec();
        for window in [0, 1, 2, 3, 19] {
            let own = Var::constant(x.narrow(0, window, 1).contiguous());
            let alone = model.read_after(&texts[window..=window], &own).value().to_vec();
            for (a, b) in alone.iter().zip(&of_window(together.value(), window)) {
                assert!((a - b).abs() < 1e-4, "window {window}: {a} alone, {b} among others");
            }
        }
        let same = Var::constant(Tensor::full([2, 4, 32], 0.5));
        let states = model.read_after(&texts[..2], &same);
        assert_ne!(of_window(states.value(), 0), of_window(states.value(), 1), "another text");
    }

    #[test]
    fn gradients_flow_to_the_vectors() {
        let model = LanguageModel::open(&folder()).expect("the model");
        let texts = model.tokens(&["upward"], 9);
        let [x, direction, weights] = [3, 4, 5].map(|seed| random(seed, 1, 3));
        let states = |x: &Tensor| model.read_after(&texts, &Var::constant(x.clone())).value().clone();
        let leaf = Var::parameter(x.clone(), 0);
        let mut gradient = vec![0.0; x.numel()];
        let output = model.read_after(&texts, &leaf) * Var::constant(weights.clone());
        output.sum(2).sum(1).sum(0).backward(&mut gradient);
        let slope = |step: f32| {
            let moved = states(&x.add(&direction.scale(step)));
            moved.mul(&weights).sum_all()
        };
        let expected = (slope(1e-3) - slope(-1e-3)) / 2e-3;
        let found: f32 = gradient.iter().zip(direction.values()).map(|(a, b)| a * b).sum();
        assert!((found - expected).abs() < 0.02 * expected.abs().max(1.0), "{found}, slope {expected}");
    }

    #[test]
    fn folders_without_a_model_are_errors_that_say_what_is_wrong() {
        let home = tempfile::tempdir().expect("a directory");
        let error = |path: &Path| LanguageModel::open(path).expect_err("no model").to_string();
        assert!(error(home.path()).contains("config.json"), "{}", error(home.path()));
        for file in FILES {
            fs::copy(folder().join(file), home.path().join(file)).expect("a copy");
        }
        let sound = LanguageModel::open(home.path()).expect("a copy").checksum().to_owned();
        assert_eq!(LanguageModel::open(&folder()).expect("the model").checksum(), sound);

        let config = fs::read_to_string(home.path().join(FILES[0])).expect("a file");
        let change = |from: &str, to: &str| {
            fs::write(home.path().join(FILES[0]), config.replace(from, to)).expect("a file");
            error(home.path())
        };
        let other = change("\"n_positions\": 512", "\"n_positions\": 500");
        assert!(other.contains("without 32-bit floats wpe.weight of shape [500, 32]"), "{other}");
        let few = change("\"vocab_size\": 160", "\"vocab_size\": 100");
        assert!(few.contains("vocab_size = 100, though the tokenizer has a token 159"), "{few}");
        fs::write(home.path().join(FILES[0]), &config).expect("a file");
        fs::write(home.path().join(FILES[1]), "{}").expect("a file");
        assert!(error(home.path()).contains("tokenizer.json in it that cannot be read"));
    }
}

#[cfg(all(test, not(feature = "timellm")))]
mod tests {
    use super::*;

    #[test]
    fn without_the_feature_the_error_names_it() {
        let error = LanguageModel::open("nowhere".as_ref()).expect_err("no reader of tokenizers").to_string();
        assert!(error.contains("without the Cargo feature `timellm`"), "{error}");
    }
}
