//! The numbers that matrices hold.

use std::fmt::Debug;
use std::ops::{Add, AddAssign, Mul};

use foretell_simd::{Activation, Level, level};

use crate::batch::{BatchMut, BatchRef};
use crate::bf16::three::{self, InPieces};
use crate::bf16::{matmul_as_bf16, pays_in_bf16};
use crate::f16::matmul_as_f16;
use crate::flops::count_products;
use crate::options::{Options, Rounding};
use crate::panels;
use crate::scalar;
use crate::skinny::Job;
use crate::tiles;
#[cfg(target_arch = "aarch64")]
use crate::vector::neon;
#[cfg(target_arch = "x86_64")]
use crate::vector::x86;
use crate::view::{MatMut, MatRef};

/// `f32` or `f64`.
pub trait Element: Number {}

impl Element for f32 {}
impl Element for f64 {}

/// What the crate needs of an element; not nameable outside, so that nothing else is an [`Element`].
pub trait Number:
    Native
    + foretell_pool::Pod
    + Copy
    + Debug
    + PartialEq
    + PartialOrd
    + Send
    + Sync
    + Add<Output = Self>
    + AddAssign
    + Mul<Output = Self>
    + 'static
{
    const ZERO: Self;
    const ONE: Self;
    /// The kernel for numbers in pieces, if there is one.
    const IN_PIECES: Option<InPieces<Self>>;

    fn add_slice(dst: &mut [Self], src: &[Self]);
    fn activate(activation: Activation, x: &mut [Self]);
    /// A product. It and the next three hold all kernels of an element, so that they are compiled in this crate, once, and not
    /// in each crate that multiplies.
    fn product(
        dst: MatMut<'_, Self>,
        lhs: MatRef<'_, Self>,
        rhs: MatRef<'_, Self>,
        options: Options<'_, Self>,
    );
    /// A product for each matrix of a batch.
    fn products(
        dst: BatchMut<'_, Self>,
        lhs: BatchRef<'_, Self>,
        rhs: BatchRef<'_, Self>,
        options: Options<'_, Self>,
    );
    /// A product with a right operand in strips.
    fn product_of_strips(
        dst: MatMut<'_, Self>,
        lhs: MatRef<'_, Self>,
        strips: &[Self],
        options: Options<'_, Self>,
    );
    /// Packs a right operand in strips; `false` without 512-bit vectors or adjacent rows or columns, where it does
    /// nothing.
    fn pack_strips(rhs: MatRef<'_, Self>, strips: &mut [Self]) -> bool;
    /// The product of operands that are rounded as the options say.
    fn rounded(
        dst: MatMut<'_, Self>,
        lhs: MatRef<'_, Self>,
        rhs: MatRef<'_, Self>,
        options: Options<'_, Self>,
    );
    /// Runs a job with the vectors of the current level; gives it back if the level has none.
    fn run<J: Job<Self>>(job: J) -> Option<J>;
}

/// What the backend needs of an element.
#[cfg(feature = "faer")]
pub trait Native: faer::traits::ComplexField + faer::traits::Conjugate<Canonical = Self> {}
/// What the backend needs of an element.
#[cfg(not(feature = "faer"))]
pub trait Native {}

impl Native for f32 {}
impl Native for f64 {}

macro_rules! number {
    ($type:ty, $activate:expr, $in_pieces:expr, $rounded:expr, $avx512:ident, $avx2:ident, $neon:ident) => {
        impl Number for $type {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const IN_PIECES: Option<InPieces<Self>> = $in_pieces;

            fn add_slice(dst: &mut [Self], src: &[Self]) {
                foretell_simd::add_assign(dst, src);
            }

            fn activate(activation: Activation, x: &mut [Self]) {
                $activate(activation, x);
            }

            fn product(
                dst: MatMut<'_, Self>,
                lhs: MatRef<'_, Self>,
                rhs: MatRef<'_, Self>,
                options: Options<'_, Self>,
            ) {
                tiles::run_one(dst, lhs, rhs, options);
            }

            fn products(
                dst: BatchMut<'_, Self>,
                lhs: BatchRef<'_, Self>,
                rhs: BatchRef<'_, Self>,
                options: Options<'_, Self>,
            ) {
                tiles::run(dst, lhs, rhs, options);
            }

            fn product_of_strips(
                dst: MatMut<'_, Self>,
                lhs: MatRef<'_, Self>,
                strips: &[Self],
                options: Options<'_, Self>,
            ) {
                tiles::run_packed(dst, lhs, strips, options);
            }

            fn pack_strips(rhs: MatRef<'_, Self>, strips: &mut [Self]) -> bool {
                panels::pack(rhs, strips)
            }

            fn rounded(
                dst: MatMut<'_, Self>,
                lhs: MatRef<'_, Self>,
                rhs: MatRef<'_, Self>,
                options: Options<'_, Self>,
            ) {
                $rounded(dst, lhs, rhs, options);
            }

            fn run<J: Job<Self>>(job: J) -> Option<J> {
                match level() {
                    #[cfg(target_arch = "x86_64")]
                    Level::Avx512 | Level::Amx => {
                        #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma")]
                        fn run(job: impl Job<$type>, token: x86::Avx512) {
                            job.run::<x86::$avx512>(token);
                        }
                        // SAFETY: `level` reports a level only where the machine has its features.
                        unsafe { run(job, x86::Avx512::new_unchecked()) }
                    }
                    #[cfg(target_arch = "x86_64")]
                    Level::Avx2 => {
                        #[target_feature(enable = "avx2,fma")]
                        fn run(job: impl Job<$type>, token: x86::Avx2) {
                            job.run::<x86::$avx2>(token);
                        }
                        // SAFETY: as above.
                        unsafe { run(job, x86::Avx2::new_unchecked()) }
                    }
                    #[cfg(target_arch = "aarch64")]
                    Level::Neon => {
                        // SAFETY: NEON is part of every aarch64 target.
                        job.run::<neon::$neon>(unsafe { neon::Neon::new_unchecked() });
                    }
                    _ => return Some(job),
                }
                None
            }
        }
    };
}
number!(f32, Activation::apply, Some(three::IN_PIECES), rounded, F32x16, F32x8, F32x4);
number!(f64, scalar::activate, None, as_it_is, F64x8, F64x4, F64x2);

/// Operands of `f64` are not rounded.
fn as_it_is(dst: MatMut<'_, f64>, lhs: MatRef<'_, f64>, rhs: MatRef<'_, f64>, options: Options<'_, f64>) {
    count_products(1, [dst.nrows(), lhs.ncols(), dst.ncols()]);
    tiles::run_one(dst, lhs, rhs, options);
}

fn rounded(dst: MatMut<'_, f32>, lhs: MatRef<'_, f32>, rhs: MatRef<'_, f32>, options: Options<'_, f32>) {
    match options.rounding {
        Rounding::None => tiles::run_one(dst, lhs, rhs, options),
        Rounding::Bf16 if !pays_in_bf16([dst.nrows(), lhs.ncols(), dst.ncols()]) => {
            count_products(1, [dst.nrows(), lhs.ncols(), dst.ncols()]);
            tiles::run_one(dst, lhs, rhs, options);
        }
        Rounding::Bf16 => matmul_as_bf16(dst, lhs, rhs, options),
        Rounding::F16 => matmul_as_f16(dst, lhs, rhs, options),
    }
}
