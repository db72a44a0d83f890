//! Plans of products, decided before they are computed: in which numbers, by which kernel, and how they are cut.
//!
//! All of it follows from the shape, the layouts and the level, by pure functions: [`kernel`] and [`cut`]. What they compare with
//! stands in [`limits`]. Code that computes a product asks them for its part of the plan; [`explain`] puts the parts together.

pub(crate) mod cut;
pub(crate) mod kernel;
pub(crate) mod limits;

use std::fmt;

use foretell_simd::{Level, level};

use crate::options::{Rounding, WeightFormat};
use cut::{Cut, Grid, Int8Cut, PackedTasks};
use kernel::{Bf16Kernel, Kernel, Numbers, Operands, Strides};

impl Rounding {
    /// The rounding of [`matmul`](crate::matmul()) for the operands of a product of `[m, k]` and `[k, n]` where this one is asked
    /// for. It depends on the shape alone, so that every machine rounds the same products.
    #[must_use]
    pub fn of_product(self, shape: [usize; 3]) -> Self {
        match kernel::numbers(shape, self, || Level::Scalar) {
            Numbers::F32 | Numbers::Bf16x3 => Self::None,
            Numbers::Bf16 => Self::Bf16,
            Numbers::F16 => Self::F16,
        }
    }
}

impl WeightFormat {
    /// The format in which the right operand of products of `[m, k]` and `[k, n]` is best packed once, at the current level: none
    /// where that saves no time, or changes the bits of a product with this rounding, which in `f32` it may.
    pub fn best_for(shape: [usize; 3], rounding: Rounding) -> Option<Self> {
        kernel::best_format(shape, rounding, level(), kernel::fast_pairs)
    }
}

/// How the right operand of a product is laid out in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RightLayout {
    /// Rows of adjacent numbers.
    RowMajor,
    /// Columns of adjacent numbers: the weights of a linear layer.
    ColumnMajor,
    /// A [`WeightMatrix`](crate::WeightMatrix) in `f32`.
    PackedF32,
    /// A [`WeightMatrix`](crate::WeightMatrix) in bfloat16.
    PackedBf16,
    /// A [`WeightMatrix`](crate::WeightMatrix) in 8 bits.
    PackedInt8,
}

/// A product as [`explain`] takes it: `[m, k]` by `[k, n]`, where the destination and the left operand are row-major.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ProductShape {
    /// `[m, k, n]`.
    pub shape: [usize; 3],
    /// The right operand.
    pub rhs: RightLayout,
    /// The rounding that is asked for; packed operands are not rounded again.
    pub rounding: Rounding,
    /// The threads that may be used. With tiles of AMX one thread alone cuts packed products otherwise.
    pub threads: usize,
}

impl ProductShape {
    /// A product of `[m, k, n]` in `f32` on one thread.
    pub fn new(shape: [usize; 3], rhs: RightLayout) -> Self {
        Self { shape, rhs, rounding: Rounding::None, threads: 1 }
    }

    /// Rounds the operands before they are multiplied.
    #[must_use]
    pub fn rounding(self, rounding: Rounding) -> Self {
        Self { rounding, ..self }
    }

    /// The threads that may be used.
    #[must_use]
    pub fn threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }
}

/// The numbers, the kernel and the cut of a product; its [`Display`](fmt::Display) says them in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    way: Way,
    cut: WholeCut,
}

/// In which numbers and by which kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    F32(Kernel),
    F16(Kernel),
    Bf16(Bf16Kernel),
    /// In `f32`, of operands that were rounded before.
    Bf16InF32(Kernel),
    Bf16x3,
    Int8 {
        tiles: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WholeCut {
    Nothing,
    Parts(usize),
    /// Tasks of this many rows and columns, down and across.
    Tasks {
        size: [usize; 2],
        count: [usize; 2],
    },
}

impl WholeCut {
    fn tasks(size: [usize; 2], count: [usize; 2]) -> Self {
        Self::Tasks { size, count }
    }

    fn grid(grid: Grid) -> Self {
        Self::tasks([grid.height, grid.width], [grid.len() / grid.across(), grid.across()])
    }

    fn packed(PackedTasks { height, width, down, across }: PackedTasks) -> Self {
        Self::tasks([height, width], [down, across])
    }
}

/// The plan of a product at a level. `fast_pairs` says whether a machine of [`Level::Avx512`] multiplies pairs of bfloat16 at twice
/// the rate of `f32`, as AMD's do.
pub fn explain(product: ProductShape, level: Level, fast_pairs: bool) -> Plan {
    let ProductShape { shape: [m, k, n], rhs, rounding, threads } = product;
    let row_major = |cols: usize| Strides { row: cols, col: 1 };
    let rhs_strides = if rhs == RightLayout::ColumnMajor { Strides { row: 1, col: k } } else { row_major(n) };
    let operands = Operands { shape: [m, k, n], dst: row_major(n), lhs: row_major(k), rhs: rhs_strides };
    let rounding = if rhs == RightLayout::PackedF32 { Rounding::None } else { rounding };
    let numbers = kernel::numbers(operands.shape, rounding, || level);
    plan(Request { operands, rhs, numbers, is_single: true, threads, fast_pairs }, level)
}

/// A product as [`plan`] takes it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    /// Strides of a right operand that was packed before count for nothing.
    pub(crate) operands: Operands,
    /// Of an operand that is not packed the strides say the layout.
    pub(crate) rhs: RightLayout,
    /// In which numbers it is multiplied, where the right operand was not packed before.
    pub(crate) numbers: Numbers,
    /// Whether it is none of a batch: only such a one is cut in parts.
    pub(crate) is_single: bool,
    pub(crate) threads: usize,
    /// See [`explain`].
    pub(crate) fast_pairs: bool,
}

/// The plan of a product.
pub(crate) fn plan(request: Request, level: Level) -> Plan {
    let Request { operands, rhs, numbers, is_single, threads, fast_pairs } = request;
    // Rows of the destination are adjacent rather than its columns, as with what was packed before.
    let turns = matches!(rhs, RightLayout::RowMajor | RightLayout::ColumnMajor)
        && operands.dst.row < operands.dst.col;
    let operands = if turns { operands.t() } else { operands };
    let shape @ [m, k, n] = operands.shape;
    let in_f32 = |shape: [usize; 3]| kernel::in_f32(Operands { shape, ..operands }, level);
    let way = match rhs {
        RightLayout::PackedBf16 => Way::Bf16(kernel::in_bf16(level, || fast_pairs)),
        RightLayout::PackedInt8 => Way::Int8 { tiles: kernel::int8_by_tiles(m, level) },
        RightLayout::PackedF32 if kernel::packs_bf16x3(k, n, level) => Way::Bf16x3,
        RightLayout::PackedF32 if level.has_avx512() => Way::F32(kernel::of_strips(shape)),
        RightLayout::RowMajor | RightLayout::ColumnMajor | RightLayout::PackedF32 => match numbers {
            Numbers::F32 => Way::F32(in_f32(shape)),
            Numbers::F16 => Way::F16(in_f32(shape)),
            Numbers::Bf16 => Way::Bf16(kernel::in_bf16(level, || fast_pairs)),
            Numbers::Bf16x3 => Way::Bf16x3,
        },
    };
    let way = match way {
        Way::Bf16(by) if kernel::widens_before(shape, by) => Way::Bf16InF32(in_f32(shape)),
        way => way,
    };
    if m == 0 || n == 0 {
        return Plan { way, cut: WholeCut::Nothing };
    }
    // Where no kernel reads it packed, an operand in `f32` stays row-major.
    let is_packed = match rhs {
        RightLayout::RowMajor | RightLayout::ColumnMajor => false,
        RightLayout::PackedF32 => way == Way::Bf16x3 || level.has_avx512(),
        RightLayout::PackedBf16 => !matches!(way, Way::Bf16InF32(_)),
        RightLayout::PackedInt8 => true,
    };
    let may_have_parts = is_single && operands.dst.col == 1;
    let cut = match way {
        Way::F32(Kernel::Strips) if is_packed => WholeCut::grid(Grid::of_packed(m, n, k)),
        Way::F32(_) | Way::F16(_) | Way::Bf16InF32(_) => match cut::in_f32(shape, may_have_parts) {
            Cut::Parts(count) => WholeCut::Parts(count),
            Cut::Grid(grid) => WholeCut::grid(grid),
        },
        Way::Bf16(_) | Way::Bf16x3 => {
            let split = way == Way::Bf16x3;
            let alone = level == Level::Amx && threads == 1;
            // In bf16x3 the inner dimension goes by blocks, and what is packed first is the operand with fewer rows or columns.
            let inner = if split && !is_packed { k.min(limits::bf16x3::INNER) } else { k };
            let first = is_packed || !split || m >= n;
            let depth = inner.max(1).next_multiple_of(2 * limits::bf16::TILE);
            match cut::parts(shape, limits::bf16::PART) {
                Some(count) if !is_packed && operands.dst.col == 1 => WholeCut::Parts(count),
                _ => WholeCut::packed(cut::in_bf16([m, depth, n], split, first, alone)),
            }
        }
        Way::Int8 { .. } => {
            let wide = n.next_multiple_of(16);
            let blocks = wide.div_ceil(64);
            match cut::in_int8(m, k.next_multiple_of(4) * wide, blocks) {
                Int8Cut::One => WholeCut::tasks([m, n], [1, 1]),
                Int8Cut::Rows(height) => WholeCut::tasks([height, n], [m.div_ceil(height), 1]),
                Int8Cut::Blocks(width) => WholeCut::tasks([m, width * 64], [1, blocks.div_ceil(width)]),
            }
        }
    };
    // Parts and tasks are smaller than the whole, and kernels are chosen for them.
    let kernel = |whole: Kernel| match cut {
        WholeCut::Tasks { size: [height, width], .. } if !is_packed => {
            in_f32([m.min(height), k, n.min(width)])
        }
        WholeCut::Parts(count) if !is_packed => in_f32([m, k / count, n]),
        _ => whole,
    };
    let way = match way {
        Way::F32(whole) => Way::F32(kernel(whole)),
        Way::F16(whole) => Way::F16(kernel(whole)),
        Way::Bf16InF32(whole) => Way::Bf16InF32(kernel(whole)),
        way => way,
    };
    Plan { way, cut }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kernel = |kernel| match kernel {
            Kernel::Dots => "dot products",
            Kernel::Tiny => "vectors in place",
            Kernel::Row => "a row of vectors",
            Kernel::Strips => "strips for 512 bits",
            Kernel::General if cfg!(feature = "faer") => "faer",
            Kernel::General => "a plain loop",
        };
        match self.way {
            Way::F32(way) => write!(f, "f32 by {}", kernel(way))?,
            Way::F16(way) => write!(f, "f16 in f32 by {}", kernel(way))?,
            Way::Bf16InF32(way) => write!(f, "bf16 in f32 by {}", kernel(way))?,
            Way::Bf16(Bf16Kernel::Tiles) => f.write_str("bf16 by tiles of AMX")?,
            Way::Bf16(Bf16Kernel::Pairs) => f.write_str("bf16 by dot products of pairs")?,
            Way::Bf16(Bf16Kernel::Widened) => f.write_str("bf16 widened to f32")?,
            Way::Bf16x3 => f.write_str("bf16x3 by tiles of AMX")?,
            Way::Int8 { tiles: true } => f.write_str("int8 by tiles of AMX")?,
            Way::Int8 { tiles: false } => f.write_str("int8 by vectors")?,
        }
        match self.cut {
            WholeCut::Nothing => f.write_str(", nothing to do"),
            WholeCut::Parts(count) => write!(f, ", {count} parts of the inner dimension"),
            WholeCut::Tasks { count: [1, 1], .. } => f.write_str(", one task"),
            WholeCut::Tasks { size: [height, width], count: [down, across] } => {
                write!(f, ", {down}x{across} tasks of {height}x{width}")
            }
        }
    }
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
