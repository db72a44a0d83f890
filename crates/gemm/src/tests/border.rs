//! Tests of the calls that the safe border refuses.

use crate::{BatchMut, BatchRef, Bias, MatMut, MatRef, Options, matmul, matmul_batched};

fn panics<R>(expected: &str, call: impl FnOnce() -> R + std::panic::UnwindSafe) {
    let Err(panic) = std::panic::catch_unwind(call) else { panic!("no panic of {expected:?}") };
    let message = panic.downcast_ref::<String>().expect("a formatted message");
    assert!(message.contains(expected), "{message:?} does not contain {expected:?}");
}

#[test]
fn views_beyond_their_slice() {
    let data = [0.0f32; 12];
    panics("3x4 matrix with strides 5 and 1 exceeds its 12", || MatRef::new(&data, 3, 4, 5, 1));
    panics("4x4 matrix was given a slice of 12", || MatRef::row_major(&data, 4, 4));
    panics("2x5 matrix was given a slice of 12", || MatRef::row_major(&data, 2, 5));
    panics("exceeds its 12", || MatRef::new(&data, 2, 2, usize::MAX, 1));
    panics("exceeds its 12", || MatRef::new(&data, usize::MAX, usize::MAX, 1, 1));
    panics("exceeds its 12", || _ = MatMut::new(&mut [0.0f32; 12], 3, 4, 1, 4));
    panics("2x6 matrix was given", || _ = MatMut::row_major(&mut [0.0f32; 11], 2, 6));
    panics("exceed their 11", || _ = BatchMut::new(&mut [0.0f32; 11], 3, 4, (2, 2), (2, 1)));
    panics("exceed their 12", || BatchRef::new(&data, 4, 4, (2, 2), (2, 1)));
    panics("3 matrices of 2x3 were given", || BatchRef::row_major(&data, 3, 2, 3));
    // These just fit.
    let last = MatRef::new(&data, 3, 2, 4, 3);
    assert_eq!((last.nrows(), last.ncols(), last.row_stride(), last.col_stride()), (3, 2, 4, 3));
    assert_eq!(MatRef::new(&data, 1, 12, usize::MAX, 1).ncols(), 12);
    assert_eq!(MatRef::new(&data, 0, 12, usize::MAX, usize::MAX).ncols(), 12);
}

#[test]
fn destinations_whose_elements_overlap() {
    panics("overlap", || _ = MatMut::new(&mut [0.0f32; 12], 3, 4, 0, 1));
    panics("overlap", || _ = MatMut::new(&mut [0.0f32; 12], 3, 4, 3, 1));
    panics("overlap", || _ = MatMut::new(&mut [0.0f32; 12], 3, 3, 1, 1));
    panics("overlap", || _ = MatMut::new(&mut [0.0f32; 12], 3, 2, 2, 4));
    panics("overlap", || _ = BatchMut::new(&mut [0.0f32; 12], 2, 3, (2, 2), (2, 1)));
    panics("overlap", || _ = BatchMut::new(&mut [0.0f32; 12], 2, 0, (2, 2), (2, 1)));
    // Interleaved, but apart.
    assert_eq!(MatMut::new(&mut [0.0f32; 12], 3, 2, 1, 3).nrows(), 3);
    assert_eq!(MatMut::new(&mut [0.0f32; 12], 1, 1, 0, 0).ncols(), 1);
    BatchMut::new(&mut [0.0f32; 12], 2, 2, (3, 2), (4, 1));
}

#[test]
fn shapes_that_do_not_fit() {
    let data = [0.0f32; 12];
    let product = |m, n, lhs: (usize, usize), rhs: (usize, usize)| {
        let mut dst = vec![0.0; m * n];
        matmul(
            MatMut::row_major(&mut dst, m, n),
            MatRef::new(&data, lhs.0, lhs.1, lhs.1, 1),
            MatRef::new(&data, rhs.0, rhs.1, rhs.1, 1),
            Options::default(),
        );
    };
    product(2, 4, (2, 3), (3, 4));
    panics("a product of 2x3 and 2x4 does not fit a destination of 2x4", || product(2, 4, (2, 3), (2, 4)));
    panics("does not fit a destination of 3x4", || product(3, 4, (2, 3), (3, 4)));
    panics("does not fit a destination of 2x3", || product(2, 3, (2, 3), (3, 4)));
}

#[test]
fn biases_that_do_not_fit() {
    let data = [0.0f32; 12];
    let with = |bias| {
        let options = Options::default().bias(bias);
        let mut dst = [0.0; 6];
        let rhs = MatRef::row_major(&data, 4, 3);
        matmul(MatMut::row_major(&mut dst, 2, 3), MatRef::new(&data, 2, 4, 4, 1), rhs, options);
    };
    with(Bias::PerColumn(&data[..3]));
    with(Bias::PerRow(&data[..2]));
    panics("a bias of 2 values for 3 columns", || with(Bias::PerColumn(&data[..2])));
    panics("a bias of 3 values for 2 rows", || with(Bias::PerRow(&data[..3])));
}

#[test]
fn batches_that_do_not_fit() {
    let data = [0.0f32; 12];
    let product = |count| {
        let mut dst = [0.0; 12];
        matmul_batched(
            BatchMut::row_major(&mut dst, 3, 2, 2),
            BatchRef::new(&data, count, 0, (2, 2), (2, 1)),
            BatchRef::row_major(&data, 3, 2, 2),
            Options::default(),
        );
    };
    product(3);
    panics("batches of 2 and 3 matrices do not fit 3 destinations", || product(2));
}

#[test]
fn parts_beyond_a_view() {
    let data = [0.0f32; 12];
    let mat = MatRef::row_major(&data, 3, 4);
    assert_eq!(mat.rows(1..3).cols(2..4).nrows(), 2);
    assert_eq!(mat.rows(3..3).nrows(), 0);
    panics("range 2..4 of 3", || mat.rows(2..4));
    panics("range 0..5 of 4", || mat.cols(0..5));
    panics("range 2..4 of 3", || _ = MatMut::row_major(&mut [0.0f32; 12], 3, 4).rows(2..4));
    panics("range 4..5 of 4", || _ = MatMut::row_major(&mut [0.0f32; 12], 3, 4).cols(4..5));
}

#[test]
fn parts_of_views_are_those_parts() {
    let a: Vec<f32> = (0..12).map(|i| i as f32).collect();
    let one = [1.0f32];
    let mut y = [0.0f32; 12];
    for (row, rows) in [(0, 0..1), (2, 2..4)] {
        let mut dst = MatMut::row_major(&mut y, 4, 3);
        let part = dst.reborrow().rows(row..row + rows.len()).t().rows(1..2).t();
        let picked = MatRef::row_major(&a, 4, 3).rows(rows).cols(2..3);
        matmul(part, picked, MatRef::row_major(&one, 1, 1), Options::default());
    }
    assert_eq!(y, [0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 8.0, 0.0, 0.0, 11.0, 0.0]);
}

#[test]
#[should_panic(expected = "index < self.count")]
fn a_batch_has_no_matrix_behind_its_last() {
    _ = BatchRef::row_major(&[0.0; 4], 2, 1, 2).get(2);
}
