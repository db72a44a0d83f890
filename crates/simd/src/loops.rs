//! The two loops that nearly every kernel is made of: [`map`] and [`fold`].
//!
//! Both walk any number of slices of one length, a vector at a time, and finish with one masked
//! vector, so a kernel says what happens to one vector and nothing else.

use std::mem::MaybeUninit;

use crate::isa::{Simd, WithSimd};

use crate::level::dispatch;
use crate::vector::{Lanes, Mask, Vector, Vectors, outlined_if_emulated};

/// An element-wise kernel: `R` slices are read, `W` slices are read and written.
pub(crate) trait Map<T: Lanes, const R: usize, const W: usize>: Copy {
    /// The new values of the written slices from one vector of each read slice (`x`) and the old
    /// values of the written ones (`y`).
    fn map<S: Simd>(self, x: Vectors<T, S, R>, y: Vectors<T, S, W>) -> Vectors<T, S, W>;
}

/// A reduction of `R` slices to `A` numbers that may also rewrite `W` slices on its way.
pub(crate) trait Fold<T: Lanes, const R: usize, const W: usize, const A: usize>: Copy {
    /// The first values of the accumulators, those of sums by default; [`Fold::merge`] with them changes nothing.
    #[inline(always)]
    fn identity(self) -> [T; A] {
        [T::default(); A]
    }

    /// Takes one vector of each slice into the accumulators; returns them and the new `y`.
    fn step<S: Simd>(
        self,
        acc: Vectors<T, S, A>,
        x: Vectors<T, S, R>,
        y: Vectors<T, S, W>,
    ) -> (Vectors<T, S, A>, Vectors<T, S, W>);

    /// Joins two sets of accumulators.
    #[inline(always)]
    fn merge<S: Simd>(self, a: Vectors<T, S, A>, b: Vectors<T, S, A>) -> Vectors<T, S, A> {
        let mut sum = a;
        for k in 0..A {
            sum[k] = a[k] + b[k];
        }
        sum
    }
}

/// Panics with both lengths unless they are the same.
#[track_caller]
#[inline(always)]
pub(crate) fn same_len(left: usize, right: usize) {
    #[cold]
    #[inline(never)]
    #[track_caller]
    fn differ(left: usize, right: usize) -> ! {
        panic!("slices of different lengths: {left} and {right}")
    }
    if left != right {
        differ(left, right)
    }
}

/// The slices of one call: all of length `len`, none of the written ones overlapping another.
struct Slices<T, const R: usize, const W: usize> {
    read: [*const T; R],
    write: [*mut T; W],
    len: usize,
}

impl<T: Lanes, const R: usize, const W: usize> Slices<T, R, W> {
    #[track_caller]
    #[inline(always)]
    fn new(read: [&[T]; R], write: [&mut [T]; W]) -> Self {
        let len = if W > 0 { write[0].len() } else { read[0].len() };
        let mut slices = Self { read: [std::ptr::null(); R], write: [std::ptr::null_mut(); W], len };
        for k in 0..R {
            same_len(read[k].len(), len);
            slices.read[k] = read[k].as_ptr();
        }
        for k in 0..W {
            same_len(write[k].len(), len);
            slices.write[k] = write[k].as_mut_ptr();
        }
        slices
    }

    /// # Safety
    /// `at` plus one vector is within the slices.
    #[inline(always)]
    unsafe fn load<S: Simd>(&self, simd: S, at: usize) -> (Vectors<T, S, R>, Vectors<T, S, W>) {
        let zero = Vector::of(simd, T::default());
        let (mut x, mut y) = ([zero; R], [zero; W]);
        for k in 0..R {
            // SAFETY: the caller's contract.
            x[k] = unsafe { Vector::load(simd, self.read[k].add(at)) };
        }
        for k in 0..W {
            // SAFETY: the caller's contract.
            y[k] = unsafe { Vector::load(simd, self.write[k].add(at)) };
        }
        (x, y)
    }

    /// # Safety
    /// `at` plus one vector is within the slices.
    #[inline(always)]
    unsafe fn store<S: Simd>(&self, at: usize, y: Vectors<T, S, W>) {
        for k in 0..W {
            // SAFETY: the caller's contract.
            unsafe { y[k].store(self.write[k].add(at)) };
        }
    }

    /// The rest of the slices from `at` on, fewer elements than a vector has; the other lanes are zero.
    ///
    /// # Safety
    /// `at` is within the slices.
    #[inline(always)]
    unsafe fn load_tail<S: Simd>(&self, simd: S, at: usize) -> (Vectors<T, S, R>, Vectors<T, S, W>) {
        let zero = Vector::of(simd, T::default());
        let (mut x, mut y) = ([zero; R], [zero; W]);
        let count = self.len - at;
        for k in 0..R {
            // SAFETY: `count` elements are left.
            x[k] = unsafe { Vector::load_first(simd, self.read[k].add(at), count) };
        }
        for k in 0..W {
            // SAFETY: `count` elements are left.
            y[k] = unsafe { Vector::load_first(simd, self.write[k].add(at), count) };
        }
        (x, y)
    }

    /// # Safety
    /// `at` is within the slices.
    #[inline(always)]
    unsafe fn store_tail<S: Simd>(&self, at: usize, y: Vectors<T, S, W>) {
        for k in 0..W {
            // SAFETY: as many elements are left.
            unsafe { y[k].store_first(self.write[k].add(at), self.len - at) };
        }
    }
}

/// Runs an element-wise kernel at the current level.
///
/// # Panics
/// If the slices differ in length.
#[track_caller]
#[inline]
pub(crate) fn map<T: Lanes, const R: usize, const W: usize>(
    op: impl Map<T, R, W>,
    read: [&[T]; R],
    write: [&mut [T]; W],
) {
    struct Run<K, T, const R: usize, const W: usize>(K, Slices<T, R, W>);
    impl<K: Map<T, R, W>, T: Lanes, const R: usize, const W: usize> WithSimd for Run<K, T, R, W> {
        type Output = ();

        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) {
            map_slices(simd, self.0, self.1);
        }
    }
    dispatch(Run(op, Slices::new(read, write)));
}

/// [`map`] within a kernel that is already dispatched.
#[track_caller]
#[inline(always)]
pub(crate) fn map_in<S: Simd, T: Lanes, const R: usize, const W: usize>(
    simd: S,
    op: impl Map<T, R, W>,
    read: [&[T]; R],
    write: [&mut [T]; W],
) {
    map_slices(simd, op, Slices::new(read, write));
}

#[inline(always)]
fn map_slices<S: Simd, T: Lanes, const R: usize, const W: usize>(
    simd: S,
    op: impl Map<T, R, W>,
    slices: Slices<T, R, W>,
) {
    let lanes = T::lanes::<S>();
    let mut at = 0;
    while at + lanes <= slices.len {
        // SAFETY: `at + lanes` is within the slices.
        let (x, y) = unsafe { slices.load(simd, at) };
        let y = outlined_if_emulated::<S, _>(
            #[inline(always)]
            || op.map(x, y),
        );
        // SAFETY: as above.
        unsafe { slices.store(at, y) };
        at += lanes;
    }
    if at < slices.len {
        // SAFETY: `at` is within the slices.
        let (x, y) = unsafe { slices.load_tail(simd, at) };
        let y = outlined_if_emulated::<S, _>(
            #[inline(always)]
            || op.map(x, y),
        );
        // SAFETY: as above.
        unsafe { slices.store_tail(at, y) };
    }
}

/// Runs a reduction at the current level: `U` independent sets of accumulators (1, 2 or 4) hide the
/// latency of an addition, blocks of `U * STEPS` vectors are joined in pairs as in pairwise
/// summation.
///
/// The result depends on the values, the length and the level, on nothing else.
///
/// # Panics
/// If the slices differ in length.
#[track_caller]
#[inline]
pub(crate) fn fold<const U: usize, T: Lanes, const R: usize, const W: usize, const A: usize>(
    op: impl Fold<T, R, W, A>,
    read: [&[T]; R],
    write: [&mut [T]; W],
) -> [T; A] {
    struct Run<K, T, const U: usize, const R: usize, const W: usize, const A: usize>(K, Slices<T, R, W>);
    impl<K, T, const U: usize, const R: usize, const W: usize, const A: usize> WithSimd for Run<K, T, U, R, W, A>
    where
        K: Fold<T, R, W, A>,
        T: Lanes,
    {
        type Output = [T; A];

        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> [T; A] {
            fold_slices::<U, S, T, R, W, A>(simd, self.0, self.1)
        }
    }
    dispatch(Run::<_, T, U, R, W, A>(op, Slices::new(read, write)))
}

/// [`fold`] within a kernel that is already dispatched.
#[track_caller]
#[inline(always)]
pub(crate) fn fold_in<const U: usize, S: Simd, T: Lanes, const R: usize, const W: usize, const A: usize>(
    simd: S,
    op: impl Fold<T, R, W, A>,
    read: [&[T]; R],
    write: [&mut [T]; W],
) -> [T; A] {
    fold_slices::<U, S, T, R, W, A>(simd, op, Slices::new(read, write))
}

/// Vectors that one accumulator takes before it is joined with the others.
const STEPS: usize = 8;

#[inline(always)]
fn fold_slices<const U: usize, S: Simd, T: Lanes, const R: usize, const W: usize, const A: usize>(
    simd: S,
    op: impl Fold<T, R, W, A>,
    slices: Slices<T, R, W>,
) -> [T; A] {
    let lanes = T::lanes::<S>();
    let mut identity = [Vector::of(simd, T::default()); A];
    for k in 0..A {
        identity[k] = Vector::of(simd, op.identity()[k]);
    }
    let mut at = 0;
    let mut total = identity;
    let block = U * STEPS * lanes;
    if block <= slices.len {
        let mut pairs = Pairs::new();
        while at + block <= slices.len {
            let mut acc = [identity; 4];
            let end = at + block;
            while at < end {
                // SAFETY: the loops' bounds.
                unsafe { advance_all::<U, _, _, R, W, A>(simd, op, &slices, &mut acc, at) };
                at += U * lanes;
            }
            pairs.push(op, join::<U, _, _, R, W, A>(op, acc));
        }
        total = pairs.finish(op, identity);
    }

    let mut acc = [identity; 4];
    while at + U * lanes <= slices.len {
        // SAFETY: the loop's bound.
        unsafe { advance_all::<U, _, _, R, W, A>(simd, op, &slices, &mut acc, at) };
        at += U * lanes;
    }
    while at + lanes <= slices.len {
        // SAFETY: the loop's bound.
        acc[0] = unsafe { advance(simd, op, &slices, acc[0], at) };
        at += lanes;
    }
    if at < slices.len {
        // SAFETY: `at` is within the slices.
        let (x, y) = unsafe { slices.load_tail(simd, at) };
        let (new, y) = outlined_if_emulated::<S, _>(
            #[inline(always)]
            || op.step(acc[U - 1], x, y),
        );
        // SAFETY: as above.
        unsafe { slices.store_tail(at, y) };
        let mask = Mask::first(simd, slices.len - at);
        for k in 0..A {
            acc[U - 1][k] = mask.select(new[k], acc[U - 1][k]);
        }
    }
    total = op.merge(total, join::<U, _, _, R, W, A>(op, acc));

    total = join_lanes(op, total);
    let mut result = [T::default(); A];
    for k in 0..A {
        result[k] = total[k].lane(0);
    }
    result
}

/// All lanes of accumulators joined, in all of their lanes.
#[inline(always)]
pub(crate) fn join_lanes<S: Simd, T: Lanes, const R: usize, const W: usize, const A: usize>(
    op: impl Fold<T, R, W, A>,
    mut acc: Vectors<T, S, A>,
) -> Vectors<T, S, A> {
    let mut half = T::lanes::<S>() / 2;
    while half > 0 {
        let mut turned = acc;
        for k in 0..A {
            turned[k] = acc[k].rotate(half);
        }
        acc = op.merge(acc, turned);
        half /= 2;
    }
    acc
}

/// One step of a reduction.
///
/// # Safety
/// `at` plus one vector is within the slices.
#[inline(always)]
unsafe fn advance<S: Simd, T: Lanes, const R: usize, const W: usize, const A: usize>(
    simd: S,
    op: impl Fold<T, R, W, A>,
    slices: &Slices<T, R, W>,
    acc: Vectors<T, S, A>,
    at: usize,
) -> Vectors<T, S, A> {
    // SAFETY: the caller's contract.
    let (x, y) = unsafe { slices.load(simd, at) };
    let (acc, y) = outlined_if_emulated::<S, _>(
        #[inline(always)]
        || op.step(acc, x, y),
    );
    // SAFETY: the caller's contract.
    unsafe { slices.store(at, y) };
    acc
}

/// One step of each of the first `U` sets of accumulators, 1, 2 or 4. Written out, not looped over:
/// an array that is indexed by a loop variable may end up in memory.
///
/// # Safety
/// `at` plus `U` vectors is within the slices.
#[inline(always)]
unsafe fn advance_all<const U: usize, S: Simd, T: Lanes, const R: usize, const W: usize, const A: usize>(
    simd: S,
    op: impl Fold<T, R, W, A>,
    slices: &Slices<T, R, W>,
    acc: &mut [Vectors<T, S, A>; 4],
    at: usize,
) {
    const { assert!(U == 1 || U == 2 || U == 4) };
    let lanes = T::lanes::<S>();
    // SAFETY: the caller's contract.
    unsafe {
        acc[0] = advance(simd, op, slices, acc[0], at);
        if U > 1 {
            acc[1] = advance(simd, op, slices, acc[1], at + lanes);
        }
        if U > 2 {
            acc[2] = advance(simd, op, slices, acc[2], at + 2 * lanes);
            acc[3] = advance(simd, op, slices, acc[3], at + 3 * lanes);
        }
    }
}

/// Joins the first `U` sets of accumulators in pairs.
#[inline(always)]
fn join<const U: usize, S: Simd, T: Lanes, const R: usize, const W: usize, const A: usize>(
    op: impl Fold<T, R, W, A>,
    [a, b, c, d]: [Vectors<T, S, A>; 4],
) -> Vectors<T, S, A> {
    match U {
        1 => a,
        2 => op.merge(a, b),
        _ => op.merge(op.merge(a, b), op.merge(c, d)),
    }
}

/// Partial results of 1, 2, 4... blocks, joined like the digits of a binary counter.
struct Pairs<T: Lanes, S: Simd, const A: usize> {
    /// Initialised where `blocks` has a one.
    parts: [MaybeUninit<Vectors<T, S, A>>; 32],
    blocks: usize,
}

impl<T: Lanes, S: Simd, const A: usize> Pairs<T, S, A> {
    #[inline(always)]
    fn new() -> Self {
        Self { parts: [const { MaybeUninit::uninit() }; 32], blocks: 0 }
    }

    #[inline(always)]
    fn push<const R: usize, const W: usize>(
        &mut self,
        op: impl Fold<T, R, W, A>,
        mut part: Vectors<T, S, A>,
    ) {
        let full = self.blocks.trailing_ones() as usize;
        for digit in 0..full {
            // SAFETY: this digit of `blocks` is one.
            part = op.merge(unsafe { self.parts[digit].assume_init() }, part);
        }
        self.parts[full] = MaybeUninit::new(part);
        self.blocks += 1;
    }

    #[inline(always)]
    fn finish<const R: usize, const W: usize>(
        &self,
        op: impl Fold<T, R, W, A>,
        identity: Vectors<T, S, A>,
    ) -> Vectors<T, S, A> {
        let mut total = identity;
        for digit in 0..(usize::BITS - self.blocks.leading_zeros()) as usize {
            if self.blocks >> digit & 1 == 1 {
                // SAFETY: this digit of `blocks` is one.
                total = op.merge(unsafe { self.parts[digit].assume_init() }, total);
            }
        }
        total
    }
}
