//! The processes that read the files of a panel together.

/// The processes that read the files of a panel together, each some of them
/// ([`Panel::from_files_together`](crate::Panel::from_files_together)). All make the same calls in the same order, so each call may
/// wait for those of the others.
pub trait Peers: Sync {
    /// The place of this process among all, from 0.
    fn rank(&self) -> usize;

    /// How many processes there are, at least 1.
    fn count(&self) -> usize;

    /// Replaces `bytes` by those of the process `from`, on all others.
    fn broadcast(&self, from: usize, bytes: &mut Vec<u8>);
}

/// A process that reads all files itself.
pub(super) struct Alone;

impl Peers for Alone {
    fn rank(&self) -> usize {
        0
    }

    fn count(&self) -> usize {
        1
    }

    fn broadcast(&self, _: usize, _: &mut Vec<u8>) {}
}

/// The bytes of each process.
pub(super) fn gather(peers: &dyn Peers, own: &[u8]) -> Vec<Vec<u8>> {
    let of = |from: usize| {
        let mut bytes = if from == peers.rank() { own.to_vec() } else { Vec::new() };
        peers.broadcast(from, &mut bytes);
        bytes
    };
    (0..peers.count()).map(of).collect()
}
