//! The description of a window in words by Time-LLM (Jin et al. 2023, section 3, "Prompt-as-Prefix"), as neuralforecast words it: its
//! task, and the window's least, largest and middle value, its trend and the lags of its largest autocorrelations.

use std::fmt::Write as _;

use foretell_nn::{Tensor, Var};

/// Added to the variance of a window, as RevIN does.
const EPS: f32 = 1e-5;

/// The words that are the same for all windows.
#[derive(Clone, Debug)]
pub(crate) struct WindowPrompt {
    /// The user's description of the data.
    pub(crate) prefix: Option<String>,
    pub(crate) horizon: usize,
    pub(crate) input_size: usize,
    /// Lags that are named.
    pub(crate) lags: usize,
}

impl WindowPrompt {
    /// The number of autocorrelations of a window of `input_size` steps; of an odd one the transform back makes one less.
    pub(crate) fn correlations(input_size: usize) -> usize {
        input_size / 2 * 2
    }

    /// The prompts of windows `y [windows, input_size]`.
    pub(crate) fn of(&self, y: &Tensor) -> Vec<String> {
        let normalised = normalised(y);
        let count = Self::correlations(self.input_size);
        let correlations = autocorrelations(&normalised, count);
        let windows = normalised.values().chunks_exact(self.input_size);
        windows.zip(correlations.values().chunks_exact(count)).map(|(y, c)| self.words(y, c)).collect()
    }

    fn words(&self, y: &[f32], correlations: &[f32]) -> String {
        let mut sorted = y.to_vec();
        sorted.sort_by(f32::total_cmp);
        // Of an even number of values the lower one of the middle.
        let [least, largest, median] = [0, y.len() - 1, (y.len() - 1) / 2].map(|place| python(sorted[place]));
        let trend = if y[y.len() - 1] > y[0] { "upward" } else { "downward" };
        let prefix = self.prefix.as_deref().unwrap_or("None");
        let (horizon, input_size) = (self.horizon, self.input_size);
        // The number of lags is 5 in words, whatever it is.
        let mut words = format!(
            "<|start_prompt|>{prefix}Task description: forecast the next {horizon} steps given the previous {input_size} steps \
             information; Input statistics: min value {least}, max value {largest}, median value {median}, the trend of input is \
             {trend}, top 5 lags are : ["
        );
        for (i, lag) in largest_lags(correlations, self.lags).into_iter().enumerate() {
            let comma = if i > 0 { ", " } else { "" };
            write!(words, "{comma}{lag}").expect("text has room");
        }
        words.push_str("]<|<end_prompt>|>");
        words
    }
}

/// Each window less its mean, divided by its deviation. Sums are in double precision, so that the digits that are printed depend on
/// the window alone.
fn normalised(y: &Tensor) -> Tensor {
    let y = y.contiguous();
    let &[windows, steps] = &*y.shape() else { panic!("windows [windows, steps], not {:?}", y.shape()) };
    Tensor::build([windows, steps], |out| {
        for (y, out) in y.values().chunks_exact(steps).zip(out.chunks_exact_mut(steps)) {
            let mean = y.iter().map(|&y| f64::from(y)).sum::<f64>() / steps as f64;
            let variance = y.iter().map(|&y| (f64::from(y) - mean).powi(2)).sum::<f64>() / steps as f64;
            let (mean, deviation) = (mean as f32, (variance as f32 + EPS).sqrt());
            y.iter().zip(out).for_each(|(y, out)| *out = (y - mean) / deviation);
        }
    })
}

/// The circular autocorrelations of windows `y [windows, steps]`, by the power of their frequencies: `[windows, count]`.
fn autocorrelations(y: &Tensor, count: usize) -> Tensor {
    let mut spectrum = Var::constant(y.clone()).rfft().value().contiguous();
    for pair in spectrum.values_mut().as_chunks_mut::<2>().0 {
        *pair = [pair[0] * pair[0] + pair[1] * pair[1], 0.0];
    }
    Var::constant(spectrum).irfft(count).value().contiguous()
}

/// The lags of the `most` largest autocorrelations, the largest first. Those of a lag and of what it lacks to the whole are the same
/// number, so the smaller lag of the two comes first, however they were rounded.
fn largest_lags(correlations: &[f32], most: usize) -> Vec<usize> {
    let count = correlations.len();
    let mut lags: Vec<usize> = (0..=count / 2).collect();
    lags.sort_by(|&a, &b| correlations[b].total_cmp(&correlations[a]));
    let mut named = Vec::with_capacity(most + 1);
    for lag in lags {
        named.push(lag);
        if lag > 0 && 2 * lag < count {
            named.push(count - lag);
        }
        if named.len() >= most {
            break;
        }
    }
    named.truncate(most);
    named
}

/// A number as Python prints it: in single precision, with the digits of double precision.
fn python(number: f32) -> String {
    let scientific = format!("{:e}", f64::from(number));
    let Some((digits, exponent)) = scientific.split_once('e') else { return scientific.to_lowercase() };
    let exponent: i32 = exponent.parse().expect("an exponent");
    match exponent {
        -4..16 if number.fract() == 0.0 => format!("{number:.1}"),
        -4..16 => f64::from(number).to_string(),
        _ => format!("{digits}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_printed_as_python_prints_them() {
        let expected = [
            (0.1, "0.10000000149011612"),
            (-1.5, "-1.5"),
            (2.0, "2.0"),
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1e-4, "9.999999747378752e-05"),
            (2e-4, "0.00019999999494757503"),
            (1e-10, "1.000000013351432e-10"),
            (3e20, "3.000000060122632e+20"),
            (123456.79, "123456.7890625"),
            (f32::NAN, "nan"),
            (f32::INFINITY, "inf"),
        ];
        for (number, text) in expected {
            assert_eq!(python(number), text);
        }
    }

    #[test]
    fn a_window_is_told_in_words() {
        // Of period 4: lags 0 and 4 of 8 are the largest, and all odd ones are 0.
        let y = Tensor::from_slice(&[1.0, 0.0, -1.0, 0.0, 1.0, 0.0, -1.0, 0.0], [1, 8]);
        let prompt = WindowPrompt { prefix: Some("Tides. ".to_owned()), horizon: 3, input_size: 8, lags: 3 };
        let deviation = (0.5_f32 + EPS).sqrt();
        let [least, largest] = [-1.0 / deviation, 1.0 / deviation].map(python);
        let expected = format!(
            "<|start_prompt|>Tides. Task description: forecast the next 3 steps given the previous 8 steps information; Input \
             statistics: min value {least}, max value {largest}, median value 0.0, the trend of input is downward, top 5 lags are \
             : [0, 4, "
        );
        let words = prompt.of(&y).remove(0);
        assert!(words.starts_with(&expected) && words.ends_with("]<|<end_prompt>|>"), "{words}");
        let unnamed = WindowPrompt { prefix: None, ..prompt };
        assert!(unnamed.of(&y)[0].starts_with("<|start_prompt|>NoneTask description"));
    }

    #[test]
    fn the_smaller_of_two_equal_lags_comes_first() {
        assert_eq!(largest_lags(&[9.0, 2.0, 5.0, 3.0, 5.1, 2.1], 6), [0, 2, 4, 3, 1, 5]);
        assert_eq!(largest_lags(&[9.0, 2.0, 5.0, 3.0, 5.1, 2.1], 2), [0, 2]);
        assert_eq!(largest_lags(&[9.0, 2.0], 2), [0, 1]);
    }
}
