//! Weights that are changed in `f32` and used in 16 bits.
//!
//! [`MasterWeights`] and [`HalfFloat`] are for other training loops: foretell's own keeps its weights in `f32` and rounds what
//! it multiplies by `Var::with_rounding` of foretell-autograd.

use foretell_simd::{bf16, f16, from_bf16, from_f16, to_bf16, to_f16};

/// A 16-bit floating-point format, [`bf16`] or [`f16`](struct@f16).
pub trait HalfFloat: Copy + Default + Send + Sync + sealed::Sealed + 'static {
    /// `out[i]` is `x[i]` rounded to nearest, ties to even.
    ///
    /// # Panics
    /// If the slices differ in length.
    fn narrow(x: &[f32], out: &mut [Self]);

    /// `out[i]` is `x[i]`, exactly.
    ///
    /// # Panics
    /// If the slices differ in length.
    fn widen(x: &[Self], out: &mut [f32]);
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::bf16 {}
    impl Sealed for super::f16 {}
}

impl HalfFloat for bf16 {
    #[track_caller]
    fn narrow(x: &[f32], out: &mut [Self]) {
        to_bf16(x, out);
    }

    #[track_caller]
    fn widen(x: &[Self], out: &mut [f32]) {
        from_bf16(x, out);
    }
}

impl HalfFloat for f16 {
    #[track_caller]
    fn narrow(x: &[f32], out: &mut [Self]) {
        to_f16(x, out);
    }

    #[track_caller]
    fn widen(x: &[Self], out: &mut [f32]) {
        from_f16(x, out);
    }
}

/// `f32` weights, which the optimiser changes, and their rounded copies, which products read.
///
/// An update may be a thousandth of its weight, which has eight binary digits in `bf16` and eleven in `f16`: added to
/// a rounded copy it would vanish. The copies always are the masters rounded: only [`MasterWeights::update`] changes
/// either.
#[derive(Clone, Debug)]
pub struct MasterWeights<H> {
    masters: Vec<f32>,
    copies: Vec<H>,
}

impl<H: HalfFloat> MasterWeights<H> {
    /// Takes the weights and makes the copies.
    pub fn new(masters: Vec<f32>) -> Self {
        let copies = vec![H::default(); masters.len()];
        let mut weights = Self { masters, copies };
        weights.refresh();
        weights
    }

    /// The weights in `f32`: these are saved, and evaluation in full precision uses them.
    pub fn masters(&self) -> &[f32] {
        &self.masters
    }

    /// The weights in 16 bits.
    pub fn copies(&self) -> &[H] {
        &self.copies
    }

    /// Lets `change` change the masters and makes the copies anew, in one pass, which is split over several threads within
    /// [`foretell_threads::share`].
    pub fn update<R>(&mut self, change: impl FnOnce(&mut [f32]) -> R) -> R {
        let result = change(&mut self.masters);
        self.refresh();
        result
    }

    fn refresh(&mut self) {
        let masters = &self.masters;
        foretell_threads::rows(masters.len(), 1, [&mut self.copies], |range, [copies]| {
            H::narrow(&masters[range], copies);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_copies_follow_the_masters_on_any_number_of_threads() {
        let masters: Vec<f32> = (0..70_001).map(|i| (i as f32 * 0.7).sin()).collect();
        for threads in [1, 3] {
            foretell_threads::share(threads, || {
                let mut weights = MasterWeights::<bf16>::new(masters.clone());
                let half = |weights: &MasterWeights<bf16>| {
                    weights.masters().iter().map(|w| bf16::from_f32(*w)).collect::<Vec<_>>()
                };
                assert_eq!(weights.copies(), half(&weights));
                let returned = weights.update(|masters| {
                    masters.iter_mut().for_each(|w| *w *= 1.5);
                    7
                });
                assert_eq!((returned, weights.masters()[1]), (7, masters[1] * 1.5));
                assert_eq!(weights.copies(), half(&weights));
            });
        }
    }

    #[test]
    fn updates_too_small_for_16_bits_add_up() {
        let mut weights = MasterWeights::<f16>::new(vec![1.0]);
        for _ in 0..1000 {
            // A quarter of what f16 tells apart at 1.
            weights.update(|w| w[0] += 2f32.powi(-12));
        }
        assert_eq!(weights.copies()[0], f16::from_f32(1.0 + 1000.0 / 4096.0));
        let mut alone = f16::from_f32(1.0);
        (0..1000).for_each(|_| alone = f16::from_f32(alone.to_f32() + 2f32.powi(-12)));
        assert_eq!(alone, f16::from_f32(1.0));
    }

    #[test]
    fn widened_copies_are_near_their_masters() {
        let weights = MasterWeights::<f16>::new(vec![0.1, -3.0, 1e6]);
        let mut wide = [0.0; 3];
        f16::widen(weights.copies(), &mut wide);
        assert!((wide[0] - 0.1).abs() < 1e-4);
        assert_eq!(wide[1..], [-3.0, f32::INFINITY]);
        assert_eq!(weights.masters, [0.1, -3.0, 1e6]);
    }
}
