//! A layer over one sequence, for forecasts.
//!
//! A step of one sequence multiplies a row with U, which takes as long as reading U: 256 KiB in `f32` for an LSTM of 128
//! units, from the second cache. So U is laid out once in groups of units, each in the order in which the product reads it.
//! A group makes the sums of its units and then their states, without the other groups: threads share the groups of a
//! step where these are large enough ([`foretell_threads::sequence`]), and the bits do not depend on them.

use std::ops::Range;

use foretell_gemm::{MatMut, MatRef, Options, Rhs, WeightFormat, WeightMatrix, matmul};
use foretell_pool::Buffer;
use foretell_simd as simd;

use super::cell::Cell;
use super::layer::Layer;

/// About the least sums of a group: enough that a call costs little beside its product.
const GROUP: usize = 256;

/// The least weights of a group, in bytes: with fewer, two groups on two threads take as long as one group on one. With as many,
/// it is the way between two cores that counts: an LSTM of 128 units in bfloat16 took 178 us with two groups and 245 with one where
/// a line of the cache goes there and back in 50 ns, 320 and 245 where it takes 400, and 463 and 422 on Sapphire Rapids.
const GROUP_BYTES: usize = 64 << 10;

/// The most groups. Their number is about a power of two, so that two or four threads get equally many.
const GROUPS: usize = 16;

/// The weights of U that are read in the time of one number of a plain pass over memory, in bytes.
pub(super) const BYTES_PER_NUMBER: usize = 32;

/// The rows of U that belong to some hidden units.
#[derive(Clone, Debug)]
pub(super) struct UnitGroup {
    units: Range<usize>,
    columns: Columns,
}

/// Those rows as columns, `[state, gates * units]`: gate after gate, of each its units. In `f32` each row begins on a line of
/// the cache: vectors that lie on two lines are read half as fast.
#[derive(Clone, Debug)]
enum Columns {
    Wide(Buffer<f32>),
    Narrow(WeightMatrix),
}

impl UnitGroup {
    /// The groups that make up a layer with the weights U.
    pub(super) fn all(layer: &Layer, state: &[f32], format: Option<WeightFormat>) -> Vec<Self> {
        let hidden = layer.hidden;
        let sums = layer.cell.gates() * hidden;
        let bytes = match format {
            None => size_of::<f32>() * layer.state() * sums,
            Some(format) => WeightMatrix::bytes_of(layer.state(), sums, format),
        };
        let most = (sums / GROUP).min(bytes / GROUP_BYTES).clamp(1, GROUPS);
        let size = hidden.div_ceil(1 << most.ilog2()).next_multiple_of(16).max(1);
        let groups = (0..hidden).step_by(size);
        groups.map(|first| Self::new(layer, state, first..hidden.min(first + size), format)).collect()
    }

    fn new(layer: &Layer, state: &[f32], units: Range<usize>, format: Option<WeightFormat>) -> Self {
        let (size, count) = (layer.state(), layer.cell.gates() * units.len());
        let stride = row_stride(count);
        let mut wide = Buffer::<f32>::zeroed(size * stride);
        let rows =
            (0..layer.cell.gates()).flat_map(|gate| units.clone().map(move |u| gate * layer.hidden + u));
        for (column, row) in rows.enumerate() {
            for (k, weight) in state[row * size..(row + 1) * size].iter().enumerate() {
                wide[k * stride + column] = *weight;
            }
        }
        let columns = match format {
            None => Columns::Wide(wide),
            Some(format) => {
                Columns::Narrow(WeightMatrix::new(MatRef::new(&wide, size, count, stride, 1), format))
            }
        };
        Self { units, columns }
    }

    /// The memory of the weights, in bytes.
    pub(super) fn bytes(&self) -> usize {
        match &self.columns {
            Columns::Wide(values) => size_of_val(&**values),
            Columns::Narrow(matrix) => matrix.bytes(),
        }
    }
}

/// The stride of rows of `columns` numbers in `f32`: whole cache lines.
fn row_stride(columns: usize) -> usize {
    columns.next_multiple_of(16)
}

/// A group in the course of a run.
pub(super) struct Running<'a> {
    group: &'a UnitGroup,
    /// Its sums, its biases, and c before and after a step.
    place: Buffer<f32>,
}

impl<'a> Running<'a> {
    pub(super) fn new(layer: &Layer, group: &'a UnitGroup, bias: &[f32], first: &[f32]) -> Self {
        let (sums, len) = (layer.cell.sums(), group.units.len());
        let mut place = Buffer::zeroed((2 * sums + 2) * len);
        for (to, bias) in place[sums * len..].chunks_exact_mut(len).zip(bias.chunks_exact(layer.hidden)) {
            to.copy_from_slice(&bias[group.units.clone()]);
        }
        if let Some(c) = first.get(group.units.clone()) {
            place[2 * sums * len..][..len].copy_from_slice(c);
        }
        Self { group, place }
    }

    /// Its hidden units.
    pub(super) fn units(&self) -> Range<usize> {
        self.group.units.clone()
    }

    /// c as the last step left it.
    pub(super) fn c(&self) -> &[f32] {
        let len = self.group.units.len();
        &self.place[self.place.len() - 2 * len..][..len]
    }

    /// A step of the group's units: `inputs` are the products of the inputs for all units, `before` is the whole
    /// state before the step, `after` the state of these units after it.
    pub(super) fn step(&mut self, layer: &Layer, inputs: &[f32], before: &[f32], after: &mut [f32]) {
        let (units, len) = (&self.group.units, self.group.units.len());
        let (gates, rest) = self.place.split_at_mut(layer.cell.sums() * len);
        let (bias, cells) = rest.split_at_mut(gates.len());
        let count = layer.cell.gates() * len;
        let by_state = match &self.group.columns {
            Columns::Wide(values) => Rhs::F32(MatRef::new(values, before.len(), count, row_stride(count), 1)),
            Columns::Narrow(matrix) => Rhs::Packed(matrix),
        };
        let sums = MatMut::row_major(&mut gates[..count], 1, count);
        matmul(sums, MatRef::row_major(before, 1, before.len()), by_state, Options::default());
        // Sums in which no product of the state enters come from the inputs alone.
        gates[count..].fill(0.0);
        for (to, from) in gates.chunks_exact_mut(len).zip(inputs.chunks_exact(layer.hidden)) {
            simd::add_assign(to, &from[units.clone()]);
        }
        match layer.cell {
            Cell::Rnn(activation) => {
                simd::add_assign(gates, bias);
                activation.forward(gates, after);
            }
            Cell::Gru => simd::gru_state(gates, bias, &before[units.clone()], after),
            Cell::Lstm => {
                let (c_before, c) = cells.split_at_mut(len);
                simd::lstm_state(gates, bias, c_before, c, after);
                c_before.copy_from_slice(c);
            }
        }
    }
}
