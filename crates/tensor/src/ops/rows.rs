//! Walking strided operands row by row, so that kernels see plain slices.

use crate::shape::{MAX_RANK, Shape};

/// Calls `visit(row, offsets, strides)` for each innermost row of a row-major `out` of shape `shape`:
/// `offsets` are the positions of the row's first element in each operand, `strides` the operands' steps
/// along the row.
pub(crate) fn for_each_row<const N: usize>(
    shape: Shape,
    operands: [Shape; N],
    out: &mut [f32],
    mut visit: impl FnMut(&mut [f32], [usize; N], [usize; N]),
) {
    let Some((&width, outer)) = shape.split_last() else {
        return visit(out, [0; N], [0; N]);
    };
    if out.is_empty() {
        return;
    }
    let inner = operands.map(|strides| strides[outer.len()]);
    let mut index = [0; MAX_RANK];
    let mut offsets = [0; N];
    for row in out.chunks_exact_mut(width) {
        visit(row, offsets, inner);
        for axis in (0..outer.len()).rev() {
            index[axis] += 1;
            for (offset, strides) in offsets.iter_mut().zip(&operands) {
                *offset += strides[axis];
            }
            if index[axis] < outer[axis] {
                break;
            }
            for (offset, strides) in offsets.iter_mut().zip(&operands) {
                *offset -= strides[axis] * outer[axis];
            }
            index[axis] = 0;
        }
    }
}
