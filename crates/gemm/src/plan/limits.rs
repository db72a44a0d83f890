//! The numbers that decisions are made with, each with the reason or the measurement behind it. The bits of a product depend on those
//! that say which kernel takes it and how its inner dimension is cut.

/// Products in `f32`, by vectors or by faer, cut into tasks.
pub(crate) mod tasks {
    /// Multiply-adds that are worth a task of their own, some twenty microseconds: for fewer, a second thread may cost more than it
    /// brings.
    pub(crate) const TASK: usize = 3 << 19;

    /// The work of an element of a product beside its multiplications, in multiplications: loops that hardly begin, and its own
    /// reading and writing. It counts where the inner dimension is short.
    pub(crate) const OVERHEAD: usize = 16;

    /// Products of fewer rows count as of this many: they take as long as reading the right operand from the third cache, and two
    /// cores read that faster than one.
    pub(crate) const FEW_ROWS: usize = 32;

    /// The most tasks of a product.
    pub(crate) const TASKS: usize = 16;

    /// The least width and height of a task: what it reads of either operand is read from afar once. Where there are no more columns
    /// than a strip has, what is packed for them is little.
    pub(crate) const WIDTH: usize = 256;
    pub(crate) const HEIGHT: usize = 256;
    pub(crate) const STRIP_HEIGHT: usize = 64;

    /// The least multiply-adds of a task where the right operand is packed already, some microseconds: nothing is packed twice, and
    /// forecasts of one window have no larger products. And its least height, where there are tasks side by side and where there are
    /// not.
    pub(crate) const PACKED_TASK: usize = 3 << 16;
    pub(crate) const PACKED_HEIGHT: usize = 64;
    pub(crate) const NARROW_HEIGHT: usize = 24;
}

/// Long inner dimensions, cut into parts.
pub(crate) mod parts {
    /// The most elements of a result that is computed in parts: about a task of [`tasks`](super::tasks). Each part but the first is
    /// summed in a buffer of as many.
    pub(crate) const RESULT: usize = 1 << 16;

    /// How many times the longer side of the result the inner dimension must be.
    pub(crate) const LONG: usize = 4;

    /// The most parts.
    pub(crate) const PARTS: usize = 8;

    /// The least inner dimension of a part.
    pub(crate) const LEAST: usize = 384;

    /// Parts begin at multiples of this: kernels take as much of the inner dimension at a time.
    pub(crate) const STEP: usize = 128;
}

/// Products with few rows.
pub(crate) mod skinny {
    /// Up to this many rows, packing may cost more than it saves.
    pub(crate) const MAX_ROWS: usize = 32;

    /// Dot products of `n` rows must have at least `8 (n + 2)` numbers: shorter ones spend their time on adding up vectors' elements
    /// (measured against faer).
    pub(crate) const NUMBERS_PER_ROW: usize = 8;
    pub(crate) const MORE_ROWS: usize = 2;
}

/// Tiny products, where a general one spends most of its time before the first multiply-add.
pub(crate) mod tiny {
    /// The most multiply-adds.
    pub(crate) const MAX_WORK: usize = 1 << 13;

    /// The most elements of a right operand that is transposed on the stack.
    pub(crate) const MAX_TRANSPOSED: usize = 512;
}

/// The kernel for vectors of 512 bits, which packs the right operand in strips.
pub(crate) mod strips {
    /// Columns of a strip: four vectors.
    pub(crate) const STRIP: usize = 64;

    /// The inner dimension goes in blocks of this many: a strip takes 32 KiB.
    pub(crate) const DEPTH: usize = 128;

    /// Elements from row to row of a matrix of `rows` by `cols` that is packed in strips, if it is row-major: if it is a block of one
    /// strip.
    pub(crate) fn row_stride(rows: usize, cols: usize) -> Option<usize> {
        let vectors = cols.div_ceil(16);
        (rows <= DEPTH && matches!(vectors, 1 | 2 | 4)).then_some(16 * vectors)
    }

    /// Rows of the left operand that pass by a strip: with a block of the inner dimension they stay in the second cache.
    pub(crate) const ROWS: usize = 384;

    /// Left operands of more elements are gathered: operands that fit the second cache are read without a copy.
    pub(crate) const FAR: usize = 1 << 17;

    /// Elements between the columns of a gathered block, so that they meet in the nearest cache whatever their length.
    pub(crate) const GAP: usize = 16;

    /// The least multiply-adds, columns and rows that are worth the packing.
    pub(crate) const LEAST_WORK: usize = 1 << 14;
    pub(crate) const LEAST_COLUMNS: usize = 16;
    pub(crate) const LEAST_ROWS: usize = 12;

    /// The longest rows of a left operand, unless its columns are adjacent: those of 1024 numbers, 4 KiB apart, push each other out of
    /// the caches, where a packed copy stays (111 to 121 GFLOP/s, of which faer makes 140).
    pub(crate) const LONGEST_ROW: usize = 768;

    /// The most rows for which packing beforehand saves time: of more than a thousand it is a small share.
    pub(crate) const MOST_ROWS_TO_PACK_FOR: usize = 1024;

    /// The least rows where a packed operand would be one of tiles of AMX: a tile of fewer rows takes as long as one of 16.
    pub(crate) const LEAST_ROWS_OF_TILES: usize = 16;
}

/// Products in bfloat16.
pub(crate) mod bf16 {
    /// Rows and columns of a tile.
    pub(crate) const TILE: usize = 16;

    /// The least side and multiply-adds of a product that takes less time in bfloat16 than in `f32`. Tiles are padded to 16 rows and
    /// columns and an inner dimension of 32, and packing an operand pays off only with enough rows of the other. Measured on Sapphire
    /// Rapids in a development build, `f32` and bfloat16 in microseconds: 16x64x64 2.6 and 1.3, 32x32x32 1.2 and 0.6, but 8x64x64 0.8
    /// and 1.6, 64x8x512 11 and 15, 24x24x24 0.6 and 1.1.
    pub(crate) const LEAST_SIDE: usize = 16;
    pub(crate) const LEAST_WORK: usize = 1 << 14;

    /// Multiply-adds that are worth a part of a long inner dimension, on which bits depend.
    pub(crate) const PART: usize = 8 << 20;

    /// Rows of the left operand that are multiplied at a time. Two strips are read once for all of them, so the right operand comes
    /// from the third cache, where it is too large for the second, once in 128 rows.
    pub(crate) const BLOCK_ROWS: usize = 128;

    /// Multiply-adds that are worth a task of their own: ten microseconds of one thread with AVX512-BF16, two or three with tiles of
    /// AMX. The bits do not depend on the cut, nor does the cut on the machine.
    pub(crate) const TASK: usize = 2 << 20;

    /// The most tasks of a product, and the least columns of one.
    pub(crate) const TASKS: usize = 16;
    pub(crate) const TASK_COLUMNS: usize = 48;

    /// Numbers that are worth a task of their own where they are packed.
    pub(crate) const PACKED_AT_ONCE: usize = 1 << 14;
}

/// Products of `f32` numbers in three pieces of bfloat16.
pub(crate) mod bf16x3 {
    /// The least rows and columns, inner dimension, and multiply-adds that are worth packing both operands. Measured on Granite
    /// Rapids, in pieces beside vectors: 32x64x64 0.74 of the rate, 96x96x32 0.92, 64x128x128 1.15, 64x96x512 1.33.
    pub(crate) const LEAST_SIDE: usize = 48;
    pub(crate) const LEAST_INNER: usize = 32;
    pub(crate) const LEAST_WORK: usize = 1 << 20;

    /// The least columns of a right operand that is packed in pieces: 32x64x64 then makes 1.5 of the rate of vectors, 16x64x64 1.16.
    pub(crate) const LEAST_PACKED_COLUMNS: usize = 64;

    /// The inner dimension goes by so much at a time, unless an operand was packed before.
    pub(crate) const INNER: usize = 512;

    /// The most rows of the left operand that are multiplied at a time: a right one that the second cache does not hold is read once
    /// for this many.
    pub(crate) const BLOCK_ROWS: usize = 256;

    /// The most numbers of bfloat16 of a right operand that the second cache holds, 1.5 MiB, and the sums that are written at a time
    /// with such a one, 64 KiB: few enough to stay near until their rows are whole. With 1024 rows a step of TimeXer took 5 % longer.
    pub(crate) const NEAR: usize = 3 << 18;
    pub(crate) const NEAR_SUMS: usize = 1 << 14;

    /// Numbers of a right operand that are packed at a time, 768 KiB in pieces, and the most columns.
    pub(crate) const BLOCK_NUMBERS: usize = 1 << 17;
    pub(crate) const BLOCK_COLUMNS: usize = 1024;

    /// Smaller tasks than in bfloat16 are worth handing out if they are few: the products of one forecast.
    pub(crate) const FINE_TASK: usize = 1 << 18;
    pub(crate) const FINE_TASKS: usize = 4;

    /// Rows that are multiplied in `f32` where one of them has no pieces: blocks, which depend on the number of threads, are made of
    /// this many.
    pub(crate) const AROUND: usize = 2 * super::bf16::TILE;

    /// Strips that are packed together: where numbers of different strips are adjacent, 512 bytes of them are read in turn.
    pub(crate) const STRIPS_AT_ONCE: usize = 8;
}

/// Products with weights in 8 bits.
pub(crate) mod int8 {
    /// Multiply-adds that are worth a task of their own, and weights that are, where there are too few rows to share them out; the
    /// most tasks, and the least rows of one.
    pub(crate) const TASK: usize = 6 << 20;
    pub(crate) const TASK_OF_WEIGHTS: usize = 1 << 19;
    pub(crate) const TASKS: usize = 16;
    pub(crate) const TASK_ROWS: usize = 32;

    /// The least rows for which tiles of AMX are the best: one of fewer rows takes as long as one of 16.
    pub(crate) const LEAST_ROWS_OF_TILES: usize = 6;
}
