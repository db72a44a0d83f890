//! The numbers that a training step keeps of a window between its two passes, measured on small windows.

use std::ops::Deref;

use foretell_infer::window_numbers;
use foretell_nn::{Coupling, Dims, Forward, Key, Network, Params, Table};
use foretell_pool::live_bytes_of_thread;

use crate::spec::NetworkSpec;
use crate::synthetic::synthetic;
use crate::windows::{Purpose, window_dims};

/// The numbers of a window up to which the whole of it is tried.
const TRIED: usize = 1 << 12;

/// The length up to which windows are small whatever their numbers: hyper-parameters may ask for some steps.
const LEAST_HALVED: usize = 64;

/// About how many numbers a training step keeps of a window between its two passes. The limits of memory go by it, the blocks of
/// windows that are forecast at a time, and whether a batch is worth waking threads for; neither shards nor batches do.
///
/// The forward pass of a small window is run, and what it leaves in use is counted. Of a large window two smaller ones are tried,
/// with a model built for each, and the rest is concluded: so sizes that do not fit into memory are known without taking it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct KeptNumbers {
    /// The numbers of the largest window that was tried.
    seen: f64,
    /// Numbers kept of it.
    kept: f64,
    /// Numbers kept of each further number of a window.
    slope: f64,
    /// The power of a window's length with which the numbers kept of it grow.
    power: f64,
}

impl KeptNumbers {
    /// Measures a model, in steps that take the least memory if asked for; `params` are asked for where its own windows are small.
    ///
    /// It depends on the hyper-parameters, the machine's vector instructions and the Cargo features alone.
    pub(crate) fn measure(
        spec: &NetworkSpec,
        network: &Network,
        params: impl Deref<Target = Params>,
        low_memory: bool,
    ) -> Self {
        Self::measured(spec, network, params, (low_memory, TRIED))
    }

    /// The same with windows of up to `most` numbers.
    fn measured(
        spec: &NetworkSpec,
        network: &Network,
        params: impl Deref<Target = Params>,
        (low_memory, most): (bool, usize),
    ) -> Self {
        let tried = small(spec, most).and_then(|smaller| Some((kept_by(&smaller, low_memory)?, smaller)));
        let Some(([seen, kept], smaller)) = tried else {
            return Self::in_proportion(kept_of(spec, network, &params, low_memory));
        };
        let Some([seen_of_half, kept_of_half]) = kept_by(&halved(&smaller), low_memory) else {
            return Self::in_proportion([seen, kept]);
        };
        let slope = (kept - kept_of_half) / (seen - seen_of_half);
        // Not of their numbers, which grow less than the length that was halved.
        let power = (kept.max(1.0) / kept_of_half.max(1.0)).log2();
        Self { seen, kept, slope: slope.max(0.0), power: power.clamp(0.0, 3.0) }
    }

    fn in_proportion([seen, kept]: [f64; 2]) -> Self {
        Self { seen, kept, slope: kept / seen, power: 1.0 }
    }

    /// Of a window of these sizes, of all its series. Most of what models keep grows in line with a window, some with the pairs of
    /// its steps: the larger of the line and the power through both windows that were tried.
    pub(crate) fn of(&self, dims: &Dims) -> usize {
        if self.seen == 0.0 {
            return 0;
        }
        let numbers = window_numbers(dims) as f64;
        let line = self.kept + self.slope * (numbers - self.seen);
        line.max(self.kept * (numbers / self.seen).powf(self.power)).ceil() as usize
    }
}

/// The numbers of a window of a model and those kept of it, if there is a model of these sizes.
fn kept_by(spec: &NetworkSpec, low_memory: bool) -> Option<[f64; 2]> {
    let mut table = Table::default();
    let network = spec.build(&mut table).ok()?;
    Some(kept_of(spec, &network, &table.initialise(0), low_memory))
}

/// The numbers of a window, and those that a pass over two windows leaves in use more than one over a single window: what is kept of
/// a batch, whatever its windows, does not count.
fn kept_of(spec: &NetworkSpec, network: &Network, params: &Params, low_memory: bool) -> [f64; 2] {
    let dims = sizes(spec);
    // The windows of models that forecast step by step reach over the horizon, less its last step.
    let ahead = if network.needs.decoding.is_step_by_step() { dims.horizon - 1 } else { 0 };
    let read = Dims { input_size: dims.input_size + ahead, ..dims };
    // A batch of coupled windows has several, or the variance of a value would be asked for.
    let fewest = if network.needs.coupling == Coupling::Coupled { 2 } else { 1 };
    let bytes_of = |windows: usize| {
        let batch = synthetic(&read, &spec.categories(), windows * dims.n_series);
        let inputs = batch.windows.inputs();
        let before = live_bytes_of_thread();
        let cx = Forward::training(params, Key::new(0));
        let cx = if low_memory { cx.in_little_memory() } else { cx };
        let output = network.model.forward(&cx, &inputs);
        let kept = live_bytes_of_thread() - before;
        drop(output);
        kept
    };
    // What is made once, such as the plans of Fourier transforms, is made now and does not count.
    bytes_of(fewest);
    let bytes = (bytes_of(2 * fewest) - bytes_of(fewest)).max(0) as f64 / fewest as f64;
    [window_numbers(&dims) as f64, bytes / size_of::<f32>() as f64]
}

/// The sizes of a window that is tried. A model that forecasts step by step may train on more steps than its horizon has; they are
/// all alike.
fn sizes(spec: &NetworkSpec) -> Dims {
    let dims = window_dims(spec, spec.network_needs(), Purpose::Train);
    Dims { horizon: dims.horizon.min(spec.h()), ..dims }
}

/// The model for windows of up to `most` numbers, the longest of their sizes halved time and again; nothing if its own are small.
fn small(spec: &NetworkSpec, most: usize) -> Option<NetworkSpec> {
    let mut trial = spec.clone();
    while window_numbers(&sizes(&trial)) > most && lengths(&trial).into_iter().max() > Some(LEAST_HALVED) {
        trial = halved(&trial);
    }
    (trial.common != spec.common).then_some(trial)
}

/// The model for windows half as long in their longest size.
fn halved(spec: &NetworkSpec) -> NetworkSpec {
    let mut half = spec.clone();
    let [input_size, h, n_series] = lengths(spec);
    // It may be told as a multiple of `h`.
    half.common.input_size = input_size as i64;
    if input_size >= h.max(n_series) {
        half.common.input_size /= 2;
    } else if h >= n_series {
        half.common.h /= 2;
    } else {
        half.common.n_series = Some(n_series / 2);
    }
    half
}

/// Steps of the history and of the horizon, and series of a window.
fn lengths(spec: &NetworkSpec) -> [usize; 3] {
    [spec.input_size(), spec.h(), spec.common.n_series.unwrap_or(1)]
}

#[cfg(test)]
mod tests {
    use std::cell::LazyCell;

    use foretell_models::{MODELS, ModelEntry};
    use serde_json::{Map, Value};

    use super::*;

    fn spec(model: &str, h: usize, input_size: usize, n_series: usize) -> NetworkSpec {
        NetworkSpec::new(model, h, input_size).expect("a model").with_n_series(n_series)
    }

    /// A model of the zoo; with the small language model of the tests if it reads one.
    fn spec_of(entry: &ModelEntry, h: usize, input_size: usize) -> NetworkSpec {
        let reads_language = entry.own_defaults().contains_key("llm");
        let small = if reads_language { entry.small().swap_remove(0) } else { Map::new() };
        let set =
            |spec: NetworkSpec, (name, value): (String, Value)| spec.set(&name, value).expect("a setting");
        small.into_iter().fold(spec(entry.name, h, input_size, 3), set)
    }

    /// The measured number, and the true one, if windows of up to `most` numbers are tried.
    fn both(spec: &NetworkSpec, most: usize) -> [f64; 2] {
        let mut table = Table::default();
        let network = spec.build(&mut table).expect("a model");
        let params = LazyCell::new(|| table.clone().initialise(0));
        let measured = KeptNumbers::measured(spec, &network, &*params, (false, most));
        let dims = window_dims(spec, network.needs, Purpose::Train);
        [measured.of(&dims) as f64, kept_of(spec, &network, &params, false)[1]]
    }

    #[test]
    fn small_windows_are_measured_as_they_are() {
        for entry in MODELS {
            let [measured, kept] = both(&spec_of(entry, 12, 48), TRIED);
            assert!(kept > 0.0 && (measured - kept).abs() <= 1.0, "{}: {measured} of {kept}", entry.name);
        }
    }

    /// Windows of more than twice the numbers that are tried, a quarter of [`TRIED`] here; those of all series of seven times as many; of every
    /// second model.
    fn check_large_windows(first: usize) {
        for entry in MODELS.iter().skip(first).step_by(2) {
            let large = spec_of(entry, 24, 1_200);
            // What TimesNet keeps depends on the periods that it finds in its windows. Some models have limits below this length.
            if entry.name == "TimesNet" || large.build(&mut Table::default()).is_err() {
                continue;
            }
            let [measured, kept] = both(&large, TRIED / 4);
            println!("{}: {measured} concluded, {kept} kept", entry.name);
            assert!(measured < 2.0 * kept && kept < 2.0 * measured, "{}: {measured} of {kept}", entry.name);
        }
    }

    // Two tests, so that they run side by side.
    #[test]
    fn what_large_windows_keep_is_concluded_from_smaller_ones() {
        check_large_windows(0);
    }

    #[test]
    fn what_large_windows_keep_is_concluded_from_smaller_ones_of_the_other_half() {
        check_large_windows(1);
    }

    #[test]
    fn sizes_that_fit_into_no_memory_are_known() {
        let absurd = spec("GRU", 7, 1_000_000, 1);
        let mut table = Table::default();
        let network = absurd.build(&mut table).expect("a model");
        let params = LazyCell::new(|| -> Params { panic!("the parameters of the whole are asked for") });
        let measured = KeptNumbers::measure(&absurd, &network, params, false);
        let dims = window_dims(&absurd, network.needs, Purpose::Train);
        assert!(measured.of(&dims) > 500_000_000, "{measured:?}");
    }
}
