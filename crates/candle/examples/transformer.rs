//! Trains a small transformer twice from the same weights, with candle's own operations and with foretell's, says whether the
//! losses agree and how much faster the steps are.
//!
//! `cargo run --release -p foretell-candle --example transformer [STEPS]`; `RAYON_NUM_THREADS=1` for one thread. It ends with
//! an error if the losses differ by more than 0.1 %.
//!
//! candle's side is composed as candle-nn 0.11 composes it for training, since its fused softmax and norms record no gradient.
//! Both sides take the same products otherwise: candle's by the crate gemm with AVX2 and FMA (its feature `x86-v4`, which would
//! take AVX-512, is off by default in candle, and off here: that of pulp, which foretell switches on, does not imply it),
//! foretell's with what the machine has. Both use rayon's pool. The two take turns step by step, so that a machine whose speed
//! changes is as slow for one as for the other.

#[path = "../tests/compositions/mod.rs"]
mod compositions;

use std::error::Error;
use std::time::{Duration, Instant};

use candle_core::{DType, Device, Result, Tensor, Var};
use foretell_candle::{Activation, FlashAttention, Key};

const WINDOWS: usize = 64;
const STEPS: usize = 96;
const WIDTH: usize = 64;
const HEADS: usize = 4;
const LAYERS: usize = 2;
const LEARNING_RATE: f64 = 0.02;

/// The operations that a transformer needs.
trait Operations {
    fn linear(&self, x: &Tensor, layer: &Linear, activation: Activation) -> Result<Tensor>;
    fn layer_norm(&self, x: &Tensor, norm: &Norm) -> Result<Tensor>;
    /// Causal attention of `[windows, heads, steps, width / heads]`.
    fn attention(&self, q: &Tensor, k: &Tensor, v: &Tensor) -> Result<Tensor>;
}

struct Candle {
    mask: Tensor,
}

impl Operations for Candle {
    fn linear(&self, x: &Tensor, layer: &Linear, activation: Activation) -> Result<Tensor> {
        compositions::linear(x, &layer.weight, Some(&layer.bias), activation)
    }

    fn layer_norm(&self, x: &Tensor, norm: &Norm) -> Result<Tensor> {
        compositions::layer_norm(x, &norm.gamma, Some(&norm.beta), 1e-5)
    }

    fn attention(&self, q: &Tensor, k: &Tensor, v: &Tensor) -> Result<Tensor> {
        let scale = 1.0 / ((WIDTH / HEADS) as f64).sqrt();
        compositions::attention(q, k, v, scale, Some(&self.mask))
    }
}

struct Foretell;

impl Operations for Foretell {
    fn linear(&self, x: &Tensor, layer: &Linear, activation: Activation) -> Result<Tensor> {
        Ok(foretell_candle::linear(x, &layer.weight, Some(&layer.bias), activation)?)
    }

    fn layer_norm(&self, x: &Tensor, norm: &Norm) -> Result<Tensor> {
        Ok(foretell_candle::layer_norm(x, &norm.gamma, Some(&norm.beta), 1e-5)?)
    }

    fn attention(&self, q: &Tensor, k: &Tensor, v: &Tensor) -> Result<Tensor> {
        Ok(FlashAttention::causal().apply(q, k, v)?)
    }
}

struct Linear {
    weight: Var,
    bias: Var,
}

impl Linear {
    fn new(inputs: usize, outputs: usize, seed: u64) -> Result<Self> {
        let weight = (random(&[outputs, inputs], seed)? * (1.0 / (inputs as f64).sqrt()))?;
        Ok(Self { weight: Var::from_tensor(&weight)?, bias: Var::zeros(outputs, DType::F32, &Device::Cpu)? })
    }
}

struct Norm {
    gamma: Var,
    beta: Var,
}

impl Norm {
    fn new() -> Result<Self> {
        let (dtype, device) = (DType::F32, &Device::Cpu);
        Ok(Self { gamma: Var::ones(WIDTH, dtype, device)?, beta: Var::zeros(WIDTH, dtype, device)? })
    }
}

struct Layer {
    norms: [Norm; 2],
    packed: Linear,
    joined: Linear,
    hidden: Linear,
    back: Linear,
}

/// A decoder that forecasts the next value from each value and those before it (Vaswani et al. 2017, arXiv 1706.03762;
/// norms first, as Xiong et al. 2020, arXiv 2002.04745).
struct Transformer<O> {
    operations: O,
    embedding: Linear,
    places: Var,
    layers: Vec<Layer>,
    norm: Norm,
    head: Linear,
}

impl<O: Operations> Transformer<O> {
    fn new(operations: O) -> Result<Self> {
        let layer = |i: u64| -> Result<Layer> {
            Ok(Layer {
                norms: [Norm::new()?, Norm::new()?],
                packed: Linear::new(WIDTH, 3 * WIDTH, 10 * i + 3)?,
                joined: Linear::new(WIDTH, WIDTH, 10 * i + 4)?,
                hidden: Linear::new(WIDTH, 4 * WIDTH, 10 * i + 5)?,
                back: Linear::new(4 * WIDTH, WIDTH, 10 * i + 6)?,
            })
        };
        Ok(Self {
            operations,
            embedding: Linear::new(1, WIDTH, 1)?,
            places: Var::from_tensor(&(random(&[STEPS, WIDTH], 2)? * 0.1)?)?,
            layers: (0..LAYERS as u64).map(layer).collect::<Result<_>>()?,
            norm: Norm::new()?,
            head: Linear::new(WIDTH, 1, 7)?,
        })
    }

    /// The values that follow each of `x [windows, steps, 1]`.
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let ops = &self.operations;
        let mut x = ops.linear(x, &self.embedding, Activation::Identity)?.broadcast_add(&self.places)?;
        for Layer { norms, packed, joined, hidden, back } in &self.layers {
            let y = ops.linear(&ops.layer_norm(&x, &norms[0])?, packed, Activation::Identity)?;
            let y = y.reshape((WINDOWS, STEPS, 3, HEADS, WIDTH / HEADS))?;
            let part = |i: usize| y.get_on_dim(2, i)?.transpose(1, 2);
            let seen = ops.attention(&part(0)?, &part(1)?, &part(2)?)?;
            let seen = seen.transpose(1, 2)?.reshape((WINDOWS, STEPS, WIDTH))?;
            x = (x + ops.linear(&seen, joined, Activation::Identity)?)?;
            let y = ops.linear(&ops.layer_norm(&x, &norms[1])?, hidden, Activation::Gelu)?;
            x = (x + ops.linear(&y, back, Activation::Identity)?)?;
        }
        ops.linear(&ops.layer_norm(&x, &self.norm)?, &self.head, Activation::Identity)
    }

    fn parameters(&self) -> Vec<&Var> {
        let mut all = vec![&self.places, &self.norm.gamma, &self.norm.beta];
        let mut linear = vec![&self.embedding, &self.head];
        for layer in &self.layers {
            all.extend(layer.norms.iter().flat_map(|norm| [&norm.gamma, &norm.beta]));
            linear.extend([&layer.packed, &layer.joined, &layer.hidden, &layer.back]);
        }
        all.extend(linear.into_iter().flat_map(|layer| [&layer.weight, &layer.bias]));
        all
    }

    /// A step of gradient descent on the mean squared error; the loss before it, and how long the step took.
    fn step(&self, x: &Tensor, next: &Tensor) -> Result<(f32, Duration)> {
        let start = Instant::now();
        let loss = (self.forward(x)? - next)?.sqr()?.mean_all()?;
        let gradients = loss.backward()?;
        for parameter in self.parameters() {
            let gradient = gradients.get(parameter).expect("every parameter has a gradient");
            parameter.set(&(parameter.as_tensor() - (gradient * LEARNING_RATE)?)?)?;
        }
        Ok((loss.to_scalar()?, start.elapsed()))
    }
}

/// Random numbers between -1 and 1, others for each seed.
fn random(dims: &[usize], seed: u64) -> Result<Tensor> {
    let key = Key::new(seed);
    let count: usize = dims.iter().product();
    let values = (0..count as u64).map(|i| 2.0 * key.uniform(i) - 1.0).collect();
    Tensor::from_vec(values, dims, &Device::Cpu)
}

/// Windows of a series with two seasons, one step apart: `[windows, steps, 1]` each.
fn batch(step: usize) -> Result<[Tensor; 2]> {
    let value = |t: usize| ((t as f32 * 0.26).sin() + 0.5 * (t as f32 * 0.037).cos()) * 0.7;
    let from = |first: usize| {
        let windows = (0..WINDOWS).map(|i| (step * WINDOWS + i) * 7 + first);
        let values = windows.flat_map(|start| (start..start + STEPS).map(value)).collect();
        Tensor::from_vec(values, (WINDOWS, STEPS, 1), &Device::Cpu)
    };
    Ok([from(0)?, from(1)?])
}

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let steps = std::env::args().nth(1).map_or(Ok(30), |text| text.parse())?;
    let theirs = Transformer::new(Candle { mask: compositions::causal_mask(STEPS, STEPS) })?;
    let ours = Transformer::new(Foretell)?;
    println!("{WINDOWS} windows of {STEPS} steps, {LAYERS} layers of {WIDTH}, {HEADS} heads");
    println!("{:>5}  {:>12}  {:>12}", "step", "loss, candle", "loss, ours");
    let (mut apart, mut times) = (0.0f32, [Vec::new(), Vec::new()]);
    for step in 0..steps {
        let [x, next] = batch(step)?;
        let ((expected, slow), (found, fast)) = (theirs.step(&x, &next)?, ours.step(&x, &next)?);
        let difference = (found - expected).abs() / expected.abs();
        if difference.is_nan() || difference > 1e-3 {
            return Err(format!("step {step}: the losses are {expected} and {found}").into());
        }
        apart = apart.max(difference);
        times[0].push(slow);
        times[1].push(fast);
        if step % 5 == 0 || step + 1 == steps {
            println!("{step:>5}  {expected:>12.6}  {found:>12.6}");
        }
    }
    let [slow, fast] = times.map(|times| times.into_iter().min().unwrap_or_default().as_secs_f64() * 1e3);
    println!("the losses agree to {apart:.0e}");
    println!(
        "the shortest step: {slow:.1} ms with candle's operations, {fast:.1} ms with foretell's: {:.2} times as fast",
        slow / fast
    );
    Ok(())
}
