//! Sums, differences, products and quotients of two tensors, stretched to a common shape by NumPy's rule.

use foretell_simd as simd;
use foretell_threads as threads;

use crate::rows::for_each_row;
use crate::tensor::Tensor;
use crate::trace::{self, Record};

impl Tensor {
    /// `self + other`.
    #[track_caller]
    pub fn add(&self, other: &Self) -> Self {
        let value = self.zip(other, simd::add, |a, b| a + b);
        trace::record(|| Record::new("add").input(self).input(other).output(&value));
        value
    }

    /// `self - other`.
    #[track_caller]
    pub fn sub(&self, other: &Self) -> Self {
        let value = self.zip(other, simd::sub, |a, b| a - b);
        trace::record(|| Record::new("sub").input(self).input(other).output(&value));
        value
    }

    /// `self * other`, element by element.
    #[track_caller]
    pub fn mul(&self, other: &Self) -> Self {
        let value = self.zip(other, simd::mul, |a, b| a * b);
        trace::record(|| Record::new("mul").input(self).input(other).output(&value));
        value
    }

    /// `self / other`, element by element.
    #[track_caller]
    pub fn div(&self, other: &Self) -> Self {
        let value = self.zip(other, simd::div, |a, b| a / b);
        trace::record(|| Record::new("div").input(self).input(other).output(&value));
        value
    }

    /// `self * factor`.
    pub fn scale(&self, factor: f32) -> Self {
        let mut scaled = self.clone();
        let values = scaled.values_mut();
        threads::rows(values.len(), 1, [values], |_, [values]| simd::scale(values, factor));
        trace::record(|| Record::new("scale").input(self).output(&scaled).number("factor", factor));
        scaled
    }

    /// Adds `other`, of the same shape, in place.
    #[track_caller]
    pub fn add_assign(&mut self, other: &Self) {
        assert_eq!(
            self.shape(),
            other.shape(),
            "add_assign of shapes {:?} and {:?}",
            self.shape(),
            other.shape()
        );
        let before = trace::is_on().then(|| self.clone());
        self.update(other, 1, simd::add_assign);
        if let Some(before) = before {
            trace::record(|| Record::new("add").input(&before).input(other).output(&*self));
        }
    }

    /// The output of `kernel`, which maps each number to one; `cost` is the work of one, as for [`foretell_threads::rows`].
    pub fn map(&self, cost: usize, kernel: impl Fn(&[f32], &mut [f32]) + Sync) -> Self {
        let source = self.contiguous();
        let x = source.values();
        Self::build(self.shape(), |out| {
            threads::rows(x.len(), cost, [out], |range, [out]| kernel(&x[range], out))
        })
    }

    /// Lets `kernel` change each number by that of `other`, a tensor of as many, at the same place; `cost` is the work of
    /// one, as for [`foretell_threads::rows`].
    pub fn update(&mut self, other: &Self, cost: usize, kernel: impl Fn(&mut [f32], &[f32]) + Sync) {
        let source = other.contiguous();
        let (x, values) = (source.values(), self.values_mut());
        threads::rows(x.len(), cost, [values], |range, [values]| kernel(values, &x[range]));
    }

    /// Two tensors, stretched to a common shape by NumPy's rule, joined number by number by a function that comes in two forms:
    /// `kernel` joins whole rows, `one` a pair of numbers where an operand is stretched or strided.
    #[track_caller]
    pub fn zip(
        &self,
        other: &Self,
        kernel: impl Fn(&[f32], &[f32], &mut [f32]) + Sync,
        one: impl Fn(f32, f32) -> f32 + Sync,
    ) -> Self {
        let Some(shape) = self.shape().broadcast(&other.shape()) else {
            panic!("shapes {:?} and {:?} do not broadcast", self.shape(), other.shape());
        };
        let (a, b) = (self.broadcast_to(shape), other.broadcast_to(shape));
        let (x, y) = (a.strided_values(), b.strided_values());
        Self::build(shape, |out| {
            for_each_row(shape, [a.strides(), b.strides()], out, |row, [i, j], steps| match steps {
                [1, 1] => kernel(&x[i..i + row.len()], &y[j..j + row.len()], row),
                [0, 1] => row.iter_mut().zip(&y[j..]).for_each(|(value, &y)| *value = one(x[i], y)),
                [1, 0] => row.iter_mut().zip(&x[i..]).for_each(|(value, &x)| *value = one(x, y[j])),
                [di, dj] => {
                    row.iter_mut()
                        .enumerate()
                        .for_each(|(k, value)| *value = one(x[i + k * di], y[j + k * dj]));
                }
            });
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::Tensor;

    #[test]
    fn broadcasting_matches_the_written_out_result() {
        let x = Tensor::from_slice(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3]);
        let row = Tensor::from_slice(&[10.0, 20.0, 30.0], [3]);
        let column = Tensor::from_slice(&[1.0, -1.0], [2, 1]);
        assert_eq!(x.add(&row).to_vec(), [11.0, 22.0, 33.0, 14.0, 25.0, 36.0]);
        assert_eq!(x.mul(&column).to_vec(), [1.0, 2.0, 3.0, -4.0, -5.0, -6.0]);
        assert_eq!(column.sub(&row).to_vec(), [-9.0, -19.0, -29.0, -11.0, -21.0, -31.0]);
        assert_eq!(x.transpose(0, 1).add(&x.transpose(0, 1)).to_vec(), [2.0, 8.0, 4.0, 10.0, 6.0, 12.0]);
    }

    #[test]
    #[should_panic(expected = "shapes [2] and [3] do not broadcast")]
    fn incompatible_shapes_panic() {
        Tensor::zeros([2]).add(&Tensor::zeros([3]));
    }
}
