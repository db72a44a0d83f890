//! Passes over rows, shared out in blocks of them.

use std::marker::PhantomData;
use std::ops::Range;

use foretell_pool::Buffer;

use crate::indices::for_each;
use crate::scope::count;

/// The work of a pass from which sharing it pays, in numbers of a plain pass over memory (`a + b`): below, telling
/// another thread takes longer than it saves. On two cores a pass over this many takes some 8 microseconds alone. Twice as
/// much here, and for the tasks of products, made the steps of TSMixer and DeepNPTS 6 to 8 % slower.
const WORTH_SHARING: usize = 1 << 15;

/// The work of a block: enough that taking one costs nothing to speak of, and so little that its numbers stay in the
/// first or second cache and threads end at the same time.
const BLOCK: usize = 1 << 13;

/// The least work of a block of [`sums`], each of which is summed apart; for each number of the sum, which is cleared
/// and added up once a block; and the most blocks.
const SUM_BLOCK: usize = 1 << 15;
const WORK_PER_SUM: usize = 16;
const SUM_BLOCKS: usize = 16;

/// Calls `work` with ranges that make up `0..rows`, and with these rows of each of `outs`, on the threads that
/// [`share`](crate::share) allows. `cost` is the work of a row: about as many numbers as a plain pass over memory would
/// take as long for.
///
/// The output of `work` for a row must not depend on which other rows are in its range: then no bit depends on the threads.
///
/// # Panics
/// If the lengths of `outs` are no multiples of `rows`, or a call panics.
#[track_caller]
pub fn rows<T: Send, const N: usize>(
    rows: usize,
    cost: usize,
    outs: [&mut [T]; N],
    work: impl Fn(Range<usize>, [&mut [T]; N]) + Sync,
) {
    if rows.saturating_mul(cost) < WORTH_SHARING || count() == 1 {
        return work(0..rows, outs);
    }
    let outs = outs.map(|out| {
        assert!(out.len().is_multiple_of(rows), "{} values are no {rows} rows", out.len());
        let width = out.len() / rows;
        Rows::of(out, width)
    });
    let height = BLOCK.div_ceil(cost);
    for_each(rows.div_ceil(height), 1, |block| {
        let range = block * height..rows.min((block + 1) * height);
        // SAFETY: each block is taken once, and blocks have no row in common.
        let parts = outs.each_ref().map(|out| unsafe { out.part(range.clone()) });
        work(range, parts);
    });
}

/// Sets numbers to zero, on the threads that [`share`](crate::share) allows.
pub fn fill_zero(values: &mut [f32]) {
    rows(values.len(), 1, [values], |_, [values]| values.fill(0.0));
}

/// The rows of the blocks in which sums of `width` numbers over rows are cut, the last of which may be shorter: see
/// [`sums`].
pub fn block_height(rows: usize, cost: usize, width: usize) -> usize {
    let least = SUM_BLOCK.max(width.saturating_mul(WORK_PER_SUM));
    (least / cost.max(1)).max(rows.div_ceil(SUM_BLOCKS)).max(1)
}

/// Lets `add` add rows to `sum`: ranges that make up `0..rows`, each to a sum of its own that starts from zeros (the first
/// to `sum` as it is), which are then added up in their order. The ranges depend on `rows`, `cost` (the work of a row
/// as for [`rows`]) and the length of `sum` alone; so no bit depends on the threads.
///
/// # Panics
/// If a call panics.
pub fn sums(rows: usize, cost: usize, sum: &mut [f32], add: impl Fn(Range<usize>, &mut [f32]) + Sync) {
    sums_and_rows(rows, cost, sum, &mut [], |range, sum, _| add(range, sum));
}

/// [`sums`] of a pass that also writes rows: `work` gets a range of rows, a sum to add them to, and these rows of `out`.
///
/// # Panics
/// If the length of `out` is no multiple of `rows`, or a call panics.
#[track_caller]
pub fn sums_and_rows(
    rows: usize,
    cost: usize,
    sum: &mut [f32],
    out: &mut [f32],
    work: impl Fn(Range<usize>, &mut [f32], &mut [f32]) + Sync,
) {
    if sum.is_empty() {
        return self::rows(rows, cost, [out], |range, [out]| work(range, &mut [], out));
    }
    let height = block_height(rows, cost, sum.len());
    let blocks = rows.div_ceil(height);
    if blocks <= 1 {
        return work(0..rows, sum, out);
    }
    assert!(out.len().is_multiple_of(rows), "{} values are no {rows} rows", out.len());
    let (width, out_width) = (sum.len(), out.len() / rows);
    let mut others = Buffer::<f32>::zeroed((blocks - 1) * width);
    let (first, rest, out) = (Rows::of(sum, width), Rows::of(&mut others, width), Rows::of(out, out_width));
    let one = |block: usize| {
        let range = block * height..rows.min((block + 1) * height);
        // SAFETY: each block is taken once, has a sum of its own, and no row in common with others.
        let (sum, out) = unsafe {
            let sum = match block {
                0 => first.part(0..1),
                _ => rest.part(block - 1..block),
            };
            (sum, out.part(range.clone()))
        };
        work(range, sum, out);
    };
    match rows.saturating_mul(cost) < WORTH_SHARING {
        true => (0..blocks).for_each(one),
        false => for_each(blocks, 1, one),
    }
    for other in others.chunks_exact(width) {
        sum.iter_mut().zip(other).for_each(|(sum, other)| *sum += other);
    }
}

/// Rows that are written by several threads, no row by two.
pub(crate) struct Rows<'a, T> {
    start: *mut T,
    width: usize,
    borrow: PhantomData<&'a mut [T]>,
}

// SAFETY: a borrow of rows, each of which one thread at a time writes; several read one only where they may share its values
// (`shared_part`).
unsafe impl<T: Send> Sync for Rows<'_, T> {}

impl<'a, T> Rows<'a, T> {
    pub(crate) fn of(values: &'a mut [T], width: usize) -> Self {
        Self { start: values.as_mut_ptr(), width, borrow: PhantomData }
    }

    /// # Safety
    /// The rows exist, and nothing else refers to any of them while the result is in use.
    pub(crate) unsafe fn part(&self, rows: Range<usize>) -> &'a mut [T] {
        // SAFETY: the caller's contract.
        unsafe {
            std::slice::from_raw_parts_mut(self.start.add(rows.start * self.width), rows.len() * self.width)
        }
    }
}

#[cfg(feature = "parallel")]
impl<'a, T: Sync> Rows<'a, T> {
    /// # Safety
    /// The rows exist, and nothing writes any of them while the result is in use.
    pub(crate) unsafe fn shared_part(&self, rows: Range<usize>) -> &'a [T] {
        // SAFETY: the caller's contract.
        unsafe {
            std::slice::from_raw_parts(self.start.add(rows.start * self.width), rows.len() * self.width)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Workers, share};

    fn on<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
        Workers::new(threads).unwrap().enter(|| share(threads, work))
    }

    #[test]
    fn each_row_is_handed_out_once_with_its_parts() {
        for (count, cost) in [(0, 1), (1, 1), (1000, 1), (3, WORTH_SHARING), (5001, 40), (200_000, 1)] {
            for threads in [1, 2, 3] {
                let (mut twice, mut none) = (vec![0_u32; 2 * count], Vec::new());
                on(threads, || {
                    rows(count, cost, [&mut twice, &mut none], |range, [twice, none]| {
                        assert_eq!((twice.len(), none.len()), (2 * range.len(), 0));
                        for (i, row) in range.zip(twice.chunks_exact_mut(2)) {
                            row[0] += i as u32 + 1;
                            row[1] += 1;
                        }
                    });
                });
                let right = |(i, row): (usize, &[u32])| row == [i as u32 + 1, 1];
                assert!(twice.chunks_exact(2).enumerate().all(right), "{count} rows, {threads} threads");
            }
        }
    }

    #[test]
    fn sums_do_not_depend_on_the_threads() {
        for (count, width) in [(0, 3), (1, 3), (100, 7), (20_000, 5), (3, 100_000), (7, 0)] {
            let x: Vec<f32> = (0..count * width).map(|i| ((i * 37 % 101) as f32).sin()).collect();
            let sum = |threads: usize| {
                let mut sum = vec![1.0; width];
                on(threads, || {
                    sums(count, width, &mut sum, |range, sum| {
                        for row in x[range.start * width..range.end * width].chunks_exact(width.max(1)) {
                            sum.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
                        }
                    });
                });
                sum
            };
            let one = sum(1);
            assert!(one == sum(2) && one == sum(3), "{count} rows of {width}");
            for (j, sum) in one.iter().enumerate() {
                let expected = 1.0 + (0..count).map(|i| f64::from(x[i * width + j])).sum::<f64>();
                assert!((f64::from(*sum) - expected).abs() < 1e-4 * (count as f64).sqrt().max(1.0));
            }
        }
    }

    #[test]
    fn all_numbers_become_zero() {
        for threads in [1, 2, 3] {
            let mut values = vec![1.0; 100_001];
            on(threads, || fill_zero(&mut values));
            assert!(values.iter().all(|x| *x == 0.0), "{threads} threads");
        }
    }

    /// One thread gets the slices as a whole.
    #[cfg(feature = "parallel")]
    #[test]
    #[should_panic(expected = "100001 values are no 100000 rows")]
    fn slices_must_be_of_whole_rows() {
        on(2, || rows(100_000, 1, [&mut vec![0.0; 100_001][..]], |_, _| {}));
    }
}
