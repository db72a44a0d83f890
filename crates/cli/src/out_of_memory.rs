//! Memory that the system refuses while a command works: an error in words, not a panic.

use std::panic::{self, AssertUnwindSafe, catch_unwind, resume_unwind};

use anyhow::Context as _;
use foretell::pool::OutOfMemory;

/// The result of `work`, or an error where the system has no memory for it. Files that it had half written are cleared away as after any
/// other error.
pub(crate) fn caught(work: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<()> {
    let others = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        if !panic.payload().is::<OutOfMemory>() {
            others(panic);
        }
    }));
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| match panic.downcast::<OutOfMemory>() {
        Ok(refused) => Err(*refused).context(
            "out of memory: choose smaller layers, lower h, input_size or windows_batch_size, or close other programs; with \
             --max-memory at what is free, work that needs more is refused before it begins",
        ),
        Err(panic) => resume_unwind(panic),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_panics_and_errors_pass() {
        assert!(caught(|| Ok(())).is_ok());
        assert_eq!(caught(|| anyhow::bail!("no such file")).unwrap_err().to_string(), "no such file");
        let panic = catch_unwind(|| caught(|| panic!("a bug"))).unwrap_err();
        assert_eq!(panic.downcast_ref(), Some(&"a bug"));
    }
}
