//! A vector of lanes with the operators of arithmetic, generic over `f32` and `f64`.
//!
//! Everything here is inlined into the kernel that uses it: code that is not inlined into pulp's
//! `vectorize` is compiled without the level's instructions.

#[cfg(all(feature = "simd", target_arch = "x86_64"))]
use std::any::TypeId;
use std::fmt::Debug;
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

use crate::isa::{MemMask, Simd};
use bytemuck::Pod;

/// The type named by one word in the table below.
macro_rules! kind {
    (raw $t:ty) => { <$t as Lanes>::Raw<S> };
    (mask $t:ty) => { <$t as Lanes>::Mask<S> };
    (one $t:ty) => { $t };
    (count $t:ty) => { usize };
}

/// Writes the trait [`Lanes`] and its two implementations from one table of pulp's names.
macro_rules! lanes {
    ($($name:ident($($arg:ident: $kind:ident),*) -> $ret:ident = $single:ident | $double:ident;)*) => {
        /// A number that lanes hold, and what they can do at every level. Sealed by its place in a private module.
        pub trait Lanes: Pod + PartialOrd + Debug + Default + Send + Sync {
            type Raw<S: Simd>: Pod;
            type Mask<S: Simd>: Copy;

            fn lanes<S: Simd>() -> usize;
            fn from_f64(x: f64) -> Self;
            fn to_f64(self) -> f64;
            $(fn $name<S: Simd>(simd: S, $($arg: kind!($kind Self)),*) -> kind!($ret Self);)*

            /// The mask of the first `count` lanes.
            fn first<S: Simd>(simd: S, count: usize) -> Self::Mask<S>;
            /// # Safety
            /// Lanes in the mask are readable.
            unsafe fn load_masked<S: Simd>(simd: S, mask: Self::Mask<S>, from: *const Self) -> Self::Raw<S>;
            /// # Safety
            /// Lanes in the mask are writable.
            unsafe fn store_masked<S: Simd>(simd: S, mask: Self::Mask<S>, to: *mut Self, x: Self::Raw<S>);
        }

        lanes!(@impl f32, f32s, m32s, u32, F32_LANES, mask_between_m32s, mask_load_ptr_f32s, mask_store_ptr_f32s,
            $($name($($arg: $kind),*) -> $ret = $single;)*);
        lanes!(@impl f64, f64s, m64s, u64, F64_LANES, mask_between_m64s, mask_load_ptr_f64s, mask_store_ptr_f64s,
            $($name($($arg: $kind),*) -> $ret = $double;)*);
    };
    (@impl $t:ty, $raw:ident, $mask:ident, $bits:ty, $lanes:ident, $between:ident, $load:ident, $store:ident,
        $($name:ident($($arg:ident: $kind:ident),*) -> $ret:ident = $method:ident;)*) => {
        impl Lanes for $t {
            type Raw<S: Simd> = S::$raw;
            type Mask<S: Simd> = S::$mask;

            #[inline(always)]
            fn lanes<S: Simd>() -> usize {
                S::$lanes
            }

            #[inline(always)]
            fn from_f64(x: f64) -> Self {
                x as $t
            }

            #[inline(always)]
            fn to_f64(self) -> f64 {
                f64::from(self)
            }

            $(
                #[inline(always)]
                fn $name<S: Simd>(simd: S, $($arg: kind!($kind $t)),*) -> kind!($ret $t) {
                    outlined_if_emulated::<S, _>(#[inline(always)] || simd.$method($($arg),*))
                }
            )*

            #[inline(always)]
            fn first<S: Simd>(simd: S, count: usize) -> S::$mask {
                simd.$between(0, count as $bits).mask()
            }

            #[inline(always)]
            unsafe fn load_masked<S: Simd>(simd: S, mask: S::$mask, from: *const Self) -> S::$raw {
                // A fresh `MemMask` takes the masked instruction, not pulp's jump through a table.
                // SAFETY: the caller's contract.
                unsafe { simd.$load(MemMask::new(mask), from) }
            }

            #[inline(always)]
            unsafe fn store_masked<S: Simd>(simd: S, mask: S::$mask, to: *mut Self, x: S::$raw) {
                // SAFETY: the caller's contract.
                unsafe { simd.$store(MemMask::new(mask), to, x) }
            }
        }
    };
}

lanes! {
    splat(x: one) -> raw = splat_f32s | splat_f64s;
    add(a: raw, b: raw) -> raw = add_f32s | add_f64s;
    sub(a: raw, b: raw) -> raw = sub_f32s | sub_f64s;
    mul(a: raw, b: raw) -> raw = mul_f32s | mul_f64s;
    div(a: raw, b: raw) -> raw = div_f32s | div_f64s;
    mul_add(a: raw, b: raw, c: raw) -> raw = mul_add_e_f32s | mul_add_e_f64s;
    neg(a: raw) -> raw = neg_f32s | neg_f64s;
    abs(a: raw) -> raw = abs_f32s | abs_f64s;
    sqrt(a: raw) -> raw = sqrt_f32s | sqrt_f64s;
    min(a: raw, b: raw) -> raw = min_f32s | min_f64s;
    max(a: raw, b: raw) -> raw = max_f32s | max_f64s;
    bit_and(a: raw, b: raw) -> raw = and_f32s | and_f64s;
    bit_or(a: raw, b: raw) -> raw = or_f32s | or_f64s;
    equal(a: raw, b: raw) -> mask = equal_f32s | equal_f64s;
    less(a: raw, b: raw) -> mask = less_than_f32s | less_than_f64s;
    mask_and(a: mask, b: mask) -> mask = and_m32s | and_m64s;
    mask_or(a: mask, b: mask) -> mask = or_m32s | or_m64s;
    mask_not(a: mask) -> mask = not_m32s | not_m64s;
    select(mask: mask, yes: raw, no: raw) -> raw = select_f32s | select_f64s;
    rotate(a: raw, by: count) -> raw = rotate_right_f32s | rotate_right_f64s;
}

/// `f32` or `f64`: an element that the kernels work on. Sealed.
pub trait Float: Lanes {}

impl Float for f32 {}
impl Float for f64 {}

/// As many elements as one register of the level `S` holds.
#[derive(Clone, Copy)]
pub(crate) struct Vector<T: Lanes, S: Simd> {
    pub(crate) raw: T::Raw<S>,
    pub(crate) simd: S,
}

/// One vector of each of `N` slices.
pub(crate) type Vectors<T, S, const N: usize> = [Vector<T, S>; N];

/// One truth value per lane.
#[derive(Clone, Copy)]
pub(crate) struct Mask<T: Lanes, S: Simd> {
    pub(crate) raw: T::Mask<S>,
    pub(crate) simd: S,
}

impl<T: Lanes, S: Simd> Vector<T, S> {
    /// # Safety
    /// One vector of elements is readable at `from`.
    #[inline(always)]
    pub(crate) unsafe fn load(simd: S, from: *const T) -> Self {
        // SAFETY: the caller's contract; every bit pattern is a value of `Pod`.
        let raw = unsafe { from.cast::<T::Raw<S>>().read_unaligned() };
        Self { raw, simd }
    }

    /// # Safety
    /// One vector of elements is writable at `to`.
    #[inline(always)]
    pub(crate) unsafe fn store(self, to: *mut T) {
        // SAFETY: the caller's contract.
        unsafe { to.cast::<T::Raw<S>>().write_unaligned(self.raw) }
    }

    /// The first `count` lanes, fewer than all, from `from`; the others are zero.
    ///
    /// # Safety
    /// `count` elements are readable at `from`.
    #[inline(always)]
    pub(crate) unsafe fn load_first(simd: S, from: *const T, count: usize) -> Self {
        if is_x86::<S>() {
            let mask = T::first(simd, count);
            // SAFETY: the lanes of the mask are those elements.
            return Self { raw: unsafe { T::load_masked(simd, mask, from) }, simd };
        }
        let mut raw = T::splat(simd, T::default());
        let lanes = bytemuck::cast_slice_mut::<_, T>(std::slice::from_mut(&mut raw));
        // SAFETY: the caller's contract, and there are more lanes than `count`.
        unsafe { lanes.as_mut_ptr().copy_from_nonoverlapping(from, count) };
        Self { raw, simd }
    }

    /// Stores the first `count` lanes, fewer than all.
    ///
    /// # Safety
    /// `count` elements are writable at `to`.
    #[inline(always)]
    pub(crate) unsafe fn store_first(self, to: *mut T, count: usize) {
        if is_x86::<S>() {
            let mask = T::first(self.simd, count);
            // SAFETY: the lanes of the mask are those elements.
            return unsafe { T::store_masked(self.simd, mask, to, self.raw) };
        }
        let lanes = bytemuck::cast_slice::<_, T>(std::slice::from_ref(&self.raw));
        // SAFETY: the caller's contract, and there are more lanes than `count`.
        unsafe { to.copy_from_nonoverlapping(lanes.as_ptr(), count) };
    }

    /// The first elements of `x`, zeros standing for those beyond its end.
    #[inline(always)]
    pub(crate) fn read(simd: S, x: &[T]) -> Self {
        // SAFETY: the lengths are checked.
        unsafe {
            if x.len() >= T::lanes::<S>() {
                Self::load(simd, x.as_ptr())
            } else {
                Self::load_first(simd, x.as_ptr(), x.len())
            }
        }
    }

    /// Stores as many lanes as fit into `out`.
    #[inline(always)]
    pub(crate) fn write(self, out: &mut [T]) {
        // SAFETY: the lengths are checked.
        unsafe {
            if out.len() >= T::lanes::<S>() {
                self.store(out.as_mut_ptr());
            } else {
                self.store_first(out.as_mut_ptr(), out.len());
            }
        }
    }

    #[inline(always)]
    pub(crate) fn of(simd: S, x: T) -> Self {
        Self { raw: T::splat(simd, x), simd }
    }

    /// Another vector of the same level with `x` in every lane.
    #[inline(always)]
    pub(crate) fn splat(self, x: T) -> Self {
        Self::of(self.simd, x)
    }

    #[inline(always)]
    fn with(self, raw: T::Raw<S>) -> Self {
        Self { raw, simd: self.simd }
    }

    /// `self * b + c`, fused where the level can fuse.
    #[inline(always)]
    pub(crate) fn mul_add(self, b: impl Lift<T, S>, c: impl Lift<T, S>) -> Self {
        let (b, c) = (b.lift(self.simd), c.lift(self.simd));
        self.with(T::mul_add(self.simd, self.raw, b.raw, c.raw))
    }

    #[inline(always)]
    pub(crate) fn abs(self) -> Self {
        self.with(T::abs(self.simd, self.raw))
    }

    #[inline(always)]
    pub(crate) fn sqrt(self) -> Self {
        self.with(T::sqrt(self.simd, self.raw))
    }

    /// The magnitude of `self` with the sign bit of `sign`.
    #[inline(always)]
    pub(crate) fn copy_sign(self, sign: Self) -> Self {
        let bit = T::bit_and(self.simd, sign.raw, self.splat(T::from_f64(-0.0)).raw);
        self.with(T::bit_or(self.simd, self.abs().raw, bit))
    }

    /// `other` where `self` is above it, else `self`: NaN stays, at every level.
    #[inline(always)]
    pub(crate) fn at_most(self, other: impl Lift<T, S>) -> Self {
        let other = other.lift(self.simd);
        if is_x86::<S>() {
            // The instruction returns its second operand unless the first is smaller.
            self.with(T::min(self.simd, other.raw, self.raw))
        } else {
            other.less(self).select(other, self)
        }
    }

    /// `other` where `self` is below it, else `self`: NaN stays, at every level.
    #[inline(always)]
    pub(crate) fn at_least(self, other: impl Lift<T, S>) -> Self {
        let other = other.lift(self.simd);
        if is_x86::<S>() {
            self.with(T::max(self.simd, other.raw, self.raw))
        } else {
            self.less(other).select(other, self)
        }
    }

    #[inline(always)]
    pub(crate) fn equal(self, other: impl Lift<T, S>) -> Mask<T, S> {
        let other = other.lift(self.simd);
        Mask { raw: T::equal(self.simd, self.raw, other.raw), simd: self.simd }
    }

    #[inline(always)]
    pub(crate) fn less(self, other: impl Lift<T, S>) -> Mask<T, S> {
        let other = other.lift(self.simd);
        Mask { raw: T::less(self.simd, self.raw, other.raw), simd: self.simd }
    }

    #[inline(always)]
    pub(crate) fn greater(self, other: impl Lift<T, S>) -> Mask<T, S> {
        other.lift(self.simd).less(self)
    }

    #[inline(always)]
    pub(crate) fn is_nan(self) -> Mask<T, S> {
        !self.equal(self)
    }

    /// The lanes moved up by `by` places, the last ones coming back at the front.
    #[inline(always)]
    pub(crate) fn rotate(self, by: usize) -> Self {
        self.with(T::rotate(self.simd, self.raw, by))
    }

    #[inline(always)]
    pub(crate) fn lane(self, index: usize) -> T {
        bytemuck::cast_slice::<T::Raw<S>, T>(std::slice::from_ref(&self.raw))[index]
    }
}

/// Whether `S` is one of the x86 levels, decided when the kernel is compiled.
#[inline(always)]
fn is_x86<S: Simd>() -> bool {
    cfg!(all(feature = "simd", target_arch = "x86_64")) && const { !S::IS_SCALAR } && !is_emulated::<S>()
}

/// Whether `S` is pulp's emulated width that the tests run beside the real levels.
#[inline(always)]
fn is_emulated<S: Simd>() -> bool {
    // Of all that has lanes and less than 32 registers, AVX2 alone is real. What can be decided before
    // the types are known is decided first: the compiler then never sees the other way.
    #[cfg(all(feature = "simd", target_arch = "x86_64"))]
    let real = const { S::F32_LANES == 8 } && TypeId::of::<S>() == TypeId::of::<pulp::x86::V3>();
    #[cfg(not(all(feature = "simd", target_arch = "x86_64")))]
    let real = false;
    cfg!(test) && const { !S::IS_SCALAR && S::REGISTER_COUNT < 32 } && !real
}

/// Calls `part` of a kernel: inlined, but out of line at the emulated width, whose lanes one by one
/// would take minutes to compile wherever they are used.
#[inline(always)]
pub(crate) fn outlined_if_emulated<S: Simd, R>(part: impl FnOnce() -> R) -> R {
    if is_emulated::<S>() {
        #[inline(never)]
        fn call<R>(part: impl FnOnce() -> R) -> R {
            part()
        }
        return call(part);
    }
    part()
}

impl<T: Lanes, S: Simd> Mask<T, S> {
    /// The mask of the first `count` lanes.
    #[inline(always)]
    pub(crate) fn first(simd: S, count: usize) -> Self {
        Self { raw: T::first(simd, count), simd }
    }

    /// `yes` where the mask holds, else `no`.
    #[inline(always)]
    pub(crate) fn select(self, yes: impl Lift<T, S>, no: impl Lift<T, S>) -> Vector<T, S> {
        let simd = self.simd;
        let (yes, no) = (yes.lift(simd), no.lift(simd));
        Vector { raw: T::select(simd, self.raw, yes.raw, no.raw), simd }
    }
}

/// The second operand of an operator: a vector, or one number for all lanes.
pub(crate) trait Lift<T: Lanes, S: Simd> {
    fn lift(self, simd: S) -> Vector<T, S>;
}

impl<T: Lanes, S: Simd> Lift<T, S> for Vector<T, S> {
    #[inline(always)]
    fn lift(self, _: S) -> Vector<T, S> {
        self
    }
}

impl<T: Lanes, S: Simd> Lift<T, S> for T {
    #[inline(always)]
    fn lift(self, simd: S) -> Vector<T, S> {
        Vector::of(simd, self)
    }
}

macro_rules! operators {
    ($($trait:ident $op:ident,)*) => { $(
        impl<T: Lanes, S: Simd, B: Lift<T, S>> $trait<B> for Vector<T, S> {
            type Output = Self;

            #[inline(always)]
            fn $op(self, other: B) -> Self {
                let other = other.lift(self.simd);
                self.with(T::$op(self.simd, self.raw, other.raw))
            }
        }
    )* };
}

operators! { Add add, Sub sub, Mul mul, Div div, }

impl<T: Lanes, S: Simd> Neg for Vector<T, S> {
    type Output = Self;

    #[inline(always)]
    fn neg(self) -> Self {
        self.with(T::neg(self.simd, self.raw))
    }
}

impl<T: Lanes, S: Simd> BitAnd for Mask<T, S> {
    type Output = Self;

    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        Self { raw: T::mask_and(self.simd, self.raw, other.raw), ..self }
    }
}

impl<T: Lanes, S: Simd> BitOr for Mask<T, S> {
    type Output = Self;

    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        Self { raw: T::mask_or(self.simd, self.raw, other.raw), ..self }
    }
}

impl<T: Lanes, S: Simd> Not for Mask<T, S> {
    type Output = Self;

    #[inline(always)]
    fn not(self) -> Self {
        Self { raw: T::mask_not(self.simd, self.raw), ..self }
    }
}
