//! One shard of a step: its windows, its gradients, its share of the loss.

use std::collections::HashSet;
use std::ops::Range;

use foretell_batch::Batch;
use foretell_nn::{Coupling, Forward, Loss, LossSums, Needs, Network, Table, Tensor, Update};
use foretell_pool::Buffer;

/// The most shards of a batch that is not large: more arenas cost more memory than more threads would win back.
const MAX_SHARDS: usize = 16;

/// Windows of the shards of a large batch, which many machines share.
const LARGE_SHARD: usize = 1024;

/// The shards of a batch in little memory: each has gradients of its own, and two threads are at work on most machines that are short of
/// it. The threads of a larger one share the operations of a shard.
const FEW_SHARDS: usize = 2;

/// The most windows that a shard takes at a time in little memory.
const PIECE_WINDOWS: usize = 32;

/// One shard's part of a step: its gradient and its share of the loss.
pub(crate) struct Shard {
    /// The gradients of the last step that the shard ran; each step replaces them.
    pub(crate) gradients: Buffer<f32>,
    /// The offsets of the parameters that got a gradient in this step.
    pub(crate) written: HashSet<usize>,
    /// The offsets of those that got one in the step before: where they get none now, their gradients are set to
    /// zero.
    pub(crate) stale: HashSet<usize>,
    pub(crate) sums: LossSums,
    /// The updates of the last step to state that no gradient changes.
    pub(crate) updates: Vec<Update>,
}

impl Shard {
    /// Runs a piece of its windows forwards and backwards; gradients of later pieces are added to those of the first.
    pub(crate) fn run(
        &mut self,
        cx: Forward<'_>,
        (network, loss): (&Network, &Loss),
        batch: &Batch,
        LossSizes { total, loss_scale, rows_of_all }: LossSizes,
        is_first: bool,
    ) {
        let output = network.model.forward(&cx, &batch.windows.inputs());
        let mut mean = loss.mean(&output, batch.truth(), total);
        drop(output);
        if let Some(added) = cx.added_loss(batch.windows.batch(), rows_of_all) {
            mean = mean.add(&added.reshape(mean.shape()));
        }
        if is_first {
            self.sums = LossSums::default();
            self.updates.clear();
            std::mem::swap(&mut self.written, &mut self.stale);
            self.written.clear();
        }
        self.sums += loss.part(mean.value().item().into(), batch.truth(), total);
        let seed = Tensor::full(mean.shape(), loss_scale);
        mean.backward_overwriting(seed, &mut self.gradients, &mut self.written);
        self.updates.extend(cx.into_updates());
    }

    /// Sets the gradients of parameters to zero that got one in the step before but none in this step.
    pub(crate) fn clear_unwritten(&mut self, table: &Table) {
        let Self { gradients, written, stale, .. } = self;
        for entry in table.trained() {
            if stale.contains(&entry.offset) && !written.contains(&entry.offset) {
                gradients[entry.offset..entry.offset + entry.shape.numel()].fill(0.0);
            }
        }
    }
}

/// The divisor and the first derivative of a shard's loss, which depend on the whole batch.
#[derive(Clone, Copy)]
pub(crate) struct LossSizes {
    /// The sum of the weights of the whole batch.
    pub(crate) total: f64,
    /// The derivative that the backward pass starts from.
    pub(crate) loss_scale: f32,
    /// Rows of the whole batch, if it had as many for each window as the shard has.
    pub(crate) rows_of_all: usize,
}

/// How many shards a batch of `windows` windows is cut into: a function of the model and the batch alone.
///
/// It is a power of two, so that two or four threads get equally many windows each, and shards have at least
/// [`Needs::shard_windows`]. For two shards two thirds of that are enough, since with a single shard the threads wait
/// for each other at every operation. There are at most 16, and of a large batch one for each 1024 windows; in little memory at most
/// two.
pub fn shard_count(windows: usize, needs: Needs, low_memory: bool) -> usize {
    if needs.coupling == Coupling::Coupled {
        return 1;
    }
    let mut count = MAX_SHARDS.max(1 << (windows / LARGE_SHARD).max(1).ilog2());
    while count > 2 && windows < count * needs.shard_windows {
        count /= 2;
    }
    let count = if count == 2 && 3 * windows < 4 * needs.shard_windows { 1 } else { count };
    if low_memory { count.min(FEW_SHARDS) } else { count }
}

/// The most windows of a shard that are run at a time: all of them, or in little memory a few.
pub fn windows_at_a_time(windows: usize, needs: Needs, low_memory: bool) -> usize {
    windows.div_ceil(piece_count(windows, needs, low_memory))
}

/// The pieces that a shard of these windows is run in: likewise a function of the model and the batch alone.
fn piece_count(windows: usize, needs: Needs, low_memory: bool) -> usize {
    match low_memory && needs.coupling == Coupling::Independent {
        true => windows.div_ceil(needs.shard_windows.min(PIECE_WINDOWS)).max(1),
        false => 1,
    }
}

/// The pieces of the windows of a shard, one after the other.
pub(crate) fn pieces(
    windows: Range<usize>,
    needs: Needs,
    low_memory: bool,
) -> impl Iterator<Item = Range<usize>> {
    let (start, len) = (windows.start, windows.len());
    let count = piece_count(len, needs, low_memory);
    let at = move |i| start + len * i / count;
    (0..count).map(move |i| at(i)..at(i + 1))
}

/// The windows of shard `i` of `count`.
pub(crate) fn shard_range(windows: usize, count: usize, i: usize) -> Range<usize> {
    windows * i / count..windows * (i + 1) / count
}
