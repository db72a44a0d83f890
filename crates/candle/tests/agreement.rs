//! Each operation beside candle's own operations: values, and the gradients of all operands.

mod compositions;

use candle_core::{DType, Device, Result, Tensor, Var};
use foretell_candle::{
    Activation, Dropout, FlashAttention, Key, OpError, Pattern, from_candle, layer_norm, linear, rms_norm,
    softmax, to_candle,
};
use proptest::prelude::*;

/// Numbers between -2 and 2 that look random, others for each `seed`.
fn wave(dims: &[usize], seed: usize) -> Tensor {
    let count: usize = dims.iter().product();
    let value = |i: usize| ((i * 37 + seed * 101) as f64 * 0.731).sin() as f32 * 2.0;
    Tensor::from_vec((0..count).map(value).collect(), dims, &Device::Cpu).unwrap()
}

fn values(x: &Tensor) -> Vec<f32> {
    x.flatten_all().unwrap().to_vec1().unwrap()
}

/// Fails unless the two are of one shape and differ by at most `tolerance` of the larger of 1 and the largest number.
fn assert_close(what: &str, actual: &Tensor, expected: &Tensor, tolerance: f32) {
    assert_eq!(actual.dims(), expected.dims(), "{what}: shapes");
    let (actual, expected) = (values(actual), values(expected));
    let scale = expected.iter().fold(1.0f32, |scale, x| scale.max(x.abs()));
    for (i, (a, b)) in actual.iter().zip(&expected).enumerate() {
        assert!((a - b).abs() <= tolerance * scale, "{what}: number {i} is {a}, expected {b}, scale {scale}");
    }
}

/// The result of `work` on variables with these values, and the gradients of a weighted sum of it.
fn run(operands: &[Tensor], work: impl Fn(&[Tensor]) -> Result<Tensor>) -> (Tensor, Vec<Tensor>) {
    let vars: Vec<Var> = operands.iter().map(|x| Var::from_tensor(x).unwrap()).collect();
    let tensors: Vec<Tensor> = vars.iter().map(|var| var.as_tensor().clone()).collect();
    let out = work(&tensors).unwrap();
    let weights = wave(out.dims(), 17);
    let gradients = (&out * &weights).unwrap().sum_all().unwrap().backward().unwrap();
    let gradient_of = |var: &Var| gradients.get(var).cloned().unwrap_or_else(|| var.zeros_like().unwrap());
    (out.detach(), vars.iter().map(gradient_of).collect())
}

/// Compares values and gradients.
fn agree(
    what: &str,
    operands: &[Tensor],
    ours: impl Fn(&[Tensor]) -> Result<Tensor>,
    theirs: impl Fn(&[Tensor]) -> Result<Tensor>,
) {
    let ((found, found_gradients), (expected, gradients)) = (run(operands, ours), run(operands, theirs));
    assert_close(what, &found, &expected, 1e-5);
    for (i, (found, expected)) in found_gradients.iter().zip(&gradients).enumerate() {
        assert_close(&format!("{what}: gradient of operand {i}"), found, expected, 5e-5);
    }
}

#[test]
fn softmax_along_each_dimension_of_any_view() {
    for dims in [&[1][..], &[7], &[3, 1], &[5, 17], &[2, 3, 16], &[33, 65], &[2, 3, 4, 5]] {
        for dim in 0..dims.len() {
            let ours = |x: &[Tensor]| Ok(softmax(&x[0], dim)?);
            agree("softmax", &[wave(dims, 1)], ours, |x| compositions::softmax(&x[0], dim));
        }
    }
    let (ours, theirs) = (
        |x: &[Tensor]| Ok(softmax(&x[0].t()?.narrow(1, 1, 4)?, 1)?),
        |x: &[Tensor]| compositions::softmax(&x[0].t()?.narrow(1, 1, 4)?, 1),
    );
    agree("softmax of a transposed part", &[wave(&[6, 9], 2)], ours, theirs);
    agree(
        "softmax of a stretched row",
        &[wave(&[1, 9], 3)],
        |x| Ok(softmax(&x[0].broadcast_as((4, 9))?, 1)?),
        |x| compositions::softmax(&x[0].broadcast_as((4, 9))?, 1),
    );
}

#[test]
fn norms_with_and_without_parameters() {
    for dims in [&[1, 1][..], &[9], &[5, 17], &[2, 3, 64], &[300, 130]] {
        let cols = *dims.last().unwrap();
        let operands = [wave(dims, 1), wave(&[cols], 2), wave(&[cols], 3)];
        agree(
            "layer norm",
            &operands,
            |x| Ok(layer_norm(&x[0], &x[1], Some(&x[2]), 1e-2)?),
            |x| compositions::layer_norm(&x[0], &x[1], Some(&x[2]), 1e-2),
        );
        agree(
            "layer norm without beta",
            &operands[..2],
            |x| Ok(layer_norm(&x[0], &x[1], None, 1e-2)?),
            |x| compositions::layer_norm(&x[0], &x[1], None, 1e-2),
        );
        agree(
            "RMS norm",
            &operands[..2],
            |x| Ok(rms_norm(&x[0], &x[1], 1e-2)?),
            |x| compositions::rms_norm(&x[0], &x[1], 1e-2),
        );
    }
    let operands = [wave(&[7, 5, 3], 1), wave(&[14], 2), wave(&[1], 3)];
    agree(
        "norms of views",
        &operands,
        |x| {
            let gamma = x[1].reshape((7, 2))?.t()?.get(1)?;
            let y = layer_norm(&x[0].transpose(0, 2)?, &gamma, Some(&x[2].expand(7)?), 1e-2)?;
            Ok(rms_norm(&y.transpose(0, 1)?, &gamma, 1e-2)?)
        },
        |x| {
            let gamma = x[1].reshape((7, 2))?.t()?.get(1)?.contiguous()?;
            let y = compositions::layer_norm(&x[0].transpose(0, 2)?, &gamma, Some(&x[2].expand(7)?), 1e-2)?;
            compositions::rms_norm(&y.transpose(0, 1)?, &gamma, 1e-2)
        },
    );
}

#[test]
fn linear_layers_with_each_kind_of_activation() {
    let activations =
        [Activation::Identity, Activation::Relu, Activation::Gelu, Activation::Silu, Activation::Tanh];
    for activation in activations {
        for [rows, k, n] in [[1, 1, 1], [5, 3, 7], [16, 16, 16], [33, 65, 17]] {
            let operands = [wave(&[rows, k], 1), wave(&[n, k], 2), wave(&[n], 3)];
            agree(
                &format!("linear with {activation:?}"),
                &operands,
                |x| Ok(linear(&x[0], &x[1], Some(&x[2]), activation)?),
                |x| compositions::linear(&x[0], &x[1], Some(&x[2]), activation),
            );
            agree(
                &format!("linear with {activation:?} without bias"),
                &operands[..2],
                |x| Ok(linear(&x[0], &x[1], None, activation)?),
                |x| compositions::linear(&x[0], &x[1], None, activation),
            );
        }
    }
    let operands = [wave(&[4, 3, 2, 5], 1), wave(&[5, 6], 2), wave(&[1], 3)];
    agree(
        "linear of views",
        &operands,
        |x| Ok(linear(&x[0].transpose(0, 2)?, &x[1].t()?, Some(&x[2].expand(6)?), Activation::Tanh)?),
        |x| {
            compositions::linear(&x[0].transpose(0, 2)?, &x[1].t()?, Some(&x[2].expand(6)?), Activation::Tanh)
        },
    );
    agree(
        "linear by a stretched weight",
        &[wave(&[3, 4], 1), wave(&[1, 4], 2)],
        |x| Ok(linear(&x[0], &x[1].broadcast_as((5, 4))?, None, Activation::Identity)?),
        |x| {
            compositions::linear(&x[0], &x[1].broadcast_as((5, 4))?.contiguous()?, None, Activation::Identity)
        },
    );
}

#[test]
fn attention_of_any_lengths_and_masks() {
    for [batch, heads, queries, keys, dim, value_dim] in [
        [1, 1, 1, 1, 1, 1],
        [2, 3, 5, 7, 4, 6],
        [2, 2, 17, 15, 8, 8],
        [1, 2, 130, 130, 16, 16],
        [1, 1, 33, 300, 64, 32],
    ] {
        let operands = [
            wave(&[batch, heads, queries, dim], 1),
            wave(&[batch, heads, keys, dim], 2),
            wave(&[batch, heads, keys, value_dim], 3),
        ];
        let scale = 1.0 / (dim as f64).sqrt();
        agree(
            "attention",
            &operands,
            |x| Ok(FlashAttention::default().apply(&x[0], &x[1], &x[2])?),
            |x| compositions::attention(&x[0], &x[1], &x[2], scale, None),
        );
        agree(
            "causal attention",
            &operands,
            |x| Ok(FlashAttention::causal().apply(&x[0], &x[1], &x[2])?),
            |x| {
                compositions::attention(
                    &x[0],
                    &x[1],
                    &x[2],
                    scale,
                    Some(&compositions::causal_mask(queries, keys)),
                )
            },
        );
        let masks = [
            wave(&[batch, heads, queries, keys], 5),
            wave(&[heads, 1, keys], 6),
            wave(&[queries, 1], 7),
            wave(&[batch, 1, 1, 1], 8),
            wave(&[], 9),
        ];
        for mask in masks {
            let attention = FlashAttention::full().mask(mask.clone()).scale(0.3);
            agree(
                &format!("attention with a mask of shape {:?}", mask.dims()),
                &operands,
                |x| Ok(attention.apply(&x[0], &x[1], &x[2])?),
                |x| compositions::attention(&x[0], &x[1], &x[2], 0.3, Some(&mask)),
            );
        }
    }
}

#[test]
fn attention_reads_views_without_a_copy() {
    // Queries, keys and values of one packed projection.
    let heads = |x: &Tensor, i: usize| x.reshape((2, 9, 3, 4, 5))?.get_on_dim(2, i)?.transpose(1, 2);
    agree(
        "attention over a packed projection",
        &[wave(&[2, 9, 60], 1)],
        |x| {
            let seen =
                FlashAttention::causal().apply(&heads(&x[0], 0)?, &heads(&x[0], 1)?, &heads(&x[0], 2)?)?;
            // It has the memory order of the queries.
            assert!(seen.transpose(1, 2)?.is_contiguous());
            seen.transpose(1, 2)?.reshape((2, 9, 20))
        },
        |x| {
            let mask = compositions::causal_mask(9, 9);
            let scale = 1.0 / 5f64.sqrt();
            let seen = compositions::attention(
                &heads(&x[0], 0)?,
                &heads(&x[0], 1)?,
                &heads(&x[0], 2)?,
                scale,
                Some(&mask),
            )?;
            seen.transpose(1, 2)?.contiguous()?.reshape((2, 9, 20))
        },
    );
    agree(
        "attention of heads that share their keys",
        &[wave(&[2, 6, 5, 8], 1), wave(&[2, 1, 7, 8], 2)],
        |x| {
            let shared = x[1].expand((2, 6, 7, 8))?;
            Ok(FlashAttention::default().apply(&x[0], &shared, &shared)?)
        },
        |x| {
            let shared = x[1].expand((2, 6, 7, 8))?;
            compositions::attention(&x[0], &shared, &shared, 1.0 / 8f64.sqrt(), None)
        },
    );
    agree(
        "attention of operands whose rows are strided",
        &[wave(&[2, 3, 8, 5], 1), wave(&[2, 3, 8, 6], 2)],
        |x| {
            let (q, k) = (x[0].transpose(2, 3)?, x[1].transpose(2, 3)?);
            Ok(FlashAttention::default().apply(&q, &k, &k.narrow(3, 1, 5)?)?)
        },
        |x| {
            let (q, k) = (x[0].transpose(2, 3)?, x[1].transpose(2, 3)?);
            compositions::attention(&q, &k, &k.narrow(3, 1, 5)?, 1.0 / 8f64.sqrt(), None)
        },
    );
}

#[test]
fn patterns_are_masks() {
    type Sees = fn(usize, usize) -> bool;
    let operands = [wave(&[1, 2, 40, 8], 1), wave(&[1, 2, 40, 8], 2), wave(&[1, 2, 40, 8], 3)];
    let mask = |sees: Sees| {
        let value = |i: usize| if sees(i / 40, i % 40) { 0.0 } else { f32::NEG_INFINITY };
        Tensor::from_vec((0..1600).map(value).collect(), (40, 40), &Device::Cpu).unwrap()
    };
    let cases: [(Pattern<'static>, Sees); 3] = [
        (Pattern::Window { before: 3, after: 1 }, |i, j| i <= j + 3 && j <= i + 1),
        (Pattern::Strided { local: 2, stride: 5 }, |i, j| i.abs_diff(j) < 2 || i.abs_diff(j) % 5 == 0),
        (Pattern::Blocks { size: 20, pairs: &[(0, 0), (1, 0), (1, 1)] }, |i, j| j / 20 <= i / 20),
    ];
    for (pattern, sees) in cases {
        agree(
            &format!("{pattern:?}"),
            &operands,
            |x| {
                let attention = FlashAttention::full().pattern(pattern);
                Ok(attention.apply(&x[0], &x[1], &x[2])?)
            },
            |x| compositions::attention(&x[0], &x[1], &x[2], 1.0 / 8f64.sqrt(), Some(&mask(sees))),
        );
    }
}

#[test]
fn dropout_keeps_the_mean_and_comes_again() {
    let x = wave(&[1, 4, 200, 8], 1);
    let ones = x.ones_like().unwrap();
    let with = |rate, seed| {
        let dropout = Dropout { rate, key: Key::new(seed) };
        FlashAttention::full().dropout(dropout).apply(&x, &x, &ones).unwrap()
    };
    let mean = with(0.5, 1).mean_all().unwrap().to_scalar::<f32>().unwrap();
    assert!((mean - 1.0).abs() < 0.05, "{mean}");
    assert_eq!(values(&with(0.5, 1)), values(&with(0.5, 1)));
    assert_ne!(values(&with(0.5, 1)), values(&with(0.5, 2)));
    assert!(values(&with(1.0, 1)).iter().all(|&x| x == 0.0));
}

#[test]
fn empty_tensors_give_empty_ones() {
    let (gradient, empty) = (
        |x: &Tensor| x.sum_all().unwrap().backward().unwrap(),
        |dims: &[usize]| Var::zeros(dims, DType::F32, &Device::Cpu).unwrap(),
    );
    let gamma = Tensor::ones(3, DType::F32, &Device::Cpu).unwrap();
    let x = empty(&[0, 3]);
    let y =
        rms_norm(&layer_norm(&softmax(&x, 1).unwrap(), &gamma, None, 1e-5).unwrap(), &gamma, 1e-5).unwrap();
    let y = linear(&y, &wave(&[4, 3], 1), None, Activation::Gelu).unwrap();
    assert_eq!(y.dims(), [0, 4]);
    assert_eq!(gradient(&y).get(&x).unwrap().dims(), [0, 3]);

    // A product over no numbers is the bias.
    let bias = Var::from_tensor(&wave(&[4], 1)).unwrap();
    let y = linear(&empty(&[2, 0]), &empty(&[4, 0]), Some(&bias), Activation::Identity).unwrap();
    assert_eq!(values(&y.get(1).unwrap()), values(&bias));
    assert_eq!(values(gradient(&y).get(&bias).unwrap()), [2.0; 4]);

    for [batch, queries, keys] in [[0, 3, 3], [2, 0, 3], [2, 3, 0]] {
        let [q, k, v] =
            [empty(&[batch, 2, queries, 4]), empty(&[batch, 2, keys, 4]), empty(&[batch, 2, keys, 5])];
        let y = FlashAttention::default().apply(&q, &k, &v).unwrap();
        assert_eq!(y.dims(), [batch, 2, queries, 5]);
        assert!(values(&y).iter().all(|&x| x == 0.0), "a query that sees no key has zeros");
        assert_eq!(gradient(&y).get(&q).unwrap().dims(), [batch, 2, queries, 4]);
    }
}

#[test]
fn gradients_go_where_candle_tracks() {
    let (x, gamma) = (wave(&[4, 6], 1), Var::from_tensor(&wave(&[6], 2)).unwrap());
    let y = linear(&layer_norm(&x, &gamma, None, 1e-5).unwrap(), &wave(&[3, 6], 3), None, Activation::Relu);
    let gradients = y.unwrap().sum_all().unwrap().backward().unwrap();
    assert!(gradients.get(&gamma).is_some());
    assert!(gradients.get(&x).is_none());
}

/// The error of a refused operation.
fn refused(result: foretell_candle::Result<Tensor>) -> (OpError, String) {
    let error = result.unwrap_err();
    let text = error.to_string();
    (error, text)
}

#[test]
fn refused_operands_are_typed_errors() {
    let x = wave(&[2, 3], 1);
    let half = x.to_dtype(DType::F16).unwrap();
    let gamma = wave(&[3], 2);
    let dtypes = [
        softmax(&half, 1),
        layer_norm(&half, &gamma, None, 1e-5),
        rms_norm(&x, &gamma.to_dtype(DType::F64).unwrap(), 1e-5),
        linear(&half, &wave(&[2, 3], 1), None, Activation::Identity),
    ];
    for found in dtypes {
        let (error, text) = refused(found);
        assert!(matches!(error, OpError::Dtype { .. }) && text.contains("to_dtype(DType::F32)"), "{text}");
    }
    let q = wave(&[1, 2, 3, 4], 1);
    let attend = |k: &Tensor, v: &Tensor| FlashAttention::default().apply(&q, k, v);
    let masked = |mask: Tensor| FlashAttention::full().mask(mask).apply(&q, &q, &q);
    let shapes = [
        (layer_norm(&x, &wave(&[2], 1), None, 1e-5), "gamma has shape [2], expected [3]"),
        (rms_norm(&wave(&[], 1), &gamma, 1e-5), "x has shape [], expected at least one dimension"),
        (linear(&x, &wave(&[2, 4], 1), None, Activation::Identity), "x has shape [2, 3], expected [..., 4]"),
        (linear(&x, &gamma, None, Activation::Identity), "weight has shape [3], expected [outputs, inputs]"),
        (
            linear(&x, &wave(&[2, 3], 1), Some(&gamma), Activation::Identity),
            "bias has shape [3], expected [2]",
        ),
        (attend(&wave(&[1, 2, 3, 5], 1), &q), "k has shape [1, 2, 3, 5], expected [1, 2, keys, 4]"),
        (attend(&q, &wave(&[1, 2, 4, 4], 1)), "v has shape [1, 2, 4, 4], expected [1, 2, 3, value_dim]"),
        (attend(&q, &x), "v has shape [2, 3]"),
        (masked(wave(&[5], 1)), "the mask has shape [5], expected one that broadcasts to [1, 2, 3, 3]"),
    ];
    for (found, expected) in shapes {
        let (error, text) = refused(found);
        assert!(matches!(error, OpError::Shape { .. }) && text.contains(expected), "{text}");
    }
    let blocks = |pairs: &'static [(usize, usize)]| {
        let pattern = Pattern::Blocks { size: 2, pairs };
        FlashAttention::full().pattern(pattern).apply(&q, &q, &q)
    };
    let settings = [
        layer_norm(&x, &gamma, None, -1.0),
        layer_norm(&x, &gamma, None, 1e39),
        rms_norm(&x, &gamma, f64::NAN),
        rms_norm(&x, &gamma, 1e39),
        masked(Var::from_tensor(&wave(&[3], 1)).unwrap().as_tensor().clone()),
        FlashAttention::full().scale(f64::INFINITY).apply(&q, &q, &q),
        FlashAttention::full().scale(1e39).apply(&q, &q, &q),
        FlashAttention::full().dropout(Dropout { rate: 1.5, key: Key::new(1) }).apply(&q, &q, &q),
        FlashAttention::full().pattern(Pattern::Strided { local: 1, stride: 0 }).apply(&q, &q, &q),
        blocks(&[(1, 0), (0, 0)]),
        blocks(&[(0, 0), (0, 0)]),
    ];
    for found in settings {
        let (error, text) = refused(found);
        assert!(matches!(error, OpError::Setting { .. }), "{text}");
    }
    // candle's own errors pass through, and ours become candle's.
    assert!(matches!(refused(softmax(&x, 2)).0, OpError::Candle(_)));
    let theirs: candle_core::Error = refused(softmax(&half, 1)).0.into();
    assert!(theirs.to_string().contains("softmax: x is of F16"), "{theirs}");
}

#[test]
fn tensors_come_and_go() {
    let x = wave(&[3, 4, 5], 1);
    let views =
        [x.clone(), x.transpose(0, 2).unwrap(), x.narrow(1, 1, 2).unwrap(), x.get(1).unwrap().t().unwrap()];
    let more = [
        wave(&[], 1),
        wave(&[0, 3], 1),
        x.narrow(2, 4, 0).unwrap(),
        wave(&[1, 4], 1).expand((3, 4)).unwrap(),
    ];
    for view in views.into_iter().chain(more) {
        let ours = from_candle(&view).unwrap();
        assert_eq!((&*ours.shape(), ours.to_vec()), (view.dims(), values(&view)));
        let back = to_candle(&ours).unwrap();
        assert_eq!((back.dims(), values(&back)), (view.dims(), values(&view)));
    }
    let strided = from_candle(&x).unwrap().transpose(0, 1).narrow(0, 1, 2);
    let theirs = to_candle(&strided).unwrap();
    assert!(theirs.is_contiguous());
    assert_eq!(values(&theirs), strided.to_vec());
    assert!(matches!(from_candle(&wave(&[1; 7], 1)), Err(OpError::Shape { .. })));
    assert!(matches!(from_candle(&x.to_dtype(DType::U8).unwrap()), Err(OpError::Dtype { .. })));
}

#[test]
fn large_scores_do_not_overflow() {
    let q = (wave(&[1, 1, 20, 8], 1) * 1e3).unwrap();
    let y = FlashAttention::default().apply(&q, &q, &wave(&[1, 1, 20, 8], 2)).unwrap();
    assert!(values(&y).iter().all(|x| x.is_finite()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn random_shapes_agree(batch in 1usize..4, heads in 1usize..4, queries in 1usize..40, keys in 1usize..40, dim in 1usize..20, causal: bool) {
        let dims = |steps: usize| [batch, steps, heads, dim];
        let operands = [wave(&dims(queries), 1), wave(&dims(keys), 2), wave(&dims(keys), 3)];
        let view = |x: &Tensor| x.transpose(1, 2);
        let mask = causal.then(|| compositions::causal_mask(queries, keys));
        agree("attention", &operands, |x| {
            let attention = if causal { FlashAttention::causal() } else { FlashAttention::default() };
            Ok(attention.apply(&view(&x[0])?, &view(&x[1])?, &view(&x[2])?)?)
        }, |x| {
            compositions::attention(&view(&x[0])?, &view(&x[1])?, &view(&x[2])?, 1.0 / (dim as f64).sqrt(), mask.as_ref())
        });
    }
}
