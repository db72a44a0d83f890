//! Tiles of Intel's AMX, at the level of that name: the configuration, and products of tiles.
//!
//! The compiler has no stable intrinsics for these instructions, so they are assembled inline. A tile is a register of 16
//! rows of 64 bytes. Products take the left operand as rows of 64 bytes along the inner dimension, the right one as rows
//! that hold, for each of 16 columns, the four bytes along the inner dimension that fit a 32-bit sum (two bf16, four
//! int8). One configuration serves every kind of product.

/// Rows of a tile, and the bytes of a row.
pub(crate) const ROWS: usize = 16;
pub(crate) const ROW_BYTES: usize = 64;

/// Bytes of a tile.
pub(crate) const TILE_BYTES: usize = ROWS * ROW_BYTES;

/// The configuration of a thread's tiles.
#[repr(C, align(64))]
struct Configuration {
    palette: u8,
    start_row: u8,
    reserved: [u8; 14],
    row_bytes: [u16; 16],
    rows: [u8; 16],
}

impl Configuration {
    const fn new(left_rows: usize) -> Self {
        let (mut row_bytes, mut rows) = ([0; 16], [0; 16]);
        let mut tile = 0;
        while tile < 8 {
            row_bytes[tile] = ROW_BYTES as u16;
            rows[tile] = if tile < 5 { left_rows } else { ROWS } as u8;
            tile += 1;
        }
        Self { palette: 1, start_row: 0, reserved: [0; 14], row_bytes, rows }
    }
}

/// The tiles of this thread, configured as eight of 64 bytes a row; released when it is dropped, so that the system
/// need not keep them when it switches threads.
pub(crate) struct Tiles(std::marker::PhantomData<*const ()>);

impl Tiles {
    /// Tiles of 16 rows; with `left_rows` of 1, those of the sums and of the left operand of [`bf16::one_by_four`]
    /// have a single one.
    ///
    /// # Safety
    ///
    /// The level is, or was, [`Level::Amx`](foretell_simd::Level::Amx).
    pub(crate) unsafe fn configure(left_rows: usize) -> Self {
        // Statics, written once: loading a configuration right after writing it part by part would wait for the
        // writes.
        static OF_A_ROW: Configuration = Configuration::new(1);
        static OF_ROWS: Configuration = Configuration::new(ROWS);
        let configuration = if left_rows == 1 { &OF_A_ROW } else { &OF_ROWS };
        // SAFETY: the machine has the instruction and the system permits it; 64 bytes are read.
        unsafe {
            std::arch::asm!(
                "ldtilecfg [{}]",
                in(reg) std::ptr::from_ref(configuration),
                out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
                out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
                options(nostack, preserves_flags),
            );
        }
        Self(std::marker::PhantomData)
    }
}

impl Drop for Tiles {
    fn drop(&mut self) {
        // SAFETY: the machine has the instruction, since the tiles were configured.
        unsafe {
            std::arch::asm!(
                "tilerelease",
                out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
                out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
                options(nostack, preserves_flags),
            );
        }
    }
}

/// Where a tile of sums is: the address of its first number, and the bytes from row to row, which may be 0 where
/// the tile is only read and all its rows are the same.
#[derive(Clone, Copy)]
pub(crate) struct Place<T> {
    pub(crate) start: *mut T,
    pub(crate) row_bytes: usize,
}

/// The layout of an operand in memory: the bytes from row to row of a tile, and from a tile to the next one along the
/// inner dimension.
#[derive(Clone, Copy)]
pub(crate) struct Strides {
    pub(crate) row_bytes: usize,
    pub(crate) tile_bytes: usize,
}

impl Strides {
    /// Those of tiles that lie one after the other.
    pub(crate) const PACKED: Self = Self { row_bytes: ROW_BYTES, tile_bytes: TILE_BYTES };
    /// Those of tiles whose three pieces lie one after the other.
    pub(crate) const SPLIT: Self = Self { row_bytes: ROW_BYTES, tile_bytes: 3 * TILE_BYTES };
    /// Those of a left operand of one row.
    pub(crate) const ROW: Self = Self { row_bytes: ROW_BYTES, tile_bytes: ROW_BYTES };
}

/// The loop over the inner dimension: the lines of a step, in which `a` and `b` are the operands' bytes from row to row, and
/// the registers of their tiles, which it moves on.
macro_rules! sum_up {
    ([$($line:expr),* $(,)?], $blocks:ident, $strides:ident, [$($a:ident = $lhs:expr),*], [$($b:ident = $rhs:expr),*]) => {
        std::arch::asm!(
            "2:",
            $($line,)*
            $(concat!("add {", stringify!($a), "}, {next_a}"),)*
            $(concat!("add {", stringify!($b), "}, {next_b}"),)*
            "dec {blocks}",
            "jnz 2b",
            $($a = inout(reg) $lhs => _,)*
            $($b = inout(reg) $rhs => _,)*
            blocks = inout(reg) $blocks => _,
            a = in(reg) $strides[0].row_bytes,
            b = in(reg) $strides[1].row_bytes,
            next_a = in(reg) $strides[0].tile_bytes,
            next_b = in(reg) $strides[1].tile_bytes,
            out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
            out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
            options(nostack),
        )
    };
}

/// The two shapes in which tiles are multiplied. Both keep four sums, as many as hide the latency of an addition. A sum
/// is made in the same order in either, so its bits do not depend on the shape.
macro_rules! products {
    ($name:ident, $instruction:literal, $sum:ty) => {
        pub(crate) mod $name {
            use crate::amx::{Place, Strides, Tiles};

            /// Two by two tiles: `sums[i][j]` becomes the sum over `blocks` of `lhs[i] * rhs[j]`, added to what
            /// `first` holds, or to zeros. Each operand is as many tiles, laid out by its `strides`.
            ///
            /// # Safety
            ///
            /// The machine has the product; `blocks` is not zero, as many tiles can be read from each operand, and
            /// the places can be written.
            #[inline(always)]
            pub(crate) unsafe fn two_by_two(
                _: &Tiles,
                blocks: usize,
                lhs: [*const u8; 2],
                rhs: [*const u8; 2],
                strides: [Strides; 2],
                first: Option<[Place<$sum>; 4]>,
                sums: [[Place<$sum>; 2]; 2],
            ) {
                let [[a, b], [c, d]] = sums;
                // SAFETY: the caller's contract; `Tiles` are configured.
                unsafe {
                    load(first);
                    sum_up!(
                        [
                            "tileloadd tmm4, [{a0} + {a}*1]",
                            "tileloadd tmm6, [{b0} + {b}*1]",
                            concat!($instruction, " tmm0, tmm4, tmm6"),
                            "tileloadd tmm5, [{a1} + {a}*1]",
                            concat!($instruction, " tmm2, tmm5, tmm6"),
                            "tileloadd tmm7, [{b1} + {b}*1]",
                            concat!($instruction, " tmm1, tmm4, tmm7"),
                            concat!($instruction, " tmm3, tmm5, tmm7"),
                        ],
                        blocks,
                        strides,
                        [a0 = lhs[0], a1 = lhs[1]],
                        [b0 = rhs[0], b1 = rhs[1]]
                    );
                    store([a, b, c, d]);
                }
            }

            /// One by four tiles, for products of few rows. The tiles of the left operand and of the sums may be configured
            /// as single rows.
            ///
            /// # Safety
            ///
            /// As [`two_by_two`].
            #[inline(always)]
            pub(crate) unsafe fn one_by_four(
                _: &Tiles,
                blocks: usize,
                lhs: *const u8,
                rhs: [*const u8; 4],
                strides: [Strides; 2],
                first: Option<[Place<$sum>; 4]>,
                sums: [Place<$sum>; 4],
            ) {
                // SAFETY: the caller's contract; `Tiles` are configured.
                unsafe {
                    load(first);
                    sum_up!(
                        [
                            "tileloadd tmm4, [{a0} + {a}*1]",
                            "tileloadd tmm5, [{b0} + {b}*1]",
                            concat!($instruction, " tmm0, tmm4, tmm5"),
                            "tileloadd tmm6, [{b1} + {b}*1]",
                            concat!($instruction, " tmm1, tmm4, tmm6"),
                            "tileloadd tmm7, [{b2} + {b}*1]",
                            concat!($instruction, " tmm2, tmm4, tmm7"),
                            "tileloadd tmm5, [{b3} + {b}*1]",
                            concat!($instruction, " tmm3, tmm4, tmm5"),
                        ],
                        blocks,
                        strides,
                        [a0 = lhs],
                        [b0 = rhs[0], b1 = rhs[1], b2 = rhs[2], b3 = rhs[3]]
                    );
                    store(sums);
                }
            }

            /// Reads the four first sums, or makes them zeros. Between this, the products and [`store`] nothing uses
            /// tiles: the compiler does not know them, and their configuration is this module's.
            ///
            /// # Safety
            ///
            /// The machine has tiles, they are configured, and the places can be read.
            #[inline(always)]
            pub(super) unsafe fn load(first: Option<[Place<$sum>; 4]>) {
                // SAFETY: the caller's contract.
                unsafe {
                    match first {
                        None => std::arch::asm!(
                            "tilezero tmm0",
                            "tilezero tmm1",
                            "tilezero tmm2",
                            "tilezero tmm3",
                            out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
                            options(nostack, preserves_flags),
                        ),
                        Some([a, b, c, d]) => std::arch::asm!(
                            "tileloadd tmm0, [{a} + {ar}*1]",
                            "tileloadd tmm1, [{b} + {br}*1]",
                            "tileloadd tmm2, [{c} + {cr}*1]",
                            "tileloadd tmm3, [{d} + {dr}*1]",
                            a = in(reg) a.start,
                            b = in(reg) b.start,
                            c = in(reg) c.start,
                            d = in(reg) d.start,
                            ar = in(reg) a.row_bytes,
                            br = in(reg) b.row_bytes,
                            cr = in(reg) c.row_bytes,
                            dr = in(reg) d.row_bytes,
                            out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
                            options(nostack, preserves_flags),
                        ),
                    }
                }
            }

            /// Writes the four sums.
            ///
            /// # Safety
            ///
            /// The places can be written.
            #[inline(always)]
            pub(super) unsafe fn store([a, b, c, d]: [Place<$sum>; 4]) {
                // SAFETY: the caller's contract.
                unsafe {
                    std::arch::asm!(
                        "tilestored [{a} + {ar}*1], tmm0",
                        "tilestored [{b} + {br}*1], tmm1",
                        "tilestored [{c} + {cr}*1], tmm2",
                        "tilestored [{d} + {dr}*1], tmm3",
                        a = in(reg) a.start,
                        b = in(reg) b.start,
                        c = in(reg) c.start,
                        d = in(reg) d.start,
                        ar = in(reg) a.row_bytes,
                        br = in(reg) b.row_bytes,
                        cr = in(reg) c.row_bytes,
                        dr = in(reg) d.row_bytes,
                        options(nostack, preserves_flags),
                    );
                }
            }
        }
    };
}

products!(bf16, "tdpbf16ps", f32);
products!(int8, "tdpbssd", i32);

/// Products of numbers that are each the sum of three bfloat16 numbers: of the nine products of pieces the six that are not below
/// `2^-24` of the whole, the small ones first. The pieces of a tile lie one after the other, the largest first.
///
/// Pieces follow each other such that one operand's tiles stay for the next product: 14 are read for 24 products of two by two
/// tiles.
pub(crate) mod bf16x3 {
    use super::bf16::{load, store};
    use super::{Place, Strides, Tiles};

    macro_rules! read {
        ($tile:literal, $strip:literal, $stride:literal, $piece:literal) => {
            concat!("tileloadd tmm", $tile, ", [{", $strip, "} + {", $stride, "}*1 + 1024*", $piece, "]")
        };
    }

    macro_rules! multiply {
        ($sum:literal, $left:literal, $right:literal) => {
            concat!("tdpbf16ps tmm", $sum, ", tmm", $left, ", tmm", $right)
        };
    }

    /// As `two_by_two` of [`bf16`](super::bf16), of tiles in three pieces.
    ///
    /// # Safety
    ///
    /// The machine has the product; `blocks` is not zero, as many tiles of three pieces can be read from each operand, and
    /// the places can be written.
    #[inline(always)]
    pub(crate) unsafe fn two_by_two(
        _: &Tiles,
        blocks: usize,
        lhs: [*const u8; 2],
        rhs: [*const u8; 2],
        strides: [Strides; 2],
        first: Option<[Place<f32>; 4]>,
        [[a, b], [c, d]]: [[Place<f32>; 2]; 2],
    ) {
        // SAFETY: the caller's contract; `Tiles` are configured.
        unsafe {
            load(first);
            sum_up!(
                [
                    // The last piece by the first.
                    read!("4", "a0", "a", "2"),
                    read!("6", "b0", "b", "0"),
                    multiply!("0", "4", "6"),
                    read!("5", "a1", "a", "2"),
                    multiply!("2", "5", "6"),
                    read!("7", "b1", "b", "0"),
                    multiply!("1", "4", "7"),
                    multiply!("3", "5", "7"),
                    // The middle one by the first.
                    read!("4", "a0", "a", "1"),
                    multiply!("0", "4", "6"),
                    read!("5", "a1", "a", "1"),
                    multiply!("2", "5", "6"),
                    multiply!("1", "4", "7"),
                    multiply!("3", "5", "7"),
                    // The first by the first.
                    read!("4", "a0", "a", "0"),
                    multiply!("0", "4", "6"),
                    read!("5", "a1", "a", "0"),
                    multiply!("2", "5", "6"),
                    multiply!("1", "4", "7"),
                    multiply!("3", "5", "7"),
                    // The first by the last.
                    read!("6", "b0", "b", "2"),
                    multiply!("0", "4", "6"),
                    multiply!("2", "5", "6"),
                    read!("7", "b1", "b", "2"),
                    multiply!("1", "4", "7"),
                    multiply!("3", "5", "7"),
                    // The first by the middle one.
                    read!("6", "b0", "b", "1"),
                    multiply!("0", "4", "6"),
                    multiply!("2", "5", "6"),
                    read!("7", "b1", "b", "1"),
                    multiply!("1", "4", "7"),
                    multiply!("3", "5", "7"),
                    // The middle one by the middle one.
                    read!("4", "a0", "a", "1"),
                    multiply!("0", "4", "6"),
                    read!("5", "a1", "a", "1"),
                    multiply!("2", "5", "6"),
                    multiply!("1", "4", "7"),
                    multiply!("3", "5", "7"),
                ],
                blocks,
                strides,
                [a0 = lhs[0], a1 = lhs[1]],
                [b0 = rhs[0], b1 = rhs[1]]
            );
            store([a, b, c, d]);
        }
    }

    /// The products of a piece of one tile with a piece of four.
    macro_rules! by_four {
        ($piece:literal) => {
            concat!(
                read!("5", "b0", "b", $piece),
                "\n",
                multiply!("0", "4", "5"),
                "\n",
                read!("6", "b1", "b", $piece),
                "\n",
                multiply!("1", "4", "6"),
                "\n",
                read!("7", "b2", "b", $piece),
                "\n",
                multiply!("2", "4", "7"),
                "\n",
                read!("5", "b3", "b", $piece),
                "\n",
                multiply!("3", "4", "5"),
            )
        };
    }

    /// As `one_by_four` of [`bf16`](super::bf16), of tiles in three pieces, whose rows are sixteen.
    ///
    /// # Safety
    ///
    /// As [`two_by_two`].
    #[inline(always)]
    pub(crate) unsafe fn one_by_four(
        _: &Tiles,
        blocks: usize,
        lhs: *const u8,
        rhs: [*const u8; 4],
        strides: [Strides; 2],
        first: Option<[Place<f32>; 4]>,
        sums: [Place<f32>; 4],
    ) {
        // SAFETY: the caller's contract; `Tiles` are configured.
        unsafe {
            load(first);
            sum_up!(
                [
                    read!("4", "a0", "a", "2"),
                    by_four!("0"),
                    read!("4", "a0", "a", "1"),
                    by_four!("0"),
                    read!("4", "a0", "a", "0"),
                    by_four!("0"),
                    by_four!("2"),
                    by_four!("1"),
                    read!("4", "a0", "a", "1"),
                    by_four!("1"),
                ],
                blocks,
                strides,
                [a0 = lhs],
                [b0 = rhs[0], b1 = rhs[1], b2 = rhs[2], b3 = rhs[3]]
            );
            store(sums);
        }
    }
}
