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
    /// Runs the batch forwards and backwards.
    pub(crate) fn run(
        &mut self,
        cx: Forward<'_>,
        (network, loss): (&Network, &Loss),
        batch: &Batch,
        LossSizes { total, loss_scale, rows_of_all }: LossSizes,
    ) {
        let output = network.model.forward(&cx, &batch.windows.inputs());
        let mut mean = loss.mean(&output, batch.truth(), total);
        drop(output);
        if let Some(added) = cx.added_loss(batch.windows.batch(), rows_of_all) {
            mean = mean.add(&added.reshape(mean.shape()));
        }
        self.sums = loss.part(mean.value().item().into(), batch.truth(), total);
        std::mem::swap(&mut self.written, &mut self.stale);
        self.written.clear();
        let seed = Tensor::full(mean.shape(), loss_scale);
        mean.backward_overwriting(seed, &mut self.gradients, &mut self.written);
        self.updates = cx.into_updates();
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
/// for each other at every operation. There are at most 16, and of a large batch one for each 1024 windows.
pub fn shard_count(windows: usize, needs: Needs) -> usize {
    if needs.coupling == Coupling::Coupled {
        return 1;
    }
    let mut count = MAX_SHARDS.max(1 << (windows / LARGE_SHARD).max(1).ilog2());
    while count > 2 && windows < count * needs.shard_windows {
        count /= 2;
    }
    if count == 2 && 3 * windows < 4 * needs.shard_windows { 1 } else { count }
}

/// The windows of shard `i` of `count`.
pub(crate) fn shard_range(windows: usize, count: usize, i: usize) -> Range<usize> {
    windows * i / count..windows * (i + 1) / count
}
