//! The kernels, compiled for each set of instructions.

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use foretell_simd::{Level, level};

use super::lanes;
use super::operands::{K_GROUP, Rounded};
#[cfg(target_arch = "x86_64")]
use super::tiles;
use super::vectors::{Job, product, round_rows};
#[cfg(target_arch = "x86_64")]
use crate::amx;
use crate::plan::limits::int8::LEAST_ROWS_OF_TILES;
use crate::view::MatRef;

/// A set of instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kernel {
    Scalar,
    /// Tiles of AMX.
    #[cfg(target_arch = "x86_64")]
    Tiles,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    AvxVnni,
    #[cfg(target_arch = "x86_64")]
    Avx512Vnni,
    #[cfg(target_arch = "aarch64")]
    Neon,
    #[cfg(target_arch = "aarch64")]
    NeonDot,
}

/// Runs generic code with the lanes of a kernel, compiled for their instructions.
macro_rules! with_lanes {
    ($kernel:expr, $work:ident($($argument:ident: $type:ty),*)) => {
        match $kernel {
            // SAFETY: plain code runs anywhere.
            Kernel::Scalar => unsafe { $work::<lanes::Scalar>($($argument),*) },
            #[cfg(target_arch = "x86_64")]
            Kernel::Tiles => {
                #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma")]
                fn run($($argument: $type),*) {
                    // SAFETY: this function has the instructions. Plain lanes have numbers with their signs, as tiles have.
                    unsafe { $work::<lanes::Scalar>($($argument),*) }
                }
                // SAFETY: `Kernel::runs` was asked.
                unsafe { run($($argument),*) }
            }
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2 => {
                #[target_feature(enable = "avx2,fma")]
                fn run($($argument: $type),*) {
                    // SAFETY: this function has the instructions.
                    unsafe { $work::<lanes::x86::Avx2>($($argument),*) }
                }
                // SAFETY: `Kernel::runs` was asked.
                unsafe { run($($argument),*) }
            }
            #[cfg(target_arch = "x86_64")]
            Kernel::AvxVnni => {
                #[target_feature(enable = "avx2,fma,avxvnni")]
                fn run($($argument: $type),*) {
                    // SAFETY: this function has the instructions.
                    unsafe { $work::<lanes::x86::AvxVnni>($($argument),*) }
                }
                // SAFETY: `Kernel::runs` was asked.
                unsafe { run($($argument),*) }
            }
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512Vnni => {
                #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vnni,avx2,fma")]
                fn run($($argument: $type),*) {
                    // SAFETY: this function has the instructions.
                    unsafe { $work::<lanes::x86::Avx512Vnni>($($argument),*) }
                }
                // SAFETY: `Kernel::runs` was asked.
                unsafe { run($($argument),*) }
            }
            #[cfg(target_arch = "aarch64")]
            // SAFETY: NEON is part of every aarch64 target.
            Kernel::Neon => unsafe { $work::<lanes::neon::Neon>($($argument),*) },
            #[cfg(target_arch = "aarch64")]
            Kernel::NeonDot => {
                #[target_feature(enable = "dotprod")]
                fn run($($argument: $type),*) {
                    // SAFETY: this function has the instructions.
                    unsafe { $work::<lanes::neon::NeonDot>($($argument),*) }
                }
                // SAFETY: `Kernel::runs` was asked.
                unsafe { run($($argument),*) }
            }
        }
    };
}

impl Kernel {
    /// All of them, from the best to the one that runs anywhere.
    pub(crate) const ALL: &[Self] = &[
        #[cfg(target_arch = "x86_64")]
        Self::Tiles,
        #[cfg(target_arch = "x86_64")]
        Self::Avx512Vnni,
        #[cfg(target_arch = "x86_64")]
        Self::AvxVnni,
        #[cfg(target_arch = "x86_64")]
        Self::Avx2,
        #[cfg(target_arch = "aarch64")]
        Self::NeonDot,
        #[cfg(target_arch = "aarch64")]
        Self::Neon,
        Self::Scalar,
    ];

    /// The best that the machine has at the current level for a product of `rows` rows.
    pub(crate) fn of_machine(rows: usize) -> Self {
        let fits = |kernel: &Self| kernel.runs() && rows >= kernel.least_rows();
        Self::ALL.iter().copied().find(fits).expect("plain code runs anywhere")
    }

    /// The least rows for which it is the best: a tile of fewer rows takes as long as one of 16.
    fn least_rows(self) -> usize {
        if self.depth() > K_GROUP { LEAST_ROWS_OF_TILES } else { 0 }
    }

    /// The multiple to which the inner dimension of the left operand is padded.
    pub(crate) fn depth(self) -> usize {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Tiles => amx::ROW_BYTES,
            _ => K_GROUP,
        }
    }

    /// The multiple to which the rows of the left operand are padded.
    pub(crate) fn height(self) -> usize {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Tiles => amx::ROWS,
            _ => 1,
        }
    }

    /// Whether the machine has the instructions, and the current level allows them.
    pub(crate) fn runs(self) -> bool {
        match self {
            Self::Scalar => true,
            #[cfg(target_arch = "x86_64")]
            Self::Tiles => level() == Level::Amx,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => level() == Level::Avx2 || level().has_avx512(),
            #[cfg(target_arch = "x86_64")]
            Self::AvxVnni => Self::Avx2.runs() && is_x86_feature_detected!("avxvnni"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512Vnni => level().has_avx512() && is_x86_feature_detected!("avx512vnni"),
            #[cfg(target_arch = "aarch64")]
            Self::Neon => level() == Level::Neon,
            #[cfg(target_arch = "aarch64")]
            Self::NeonDot => Self::Neon.runs() && std::arch::is_aarch64_feature_detected!("dotprod"),
        }
    }

    /// `dst = [dst +] alpha * lhs * rhs`.
    pub(crate) fn run(self, job: Job<'_>) {
        #[cfg(target_arch = "x86_64")]
        if self == Self::Tiles {
            // SAFETY: `Kernel::runs` was asked.
            return unsafe { tiles::product(job) };
        }
        with_lanes!(self, product(job: Job<'_>));
    }

    /// Rounds the rows of a matrix, each with a scale of its own.
    pub(crate) fn round(self, matrix: MatRef<'_, f32>, rounded: &mut Rounded) {
        with_lanes!(self, round_rows(matrix: MatRef<'_, f32>, rounded: &mut Rounded));
    }
}
