//! Where the parts of a step that several processes computed become one.

/// A training by several processes, each with a copy of the model and some of the shards of every batch.
///
/// Shards are numbered over all processes: process `rank` of `processes` has shards `count * rank / processes` to
/// `count * (rank + 1) / processes` of the `count` shards of a batch, whose number depends on the model and the batch alone. All
/// that is added up over shards (losses, gradients, running statistics) is added in the order of shards. So the result is the same
/// to the last bit, however many processes there are, and one process is [`OneProcess`].
///
/// Functions of the seed and the step need no exchange: every process draws the windows of the whole batch itself, and knows
/// the sum of their weights, which the loss is divided by.
///
/// In each step all processes make the same calls in the same order, so each call may wait for those of the others:
///
/// 1. [`gather`](Reduction::gather) the loss of each shard and its share of what the loss is relative to;
/// 2. [`sum`](Reduction::sum) the gradients of each product of weights that the shards have in common (as in NBEATS and NHITS);
/// 3. in `f16`, [`gather`](Reduction::gather) whether gradients are finite;
/// 4. [`sum`](Reduction::sum) the gradients of all parameters, between the backward pass and the optimiser;
/// 5. [`gather`](Reduction::gather) the updates of running statistics and counters;
/// 6. where the step is followed by a check, [`gather`](Reduction::gather) the losses of the batches of validation windows, each of
///    which one process forecasts.
///
/// Process 0 alone keeps states of the training; all of them read it where the training continues, so its directory is one that all
/// see. An error of one process alone leaves the others waiting: the program that meets it ends them.
pub trait Reduction: Sync {
    /// The place of this process among all, from 0.
    fn rank(&self) -> usize;

    /// How many processes there are, at least 1.
    fn processes(&self) -> usize;

    /// The name of a process in messages.
    fn name(&self, rank: usize) -> String {
        format!("process {rank}")
    }

    /// The numbers of all processes, one after another in the order of ranks. They may give differently many, and none.
    fn gather(&self, own: Vec<f64>) -> Vec<f64>;

    /// Sets `sum` to the sum of the gradients of all processes' shards, on every process: those of process 0 in their order, then
    /// those of process 1, each added to the sum of all before it, as by [`add_in_order`]. Returns whether there was any; `sum` is
    /// then set. `own` may be empty.
    ///
    /// Floating-point sums depend on their order, so sums of each process must not be added to each other. The sum of the processes
    /// before can be passed on from each to the next, block by block so that all are at work, and the last passes the whole one
    /// back: as many bytes as in a ring that adds in any order.
    fn sum(&self, own: &[&[f32]], sum: &mut [f32]) -> bool;
}

/// A training by one process: nothing is exchanged. The optimiser then adds up the shards' gradients block by block as it changes
/// the parameters, without a sum in memory.
#[derive(Clone, Copy, Debug, Default)]
pub struct OneProcess;

impl Reduction for OneProcess {
    fn rank(&self) -> usize {
        0
    }

    fn processes(&self) -> usize {
        1
    }

    fn gather(&self, own: Vec<f64>) -> Vec<f64> {
        own
    }

    fn sum(&self, own: &[&[f32]], sum: &mut [f32]) -> bool {
        add_in_order(own, false, sum)
    }
}

/// Adds the gradients of `shards` one after another to `sum`, which holds the sum of those before if there were any
/// (`has_sum`) and is else overwritten by the first of these. Returns whether `sum` holds any now.
///
/// # Panics
/// If the lengths differ.
#[track_caller]
pub fn add_in_order(shards: &[&[f32]], has_sum: bool, sum: &mut [f32]) -> bool {
    let first = usize::from(!has_sum).min(shards.len());
    for shard in &shards[..first] {
        sum.copy_from_slice(shard);
    }
    for shard in &shards[first..] {
        foretell_simd::add_assign(sum, shard);
    }
    has_sum || !shards.is_empty()
}
