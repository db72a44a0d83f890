//! Convolutions of each channel by itself, as many groups as channels: no product of matrices, but one of rows for
//! each tap, `y[t, c] += w[k, c] x[t stride + k dilation, c]` with all channels side by side.

use foretell_gemm::count_products;
use foretell_simd::{self as simd, Activation};

use crate::convolution::Convolution;

impl Convolution {
    pub(crate) fn is_depthwise(&self) -> bool {
        self.groups > 1 && self.groups == self.inputs && self.groups == self.outputs
    }

    /// Every output is a dot product with the taps of its channel; each gradient takes as many multiplications.
    fn count(&self) {
        count_products(self.output_len(), [1, self.weight_len() / self.outputs.max(1), 1]);
    }

    /// Where the values under the kernel begin in the padded input, for each step of the output.
    fn starts(&self) -> impl Iterator<Item = usize> {
        let Self { batch, inputs, height, width, .. } = *self;
        let plane = height.padded() * width.padded();
        let rows = (0..batch).flat_map(move |b| {
            (0..height.output()).map(move |y| b * plane + y * height.stride * width.padded())
        });
        rows.flat_map(move |row| (0..width.output()).map(move |x| (row + x * width.stride) * inputs))
    }

    pub(crate) fn depthwise_forward(
        &self,
        padded: &[f32],
        arranged: &[f32],
        bias: Option<&[f32]>,
        activation: Activation,
        out: &mut [f32],
    ) {
        self.count();
        for (start, out) in self.starts().zip(out.chunks_exact_mut(self.outputs)) {
            match bias {
                Some(bias) => out.copy_from_slice(bias),
                None => out.fill(0.0),
            }
            for (at, columns) in self.places(1) {
                simd::mul_add_assign(&padded[start + at..][..columns.len()], &arranged[columns], out);
            }
            activation.apply(out);
        }
    }

    pub(crate) fn depthwise_weight_gradient(&self, padded: &[f32], grad: &[f32], arranged: &mut [f32]) {
        self.count();
        for (start, grad) in self.starts().zip(grad.chunks_exact(self.outputs)) {
            for (at, columns) in self.places(1) {
                simd::mul_add_assign(&padded[start + at..][..columns.len()], grad, &mut arranged[columns]);
            }
        }
    }

    pub(crate) fn depthwise_input_gradient(&self, arranged: &[f32], grad: &[f32], padded: &mut [f32]) {
        self.count();
        for (start, grad) in self.starts().zip(grad.chunks_exact(self.outputs)) {
            for (at, columns) in self.places(1) {
                let padded = &mut padded[start + at..][..columns.len()];
                simd::mul_add_assign(grad, &arranged[columns], padded);
            }
        }
    }
}
