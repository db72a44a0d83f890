//! Sums over a batch.

use std::ops::AddAssign;

/// The sums over the steps of a batch, or of a part of it, that the batch's loss follows from. Those of its parts add up,
/// no matter who computes them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LossSums {
    pub(super) sum: f64,
    pub(super) reference: f64,
}

impl LossSums {
    /// `Σ w l`, the weighted sum of the losses of the steps.
    pub fn sum(self) -> f64 {
        self.sum
    }

    /// The two sums, for no matter who hands them on to another process.
    pub fn to_array(self) -> [f64; 2] {
        [self.sum, self.reference]
    }

    /// The sums from [`LossSums::to_array`].
    pub fn from_array([sum, reference]: [f64; 2]) -> Self {
        Self { sum, reference }
    }

    /// The means, `total` being the sum of the weights; 0 without any weight.
    #[must_use]
    pub fn divided_by(self, total: f64) -> Self {
        match total {
            0.0 => Self::default(),
            _ => Self { sum: self.sum / total, reference: self.reference / total },
        }
    }
}

impl AddAssign for LossSums {
    fn add_assign(&mut self, other: Self) {
        self.sum += other.sum;
        self.reference += other.reference;
    }
}
