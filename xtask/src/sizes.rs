//! The sizes of the training step that `compare` and `profile` measure.

use clap::Args;

/// As `foretell bench` takes them.
#[derive(Args, Clone, Copy)]
pub(crate) struct Sizes {
    /// Windows of a step; of models whose windows hold all series, `compare` takes at most 32 in fits, `profile` a quarter.
    #[arg(long, value_name = "N", default_value_t = 128)]
    pub(crate) batch: usize,
    /// Steps of a window.
    #[arg(long, value_name = "N", default_value_t = 96)]
    pub(crate) input_size: usize,
    /// Steps to forecast.
    #[arg(long, value_name = "N", default_value_t = 24)]
    pub(crate) h: usize,
}

impl Sizes {
    /// The arguments of `foretell bench`, and of compare/measure.py.
    pub(crate) fn arguments(&self) -> [String; 6] {
        let Self { batch, input_size, h } = self;
        [("--batch", batch), ("--input-size", input_size), ("--h", h)]
            .map(|(flag, value)| [flag.to_owned(), value.to_string()])
            .concat()
            .try_into()
            .expect("three pairs")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_pairs_of_a_flag_and_its_value() {
        let sizes = Sizes { batch: 32, input_size: 720, h: 24 };
        assert_eq!(sizes.arguments().join(" "), "--batch 32 --input-size 720 --h 24");
    }
}
