//! Walking strided operands row by row, so that kernels see plain slices.

use foretell_threads as threads;

use crate::shape::{MAX_RANK, Shape};

/// The work of a number that is not beside the last one, in numbers of a plain pass over memory.
const STRIDED_COST: usize = 4;

/// Calls `visit(row, offsets, strides)` for each innermost row of a row-major `out` of shape `shape`:
/// `offsets` are the positions of the row's first element in each operand, `strides` the operands' steps
/// along the row. Dimensions that every operand walks in one go are taken as one, so rows are as long as
/// they can be. Threads share the rows, and a row that is alone in parts: `visit` does numbers one by one.
pub(crate) fn for_each_row<const N: usize>(
    shape: Shape,
    operands: [Shape; N],
    out: &mut [f32],
    visit: impl Fn(&mut [f32], [usize; N], [usize; N]) + Sync,
) {
    if out.is_empty() {
        return;
    }
    let (shape, operands) = merged(shape, operands);
    let Some((&width, outer)) = shape.split_last() else {
        return visit(out, [0; N], [0; N]);
    };
    let inner = operands.map(|strides| strides[outer.len()]);
    let cost = if inner == [1; N] { 1 } else { STRIDED_COST };
    if outer.is_empty() {
        return threads::rows(width, cost, [out], |range, [part]| {
            visit(part, inner.map(|stride| range.start * stride), inner);
        });
    }
    threads::rows(out.len() / width, width.saturating_mul(cost), [out], |range, [out]| {
        let mut index = [0; MAX_RANK];
        let mut first = range.start;
        for axis in (0..outer.len()).rev() {
            (first, index[axis]) = (first / outer[axis], first % outer[axis]);
        }
        let mut offsets =
            operands.map(|strides| (0..outer.len()).map(|axis| strides[axis] * index[axis]).sum::<usize>());
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
    });
}

/// The same walk over fewer dimensions: those of size 1 left out, and neighbours joined where a step along
/// the outer one is a whole walk along the inner one in every operand.
fn merged<const N: usize>(shape: Shape, operands: [Shape; N]) -> (Shape, [Shape; N]) {
    let mut rank = 0;
    let (mut sizes, mut steps) = ([0; MAX_RANK], [[0; MAX_RANK]; N]);
    for axis in (0..shape.len()).filter(|&axis| shape[axis] != 1) {
        let size = shape[axis];
        let joins = rank > 0 && (0..N).all(|i| steps[i][rank - 1] == operands[i][axis] * size);
        if joins {
            sizes[rank - 1] *= size;
        } else {
            sizes[rank] = size;
            rank += 1;
        }
        for (steps, operand) in steps.iter_mut().zip(&operands) {
            steps[rank - 1] = operand[axis];
        }
    }
    (Shape::new(&sizes[..rank]), steps.map(|steps| Shape::new(&steps[..rank])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dimensions_walked_in_one_go_are_merged() {
        let merge = |shape: &[usize], a: &[usize], b: &[usize]| {
            let (shape, [a, b]) = merged(Shape::new(shape), [Shape::new(a), Shape::new(b)]);
            (shape.to_vec(), a.to_vec(), b.to_vec())
        };
        assert_eq!(merge(&[2, 3, 4], &[12, 4, 1], &[12, 4, 1]), (vec![24], vec![1], vec![1]));
        assert_eq!(merge(&[8, 5, 1], &[1, 0, 0], &[5, 1, 1]), (vec![8, 5], vec![1, 0], vec![5, 1]));
        assert_eq!(merge(&[2, 3, 4], &[0, 0, 0], &[1, 2, 6]), (vec![2, 3, 4], vec![0; 3], vec![1, 2, 6]));
        assert_eq!(merge(&[1, 1], &[0, 0], &[1, 1]), (vec![], vec![], vec![]));
    }
}
