//! A step through most operations, large enough that its products and passes are spread over threads.

use crate::{Activation, Conv1d, Conv2d, Indices, Key, PaddingMode, Tensor, Var};

const BATCH: usize = 64;
const TIME: usize = 48;
const CHANNELS: usize = 32;

fn counting(shape: &[usize]) -> Tensor {
    let len = shape.iter().product::<usize>();
    Tensor::from_slice(&(0..len).map(|i| ((i * 37 % 101) as f32 - 50.0) / 60.0).collect::<Vec<_>>(), shape)
}

/// The gradients of all parameters and of the input.
pub(crate) fn step() -> Vec<f32> {
    let mut offset = 0;
    let mut parameter = |shape: &[usize]| {
        let value = counting(shape);
        offset += value.numel();
        let start = offset - value.numel();
        Var::parameter(value, start)
    };
    let conv = parameter(&[CHANNELS, CHANNELS, 3]);
    let circle = parameter(&[CHANNELS, CHANNELS, 3]);
    let depthwise = parameter(&[CHANNELS, 1, 3]);
    let plane = parameter(&[CHANNELS, CHANNELS, 3, 3]);
    let bias = parameter(&[CHANNELS]);
    let gamma = parameter(&[CHANNELS]);
    let heads = parameter(&[4, CHANNELS, CHANNELS]);
    let steps = parameter(&[TIME, TIME]);
    let mixed = parameter(&[CHANNELS, CHANNELS]);
    let [factors, offsets] = [(); 2].map(|()| parameter(&[BATCH]));

    let x = Var::input(counting(&[BATCH, TIME, CHANNELS]));
    let dilated = Conv1d { dilation: 4, padding: [8, 0], ..Conv1d::default() };
    let y = x.conv1d(&conv, Some(&bias), Activation::Gelu, dilated).permute(&[1, 0, 2]);
    let y = y.causal_convolution(&conv, &bias, Activation::Tanh, 2).permute(&[1, 0, 2]);
    let around = Conv1d { padding: [1, 1], beyond: PaddingMode::Circular, ..Conv1d::default() };
    let y = y.conv1d(&circle, Some(&bias), Activation::Relu, around).add(&x);
    let alone = Conv1d { groups: CHANNELS, padding: [2, 0], ..Conv1d::default() };
    let (y, _) =
        y.conv1d(&depthwise, None, Activation::Identity, alone).batch_norm(Some((&gamma, &bias)), 1e-5);
    let flat = Conv2d { padding: [1, 1], ..Conv2d::default() };
    let folded = y.reshape([BATCH, TIME / 12, 12, CHANNELS]).conv2d(&plane, None, Activation::Identity, flat);
    let y = y.add(&folded.reshape(y.shape()).scale(0.1)).layer_norm(Some((&gamma, Some(&bias))), 1e-5);
    let y = y.rms_norm(Some(&gamma), 1e-5).instance_norm(None, 1e-5);

    // The steps are mixed, then the channels, and each window gets a factor and an offset.
    let y = y.linear_of_columns(&steps, Some(&steps.narrow(0, 1, 1).reshape([TIME])), Activation::Relu);
    let y = y.linear_to_columns(&mixed, Some(&bias), Activation::Gelu).permute(&[0, 2, 1]);
    let y = y.affine_rows(&factors, &offsets).reshape([BATCH, TIME, CHANNELS]).layer_norm(None, 1e-5);

    // [batch, 1, time, channels] by [heads, channels, channels], and attention of each head.
    let queries = y.reshape([BATCH, 1, TIME, CHANNELS]).matmul(&heads);
    let scores = queries.matmul(&queries.permute(&[0, 1, 3, 2])).scale(0.1);
    let mask = Tensor::from_slice(&(0..TIME).map(|t| f32::from(t % 5 == 4)).collect::<Vec<_>>(), [TIME]);
    let weights = scores.masked_fill(&mask, f32::NEG_INFINITY).softmax(3).dropout(0.1, Key::new(3));
    let y = weights.matmul(&queries).mean(1);

    let waves = y.permute(&[0, 2, 1]).rfft().irfft(TIME).permute(&[0, 2, 1]);
    let trend = y.cumulative_sum(1).scale(0.01).add(&waves);
    let (largest, places) = trend.top_k(1, 3);
    let (top, _) = trend.max(2);
    let taken = trend.gather(1, &places).sub(&largest);
    let rows = Indices::from_slice(&[7; BATCH * CHANNELS], [BATCH, 1, CHANNELS]);
    let moved = trend.scatter_add(1, &rows, &largest.narrow(1, 0, 1));
    let share = moved.log_softmax(1).div(&trend.square().add(&Var::constant(Tensor::full([1], 1.0))).sqrt());
    let steps: Vec<Var> = (0..TIME).map(|t| share.narrow(1, t, 1)).collect();
    let steps = Var::concat(&steps.iter().collect::<Vec<_>>(), 1).slice(1, 0..TIME, 2);
    let all = steps.add(&top.reshape([BATCH, TIME, 1]).expand([BATCH, TIME, CHANNELS]).slice(1, 0..TIME, 2));
    let all = all.exp().ln().sum(1).add(&taken.sum(1));
    let loss = all.sum(1).sum(0);

    let mut arena = vec![0.0; offset];
    loss.backward(&mut arena);
    arena.extend(x.grad().expect("a gradient").to_vec());
    arena
}
