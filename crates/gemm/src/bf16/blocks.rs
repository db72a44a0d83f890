//! The product of a left operand, which is packed block by block, and a packed right one: cut into tasks by its shape, and a task
//! into blocks of rows.

use std::ops::Range;

use foretell_pool::Buffer;
use half::bf16;
use half::slice::HalfBitsSliceExt;

use super::kernel::Kernel;
use super::pack::Form;
use super::{Bf16Operand, PackedBf16, WIDTH, depth, three};
use crate::batch::BatchMut;
use crate::epilogue::epilogue;
use crate::options::{Accum, Bias, Options};
use crate::threads;
use crate::view::{MatMut, MatRef};

/// Rows of the left operand that are multiplied at a time. Two strips are read once for all of them, so the right operand
/// comes from the third cache, where it is too large for the second, once in 128 rows.
const BLOCK_ROWS: usize = 128;

/// Multiply-adds that are worth a task of their own: ten microseconds of one thread with AVX512-BF16, two or three with tiles of
/// AMX. The bits do not depend on the cut, nor does the cut on the machine.
const TASK: usize = 2 << 20;

/// Of numbers in three pieces, smaller tasks are worth handing out if they are few: the products of one forecast.
const FINE_TASK: usize = 1 << 18;
const FINE_TASKS: usize = 4;

/// Rows that are multiplied in `f32` where one of them has no pieces: blocks, which depend on the number of threads, are made of so many.
const AROUND: usize = 2 * WIDTH;

/// The most tasks of a product, and the least columns of one.
const TASKS: usize = 16;
const TASK_COLUMNS: usize = 48;

/// How many bfloat16 numbers stand for a number of a packed operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pieces {
    /// One, to which it is rounded.
    One,
    /// Three, whose sum it is: see [`three`].
    Three,
}

impl Pieces {
    pub(super) const fn count(self) -> usize {
        match self {
            Self::One => 1,
            Self::Three => 3,
        }
    }
}

/// What a row of a packed left operand, or a column of a right one, looks like.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    /// The inner dimension, padded.
    pub(super) depth: usize,
    pub(super) pieces: Pieces,
}

impl Layout {
    pub(super) fn of(k: usize, pieces: Pieces) -> Self {
        Self { depth: depth(k), pieces }
    }

    /// The numbers of a row, or of a column.
    pub(super) fn len(self) -> usize {
        self.depth.saturating_mul(self.pieces.count())
    }

    /// The numbers that `rows` rows take when packed: a single row is not padded to a tile, unless it is in pieces.
    fn panel_len(self, rows: usize) -> usize {
        match (rows, self.pieces) {
            (1, Pieces::One) => self.len(),
            _ => rows.next_multiple_of(WIDTH).saturating_mul(self.len()),
        }
    }

    /// Whether a panel holds a single row as it is, rather than tiles.
    pub(super) fn is_row(self, panel: &[bf16]) -> bool {
        panel.len() == self.len()
    }

    /// The rows that are multiplied at a time with so many columns.
    fn block_rows(self, columns: usize) -> usize {
        match self.pieces {
            Pieces::One => BLOCK_ROWS,
            Pieces::Three => three::block_rows(columns, columns.saturating_mul(self.len())),
        }
    }
}

/// A right operand.
#[derive(Clone, Copy)]
pub(super) struct Strips<'a> {
    /// What it was packed to; nothing if the tasks are to pack what they read.
    pub(super) values: Option<&'a [bf16]>,
    pub(super) rows: usize,
    pub(super) cols: usize,
    pub(super) pieces: Pieces,
    /// What is in pieces, as it was, if it is at hand.
    pub(super) source: Option<MatRef<'a, f32>>,
}

impl<'a> From<PackedBf16<'a>> for Strips<'a> {
    fn from(PackedBf16 { values, rows, cols }: PackedBf16<'a>) -> Self {
        Self { values: Some(values), rows, cols, pieces: Pieces::One, source: None }
    }
}

impl Strips<'_> {
    pub(super) fn layout(&self) -> Layout {
        Layout::of(self.rows, self.pieces)
    }

    /// Some of the columns, from a strip's first one on.
    pub(super) fn columns(self, cols: Range<usize>) -> Self {
        let len = self.layout().len();
        Self {
            values: self
                .values
                .map(|values| &values[cols.start * len..cols.end.next_multiple_of(WIDTH) * len]),
            cols: cols.len(),
            source: self.source.map(|source| source.cols(cols)),
            ..self
        }
    }
}

/// A product whose shapes and bias fit together.
pub(super) fn run(
    kernel: Kernel,
    dst: MatMut<'_, f32>,
    lhs: Bf16Operand<'_>,
    rhs: Strips<'_>,
    options: Options<'_>,
) {
    let (m, n) = (dst.nrows(), dst.ncols());
    if m == 0 || n == 0 {
        return;
    }
    let layout = rhs.layout();
    // A few rows take as long as 16: the time goes into reading the weights.
    let work = m.max(WIDTH).saturating_mul(n).saturating_mul(layout.depth);
    let (tasks, least_rows) = match layout.pieces {
        Pieces::One => (work / TASK, BLOCK_ROWS),
        Pieces::Three => {
            let fine = (work / FINE_TASK).min(FINE_TASKS);
            ((work / TASK).max(fine), (n / 4).clamp(2 * WIDTH, three::BLOCK_ROWS))
        }
    };
    // With tiles of AMX a thread alone goes through all rows block by block. No two tasks pack the same columns.
    let alone = kernel.has_tiles() && rhs.values.is_some() && foretell_threads::count() == 1;
    let tasks = if alone { 1 } else { tasks.clamp(1, TASKS) };
    let down = if rhs.values.is_none() { 1 } else { tasks.min(m / least_rows).max(1) };
    let across = (tasks / down).min(n / TASK_COLUMNS).max(1);
    let height = m.div_ceil(down).next_multiple_of(2 * WIDTH);
    let width = n.div_ceil(across).next_multiple_of(4 * WIDTH);
    let (down, across) = (m.div_ceil(height), n.div_ceil(width));
    // Tasks side by side share the left operand, so it is packed before them.
    let mut place = None;
    let packed =
        (across > 1).then(|| pack_left(lhs, layout, place.insert(Buffer::stale(layout.panel_len(m)))));
    let dst = BatchMut::from(dst);
    let task = |index: usize| {
        let (top, left) = (index / across * height, index % across * width);
        let (rows, cols) = (top..m.min(top + height), left..n.min(left + width));
        let packed = packed.map(|panel| panel.map(|panel| rows_of(panel, layout, top, height)));
        let lhs = Left { operand: lhs.rows(rows.clone()), packed };
        // SAFETY: each index is taken once, and its part of the destination belongs to no other.
        let part = unsafe { dst.get(0) }.rows(rows.clone()).cols(cols.clone());
        let bias = options.bias.map(|bias| bias.part(rows, cols.clone()));
        one_task(kernel, part, lhs, rhs.columns(cols), Options { bias, ..options });
    };
    match down * across {
        1 => task(0),
        count => threads::for_each(count, 1, task),
    }
}

/// Rows of the left operand.
#[derive(Clone, Copy)]
struct Left<'a> {
    operand: Bf16Operand<'a>,
    /// What they were packed to, if they were: nothing where their pieces do not add up to them.
    packed: Option<Option<&'a [bf16]>>,
}

/// Up to `count` of the rows of a panel.
fn rows_of(panel: &[bf16], layout: Layout, top: usize, count: usize) -> &[bf16] {
    &panel[top * layout.len()..panel.len().min((top + count) * layout.len())]
}

/// Packs rows of a left operand; nothing where their pieces do not add up to them.
fn pack_left<'a>(lhs: Bf16Operand<'_>, layout: Layout, place: &'a mut [u16]) -> Option<&'a [bf16]> {
    let panel: &mut [bf16] = place.reinterpret_cast_mut();
    match layout.pieces {
        Pieces::One if layout.is_row(panel) => lhs.row(panel),
        Pieces::One => lhs.strips(Form::Rows, panel),
        Pieces::Three => return three::pack_left(lhs, panel).then_some(panel),
    }
    Some(panel)
}

/// Some rows of the left operand by some columns of the right one, a block of rows at a time.
fn one_task(kernel: Kernel, mut dst: MatMut<'_, f32>, lhs: Left<'_>, rhs: Strips<'_>, options: Options<'_>) {
    let (m, n, layout) = (dst.nrows(), dst.ncols(), rhs.layout());
    let Some(values) = rhs.values else {
        return three::pack_columns(rhs, |cols, rhs| {
            let bias = options.bias.map(|bias| bias.part(0..m, cols.clone()));
            let (part, options) = (dst.reborrow().cols(cols), Options { bias, ..options });
            match rhs.values {
                Some(_) => one_task(kernel, part, lhs, rhs, options),
                None => three::whole(part, lhs.operand, rhs, options),
            }
        });
    };
    let at_once = layout.block_rows(n);
    let place_len = match lhs.packed {
        Some(_) => 0,
        None => layout.panel_len(m.min(at_once)),
    };
    let mut place = Buffer::<u16>::stale(place_len);
    for top in (0..m).step_by(at_once) {
        let rows = top..m.min(top + at_once);
        let operand = lhs.operand.rows(rows.clone());
        let panel = match lhs.packed {
            Some(panel) => panel.map(|panel| rows_of(panel, layout, top, at_once)),
            None => pack_left(operand, layout, &mut place[..layout.panel_len(rows.len())]),
        };
        let mut part = dst.reborrow().rows(rows.clone());
        let options = Options { bias: options.bias.map(|bias| bias.part(rows.clone(), 0..n)), ..options };
        match panel {
            Some(panel) => {
                // In `f32` a bias is added to the sums as it is to those of vectors.
                let (first, last) = match layout.pieces {
                    Pieces::One => (options.bias, None),
                    Pieces::Three => (None, options.bias),
                };
                let finish = Epilogue { bias: first, ..Epilogue::of(&options) };
                kernel.multiply(part.reborrow(), panel, values, layout, finish);
                epilogue(part, last, options.activation);
            }
            None if rows.len() <= AROUND => three::whole(part, operand, rhs, options),
            None => {
                for top in (0..rows.len()).step_by(AROUND) {
                    let rows = top..rows.len().min(top + AROUND);
                    let lhs = Left { operand: operand.rows(rows.clone()), packed: None };
                    let bias = options.bias.map(|bias| bias.part(rows.clone(), 0..n));
                    one_task(kernel, part.reborrow().rows(rows), lhs, rhs, Options { bias, ..options });
                }
            }
        }
    }
}

/// What is done to sums on their way into the destination, apart from the activation.
#[derive(Clone, Copy)]
pub(super) struct Epilogue<'a> {
    pub(super) accum: Accum,
    pub(super) alpha: f32,
    pub(super) bias: Option<Bias<'a>>,
}

impl<'a> Epilogue<'a> {
    fn of(options: &Options<'a>) -> Self {
        Self { accum: options.accum, alpha: options.alpha, bias: options.bias }
    }

    /// Whether sums are written as they are.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn is_plain(self) -> bool {
        self.accum == Accum::Replace && self.alpha == 1.0 && self.bias.is_none()
    }
}

/// What tiles of sums start from.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(super) enum InitialSums<'a> {
    Zeros,
    /// What the destination holds.
    Destination,
    /// A value for each column.
    Bias(&'a [f32]),
}

#[cfg(target_arch = "x86_64")]
impl<'a> Epilogue<'a> {
    /// What sums are added to once they are scaled, unless that takes more than one of these.
    pub(super) fn initial(self) -> Option<InitialSums<'a>> {
        match (self.accum, self.bias) {
            (Accum::Replace, None) => Some(InitialSums::Zeros),
            (Accum::Add, None) => Some(InitialSums::Destination),
            (Accum::Replace, Some(Bias::PerColumn(values))) => Some(InitialSums::Bias(values)),
            _ => None,
        }
    }

    /// What tiles of sums start from, and what is left to do with them then.
    pub(super) fn split(self) -> (InitialSums<'a>, Self) {
        match self.initial() {
            Some(first) if self.alpha == 1.0 => {
                (first, Self { accum: Accum::Replace, alpha: 1.0, bias: None })
            }
            _ => (InitialSums::Zeros, self),
        }
    }
}
