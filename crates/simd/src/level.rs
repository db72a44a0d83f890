//! Which instructions the kernels use: detection, the `FORETELL_SIMD` variable, scoped override.

use std::cell::Cell;
use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

#[cfg(all(feature = "simd", any(target_arch = "x86_64", target_arch = "aarch64")))]
use pulp::Simd;
#[cfg(all(feature = "simd", target_arch = "aarch64"))]
use pulp::aarch64::Neon;
#[cfg(all(feature = "simd", target_arch = "wasm32"))]
use pulp::wasm::Simd128;
#[cfg(all(feature = "simd", target_arch = "x86_64"))]
use pulp::x86::{V3, V4};

#[cfg(all(feature = "simd", target_arch = "x86_64"))]
use crate::amx;
use crate::isa::{Scalar, WithSimd};

/// A set of vector instructions that the kernels can run on.
///
/// The best level of the machine is taken when the first kernel runs. The environment variable
/// `FORETELL_SIMD` (`scalar`, `avx2`, `avx512`, `amx`, `neon` or `simd128`) overrides it for the process,
/// [`with_level`] for one closure on one thread. Where the variable names no level, or one that the machine lacks, the first
/// kernel warns on standard error and the best level is taken; [`Level::of_process`] is the way to refuse such a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Level {
    /// One element at a time; what the compiler makes of it for the baseline of the target.
    Scalar,
    /// x86-64 with AVX2 and FMA: 8 lanes of `f32`.
    Avx2,
    /// x86-64 with AVX-512 F, BW, CD, DQ and VL: 16 lanes of `f32`.
    Avx512,
    /// As [`Level::Avx512`], with AVX512-BF16 and Intel's AMX, whose tiles multiply matrices of bfloat16 and of int8. The
    /// kernels over slices are those of AVX-512; only products of matrices differ.
    Amx,
    /// aarch64 with NEON: 4 lanes of `f32`.
    Neon,
    /// WebAssembly with vectors of 128 bits: 4 lanes of `f32`, products and sums rounded one after the other. A module has it or has it
    /// not from the start: it must be built with `-C target-feature=+simd128`.
    Simd128,
}

impl Level {
    const ALL: [Level; 6] =
        [Level::Scalar, Level::Avx2, Level::Avx512, Level::Amx, Level::Neon, Level::Simd128];

    /// Whether it has the vectors of AVX-512.
    pub fn has_avx512(self) -> bool {
        matches!(self, Level::Avx512 | Level::Amx)
    }

    /// The levels this machine and this build can run, the scalar level first, the best one last.
    pub fn available() -> Vec<Level> {
        let runs = |level: &Level| level.target().is_some();
        Level::ALL.into_iter().filter(runs).collect()
    }

    /// The level that the environment variable `FORETELL_SIMD` asks for, or the best one if it is empty or not set.
    ///
    /// # Errors
    /// If it names an unknown level, or one that this machine lacks.
    pub fn of_process() -> Result<Level, LevelError> {
        match std::env::var("FORETELL_SIMD") {
            Ok(name) if !name.trim().is_empty() => {
                let level = name.parse::<Level>().map_err(LevelError::Unknown)?;
                level.target().map(|_| level).ok_or(LevelError::NotHere(level))
            }
            _ => Ok(Level::best()),
        }
    }

    fn best() -> Level {
        *Level::available().last().expect("the scalar level is everywhere")
    }

    fn target(self) -> Option<Target> {
        match self {
            Level::Scalar => Some(Target::Scalar),
            #[cfg(all(feature = "simd", target_arch = "x86_64"))]
            Level::Avx2 => V3::try_new().map(Target::Avx2),
            #[cfg(all(feature = "simd", target_arch = "x86_64"))]
            Level::Avx512 => V4::try_new().map(Target::Avx512),
            #[cfg(all(feature = "simd", target_arch = "x86_64"))]
            Level::Amx => V4::try_new().filter(|_| amx::available()).map(Target::Amx),
            #[cfg(all(feature = "simd", target_arch = "aarch64"))]
            Level::Neon => Neon::try_new().map(Target::Neon),
            #[cfg(all(feature = "simd", target_arch = "wasm32"))]
            Level::Simd128 => Simd128::try_new().map(Target::Simd128),
            #[allow(unreachable_patterns, reason = "which arms exist depends on the target")]
            _ => None,
        }
    }

    fn expect_target(self) -> Target {
        self.target().unwrap_or_else(|| panic!("{}", not_here(self)))
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Level::Scalar => "scalar",
            Level::Avx2 => "avx2",
            Level::Avx512 => "avx512",
            Level::Amx => "amx",
            Level::Neon => "neon",
            Level::Simd128 => "simd128",
        })
    }
}

/// A name that is no [`Level`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownLevel(String);

impl fmt::Display for UnknownLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown SIMD level `{}`: expected scalar, avx2, avx512, amx, neon or simd128", self.0)
    }
}

impl std::error::Error for UnknownLevel {}

impl FromStr for Level {
    type Err = UnknownLevel;

    fn from_str(name: &str) -> Result<Self, UnknownLevel> {
        let same = |level: &Level| level.to_string().eq_ignore_ascii_case(name.trim());
        Level::ALL.into_iter().find(same).ok_or_else(|| UnknownLevel(name.to_owned()))
    }
}

/// A level that `FORETELL_SIMD` cannot choose.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LevelError {
    /// It names none.
    Unknown(UnknownLevel),
    /// This machine or this build lacks it.
    NotHere(Level),
}

impl fmt::Display for LevelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(error) => write!(f, "FORETELL_SIMD: {error}"),
            Self::NotHere(level) => write!(f, "FORETELL_SIMD: {}", not_here(*level)),
        }
    }
}

impl std::error::Error for LevelError {}

fn not_here(level: Level) -> String {
    let here = Level::available().iter().map(Level::to_string).collect::<Vec<_>>();
    format!("SIMD level {level} does not run here; available: {}", here.join(", "))
}

/// The token that proves to pulp that the instructions of a level are there.
#[derive(Clone, Copy)]
pub(crate) enum Target {
    Scalar,
    #[cfg(all(feature = "simd", target_arch = "x86_64"))]
    Avx2(V3),
    #[cfg(all(feature = "simd", target_arch = "x86_64"))]
    Avx512(V4),
    /// The vectors of AVX-512; other crates use the tiles.
    #[cfg(all(feature = "simd", target_arch = "x86_64"))]
    Amx(V4),
    #[cfg(all(feature = "simd", target_arch = "aarch64"))]
    Neon(Neon),
    #[cfg(all(feature = "simd", target_arch = "wasm32"))]
    Simd128(Simd128),
    /// Lanes one by one, of a width that no level of this architecture has.
    #[cfg(all(test, feature = "simd"))]
    Emulated,
}

impl Target {
    #[inline]
    fn level(self) -> Level {
        match self {
            Target::Scalar => Level::Scalar,
            #[cfg(all(feature = "simd", target_arch = "x86_64"))]
            Target::Avx2(_) => Level::Avx2,
            #[cfg(all(feature = "simd", target_arch = "x86_64"))]
            Target::Avx512(_) => Level::Avx512,
            #[cfg(all(feature = "simd", target_arch = "x86_64"))]
            Target::Amx(_) => Level::Amx,
            #[cfg(all(feature = "simd", target_arch = "aarch64"))]
            Target::Neon(_) => Level::Neon,
            #[cfg(all(feature = "simd", target_arch = "wasm32"))]
            Target::Simd128(_) => Level::Simd128,
            #[cfg(all(test, feature = "simd"))]
            Target::Emulated => Level::Scalar,
        }
    }

    #[inline]
    fn current() -> Target {
        CURRENT.with(|current| match current.get() {
            Some(target) => target,
            None => {
                let target = *DEFAULT.get_or_init(Target::of_process);
                current.set(Some(target));
                target
            }
        })
    }

    /// That of the process; the best one, after a warning, where the environment variable is mistyped.
    fn of_process() -> Target {
        let level = Level::of_process().unwrap_or_else(|error| {
            let best = Level::best();
            eprintln!("warning: {error}; running at {best}");
            best
        });
        level.expect_target()
    }
}

static DEFAULT: OnceLock<Target> = OnceLock::new();

thread_local! {
    static CURRENT: Cell<Option<Target>> = const { Cell::new(None) };
}

/// The level that kernels called from this thread run at.
#[inline]
pub fn level() -> Level {
    Target::current().level()
}

/// Runs `f` with every kernel that it calls on this thread at `level`.
///
/// Threads that `f` starts or hands work to keep their own level, unless that work is wrapped by [`at_this_level`].
///
/// # Panics
/// If the machine or the build lacks `level`; [`Level::available`] says what there is.
pub fn with_level<R>(level: Level, f: impl FnOnce() -> R) -> R {
    with_target(level.expect_target(), f)
}

/// `job`, made to run at the level of the thread that calls this function, on whatever thread it is called: for work that is
/// handed to other threads, which would run it at the level of the process.
///
/// ```
/// use foretell_simd::{Level, at_this_level, level, with_level};
///
/// let job = with_level(Level::Scalar, || at_this_level(|()| level()));
/// assert_eq!(std::thread::spawn(move || job(())).join().unwrap(), Level::Scalar);
/// ```
pub fn at_this_level<A, R>(job: impl Fn(A) -> R) -> impl Fn(A) -> R {
    let target = Target::current();
    move |argument| {
        // As a rule all threads are at the level of the process.
        match std::mem::discriminant(&Target::current()) == std::mem::discriminant(&target) {
            true => job(argument),
            false => with_target(target, || job(argument)),
        }
    }
}

pub(crate) fn with_target<R>(target: Target, f: impl FnOnce() -> R) -> R {
    struct Restore(Option<Target>);
    impl Drop for Restore {
        fn drop(&mut self) {
            CURRENT.set(self.0);
        }
    }
    let _restore = Restore(CURRENT.replace(Some(target)));
    f()
}

/// Compiles `op` once per level and runs the copy for the current one.
#[inline(always)]
pub(crate) fn dispatch<Op: WithSimd>(op: Op) -> Op::Output {
    match Target::current() {
        Target::Scalar => op.with_simd(Scalar),
        #[cfg(all(feature = "simd", target_arch = "x86_64"))]
        Target::Avx2(simd) => Simd::vectorize(simd, op),
        #[cfg(all(feature = "simd", target_arch = "x86_64"))]
        Target::Avx512(simd) | Target::Amx(simd) => Simd::vectorize(simd, op),
        #[cfg(all(feature = "simd", target_arch = "aarch64"))]
        Target::Neon(simd) => Simd::vectorize(simd, op),
        // Without `vectorize`: the whole module has the instructions, or none of it has.
        #[cfg(all(feature = "simd", target_arch = "wasm32"))]
        Target::Simd128(simd) => op.with_simd(simd),
        #[cfg(all(test, feature = "simd"))]
        Target::Emulated => emulate(op),
    }
}

/// The width of NEON where AVX2 and AVX-512 run, that of AVX-512 where NEON runs. Emulated lanes take the compiler longer than
/// real ones: all three widths would triple the time to build these tests.
#[cfg(all(test, feature = "simd", target_arch = "x86_64"))]
const EMULATED: pulp::Scalar128b = pulp::Scalar128b;
#[cfg(all(test, feature = "simd", not(target_arch = "x86_64")))]
const EMULATED: pulp::Scalar512b = pulp::Scalar512b;

/// A function of its own: one with the real levels in it would take the compiler far longer.
#[cfg(all(test, feature = "simd"))]
#[inline(never)]
fn emulate<Op: WithSimd>(op: Op) -> Op::Output {
    op.with_simd(EMULATED)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;

    #[test]
    fn names_are_read_back() {
        for level in Level::ALL {
            assert_eq!(level.to_string().parse(), Ok(level));
        }
        assert_eq!(" AVX2 ".parse(), Ok(Level::Avx2));
        let error = "sse".parse::<Level>().unwrap_err().to_string();
        assert_eq!(error, "unknown SIMD level `sse`: expected scalar, avx2, avx512, amx, neon or simd128");
    }

    #[test]
    fn the_override_is_scoped_and_nests() {
        let outside = level();
        let best = *Level::available().last().unwrap();
        with_level(Level::Scalar, || {
            assert_eq!(level(), Level::Scalar);
            with_level(best, || assert_eq!(level(), best));
            assert_eq!(level(), Level::Scalar);
            std::thread::spawn(move || assert_eq!(level(), outside)).join().unwrap();
        });
        assert_eq!(level(), outside);
    }

    #[test]
    fn the_override_ends_with_a_panic() {
        let outside = level();
        let panicked = std::panic::catch_unwind(|| with_level(Level::Scalar, || panic!("stop")));
        assert!(panicked.is_err());
        assert_eq!(level(), outside);
    }

    #[test]
    fn a_missing_level_says_what_there_is() {
        let missing = if cfg!(target_arch = "aarch64") { Level::Avx2 } else { Level::Neon };
        assert!(!Level::available().contains(&missing));
        let panicked = std::panic::catch_unwind(|| with_level(missing, || ())).unwrap_err();
        let message = panicked.downcast::<String>().unwrap();
        assert!(message.contains("available: scalar"), "{message}");
    }

    /// Asserts nothing by itself: it prints, and the test below, which runs it, asserts what it printed.
    #[test]
    #[ignore = "run by `the_variable_sets_the_level` in a process of its own"]
    fn says_its_level() {
        println!("level: {}", level());
    }

    #[test]
    fn the_variable_sets_the_level() {
        // Under an emulator the test needs it too, where cargo was told of it.
        let emulator = match cfg!(target_arch = "aarch64") {
            true => std::env::var("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER").unwrap_or_default(),
            false => String::new(),
        };
        let run = |value: &str| {
            let test = std::env::current_exe().unwrap();
            let mut words = emulator.split_whitespace().map(OsStr::new).chain([test.as_os_str()]);
            let output = std::process::Command::new(words.next().unwrap())
                .args(words)
                .args(["--ignored", "--nocapture", "--exact", "level::tests::says_its_level"])
                .env("FORETELL_SIMD", value)
                .output()
                .unwrap();
            let text = [output.stdout, output.stderr].concat();
            (output.status.success(), String::from_utf8(text).unwrap())
        };
        for level in Level::available() {
            let (success, text) = run(&level.to_string());
            assert!(success && text.contains(&format!("level: {level}")), "{text}");
        }
        let (success, text) = run("");
        let best = Level::available().pop().unwrap();
        assert!(success && text.contains(&format!("level: {best}")), "{text}");
        let missing = if cfg!(target_arch = "aarch64") { "avx2" } else { "neon" };
        for (name, warning) in [
            ("sse9", "warning: FORETELL_SIMD: unknown SIMD level `sse9`".to_owned()),
            (missing, format!("warning: FORETELL_SIMD: SIMD level {missing} does not run here")),
        ] {
            let (success, text) = run(name);
            assert!(success && text.contains(&format!("level: {best}")), "{text}");
            assert!(text.contains(&warning) && text.contains(&format!("; running at {best}")), "{text}");
        }
    }

    #[test]
    fn without_the_feature_there_is_the_scalar_level_only() {
        if cfg!(not(feature = "simd")) {
            assert_eq!(Level::available(), [Level::Scalar]);
        }
    }
}
