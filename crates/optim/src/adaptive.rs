//! Update rules that few ask for, as plain loops over parameters: NAdam, Adamax, Adagrad and Adadelta, as the optimisers of
//! PyTorch compute them.

use crate::constants::{AdadeltaConfig, AdagradConfig, AdamConfig, NAdamConfig};

/// The parameters of a step, their gradients, and the two numbers that are kept for each.
pub(crate) struct Numbers<'a> {
    pub(crate) params: &'a mut [f32],
    pub(crate) grads: &'a [f32],
    pub(crate) first: &'a mut [f32],
    pub(crate) second: &'a mut [f32],
}

impl Numbers<'_> {
    /// Runs `one` on each parameter, its gradient with the decay of weights added, and the numbers kept.
    fn each(self, weight_decay: f64, one: impl Fn(&mut f32, f32, &mut f32, &mut f32)) {
        let decay = weight_decay as f32;
        let kept = self.first.iter_mut().zip(self.second);
        for ((p, g), (a, b)) in self.params.iter_mut().zip(self.grads).zip(kept) {
            let gradient = g + decay * *p;
            one(p, gradient, a, b);
        }
    }
}

/// Dozat 2016, "Incorporating Nesterov momentum into Adam".
pub(crate) fn nadam(numbers: Numbers<'_>, lr: f64, step: u64, config: NAdamConfig) {
    let NAdamConfig { adam: AdamConfig { beta1, beta2, eps, weight_decay }, momentum_decay } = config;
    let momentum = |step: u64| beta1 * (1.0 - 0.5 * 0.96_f64.powf(step as f64 * momentum_decay));
    // Soon so small that 1 less it is 1.
    let mut product = 1.0;
    for t in 1..=step {
        product *= momentum(t);
        if product < 1e-20 {
            break;
        }
    }
    let (now, next) = (momentum(step), momentum(step + 1));
    let of_gradient = (lr * (1.0 - now) / (1.0 - product)) as f32;
    let of_mean = (lr * next / (1.0 - product * next)) as f32;
    let correction = (1.0 - beta2.powf(step as f64)) as f32;
    let (new1, beta2, new2, eps) = ((1.0 - beta1) as f32, beta2 as f32, (1.0 - beta2) as f32, eps as f32);
    numbers.each(weight_decay, |p, g, m, v| {
        *m += new1 * (g - *m);
        *v = beta2 * *v + new2 * g * g;
        let root = (*v / correction).sqrt() + eps;
        *p -= of_gradient * g / root + of_mean * *m / root;
    });
}

/// Kingma and Ba 2015, algorithm 2.
pub(crate) fn adamax(numbers: Numbers<'_>, lr: f64, step: u64, config: AdamConfig) {
    let AdamConfig { beta1, beta2, eps, weight_decay } = config;
    let rate = (lr / (1.0 - beta1.powf(step as f64))) as f32;
    let (new, beta2, eps) = ((1.0 - beta1) as f32, beta2 as f32, eps as f32);
    numbers.each(weight_decay, |p, g, m, largest| {
        *m += new * (g - *m);
        *largest = (*largest * beta2).max(g.abs() + eps);
        *p -= rate * *m / *largest;
    });
}

/// Duchi, Hazan, Singer 2011, "Adaptive subgradient methods for online learning and stochastic optimization".
pub(crate) fn adagrad(numbers: Numbers<'_>, lr: f64, step: u64, config: AdagradConfig) {
    let rate = (lr / (1.0 + (step - 1) as f64 * config.lr_decay)) as f32;
    let (eps, initial) = (config.eps as f32, if step == 1 { config.initial as f32 } else { 0.0 });
    let Numbers { params, grads, first, .. } = numbers;
    let decay = config.weight_decay as f32;
    for ((p, g), sum) in params.iter_mut().zip(grads).zip(first) {
        let g = g + decay * *p;
        *sum += initial + g * g;
        *p -= rate * g / (sum.sqrt() + eps);
    }
}

/// Zeiler 2012, "Adadelta: an adaptive learning rate method", arXiv 1212.5701, algorithm 1.
pub(crate) fn adadelta(numbers: Numbers<'_>, lr: f64, config: AdadeltaConfig) {
    let (lr, rho, new, eps) = (lr as f32, config.rho as f32, (1.0 - config.rho) as f32, config.eps as f32);
    numbers.each(config.weight_decay, |p, g, squares, steps| {
        *squares = rho * *squares + new * g * g;
        let delta = (*steps + eps).sqrt() / (*squares + eps).sqrt() * g;
        *steps = rho * *steps + new * delta * delta;
        *p -= lr * delta;
    });
}
