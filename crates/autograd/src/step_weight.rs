//! The weight of a linear layer as the products of one training step in bfloat16 read it.

use std::sync::atomic::{AtomicBool, Ordering};

use foretell_gemm::{MatRef, WeightFormat, WeightMatrix};
use foretell_tensor::Tensor;

/// Which of its two products a weight `w [n, k]` is packed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// `x wᵀ`.
    Forward,
    /// `g w`, the gradient of x.
    Backward,
}

/// A weight `[n, k]` rounded to bfloat16 and packed once for all products of a step with it ([`Var::linear_in_step`]).
///
/// It knows which products asked for it, and is packed for these alone: none in the first step, whose products round and pack
/// the weight themselves, with the same bits; nor for products whose bits that would change
/// ([`WeightFormat::best_for`]).
///
/// [`Var::linear_in_step`]: crate::Var::linear_in_step
#[derive(Debug, Default)]
pub struct RoundedWeight {
    asked: [AtomicBool; 2],
    packed: [Option<WeightMatrix>; 2],
}

impl RoundedWeight {
    /// Whether a product has asked for it.
    pub fn is_asked_for(&self) -> bool {
        self.asked.iter().any(|asked| asked.load(Ordering::Relaxed))
    }

    /// Rounds and packs the weight `[n, k]` for the products that have asked for it.
    ///
    /// # Panics
    /// If it is no matrix.
    #[track_caller]
    pub fn pack(&mut self, weight: &Tensor) {
        let &[n, k] = &*weight.shape() else { panic!("a weight of shape {:?}", weight.shape()) };
        let weight = weight.contiguous();
        let rows = MatRef::row_major(weight.values(), n, k);
        let one = |matrix| Some(WeightMatrix::new(matrix, WeightFormat::Bf16));
        let asked = [Direction::Forward, Direction::Backward]
            .map(|direction| self.asked[direction as usize].load(Ordering::Relaxed));
        self.packed = match asked {
            [true, true] => {
                let [backward, forward] = WeightMatrix::bf16_and_transpose(rows);
                [Some(forward), Some(backward)]
            }
            [true, false] => [one(rows.t()), None],
            [false, true] => [None, one(rows)],
            [false, false] => [None, None],
        };
    }

    /// Forgets the packed weight, as it is about to change.
    pub fn forget(&mut self) {
        self.packed = [None, None];
    }

    /// Whether it is packed for `x wᵀ`, and for `g w`.
    pub fn packed_for(&self) -> [bool; 2] {
        self.packed.each_ref().map(Option::is_some)
    }

    /// The weight packed for a product, if it is packed; asking has it packed from the next step on.
    pub(crate) fn for_product(&self, direction: Direction) -> Option<&WeightMatrix> {
        self.asked[direction as usize].store(true, Ordering::Relaxed);
        self.packed[direction as usize].as_ref()
    }
}
