//! The optimisations of this build, and whether they are on.

use std::fmt;

use foretell_simd::{Level, LevelError};
use serde::{Serialize, Serializer};

/// Which optimisations this program was built with, and the vector instructions that it uses here.
///
/// They are Cargo features, on by default in every crate of foretell. A program that is slower than expected may
/// have been built without one: print this to see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Acceleration {
    /// The vector instructions; [`Level::Scalar`] without the feature `simd`.
    pub level: Level,
    /// Whether matrix products run on faer's kernels: the feature `faer`.
    pub faer: bool,
    /// Whether attention goes by tiles: the feature `flash`.
    pub flash: bool,
    /// Whether several threads may work: the feature `parallel`.
    pub parallel: bool,
    /// Whether buffers are kept for the next owner: the feature `pool`.
    pub pool: bool,
    /// Whether products may have fewer bits than `f32`, where they are asked to: the feature `amp`.
    pub amp: bool,
}

impl Acceleration {
    /// The optimisations of this program on this machine.
    pub fn current() -> Self {
        Self {
            level: foretell_simd::level(),
            faer: foretell_gemm::FAER,
            flash: foretell_flash::FLASH,
            parallel: foretell_threads::PARALLEL,
            pool: foretell_pool::POOLING,
            amp: foretell_nn::AMP,
        }
    }
}

/// Whether the environment variable `FORETELL_SIMD`, if it is set, names vector instructions that are here. A program that does
/// not ask gets a warning on standard error and the best ones that are here.
///
/// # Errors
/// If it names an unknown level, or one that this machine lacks.
pub fn check_simd_level() -> Result<(), LevelError> {
    Level::of_process().map(drop)
}

/// `avx2, faer, flash, parallel, pool, amp`.
impl fmt::Display for Acceleration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { level, faer, flash, parallel, pool, amp } = self;
        write!(f, "{level}")?;
        let features =
            [(faer, "faer"), (flash, "flash"), (parallel, "parallel"), (pool, "pool"), (amp, "amp")];
        features.iter().filter(|(on, _)| **on).try_for_each(|(_, name)| write!(f, ", {name}"))
    }
}

/// As it is displayed.
impl Serialize for Acceleration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_features_of_this_build_are_on_or_off_together_with_their_crates() {
        let current = Acceleration::current();
        if std::env::var_os("FORETELL_SIMD").is_none() {
            assert_eq!(Some(current.level), Level::available().pop());
        }
        assert_eq!(foretell_simd::SIMD, cfg!(feature = "simd"));
        assert_eq!(current.faer, cfg!(feature = "faer"));
        assert_eq!(current.flash, cfg!(feature = "flash"));
        assert_eq!(current.parallel, cfg!(feature = "parallel"));
        assert_eq!(current.pool, cfg!(feature = "pool"));
        assert_eq!(current.amp, cfg!(feature = "amp"));
    }

    #[test]
    fn it_is_shown_as_a_list() {
        let mut shown = Acceleration {
            level: Level::Avx2,
            faer: true,
            flash: false,
            parallel: false,
            pool: true,
            amp: true,
        };
        assert_eq!(shown.to_string(), "avx2, faer, pool, amp");
        (shown.level, shown.faer, shown.pool, shown.amp) = (Level::Scalar, false, false, false);
        assert_eq!(shown.to_string(), "scalar");
    }
}
