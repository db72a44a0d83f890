//! What is found in each series of a panel, on all threads.

use foretell_data::Panel;
use foretell_estimator::Workers;

/// Rows of a panel from which on threads gain more than they cost.
const MANY: usize = 1 << 16;

/// What `find` finds, in the order of the series.
pub(crate) fn by_series<R: Send>(
    panel: &Panel,
    workers: &Workers,
    find: impl Fn(usize) -> Option<R> + Sync,
) -> Vec<R> {
    let mut found: Vec<Option<R>> = (0..panel.n_series()).map(|_| None).collect();
    workers.each(&mut found, panel.n_rows() >= MANY, |series, found| *found = find(series));
    found.into_iter().flatten().collect()
}
