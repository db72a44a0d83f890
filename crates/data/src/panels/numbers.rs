//! The numbers of a column: in memory, or in a file where there are more than memory holds.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use foretell_pool::FileNumbers;

/// Numbers in memory or in a file. The one who changes those of a file has them in memory of its own first.
#[derive(Clone)]
pub(crate) enum Numbers {
    Memory(Vec<f32>),
    File(Arc<FileNumbers>),
    /// In memory that other processes of the machine see, too.
    Shared(Arc<FileNumbers>),
}

impl Numbers {
    /// The numbers in memory.
    pub(crate) fn vec(&mut self) -> &mut Vec<f32> {
        if let Self::File(numbers) | Self::Shared(numbers) = self {
            *self = Self::Memory(numbers.to_vec());
        }
        match self {
            Self::Memory(numbers) => numbers,
            Self::File(_) | Self::Shared(_) => unreachable!("they are in memory now"),
        }
    }

    /// How many of them are in memory.
    pub(crate) fn len_in_memory(&self) -> usize {
        match self {
            Self::Memory(_) | Self::Shared(_) => self.len(),
            Self::File(_) => 0,
        }
    }
}

impl Default for Numbers {
    fn default() -> Self {
        Self::Memory(Vec::new())
    }
}

impl From<Vec<f32>> for Numbers {
    fn from(numbers: Vec<f32>) -> Self {
        Self::Memory(numbers)
    }
}

impl FromIterator<f32> for Numbers {
    fn from_iter<I: IntoIterator<Item = f32>>(numbers: I) -> Self {
        Self::Memory(numbers.into_iter().collect())
    }
}

impl Deref for Numbers {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        match self {
            Self::Memory(numbers) => numbers,
            Self::File(numbers) | Self::Shared(numbers) => numbers,
        }
    }
}

impl DerefMut for Numbers {
    fn deref_mut(&mut self) -> &mut [f32] {
        self.vec()
    }
}

impl fmt::Debug for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
