//! Tiles of Intel's AMX: detection, the permission, the configuration, and products of tiles.
//!
//! The compiler has no stable intrinsics for these instructions, so they are assembled inline. A tile is a register of 16
//! rows of 64 bytes. Products take the left operand as rows of 64 bytes along the inner dimension, the right one as rows
//! that hold, for each of 16 columns, the four bytes along the inner dimension that fit a 32-bit sum (two bf16, four
//! int8). One configuration serves every kind of product.

use std::sync::OnceLock;

/// Rows of a tile, and the bytes of a row.
pub(crate) const ROWS: usize = 16;
pub(crate) const ROW_BYTES: usize = 64;

/// Bytes of a tile.
pub(crate) const TILE_BYTES: usize = ROWS * ROW_BYTES;

/// What the machine multiplies in tiles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Support {
    pub(crate) bf16: bool,
    pub(crate) int8: bool,
}

/// What the machine has and the system permits this process to use. The first call asks for the permission, which all
/// threads have then.
pub(crate) fn support() -> Support {
    static SUPPORT: OnceLock<Support> = OnceLock::new();
    *SUPPORT.get_or_init(detect)
}

#[cfg(any(not(target_os = "linux"), miri))]
fn detect() -> Support {
    // Elsewhere the system is not known to keep the tiles of a thread that is interrupted.
    Support::default()
}

#[cfg(all(target_os = "linux", not(miri)))]
fn detect() -> Support {
    use std::arch::x86_64::{__cpuid, __cpuid_count};

    const BF16: u32 = 1 << 22;
    const TILES: u32 = 1 << 24;
    const INT8: u32 = 1 << 25;
    if __cpuid(0).eax < 7 {
        return Support::default();
    }
    let features = __cpuid_count(7, 0).edx;
    if features & TILES == 0 || !permitted() {
        return Support::default();
    }
    Support { bf16: features & BF16 != 0, int8: features & INT8 != 0 }
}

/// Asks Linux for the tiles' state: without the permission the first of their instructions would end the process.
#[cfg(all(target_os = "linux", not(miri)))]
fn permitted() -> bool {
    const ARCH_PRCTL: i64 = 158;
    const ARCH_REQ_XCOMP_PERM: u64 = 0x1023;
    const TILE_DATA: u64 = 18;
    let mut answer = ARCH_PRCTL;
    // SAFETY: a system call that reads no memory; it clobbers the two registers named here.
    unsafe {
        std::arch::asm!(
            "syscall",
            inout("rax") answer,
            in("rdi") ARCH_REQ_XCOMP_PERM,
            in("rsi") TILE_DATA,
            out("rcx") _,
            out("r11") _,
            options(nostack),
        );
    }
    answer == 0
}

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
    /// [`support`] reports a kind of product.
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

/// Where a tile of sums lies: the address of its first number, and the bytes from row to row, which may be 0 where
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
            use super::{Place, Strides, Tiles};

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
            unsafe fn load(first: Option<[Place<$sum>; 4]>) {
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
            unsafe fn store([a, b, c, d]: [Place<$sum>; 4]) {
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
