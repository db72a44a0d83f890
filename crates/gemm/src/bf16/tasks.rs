//! The product of a left operand, which is packed block by block, and a packed right one: cut into tasks by its shape, and a task
//! into blocks of rows.

use foretell_pool::Buffer;
use foretell_simd::Activation;
use half::bf16;
use half::slice::HalfBitsSliceExt;

use crate::batch::BatchMut;
use crate::bf16::kernel::Kernel;
use crate::bf16::kernel::product::Finish;
use crate::bf16::layout::{BlockLayout, Layout, Terms};
use crate::bf16::operand::{Bf16Operand, RightOperand};
use crate::bf16::split_operands;
use crate::epilogue::Epilogue;
use crate::options::Options;
use crate::parts;
use crate::plan;
use crate::plan::cut::PackedTasks;
use crate::plan::limits::bf16::{BLOCK_ROWS, PART};
use crate::plan::limits::bf16x3::AROUND;
use crate::view::MatMut;

/// A product whose shapes and bias fit together.
pub(crate) fn run(
    kernel: Kernel,
    dst: MatMut<'_, f32>,
    lhs: Bf16Operand<'_>,
    rhs: RightOperand<'_>,
    options: Options<'_>,
) {
    let (m, n) = (dst.nrows(), dst.ncols());
    if m == 0 || n == 0 {
        return;
    }
    let layout = rhs.layout();
    let alone = kernel.has_tiles() && foretell_threads::count() == 1;
    let split = layout.terms == Terms::Three;
    let PackedTasks { height, width, down, across } =
        plan::cut::in_bf16([m, layout.depth, n], split, rhs.values.is_some(), alone);
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
        count => foretell_threads::for_each(count, 1, task),
    }
}

/// Rows of the left operand.
#[derive(Clone, Copy)]
struct Left<'a> {
    operand: Bf16Operand<'a>,
    /// The packed rows, once they are packed: `None` within where their pieces do not add up to them.
    packed: Option<Option<&'a [bf16]>>,
}

/// Up to `count` of the rows of a panel.
fn rows_of(panel: &[bf16], layout: Layout, top: usize, count: usize) -> &[bf16] {
    &panel[top * layout.len()..panel.len().min((top + count) * layout.len())]
}

/// Packs rows of a left operand; nothing where their pieces do not add up to them.
fn pack_left<'a>(lhs: Bf16Operand<'_>, layout: Layout, place: &'a mut [u16]) -> Option<&'a [bf16]> {
    let panel: &mut [bf16] = place.reinterpret_cast_mut();
    match layout.terms {
        Terms::One if layout.is_row(panel) => lhs.row(panel),
        Terms::One => lhs.strips(BlockLayout::Rows, panel),
        Terms::Three => return split_operands::pack_left(lhs, panel).then_some(panel),
    }
    Some(panel)
}

/// The rows that are multiplied at a time with this many columns.
fn block_rows(layout: Layout, columns: usize) -> usize {
    match layout.terms {
        Terms::One => BLOCK_ROWS,
        Terms::Three => split_operands::block_rows(columns, columns.saturating_mul(layout.len())),
    }
}

/// Some rows of the left operand by some columns of the right one, a block of rows at a time.
fn one_task(
    kernel: Kernel,
    mut dst: MatMut<'_, f32>,
    lhs: Left<'_>,
    rhs: RightOperand<'_>,
    options: Options<'_>,
) {
    let (m, n, layout) = (dst.nrows(), dst.ncols(), rhs.layout());
    let Some(values) = rhs.values else {
        return split_operands::pack_columns(rhs, |cols, rhs| {
            let bias = options.bias.map(|bias| bias.part(0..m, cols.clone()));
            let (part, options) = (dst.reborrow().cols(cols), Options { bias, ..options });
            match rhs.values {
                Some(_) => one_task(kernel, part, lhs, rhs, options),
                None => split_operands::multiply_in_f32(part, lhs.operand, rhs, options),
            }
        });
    };
    let at_once = block_rows(layout, n);
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
                let (first, last) = match layout.terms {
                    Terms::One => (options.bias, None),
                    Terms::Three => (None, options.bias),
                };
                let finish = Finish { bias: first, ..Finish::of(&options) };
                kernel.multiply(part.reborrow(), panel, values, layout, finish);
                Epilogue { bias: last, activation: options.activation }.run(part);
            }
            None if rows.len() <= AROUND => split_operands::multiply_in_f32(part, operand, rhs, options),
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

/// Computes a product by `one`, in parts if its inner dimension is long beside its result.
pub(crate) fn in_parts(
    mut dst: MatMut<'_, f32>,
    lhs: Bf16Operand<'_>,
    rhs: Bf16Operand<'_>,
    options: Options<'_>,
    one: impl Fn(MatMut<'_, f32>, Bf16Operand<'_>, Bf16Operand<'_>, Options<'_>) + Sync,
) {
    let (k, n) = rhs.shape();
    match plan::cut::parts([dst.nrows(), k, n], PART) {
        Some(count) if dst.col_stride() == 1 => {
            let Options { bias, activation, .. } = options;
            let sums = Options { bias: None, activation: Activation::Identity, ..options };
            parts::run(dst.reborrow(), k, count, options.accum, |dst, inner, accum| {
                let (lhs, rhs) = (lhs.t().rows(inner.clone()).t(), rhs.rows(inner));
                one(dst, lhs, rhs, Options { accum, ..sums });
            });
            Epilogue { bias, activation }.run(dst);
        }
        _ => one(dst, lhs, rhs, options),
    }
}
