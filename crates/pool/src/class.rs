//! Size classes: multiples of 64 bytes below 512, then four per doubling.

/// Whether released blocks are kept for the next owner: the feature `pool`. If not, all are of one class.
pub const POOLING: bool = cfg!(feature = "pool");

/// Every block starts at a multiple of this: a cache line, and the widest vector.
pub(crate) const ALIGN: usize = 64;

/// The largest request: its class is still a size that the allocator accepts.
pub(crate) const LARGEST: usize = 1 << (usize::BITS - 2);

/// The index of the class of [`LARGEST`], plus one.
pub(crate) const CLASSES: usize = 4 * (usize::BITS as usize - 2 - 6 - 1);

/// The class that serves a request of some size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Class {
    /// Below [`CLASSES`].
    pub(crate) index: usize,
    /// The size of its blocks, a multiple of [`ALIGN`].
    pub(crate) bytes: usize,
}

impl Class {
    /// The smallest class that holds `bytes`, which must lie in `1..=LARGEST`.
    pub(crate) fn of(bytes: usize) -> Self {
        debug_assert!(bytes > 0 && bytes <= LARGEST);
        let last = (bytes - 1) / ALIGN;
        if !POOLING {
            return Self { index: 0, bytes: (last + 1) * ALIGN };
        }
        // The two bits below the leading one choose among the four classes of a doubling.
        let shift = (last | 4).ilog2() as usize - 2;
        let quarter = last >> shift;
        Self { index: 4 * shift + quarter, bytes: ((quarter + 1) << shift) * ALIGN }
    }
}

#[cfg(all(test, feature = "pool"))]
mod tests {
    use super::*;

    #[test]
    fn a_class_holds_the_request_and_wastes_at_most_a_quarter() {
        let mut sizes: Vec<usize> = (1..if cfg!(miri) { 600 } else { 5000 }).collect();
        for power in 12..62 {
            for delta in [-65i64, -64, -1, 0, 1, 63, 64, 65, (1 << (power - 2)) + 1] {
                sizes.push(((1i64 << power) + delta) as usize);
            }
        }
        sizes.push(LARGEST);
        assert_eq!(Class::of(LARGEST), Class { index: CLASSES - 1, bytes: LARGEST });
        sizes.sort_unstable();
        let mut before = Class { index: 0, bytes: 64 };
        for bytes in sizes {
            let class = Class::of(bytes);
            assert!(class.index < CLASSES && class.bytes.is_multiple_of(ALIGN), "{bytes}: {class:?}");
            assert!(class.bytes >= bytes, "{bytes}: {class:?}");
            assert!(class.bytes - bytes <= (bytes / 4).max(ALIGN - 1), "{bytes}: {class:?}");
            // One index, one size: all bytes of a block that is found by its index may be used.
            assert_eq!(class.index == before.index, class.bytes == before.bytes, "{before:?} {class:?}");
            assert!(class.index >= before.index && class.bytes >= before.bytes);
            assert_eq!(Class::of(class.bytes), class);
            before = class;
        }
    }
}
