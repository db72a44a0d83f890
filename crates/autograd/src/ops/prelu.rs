//! The rectifier with a learned slope (He et al. 2015, equation 1), one slope for all elements.
use foretell_tensor::trace::{self, Record};

use crate::Var;

impl Var {
    /// `max(x, 0) + slope * min(x, 0)`, with `slope [1]`.
    ///
    /// # Panics
    /// If `slope` is not a single number.
    #[track_caller]
    pub fn prelu(&self, slope: &Self) -> Self {
        let a = slope.value().item();
        let x = self.value().contiguous();
        let value = x.map(1, |x, out| {
            out.iter_mut().zip(x).for_each(|(y, &x)| *y = if x > 0.0 { x } else { a * x });
        });
        trace::record(|| Record::new("prelu").input(&x).input(slope.value()).output(&value));
        let (x_edge, slope_edge, slope_shape) = (self.edge(), slope.edge(), slope.shape());
        Self::operation(value, &[self, slope], move |mut grad, gradients| {
            gradients.accumulate(&slope_edge, slope_shape, |da| {
                let products = x.values().iter().zip(grad.values()).map(|(&x, &g)| f64::from(x.min(0.0) * g));
                da[0] += products.sum::<f64>() as f32;
            });
            grad.update(&x, 1, |grad, x| {
                grad.iter_mut().zip(x).for_each(|(g, &x)| *g *= if x > 0.0 { 1.0 } else { a });
            });
            gradients.add_gradient(&x_edge, grad);
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::ops::check::{gradients, random};
    use crate::ops::torch;

    #[test]
    fn gradients_of_input_and_slope() {
        gradients(&[random([3, 5], 1), random([1], 2)], |v| v[0].prelu(&v[1]));
    }

    #[test]
    fn agrees_with_pytorch() {
        torch::assert_matches_pytorch("prelu", |x, _| x[0].prelu(&x[1]));
    }
}
