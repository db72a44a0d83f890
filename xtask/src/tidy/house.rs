//! The house as data: what each crate may use, who owns which third party, what is excepted and why.

/// One crate of the workspace and the crates of ours that its code may name.
pub(super) struct Room {
    pub(super) name: &'static str,
    pub(super) floor: u8,
    /// Without `foretell-`, separated by blanks.
    uses: &'static str,
}

impl Room {
    /// The crates that its code may name.
    pub(super) fn uses(&self) -> impl Iterator<Item = String> + use<> {
        let name =
            |short: &str| if short == "foretell" { short.to_owned() } else { format!("foretell-{short}") };
        self.uses.split(' ').filter(|short| !short.is_empty()).map(name)
    }
}

/// From the ground up. A row names only rows above itself in this list, so there is no way to go in
/// circles. The list is of direct edges: what a neighbour uses is not thereby allowed.
pub(super) const ROOMS: &[Room] = &[
    room(0, "xtask", ""),
    room(0, "foretell-fuzz", ""),
    room(1, "foretell-simd", ""),
    room(1, "foretell-pool", ""),
    room(1, "foretell-files", ""),
    room(1, "foretell-holidays", ""),
    room(1, "foretell-search", ""),
    room(1, "foretell-evaluate", ""),
    room(1, "foretell-messages", ""),
    room(1, "foretell-threads", "simd pool"),
    room(2, "foretell-calendar", "messages"),
    room(2, "foretell-gemm", "simd pool threads"),
    room(3, "foretell-tensor", "simd pool threads gemm"),
    room(3, "foretell-flash", "simd pool threads gemm"),
    room(3, "foretell-kernels", "simd pool threads gemm"),
    room(3, "foretell-tables", "messages calendar threads"),
    // Not published: series that a network is trained on before it sees any real one.
    room(4, "foretell-synthetic", "simd kernels"),
    room(4, "foretell-autograd", "simd pool threads gemm tensor flash kernels"),
    room(5, "foretell-nn", "simd pool tensor autograd"),
    room(5, "foretell-optim", "simd pool threads"),
    room(5, "foretell-amp", "simd threads optim"),
    room(5, "foretell-data", "simd pool threads messages calendar tables"),
    // Files and plain arrays: it knows neither layers nor models.
    room(6, "foretell-checkpoint", "files"),
    // A model of text in a folder of the user's, frozen: vectors in, vectors out.
    room(6, "foretell-language", "files threads autograd checkpoint"),
    room(6, "foretell-models", "nn language"),
    room(6, "foretell-batch", "pool nn data"),
    // What every forecaster is, networks or not: it knows panels and threads, and no kind of model.
    room(7, "foretell-estimator", "simd threads amp messages calendar tables data"),
    room(7, "foretell-infer", "batch pool threads nn data estimator models"),
    // Networks as graphs of ONNX: recorded forecasts, written down.
    room(7, "foretell-onnx", "batch data infer models nn"),
    room(7, "foretell-train", "batch infer simd pool threads nn optim amp data checkpoint estimator"),
    room(
        8,
        "foretell-neural",
        "simd pool threads gemm flash kernels language nn optim messages calendar data models checkpoint \
         estimator infer onnx train",
    ),
    // It knows the place that training has for several processes, and no training.
    room(8, "foretell-mpi", "estimator"),
    room(8, "foretell-classical", "calendar data estimator"),
    room(8, "foretell-flair", "calendar data estimator"),
    // Networks that others trained, which are no models of the zoo: their passes are written on slices.
    room(
        8,
        "foretell-pretrained",
        "simd pool files gemm kernels autograd nn optim infer train calendar data checkpoint estimator",
    ),
    room(8, "foretell-prophet", "calendar data estimator holidays"),
    room(8, "foretell-features", "simd threads messages calendar tables data holidays"),
    room(8, "foretell-hierarchy", "simd"),
    room(8, "foretell-scores", "messages calendar tables data evaluate"),
    room(8, "foretell-simulation", "simd"),
    // A page of plain data, of whatever origin; what it tells of panels and tables of forecasts the facade gathers.
    room(8, "foretell-report", "evaluate"),
    // It speaks the seam: of networks it knows what `foretell-neural` publishes, never layers and parameters.
    room(
        9,
        "foretell",
        "pool threads messages calendar tables data files checkpoint estimator neural classical \
         prophet flair pretrained evaluate hierarchy scores simulation report features",
    ),
    // Not published: a program that makes the weights which `foretell-pretrained` holds.
    room(9, "foretell-pretraining", "simd files nn optim train pretrained synthetic"),
    // The whole search for a forecast: an estimator that is made of others, which the facade need not know.
    room(9, "foretell-auto", "foretell"),
    room(9, "foretell-tuning", "files search foretell"),
    // What hosts of JavaScript are around.
    room(9, "foretell-requests", "simd foretell auto"),
    room(10, "foretell-server", "foretell auto"),
    room(10, "foretell-cli", "files mpi foretell auto tuning server"),
    room(10, "foretell-python", "foretell auto tuning"),
    room(10, "foretell-wasm", "foretell requests"),
    room(10, "foretell-node", "foretell requests"),
    room(10, "foretell-candle", "simd threads gemm tensor flash"),
    room(
        10,
        "foretell-benches",
        "simd pool threads gemm tensor flash kernels autograd nn optim amp calendar data models \
         checkpoint infer train foretell",
    ),
    room(10, "foretell-matrix", "simd threads foretell"),
];

const fn room(floor: u8, name: &'static str, uses: &'static str) -> Room {
    Room { name, floor, uses }
}

/// Files that still import each other, by the beginnings of their paths, and crates that have no order yet: whatever mends
/// them takes them off this list.
pub(super) const STILL_IN_CIRCLES: &[&str] = &[];

/// Tests may use this crate from any floor: the fixtures are checkpoint directories.
pub(super) const FIXTURES: &str = "foretell-checkpoint";

/// A third-party crate that only its owners may name.
pub(super) struct Owned {
    pub(super) third_party: &'static str,
    pub(super) owner: &'static str,
    pub(super) reason: &'static str,
}

#[rustfmt::skip]
pub(super) const OWNED: &[Owned] = &[
    Owned { third_party: "faer", owner: "foretell-gemm",
        reason: "its views and its parallelism stay behind one border, where strides and threads are checked" },
    Owned { third_party: "pulp", owner: "foretell-simd",
        reason: "vector code lives in one crate, where every level and every width is tested" },
    Owned { third_party: "safetensors", owner: "foretell-checkpoint",
        reason: "the file format is known in one place" },
    Owned { third_party: "realfft", owner: "foretell-kernels",
        reason: "its plans and its scratch memory are kept in one place, and each transform has its gradient there" },
    Owned { third_party: "rayon", owner: "foretell-threads",
        reason: "who may use how many threads is decided in one place" },
    Owned { third_party: "mpi", owner: "foretell-mpi",
        reason: "it takes the system's MPI library, which no one else should need" },
    Owned { third_party: "tokenizers", owner: "foretell-language",
        reason: "text is known in one place, and who has no use for it does not build it" },
    Owned { third_party: "calamine", owner: "foretell-tables",
        reason: "workbooks are looked at for damage and bombs before it reads them" },
    Owned { third_party: "candle-core", owner: "foretell-candle",
        reason: "it shares features with pulp and gemm, and no one else should have to build it" },
];

/// The benches measure our crates beside the bare third party, so they may name it.
pub(super) const MEASURES: &str = "foretell-benches";

/// Features that programs have on by default and libraries leave to the one who wants them: they cost a build more than
/// all the rest.
pub(super) const LEFT_TO_USERS: &[&str] = &["excel", "parquet"];

/// Features that nothing has on by default, not even programs: what few need and is large. Tests switch them on.
pub(super) const ASKED_FOR: &[&str] = &["timellm"];

/// Libraries whose users choose features by their names, beside programs; `foretell-neural` knows the crates that have the code, and the
/// modules and the addon around `foretell-requests` choose those of the facade.
pub(super) const CHOICE: &[&str] = &["foretell", "foretell-neural", "foretell-requests"];

/// Where `unsafe` may stand.
pub(super) enum Unsafe {
    /// In every file.
    Anywhere,
    /// In this file, relative to the workspace; the crate denies it elsewhere.
    File(&'static str),
    /// In no line of ours. The crate denies it: macros of others that write some could not, if it were forbidden, allow it to themselves.
    Generated,
    /// Nowhere; the crate forbids it.
    Nowhere,
}

pub(super) fn unsafe_in(package: &str) -> Unsafe {
    match package {
        "foretell-simd" | "foretell-pool" | "foretell-threads" | "foretell-gemm" | "foretell-flash" => {
            Unsafe::Anywhere
        }
        "foretell-cli" => Unsafe::File("crates/cli/src/closed_stdout.rs"),
        "foretell-wasm" => Unsafe::File("crates/wasm/src/exports.rs"),
        "foretell-node" => Unsafe::Generated,
        _ => Unsafe::Nowhere,
    }
}

/// Lines that a file may have, its tests aside.
pub(super) const FILE_LINES: usize = 500;

/// A file that may be longer, and why splitting it would make it worse.
pub(super) struct LongFile {
    pub(super) path: &'static str,
    pub(super) lines: usize,
    pub(super) reason: &'static str,
}

pub(super) const LONG_FILES: &[LongFile] = &[];

/// Public types that several crates may define, each its own: a crate's `Result` is that of its error.
pub(super) const SHARED_TYPE_NAMES: &[&str] = &["Result"];

/// `[package]` fields that each crate takes from the workspace.
pub(super) const INHERITED: &[&str] = &["version", "edition", "rust-version", "license", "authors"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_point_down() {
        for (i, room) in ROOMS.iter().enumerate() {
            for used in room.uses() {
                let below = ROOMS[..i].iter().find(|other| other.name == used);
                let below =
                    below.unwrap_or_else(|| panic!("{} uses {used}, which is no row above it", room.name));
                assert!(below.floor <= room.floor, "{} uses {used} from above", room.name);
            }
        }
        assert!(ROOMS.is_sorted_by_key(|room| room.floor));
    }

    #[test]
    fn owners_and_exceptions_are_rooms() {
        let known = |name: &str| ROOMS.iter().any(|room| room.name == name);
        assert!(OWNED.iter().all(|owned| known(owned.owner)));
        assert!(known(FIXTURES) && known(MEASURES));
    }
}
