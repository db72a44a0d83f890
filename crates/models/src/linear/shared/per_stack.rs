//! Lists with a number for each stack of a model.

use foretell_nn::HyperParameterError;
use serde_json::json;

use crate::rules::MAX_LAYERS;

/// The hyper-parameter that says how many blocks each stack has.
pub(crate) const N_BLOCKS: &str = "n_blocks";

/// Lists of a model by their names, of each of which as many numbers are read as there are stacks.
pub(crate) struct PerStack<'a> {
    pub(crate) stacks: usize,
    pub(crate) lists: Vec<(&'static str, &'a [usize])>,
}

impl PerStack<'_> {
    /// Whether each list has a number for each stack, of at least 1.
    pub(crate) fn check(&self) -> Result<(), HyperParameterError> {
        let stacks = self.stacks;
        for &(name, values) in &self.lists {
            let read = &values[..stacks.min(values.len())];
            let total = read.iter().fold(0, |total: usize, &value| total.saturating_add(value));
            let most = if name == N_BLOCKS { MAX_LAYERS } else { usize::MAX };
            if read.len() < stacks || read.contains(&0) || total > most {
                let expected = format!(
                    "a list of {stacks} numbers of at least 1, one for each of stack_types ({N_BLOCKS}: {MAX_LAYERS} in \
                     all)"
                );
                return Err(HyperParameterError::new(name, expected, json!(values)));
            }
        }
        Ok(())
    }

    /// The lists with more numbers than that, a sentence each.
    pub(crate) fn unread(&self) -> Vec<String> {
        let stacks = self.stacks;
        let longer = self.lists.iter().filter(|(_, values)| values.len() > stacks);
        let sentence = |(name, values): &(&str, &[usize])| {
            let found = values.len();
            format!(
                "{name} has {found} numbers and stack_types {stacks}: as in neuralforecast the first {stacks} are read; leave the \
                 others out, or add to stack_types"
            )
        };
        longer.map(sentence).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of<'a>(name: &'static str, values: &'a [usize]) -> PerStack<'a> {
        PerStack { stacks: 2, lists: vec![(name, values)] }
    }

    #[test]
    fn as_many_are_read_as_there_are_stacks() {
        for read in [&[1, 2][..], &[1, 2, 0], &[1, 2, usize::MAX, 5]] {
            of(N_BLOCKS, read).check().unwrap();
            assert_eq!(of(N_BLOCKS, read).unread().len(), usize::from(read.len() > 2), "{read:?}");
        }
        let told = of("n_pool_kernel_size", &[1, 2, 3]).unread().concat();
        assert!(told.starts_with("n_pool_kernel_size has 3 numbers and stack_types 2: "), "{told}");
        for refused in [&[][..], &[1], &[1, 0], &[600, 600], &[usize::MAX, usize::MAX]] {
            let error = of(N_BLOCKS, refused).check().unwrap_err();
            assert_eq!(error.name, N_BLOCKS, "{refused:?}");
        }
        of("n_freq_downsample", &[600, 600]).check().unwrap();
    }
}
