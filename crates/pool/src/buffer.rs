//! The guard that users hold.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use crate::block::Block;
use crate::class::{ALIGN, Class, LARGEST};
use crate::thread_cache;

/// Plain numbers: what a [`Buffer`] may hold.
///
/// # Safety
///
/// Every bit pattern must be a valid value, the type must have no padding bytes, and its alignment
/// must not exceed 64.
pub unsafe trait Pod: Copy + Send + Sync + 'static {}

macro_rules! pod {
    ($($type:ty),*) => {
        // SAFETY: primitive numbers are valid in every bit pattern and have no padding.
        $(unsafe impl Pod for $type {})*
    };
}
pod!(f32, f64, u8, i8, u16, i16, u32, i32, u64, i64, usize, isize);

/// A slice on the heap, aligned to 64 bytes, that goes back to the pool when it is dropped, on
/// whatever thread that happens.
///
/// It derefs to `[T]`. Its length is fixed; an empty buffer owns no memory.
pub struct Buffer<T: Pod> {
    start: NonNull<T>,
    len: usize,
    owns: PhantomData<T>,
}

// SAFETY: a buffer is the only owner of its elements, which are `Send`.
unsafe impl<T: Pod> Send for Buffer<T> {}
// SAFETY: a shared buffer only gives shared access to its elements, which are `Sync`.
unsafe impl<T: Pod> Sync for Buffer<T> {}

impl<T: Pod> Buffer<T> {
    /// `len` elements whose bytes are all zero.
    ///
    /// # Panics
    ///
    /// As all constructors, when the size exceeds the address space, and with [`OutOfMemory`](crate::OutOfMemory) when the system
    /// has no memory.
    pub fn zeroed(len: usize) -> Self {
        let (buffer, fresh) = Self::acquire(len);
        if !fresh {
            // SAFETY: the buffer owns `len` elements, and zeros are a value of any `Pod`.
            unsafe { buffer.start.write_bytes(0, len) };
        }
        buffer
    }

    /// A copy of `source`.
    pub fn copied(source: &[T]) -> Self {
        let (mut buffer, _) = Self::acquire(source.len());
        buffer.copy_from_slice(source);
        buffer
    }

    /// `len` times `value`.
    pub fn filled(len: usize, value: T) -> Self {
        let (mut buffer, _) = Self::acquire(len);
        buffer.fill(value);
        buffer
    }

    /// `len` elements of unspecified value: zeros of the system, or what another owner left behind. For a buffer that is
    /// about to be overwritten as a whole, which clearing would pass over once more.
    ///
    /// The memory is initialised, since blocks are zeroed when they come from the system, so to read an element before
    /// it is written is a mistake, but not undefined. Debug builds fill the buffer with bytes 0xFF, which is NaN in
    /// floats, so that tests show it.
    pub fn stale(len: usize) -> Self {
        let (buffer, _) = Self::acquire(len);
        if cfg!(debug_assertions) {
            // SAFETY: the buffer owns `len` elements, and any bytes are a value of a `Pod`.
            unsafe { buffer.start.write_bytes(0xFF, len) };
        }
        buffer
    }

    /// The size class, or nothing for an empty slice.
    fn class(len: usize) -> Option<Class> {
        const { assert!(align_of::<T>() <= ALIGN && size_of::<T>() > 0) };
        let bytes = len.checked_mul(size_of::<T>()).filter(|bytes| *bytes <= LARGEST);
        let Some(bytes) = bytes else {
            panic!("a buffer of {len} elements of {} bytes exceeds the address space", size_of::<T>())
        };
        (bytes > 0).then(|| Class::of(bytes))
    }

    /// Initialised memory of any content, and whether it is all zeros.
    #[inline]
    fn acquire(len: usize) -> (Self, bool) {
        let (start, fresh) = match Self::class(len) {
            Some(class) => {
                let (block, fresh) = thread_cache::acquire(class);
                (block.into_start(), fresh)
            }
            None => (NonNull::without_provenance(const { std::num::NonZero::new(ALIGN).unwrap() }), true),
        };
        (Self { start: start.cast(), len, owns: PhantomData }, fresh)
    }
}

impl<T: Pod> Drop for Buffer<T> {
    #[inline]
    fn drop(&mut self) {
        if let Some(class) = Self::class(self.len) {
            // SAFETY: `acquire` got `start` from a block of this class, and this is its last use.
            let block = unsafe { Block::from_start(self.start.cast(), class) };
            thread_cache::release(class, block);
        }
    }
}

impl<T: Pod> Deref for Buffer<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: `start` is aligned and owns `len` initialised elements; any bytes are valid.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl<T: Pod> DerefMut for Buffer<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `deref`, and `&mut self` is the only access.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl<T: Pod> Clone for Buffer<T> {
    fn clone(&self) -> Self {
        Self::copied(self)
    }
}

/// The empty buffer.
impl<T: Pod> Default for Buffer<T> {
    fn default() -> Self {
        Self::acquire(0).0
    }
}

/// The length and the first elements.
impl<T: Pod + fmt::Debug> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 16;
        let more = if self.len > SHOWN { ", ..." } else { "" };
        write!(f, "Buffer[{}] {:?}{more}", self.len, &self[..self.len.min(SHOWN)])
    }
}

impl<T: Pod + PartialEq> PartialEq for Buffer<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}
