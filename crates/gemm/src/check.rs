//! The requirements on the operands of every product.

use crate::options::Bias;

#[track_caller]
pub(crate) fn assert_shapes(dst: (usize, usize), lhs: (usize, usize), rhs: (usize, usize)) {
    assert!(
        dst == (lhs.0, rhs.1) && lhs.1 == rhs.0,
        "a product of {}x{} and {}x{} does not fit a destination of {}x{}",
        lhs.0,
        lhs.1,
        rhs.0,
        rhs.1,
        dst.0,
        dst.1
    );
}

#[track_caller]
pub(crate) fn assert_bias(bias: Option<Bias<'_>>, rows: usize, cols: usize) {
    match bias {
        Some(Bias::PerColumn(values)) => {
            assert!(values.len() == cols, "a bias of {} values for {cols} columns", values.len());
        }
        Some(Bias::PerRow(values)) => {
            assert!(values.len() == rows, "a bias of {} values for {rows} rows", values.len());
        }
        None => {}
    }
}
