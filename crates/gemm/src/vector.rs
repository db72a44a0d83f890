//! Vector registers of `f32`, as far as our own kernels need them, and kernels that are compiled for each kind of them.
//!
//! Every register is made with a token, which exists only where the machine has the instructions; so to hold a
//! register or a token is the proof, and all functions of [`Vector`] are safe. For speed they must be inlined into code
//! that is compiled for these instructions, which [`run`] sees to.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;
mod register;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod simd128;

use foretell_simd::{Level, level};

pub(crate) use register::{Vector, scaled};

/// A kernel that is compiled for several widths of vectors.
pub(crate) trait Job {
    /// Must be inlined, so that it is compiled for the caller's instructions.
    fn run<V: Vector>(self, token: V::Token);
}

/// The current level: the proof that the machine has its instructions.
#[derive(Clone, Copy)]
pub(crate) struct Current(Level);

impl Current {
    #[inline(always)]
    pub(crate) fn read() -> Self {
        Self(level())
    }

    #[inline(always)]
    pub(crate) fn level(self) -> Level {
        self.0
    }
}

/// Runs a job with the vectors of the current level; gives it back if the level has none.
#[inline(always)]
pub(crate) fn run<J: Job>(job: J) -> Option<J> {
    run_at(Current::read(), job)
}

/// [`run`] where the level was read before.
pub(crate) fn run_at<J: Job>(current: Current, job: J) -> Option<J> {
    match current.level() {
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 | Level::Amx => {
            #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma")]
            fn run(job: impl Job, token: avx512::Avx512) {
                job.run::<avx512::F32x16>(token);
            }
            // SAFETY: `level` reports a level only where the machine has its features, and `Current` is made of it.
            unsafe { run(job, avx512::Avx512::new_unchecked()) }
        }
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => {
            #[target_feature(enable = "avx2,fma")]
            fn run(job: impl Job, token: avx2::Avx2) {
                job.run::<avx2::F32x8>(token);
            }
            // SAFETY: as above.
            unsafe { run(job, avx2::Avx2::new_unchecked()) }
        }
        #[cfg(target_arch = "aarch64")]
        Level::Neon => {
            // SAFETY: NEON is part of every aarch64 target.
            job.run::<neon::F32x4>(unsafe { neon::Neon::new_unchecked() });
        }
        #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
        Level::Simd128 => job.run::<simd128::F32x4>(simd128::Simd128::of_module()),
        _ => return Some(job),
    }
    None
}

/// The first numbers of a slice, followed by zeros if it has too few.
#[inline(always)]
pub(crate) fn load<V: Vector>(token: V::Token, part: &[f32]) -> V {
    if part.len() >= V::LANES { V::load(token, part) } else { V::load_padded(token, part) }
}

/// Transposes the square that the first registers make up: see [`riffle`].
#[inline(always)]
pub(crate) fn transpose_square<V: Vector>(square: &mut [V; 16]) {
    riffle::<V>(square, V::LANES, V::LANES.ilog2());
}

/// Riffles the upper half of the first `count` registers into the lower one, several times over.
///
/// Let a number's place have the bits of its register's, followed by those of its lane. A riffle moves the highest of them
/// behind the lowest. As often as a lane has bits, that swaps the places of the lanes and of as many registers as there are lanes.
#[inline(always)]
pub(crate) fn riffle<V: Vector>(registers: &mut [V; 16], count: usize, times: u32) {
    let half = count / 2;
    for _ in 0..times {
        let before = *registers;
        for l in 0..half {
            (registers[2 * l], registers[2 * l + 1]) = before[l].interleave(before[l + half]);
        }
    }
}
