use super::*;
use crate::testing::{at_every_level, numbers};

/// All that a convolution and its gradients give, each by its definition in `f64`.
struct Naive {
    out: Vec<f64>,
    dx: Vec<f64>,
    dw: Vec<f64>,
}

/// Where a step of a side is read, nowhere in a padding of zeros.
fn place(side: &Side, beyond: PaddingMode, t: usize, k: usize) -> Option<usize> {
    let at = (t * side.stride + k * side.dilation) as isize - side.padding[0] as isize;
    match beyond {
        PaddingMode::Circular => Some(at.rem_euclid(side.size as isize) as usize),
        PaddingMode::Zeros => (0..side.size as isize).contains(&at).then_some(at as usize),
    }
}

fn naive(c: &Convolution, x: &[f32], w: &[f32], bias: &[f32], g: &[f32]) -> Naive {
    let (inputs, outputs) = (c.inputs / c.groups, c.outputs / c.groups);
    let (h_out, w_out) = (c.height.output(), c.width.output());
    let mut found = Naive { out: vec![0.0; c.output_len()], dx: vec![0.0; x.len()], dw: vec![0.0; w.len()] };
    for b in 0..c.batch {
        for (i, j) in (0..h_out).flat_map(|i| (0..w_out).map(move |j| (i, j))) {
            for o in 0..c.outputs {
                let at = ((b * h_out + i) * w_out + j) * c.outputs + o;
                found.out[at] += f64::from(bias[o]);
                for (p, q) in (0..c.height.kernel).flat_map(|p| (0..c.width.kernel).map(move |q| (p, q))) {
                    let (Some(y), Some(t)) =
                        (place(&c.height, c.beyond, i, p), place(&c.width, c.beyond, j, q))
                    else {
                        continue;
                    };
                    for k in 0..inputs {
                        let from = ((b * c.height.size + y) * c.width.size + t) * c.inputs
                            + o / outputs * inputs
                            + k;
                        let weight = ((o * inputs + k) * c.height.kernel + p) * c.width.kernel + q;
                        found.out[at] += f64::from(x[from]) * f64::from(w[weight]);
                        found.dx[from] += f64::from(g[at]) * f64::from(w[weight]);
                        found.dw[weight] += f64::from(g[at]) * f64::from(x[from]);
                    }
                }
            }
        }
    }
    found
}

#[track_caller]
fn assert_close(found: &[f32], expected: &[f64], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let scale = expected.iter().fold(1.0f64, |scale, x| scale.max(x.abs()));
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((f64::from(*found) - expected).abs() <= 1e-5 * scale, "{what}[{i}]: {found}, {expected}");
    }
}

fn check(c: Convolution) {
    c.check();
    let (x, w) = (numbers(c.input_len(), 1), numbers(c.weight_len(), 2));
    let (bias, g) = (numbers(c.outputs, 3), numbers(c.output_len(), 4));
    let expected = naive(&c, &x, &w, &bias, &g);
    at_every_level(|level| {
        let name = format!("{level} {c:?}");
        let mut padded = vec![f32::NAN; c.padded_len()];
        c.pad(&x, &mut padded);
        let input = if padded.is_empty() { &x } else { &padded };
        let mut arranged = vec![f32::NAN; w.len()];
        c.arrange(&w, &mut arranged);
        let mut out = vec![f32::NAN; c.output_len()];
        c.forward(input, &arranged, Some(&bias), Activation::Relu, &mut out);
        let relu: Vec<f64> = expected.out.iter().map(|x| x.max(0.0)).collect();
        assert_close(&out, &relu, &format!("{name}: output"));

        let mut arranged_grad = vec![f32::NAN; w.len()];
        c.weight_gradient(input, &g, &mut arranged_grad);
        let (mut dw, mut added) = (vec![f32::NAN; w.len()], vec![1.0; w.len()]);
        c.unarrange(&arranged_grad, &mut dw, Accum::Replace);
        c.unarrange(&arranged_grad, &mut added, Accum::Add);
        assert_close(&dw, &expected.dw, &format!("{name}: weights"));
        assert!(added.iter().zip(&dw).all(|(added, dw)| *added == 1.0 + dw), "{name}");

        let mut padded_grad = vec![f32::NAN; input.len()];
        c.input_gradient(&arranged, &g, &mut padded_grad);
        let mut dx = vec![f32::NAN; x.len()];
        if padded.is_empty() {
            dx.copy_from_slice(&padded_grad);
        } else {
            c.unpad(&padded_grad, &mut dx, Accum::Replace);
            let mut added = vec![1.0; x.len()];
            c.unpad(&padded_grad, &mut added, Accum::Add);
            assert!(added.iter().zip(&dx).all(|(added, dx)| (added - 1.0 - dx).abs() < 1e-4), "{name}");
        }
        assert_close(&dx, &expected.dx, &format!("{name}: inputs"));

        let mut db = vec![0.0; c.outputs];
        c.bias_gradient(&g, &mut db);
        let sums: Vec<f64> = (0..c.outputs)
            .map(|o| g.iter().skip(o).step_by(c.outputs).map(|&g| f64::from(g)).sum())
            .collect();
        assert_close(&db, &sums, &format!("{name}: bias"));
    });
}

fn sequence(batch: usize, size: usize, [inputs, outputs]: [usize; 2], kernel: usize) -> Convolution {
    let width = Side { size, kernel, ..Side::ONE };
    let (height, beyond, rounding) = (Side::ONE, PaddingMode::Zeros, Rounding::None);
    Convolution { batch, inputs, outputs, groups: 1, height, width, beyond, rounding }
}

#[test]
fn sequences_of_every_length_stride_and_dilation() {
    for (size, channels, kernel) in
        [(1, [1, 1], 1), (9, [3, 2], 3), (17, [5, 19], 2), (33, [1, 4], 5), (8, [16, 33], 3), (70, [2, 3], 4)]
    {
        for (stride, dilation) in [(1, 1), (2, 1), (1, 3), (2, 3), (3, 2)] {
            for padding in [[0, 0], [(kernel - 1) * dilation, 0], [1, 2]] {
                let mut c = sequence(2, size, channels, kernel);
                c.width = Side { stride, dilation, padding, ..c.width };
                check(c);
                if padding.iter().all(|&steps| steps <= size) {
                    check(Convolution { beyond: PaddingMode::Circular, ..c });
                }
            }
        }
    }
}

#[test]
fn groups_do_not_see_each_other() {
    for (groups, channels) in [(2, [4, 6]), (3, [3, 6]), (5, [5, 5])] {
        for padding in [[0, 0], [2, 1]] {
            let mut c = Convolution { groups, ..sequence(2, 11, channels, 3) };
            (c.width.padding, c.width.dilation) = (padding, 1 + padding[1]);
            check(c);
            check(Convolution { beyond: PaddingMode::Circular, ..c });
        }
    }
}

#[test]
fn planes_with_and_without_padding() {
    for kernel in [[1, 1], [3, 3], [5, 3], [2, 4]] {
        for (padding, stride) in [([0, 0], 1), ([2, 2], 1), ([1, 0], 2)] {
            let side = |size, kernel| Side { size, kernel, stride, dilation: 1, padding };
            let (height, width) = (side(6, kernel[0]), side(7, kernel[1]));
            let c = Convolution { height, width, ..sequence(2, 7, [3, 5], 1) };
            check(c);
            check(Convolution { beyond: PaddingMode::Circular, ..c });
            check(Convolution { inputs: 4, outputs: 2, groups: 2, ..c });
            check(Convolution { inputs: 17, outputs: 17, groups: 17, ..c });
            check(Convolution { height: Side { dilation: 2, ..side(9, kernel[0]) }, ..c });
        }
    }
}

#[test]
fn empty_sizes() {
    check(sequence(0, 5, [2, 3], 2));
    check(sequence(2, 2, [2, 3], 5));
    check(sequence(2, 0, [2, 3], 1));
    assert_eq!(sequence(2, 2, [2, 3], 5).output_len(), 0);
}

#[test]
#[should_panic(expected = "2 groups do not divide 3 inputs and 4 outputs")]
fn groups_divide_the_channels() {
    Convolution { groups: 2, ..sequence(1, 5, [3, 4], 2) }.check();
}

#[test]
#[should_panic(expected = "padding goes around a circle at most once")]
fn a_circle_is_walked_once() {
    let mut c = Convolution { beyond: PaddingMode::Circular, ..sequence(1, 3, [1, 1], 2) };
    c.width.padding = [4, 0];
    c.check();
}

#[test]
#[should_panic(expected = "a kernel or stride of 0")]
fn a_side_without_a_kernel_has_no_output() {
    Side { kernel: 0, ..Side::ONE }.output();
}

#[test]
#[should_panic(expected = "a kernel or stride of 0")]
fn a_side_without_a_stride_has_no_output() {
    Side { stride: 0, ..Side::ONE }.output();
}
