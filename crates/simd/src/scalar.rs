//! Without the feature `simd`: the part of pulp's traits that the kernels use, for one lane.
//!
//! The names are pulp's, so that a kernel is written once and compiled against either. Each operation gives the bits of
//! pulp's own scalar level; the tests below, which run where pulp is there, compare the two.

use bytemuck::Pod;

/// A kernel that can be compiled for any level.
pub(crate) trait WithSimd {
    /// The type of the result.
    type Output;

    /// Runs it with the instructions of `simd`.
    fn with_simd<S: Simd>(self, simd: S) -> Self::Output;
}

/// The mask of a load or store.
#[derive(Clone, Copy)]
pub struct MemMask<M>(M);

impl<M> MemMask<M> {
    #[inline(always)]
    pub(crate) fn new(mask: M) -> Self {
        Self(mask)
    }

    #[inline(always)]
    pub(crate) fn mask(self) -> M {
        self.0
    }
}

/// One element at a time.
#[derive(Clone, Copy)]
pub(crate) struct Scalar;

/// Writes the trait [`Simd`] and its only implementation from one table.
macro_rules! one_lane {
    ($($name:ident($($arg:ident: $kind:ident),*) -> $ret:ident = $value:expr;)*) => {
        /// The operations of a level.
        #[allow(non_camel_case_types, reason = "pulp's names")]
        pub trait Simd: Copy + Send + Sync + 'static {
            const IS_SCALAR: bool;
            const REGISTER_COUNT: usize;
            const F32_LANES: usize;
            const F64_LANES: usize;

            type f32s: Pod;
            type f64s: Pod;
            type u32s: Pod;
            type m32s: Copy;
            type m64s: Copy;

            $(fn $name(self, $($arg: one_lane!(@type Self $kind)),*) -> one_lane!(@type Self $ret);)*

            /// # Safety
            /// The lanes in the mask are readable.
            unsafe fn mask_load_ptr_f32s(self, mask: MemMask<Self::m32s>, from: *const f32) -> Self::f32s;
            /// # Safety
            /// The lanes in the mask are readable.
            unsafe fn mask_load_ptr_f64s(self, mask: MemMask<Self::m64s>, from: *const f64) -> Self::f64s;
            /// # Safety
            /// The lanes in the mask are writable.
            unsafe fn mask_store_ptr_f32s(self, mask: MemMask<Self::m32s>, to: *mut f32, x: Self::f32s);
            /// # Safety
            /// The lanes in the mask are writable.
            unsafe fn mask_store_ptr_f64s(self, mask: MemMask<Self::m64s>, to: *mut f64, x: Self::f64s);
        }

        impl Simd for Scalar {
            const IS_SCALAR: bool = true;
            const REGISTER_COUNT: usize = 16;
            const F32_LANES: usize = 1;
            const F64_LANES: usize = 1;

            type f32s = f32;
            type f64s = f64;
            type u32s = u32;
            type m32s = bool;
            type m64s = bool;

            $(
                #[inline(always)]
                fn $name(self, $($arg: one_lane!(@type Self $kind)),*) -> one_lane!(@type Self $ret) {
                    $value
                }
            )*

            #[inline(always)]
            unsafe fn mask_load_ptr_f32s(self, mask: MemMask<bool>, from: *const f32) -> f32 {
                // SAFETY: the caller's contract.
                if mask.0 { unsafe { *from } } else { 0.0 }
            }

            #[inline(always)]
            unsafe fn mask_load_ptr_f64s(self, mask: MemMask<bool>, from: *const f64) -> f64 {
                // SAFETY: the caller's contract.
                if mask.0 { unsafe { *from } } else { 0.0 }
            }

            #[inline(always)]
            unsafe fn mask_store_ptr_f32s(self, mask: MemMask<bool>, to: *mut f32, x: f32) {
                if mask.0 {
                    // SAFETY: the caller's contract.
                    unsafe { *to = x };
                }
            }

            #[inline(always)]
            unsafe fn mask_store_ptr_f64s(self, mask: MemMask<bool>, to: *mut f64, x: f64) {
                if mask.0 {
                    // SAFETY: the caller's contract.
                    unsafe { *to = x };
                }
            }
        }
    };
    (@type $s:ident f32) => { f32 };
    (@type $s:ident f64) => { f64 };
    (@type $s:ident u32) => { u32 };
    (@type $s:ident u64) => { u64 };
    (@type $s:ident usize) => { usize };
    (@type $s:ident mem32) => { MemMask<$s::m32s> };
    (@type $s:ident mem64) => { MemMask<$s::m64s> };
    (@type $s:ident $lanes:ident) => { $s::$lanes };
}

one_lane! {
    splat_f32s(x: f32) -> f32s = x;
    splat_f64s(x: f64) -> f64s = x;
    splat_u32s(x: u32) -> u32s = x;
    add_f32s(a: f32s, b: f32s) -> f32s = a + b;
    add_f64s(a: f64s, b: f64s) -> f64s = a + b;
    add_u32s(a: u32s, b: u32s) -> u32s = a.wrapping_add(b);
    sub_f32s(a: f32s, b: f32s) -> f32s = a - b;
    sub_f64s(a: f64s, b: f64s) -> f64s = a - b;
    sub_u32s(a: u32s, b: u32s) -> u32s = a.wrapping_sub(b);
    mul_f32s(a: f32s, b: f32s) -> f32s = a * b;
    mul_f64s(a: f64s, b: f64s) -> f64s = a * b;
    div_f32s(a: f32s, b: f32s) -> f32s = a / b;
    div_f64s(a: f64s, b: f64s) -> f64s = a / b;
    mul_add_e_f32s(a: f32s, b: f32s, c: f32s) -> f32s = a * b + c;
    mul_add_e_f64s(a: f64s, b: f64s, c: f64s) -> f64s = a * b + c;
    neg_f32s(a: f32s) -> f32s = -a;
    neg_f64s(a: f64s) -> f64s = -a;
    abs_f32s(a: f32s) -> f32s = a.abs();
    abs_f64s(a: f64s) -> f64s = a.abs();
    sqrt_f32s(a: f32s) -> f32s = a.sqrt();
    sqrt_f64s(a: f64s) -> f64s = a.sqrt();
    min_f32s(a: f32s, b: f32s) -> f32s = a.min(b);
    min_f64s(a: f64s, b: f64s) -> f64s = a.min(b);
    max_f32s(a: f32s, b: f32s) -> f32s = a.max(b);
    max_f64s(a: f64s, b: f64s) -> f64s = a.max(b);
    and_f32s(a: f32s, b: f32s) -> f32s = f32::from_bits(a.to_bits() & b.to_bits());
    and_f64s(a: f64s, b: f64s) -> f64s = f64::from_bits(a.to_bits() & b.to_bits());
    and_u32s(a: u32s, b: u32s) -> u32s = a & b;
    or_f32s(a: f32s, b: f32s) -> f32s = f32::from_bits(a.to_bits() | b.to_bits());
    or_f64s(a: f64s, b: f64s) -> f64s = f64::from_bits(a.to_bits() | b.to_bits());
    or_u32s(a: u32s, b: u32s) -> u32s = a | b;
    equal_f32s(a: f32s, b: f32s) -> m32s = a == b;
    equal_f64s(a: f64s, b: f64s) -> m64s = a == b;
    less_than_f32s(a: f32s, b: f32s) -> m32s = a < b;
    less_than_f64s(a: f64s, b: f64s) -> m64s = a < b;
    and_m32s(a: m32s, b: m32s) -> m32s = a & b;
    and_m64s(a: m64s, b: m64s) -> m64s = a & b;
    or_m32s(a: m32s, b: m32s) -> m32s = a | b;
    or_m64s(a: m64s, b: m64s) -> m64s = a | b;
    not_m32s(a: m32s) -> m32s = !a;
    not_m64s(a: m64s) -> m64s = !a;
    select_f32s(mask: m32s, yes: f32s, no: f32s) -> f32s = if mask { yes } else { no };
    select_f64s(mask: m64s, yes: f64s, no: f64s) -> f64s = if mask { yes } else { no };
    rotate_right_f32s(a: f32s, _by: usize) -> f32s = a;
    rotate_right_f64s(a: f64s, _by: usize) -> f64s = a;
    mask_between_m32s(start: u32, end: u32) -> mem32 = MemMask(start == 0 && end > 0);
    mask_between_m64s(start: u64, end: u64) -> mem64 = MemMask(start == 0 && end > 0);
    transmute_u32s_f32s(a: f32s) -> u32s = a.to_bits();
    transmute_f32s_u32s(a: u32s) -> f32s = f32::from_bits(a);
    wrapping_dyn_shl_u32s(a: u32s, by: u32s) -> u32s = a.wrapping_shl(by);
    wrapping_dyn_shr_u32s(a: u32s, by: u32s) -> u32s = a.wrapping_shr(by);
}

#[cfg(all(test, feature = "simd"))]
mod tests {
    use pulp::Simd as _;

    use super::*;
    use crate::testing::HARD;

    /// The bits of a result, all NaN alike: which of two is kept is not defined.
    trait Same {
        fn same(self) -> u64;
    }

    impl Same for f32 {
        fn same(self) -> u64 {
            if self.is_nan() { u64::MAX } else { self.to_bits().into() }
        }
    }

    impl Same for f64 {
        fn same(self) -> u64 {
            if self.is_nan() { u64::MAX } else { self.to_bits() }
        }
    }

    impl Same for u32 {
        fn same(self) -> u64 {
            self.into()
        }
    }

    impl Same for bool {
        fn same(self) -> u64 {
            self.into()
        }
    }

    /// Compares operations of ours with pulp's.
    macro_rules! agree {
        ($args:tt: $($name:ident)*) => { $(agree!(@one $name $args);)* };
        (@one $name:ident ($($arg:expr),*)) => {
            let (ours, theirs) = (Simd::$name(Scalar, $($arg),*), pulp::Simd::$name(pulp::Scalar, $($arg),*));
            assert_eq!(ours.same(), theirs.same(), "{} of {:?}", stringify!($name), ($($arg,)*));
        };
    }

    #[test]
    fn one_lane_gives_the_bits_of_pulp() {
        let integers = HARD.map(|x| (x as f32).to_bits());
        for a in HARD {
            for b in HARD {
                for c in HARD {
                    agree!((a, b, c): mul_add_e_f64s);
                    agree!((a as f32, b as f32, c as f32): mul_add_e_f32s);
                }
                let (x, y) = (a as f32, b as f32);
                agree!((a, b): add_f64s sub_f64s mul_f64s div_f64s min_f64s max_f64s and_f64s or_f64s equal_f64s
                    less_than_f64s);
                agree!((x, y): add_f32s sub_f32s mul_f32s div_f32s min_f32s max_f32s and_f32s or_f32s equal_f32s
                    less_than_f32s);
                agree!((a < b, a, b): select_f64s);
                agree!((x < y, x, y): select_f32s);
            }
            agree!((a): splat_f64s neg_f64s abs_f64s sqrt_f64s);
            agree!((a as f32): splat_f32s neg_f32s abs_f32s sqrt_f32s transmute_u32s_f32s);
            agree!((a, 1): rotate_right_f64s);
            agree!((a as f32, 1): rotate_right_f32s);
        }
        for a in integers {
            agree!((a): splat_u32s transmute_f32s_u32s);
            for b in integers.into_iter().chain([1, 9, 13, 23, 31, 32]) {
                agree!((a, b): add_u32s sub_u32s and_u32s or_u32s wrapping_dyn_shl_u32s wrapping_dyn_shr_u32s);
            }
        }
    }

    #[test]
    fn masks_are_those_of_pulp() {
        for a in [false, true] {
            agree!((a): not_m32s not_m64s);
            for b in [false, true] {
                agree!((a, b): and_m32s and_m64s or_m32s or_m64s);
            }
        }
        for count in 0..2 {
            let (ours, theirs) =
                (Scalar.mask_between_m32s(0, count), pulp::Scalar.mask_between_m32s(0, count));
            assert_eq!(ours.mask(), theirs.mask());
            let (ours, theirs) =
                (Scalar.mask_between_m64s(0, count.into()), pulp::Scalar.mask_between_m64s(0, count.into()));
            assert_eq!(ours.mask(), theirs.mask());
            let mut to = [2.0_f32, 2.0];
            let (mask, mem) = (MemMask::new(count > 0), pulp::MemMask::new(count > 0));
            // SAFETY: one element is there to be read and written.
            unsafe {
                assert_eq!(Scalar.mask_load_ptr_f32s(mask, &3.0), pulp::Scalar.mask_load_ptr_f32s(mem, &3.0));
                assert_eq!(Scalar.mask_load_ptr_f64s(mask, &3.0), pulp::Scalar.mask_load_ptr_f64s(mem, &3.0));
                Scalar.mask_store_ptr_f32s(mask, &mut to[0], 3.0);
                pulp::Scalar.mask_store_ptr_f32s(mem, &mut to[1], 3.0);
            }
            assert_eq!(to[0], to[1]);
        }
    }
}
