//! Memory that is read soon.

/// Elements of a line of the cache.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 16;

/// Asks for memory that will be read soon to be brought into the second-level cache, while the thread continues with something
/// else: for short rows far apart, which the machine does not foresee. It changes no result. Where the target has no such
/// instruction in stable Rust, it does nothing.
#[inline]
pub fn prefetch(data: &[f32]) {
    #[cfg(target_arch = "x86_64")]
    for line in data.chunks(LINE).chain(data.last_chunk::<1>().map(<[f32; 1]>::as_slice)) {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        // SAFETY: the instruction is part of every x86-64 machine and accesses nothing.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(line.as_ptr().cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = data;
}
