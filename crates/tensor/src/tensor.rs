//! The tensor: a strided view of a storage.

use std::fmt;

use foretell_pool::Buffer;

use crate::shape::Shape;
use crate::storage::Storage;
use crate::trace::{self, Record, TracedOperand};

/// A strided view of `f32` values. Cloning copies no values.
#[derive(Clone)]
pub struct Tensor {
    storage: Storage,
    offset: usize,
    shape: Shape,
    strides: Shape,
}

impl Tensor {
    /// A row-major tensor whose values `write` fills.
    ///
    /// `write` gets `shape.numel()` initialised values that are unspecified: zeros, or what another tensor left in a
    /// buffer of the pool. It must write each one; values that it leaves out stay unspecified in the tensor. In debug
    /// builds these values are NaN, so that tests show it.
    pub fn build(shape: impl Into<Shape>, write: impl FnOnce(&mut [f32])) -> Self {
        let shape = shape.into();
        Self::row_major(Storage::build(shape.numel(), write), 0, shape)
    }

    /// A row-major view of `shape.numel()` values of `storage` from `offset` on.
    ///
    /// # Panics
    /// If the storage ends before the view does.
    #[track_caller]
    pub fn row_major(storage: Storage, offset: usize, shape: impl Into<Shape>) -> Self {
        let shape = shape.into();
        let (have, want) = (storage.values().len(), offset + shape.numel());
        assert!(
            have >= want,
            "a view of shape {shape:?} at offset {offset} needs {want} values, the storage has {have}"
        );
        Self { storage, offset, shape, strides: shape.row_major_strides() }
    }

    /// Takes over a pool buffer as a row-major tensor.
    #[track_caller]
    pub fn from_buffer(buffer: Buffer<f32>, shape: impl Into<Shape>) -> Self {
        let shape = shape.into();
        assert_eq!(buffer.len(), shape.numel(), "{} values do not make shape {shape:?}", buffer.len());
        Self::row_major(Storage::new(buffer), 0, shape)
    }

    /// A copy of `values`, row-major.
    #[track_caller]
    pub fn from_slice(values: &[f32], shape: impl Into<Shape>) -> Self {
        Self::from_buffer(Buffer::copied(values), shape)
    }

    /// A tensor of one value repeated.
    pub fn full(shape: impl Into<Shape>, value: f32) -> Self {
        Self::build(shape, |out| out.fill(value))
    }

    /// A tensor of zeros.
    pub fn zeros(shape: impl Into<Shape>) -> Self {
        Self::full(shape, 0.0)
    }

    /// A tensor of rank 0.
    pub fn scalar(value: f32) -> Self {
        Self::full([], value)
    }

    /// The numbers that an operation read or made; `None` of places.
    pub fn of_operand(operand: &TracedOperand) -> Option<Self> {
        match operand.clone() {
            TracedOperand::Numbers { storage, offset, shape, strides } => {
                Some(Self { storage, offset, shape, strides })
            }
            TracedOperand::Places { .. } => None,
        }
    }

    /// Whether its storage holds nothing but this tensor.
    pub fn is_whole(&self) -> bool {
        self.numel() == self.storage.values().len()
    }

    /// Whether at least half of the numbers of its storage are its own.
    pub fn is_most(&self) -> bool {
        2 * self.numel() >= self.storage.values().len()
    }

    /// The storage that it is a view of, and where it begins.
    pub(crate) fn storage(&self) -> (&Storage, usize) {
        (&self.storage, self.offset)
    }

    /// A view that is within the storage.
    pub(crate) fn view(storage: Storage, offset: usize, shape: Shape, strides: Shape) -> Self {
        Self { storage, offset, shape, strides }
    }

    /// The sizes of the dimensions, outermost first.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The steps, in elements, between neighbours along each dimension.
    pub fn strides(&self) -> Shape {
        self.strides
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// The number of elements.
    pub fn numel(&self) -> usize {
        self.shape.numel()
    }

    /// Whether the elements lie one after the other in row-major order.
    pub fn is_contiguous(&self) -> bool {
        let mut step = 1;
        self.shape.iter().zip(self.strides.iter()).rev().all(|(&size, &stride)| {
            let follows = size == 1 || stride == step;
            step *= size;
            follows
        }) || self.numel() == 0
    }

    /// The values, row-major.
    ///
    /// # Panics
    /// If the tensor is not contiguous; see [`Tensor::contiguous`].
    #[track_caller]
    pub fn values(&self) -> &[f32] {
        assert!(
            self.is_contiguous(),
            "values of a strided view (shape {:?}, strides {:?}); call contiguous() first",
            self.shape,
            self.strides
        );
        &self.storage.values()[self.offset..self.offset + self.numel()]
    }

    /// The values from the view's first element to the end of the storage; index with [`Tensor::strides`].
    pub fn strided_values(&self) -> &[f32] {
        &self.storage.values()[self.offset..]
    }

    /// The one value of a tensor of one element.
    #[track_caller]
    pub fn item(&self) -> f32 {
        assert_eq!(self.numel(), 1, "item() of a tensor of shape {:?}", self.shape);
        self.strided_values()[0]
    }

    /// The values, row-major, copied out.
    pub fn to_vec(&self) -> Vec<f32> {
        self.contiguous().values().to_vec()
    }

    /// The values, to be changed in place. Copies first where another tensor shares them or the view is
    /// strided.
    pub fn values_mut(&mut self) -> &mut [f32] {
        if !self.is_contiguous() || self.storage.unique().is_none() {
            *self = Self::build(self.shape, |out| self.copy_to(out));
        }
        let range = self.offset..self.offset + self.numel();
        let values = self.storage.unique().expect("a fresh copy has one owner");
        &mut values[range]
    }

    /// The tensor itself where it is contiguous, otherwise a row-major copy.
    pub fn contiguous(&self) -> Self {
        if self.is_contiguous() {
            return self.clone();
        }
        let copy = Self::build(self.shape, |out| self.copy_to(out));
        trace::record(|| Record::new("copy").input(self).output(&copy));
        copy
    }

    /// Writes the values, row-major, to `out`.
    fn copy_to(&self, out: &mut [f32]) {
        if self.is_contiguous() {
            return out.copy_from_slice(self.values());
        }
        let source = self.strided_values();
        crate::rows::for_each_row(self.shape, [self.strides], out, |row, [at], [stride]| match stride {
            1 => row.copy_from_slice(&source[at..at + row.len()]),
            _ => row.iter_mut().enumerate().for_each(|(i, value)| *value = source[at + i * stride]),
        });
    }

    /// The same values under another shape; copies only where the view is strided.
    ///
    /// # Panics
    /// If the number of elements differs.
    #[track_caller]
    pub fn reshape(&self, shape: impl Into<Shape>) -> Self {
        let shape = shape.into();
        assert_eq!(self.numel(), shape.numel(), "cannot reshape {:?} to {shape:?}", self.shape);
        let base = self.contiguous();
        let view = Self { strides: shape.row_major_strides(), shape, ..base };
        trace::record(|| Record::view("reshape", self, &view));
        view
    }

    /// Elements `start..start + len` along `axis`, without a copy.
    #[track_caller]
    pub fn narrow(&self, axis: usize, start: usize, len: usize) -> Self {
        assert!(
            axis < self.rank() && start + len <= self.shape[axis],
            "narrow(axis {axis}, {start}..{}) of shape {:?}",
            start + len,
            self.shape
        );
        let mut view = self.clone();
        view.shape[axis] = len;
        // An empty view may start one past the end of its storage.
        if view.numel() > 0 {
            view.offset += start * self.strides[axis];
        }
        trace::record(|| {
            Record::view("narrow", self, &view).size("axis", axis).size("start", start).size("len", len)
        });
        view
    }

    /// Every `step`-th element along `axis` from the first on, without a copy.
    pub(crate) fn every(mut self, axis: usize, step: usize) -> Self {
        let before = trace::is_on().then(|| self.clone());
        self.shape[axis] = self.shape[axis].div_ceil(step);
        // The step from a lone element to the next is never taken, and may be too large for the type.
        self.strides[axis] = self.strides[axis].saturating_mul(step);
        if let Some(before) = before {
            trace::record(|| Record::view("every", &before, &self).size("axis", axis).size("step", step));
        }
        self
    }

    /// The dimensions in another order: dimension `i` of the result is dimension `order[i]` of this one.
    #[track_caller]
    pub fn permute(&self, order: &[usize]) -> Self {
        let mut seen = [false; crate::MAX_RANK];
        let valid = order.len() == self.rank()
            && order.iter().all(|&axis| axis < self.rank() && !std::mem::replace(&mut seen[axis], true));
        assert!(valid, "permute({order:?}) of shape {:?}", self.shape);
        let mut view = self.clone();
        for (i, &axis) in order.iter().enumerate() {
            view.shape[i] = self.shape[axis];
            view.strides[i] = self.strides[axis];
        }
        trace::record(|| Record::view("permute", self, &view).sizes("order", order));
        view
    }

    /// Two dimensions exchanged.
    #[track_caller]
    pub fn transpose(&self, a: usize, b: usize) -> Self {
        let mut order = [0, 1, 2, 3, 4, 5];
        order[..self.rank()].swap(a, b);
        self.permute(&order[..self.rank()])
    }

    /// A new dimension of size 1 before `axis`.
    #[track_caller]
    pub fn unsqueeze(&self, axis: usize) -> Self {
        let mut view = self.clone();
        view.shape = self.shape.with(axis, 1);
        view.strides = self.strides.with(axis, 0);
        trace::record(|| Record::view("reshape", self, &view));
        view
    }

    /// The view stretched to a larger shape by NumPy's rule; stretched dimensions have stride 0.
    #[track_caller]
    pub fn broadcast_to(&self, shape: impl Into<Shape>) -> Self {
        let shape = shape.into();
        assert!(
            self.shape.broadcast(&shape) == Some(shape),
            "shape {:?} does not broadcast to {shape:?}",
            self.shape
        );
        let lead = shape.len() - self.rank();
        let mut view = Self { shape, strides: shape, ..self.clone() };
        for axis in 0..shape.len() {
            let stretched = axis < lead || self.shape[axis - lead] != shape[axis];
            view.strides[axis] = if stretched { 0 } else { self.strides[axis - lead] };
        }
        trace::record(|| Record::view("expand", self, &view));
        view
    }
}

impl From<&Tensor> for TracedOperand {
    fn from(tensor: &Tensor) -> Self {
        let Tensor { storage, offset, shape, strides } = tensor.clone();
        Self::Numbers { storage, offset, shape, strides }
    }
}

/// Equal if shapes are equal, and all numbers, whatever the strides; NaN equals nothing.
impl PartialEq for Tensor {
    fn eq(&self, other: &Self) -> bool {
        self.shape == other.shape && self.contiguous().values() == other.contiguous().values()
    }
}

/// The shape and the first values.
impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 16;
        let values = self.strided_values();
        let steps = self.shape.row_major_strides();
        let value = |i: usize| {
            let axes = self.shape.iter().zip(self.strides.iter()).zip(steps.iter());
            values[axes.map(|((size, stride), step)| i / step % size * stride).sum::<usize>()]
        };
        let shown: Vec<f32> = (0..self.numel().min(SHOWN)).map(value).collect();
        let more = if self.numel() > SHOWN { ", ..." } else { "" };
        write!(f, "Tensor{:?} {shown:?}{more}", self.shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counting(shape: &[usize]) -> Tensor {
        let shape = Shape::new(shape);
        let values: Vec<f32> = (0..shape.numel()).map(|i| i as f32).collect();
        Tensor::from_slice(&values, shape)
    }

    #[test]
    fn views_share_and_order_values() {
        let x = counting(&[2, 3]);
        assert_eq!(x.transpose(0, 1).to_vec(), [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]);
        assert_eq!(x.narrow(1, 1, 2).to_vec(), [1.0, 2.0, 4.0, 5.0]);
        assert_eq!(x.narrow(1, 1, 2).reshape([4]).to_vec(), [1.0, 2.0, 4.0, 5.0]);
        assert_eq!(x.narrow(0, 1, 1).values(), [3.0, 4.0, 5.0]);
        assert!(x.transpose(0, 1).transpose(0, 1).is_contiguous());
    }

    #[test]
    fn what_is_not_written_shows_in_debug_builds() {
        if cfg!(debug_assertions) {
            drop(Tensor::full([8], 1.0));
            let half = Tensor::build([8], |out| out[..4].fill(2.0));
            assert_eq!(half.values()[..4], [2.0; 4]);
            assert!(half.values()[4..].iter().all(|value| value.is_nan()));
        }
    }

    #[test]
    fn broadcast_views() {
        let x = counting(&[3]);
        assert_eq!(x.broadcast_to([2, 3]).to_vec(), [0.0, 1.0, 2.0, 0.0, 1.0, 2.0]);
        let y = counting(&[2, 1]);
        assert_eq!(y.broadcast_to([2, 3]).to_vec(), [0.0, 0.0, 0.0, 1.0, 1.0, 1.0]);
    }

    #[test]
    fn a_permutation_of_four_dimensions_copies_right() {
        let x = counting(&[2, 3, 4, 5]);
        let y = x.permute(&[3, 1, 0, 2]).contiguous();
        assert_eq!(&*y.shape(), [5, 3, 2, 4]);
        let y = y.to_vec();
        for (a, b, c, d) in [(0, 0, 0, 0), (1, 2, 3, 4), (1, 0, 2, 3)] {
            assert_eq!(y[((d * 3 + b) * 2 + a) * 4 + c], (((a * 3 + b) * 4 + c) * 5 + d) as f32);
        }
    }

    #[test]
    fn writing_to_a_shared_tensor_leaves_the_other_alone() {
        let x = counting(&[4]);
        let mut y = x.clone();
        y.values_mut()[0] = 9.0;
        assert_eq!(x.to_vec(), [0.0, 1.0, 2.0, 3.0]);
        assert_eq!(y.to_vec(), [9.0, 1.0, 2.0, 3.0]);
    }

    #[test]
    fn tensors_are_compared_by_shape_and_values() {
        let x = counting(&[2, 3]);
        assert_eq!(x.transpose(0, 1).contiguous(), x.transpose(0, 1));
        assert_ne!(x, x.reshape([3, 2]));
        assert_ne!(x, x.scale(2.0));
    }

    #[test]
    fn a_tensor_is_shown_by_its_shape_and_first_values() {
        assert_eq!(
            format!("{:?}", counting(&[2, 3]).transpose(0, 1)),
            "Tensor[3, 2] [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]"
        );
        assert_eq!(format!("{:?}", counting(&[0, 3])), "Tensor[0, 3] []");
        let large = format!("{:?}", counting(&[1000, 1000]));
        assert!(large.starts_with("Tensor[1000, 1000] [0.0, 1.0") && large.ends_with(", ..."), "{large}");
        assert_eq!(format!("{:?}", counting(&[7]).storage), "Storage(7 values)");
    }

    #[test]
    fn empty_tensors_work() {
        let x = counting(&[0, 3]);
        assert_eq!(x.to_vec(), []);
        assert_eq!(x.transpose(0, 1).to_vec(), []);
        assert_eq!(counting(&[2, 3]).narrow(0, 2, 0).to_vec(), []);
    }

    #[test]
    #[should_panic(expected = "cannot reshape [2, 3] to [4]")]
    fn a_wrong_reshape_names_both_shapes() {
        counting(&[2, 3]).reshape([4]);
    }
}
