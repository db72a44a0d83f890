//! Matrix products over strided views: faer's kernels, epilogues, batches, row-block parallelism
