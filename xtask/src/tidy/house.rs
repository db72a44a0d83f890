//! The house as data: what each crate may use, who owns which third party, what is excepted and why.

/// One crate of the workspace and the crates of ours that its code may name.
pub(super) struct Room {
    pub(super) name: &'static str,
    pub(super) floor: u8,
    pub(super) uses: &'static [&'static str],
}

/// From the ground up. A row names only rows above itself in this list, so there is no way to go in
/// circles. The list is of direct edges: what a neighbour uses is not thereby allowed.
pub(super) const ROOMS: &[Room] = &[
    room(0, "xtask", &[]),
    room(0, "foretell-fuzz", &[]),
    room(1, "foretell-simd", &[]),
    room(1, "foretell-pool", &[]),
    room(1, "foretell-files", &[]),
    room(1, "foretell-holidays", &[]),
    room(1, "foretell-search", &[]),
    room(1, "foretell-threads", &["foretell-simd", "foretell-pool"]),
    room(2, "foretell-gemm", &["foretell-simd", "foretell-pool", "foretell-threads"]),
    room(3, "foretell-tensor", &["foretell-simd", "foretell-pool", "foretell-threads", "foretell-gemm"]),
    room(3, "foretell-flash", &["foretell-simd", "foretell-pool", "foretell-threads", "foretell-gemm"]),
    room(3, "foretell-kernels", &["foretell-simd", "foretell-pool", "foretell-threads", "foretell-gemm"]),
    room(
        4,
        "foretell-autograd",
        &[
            "foretell-simd",
            "foretell-pool",
            "foretell-threads",
            "foretell-gemm",
            "foretell-tensor",
            "foretell-flash",
            "foretell-kernels",
        ],
    ),
    room(5, "foretell-nn", &["foretell-simd", "foretell-pool", "foretell-tensor", "foretell-autograd"]),
    room(5, "foretell-optim", &["foretell-simd", "foretell-pool", "foretell-threads"]),
    room(5, "foretell-amp", &["foretell-simd", "foretell-threads", "foretell-optim"]),
    room(5, "foretell-data", &["foretell-simd", "foretell-threads"]),
    room(6, "foretell-models", &["foretell-nn"]),
    // Files and plain arrays: it knows neither layers nor models.
    room(6, "foretell-checkpoint", &["foretell-files"]),
    room(6, "foretell-batch", &["foretell-pool", "foretell-nn", "foretell-data"]),
    // What every forecaster is, networks or not: it knows panels and threads, and no kind of model.
    room(7, "foretell-estimator", &["foretell-simd", "foretell-threads", "foretell-data"]),
    room(
        7,
        "foretell-infer",
        &[
            "foretell-batch",
            "foretell-pool",
            "foretell-threads",
            "foretell-nn",
            "foretell-data",
            "foretell-models",
        ],
    ),
    room(
        7,
        "foretell-train",
        &[
            "foretell-batch",
            "foretell-infer",
            "foretell-simd",
            "foretell-pool",
            "foretell-threads",
            "foretell-tensor",
            "foretell-autograd",
            "foretell-nn",
            "foretell-optim",
            "foretell-amp",
            "foretell-data",
            "foretell-estimator",
        ],
    ),
    room(
        8,
        "foretell-neural",
        &[
            "foretell-simd",
            "foretell-pool",
            "foretell-threads",
            "foretell-gemm",
            "foretell-flash",
            "foretell-nn",
            "foretell-optim",
            "foretell-data",
            "foretell-models",
            "foretell-checkpoint",
            "foretell-estimator",
            "foretell-infer",
            "foretell-train",
        ],
    ),
    room(8, "foretell-classical", &["foretell-data", "foretell-estimator"]),
    room(8, "foretell-prophet", &["foretell-data", "foretell-estimator", "foretell-holidays"]),
    room(8, "foretell-evaluate", &[]),
    room(
        8,
        "foretell-features",
        &["foretell-simd", "foretell-threads", "foretell-data", "foretell-holidays"],
    ),
    room(8, "foretell-hierarchy", &["foretell-simd"]),
    room(8, "foretell-simulation", &["foretell-simd"]),
    // It speaks the seam: of networks it knows what `foretell-neural` publishes, never layers and parameters.
    room(
        9,
        "foretell",
        &[
            "foretell-pool",
            "foretell-threads",
            "foretell-data",
            "foretell-files",
            "foretell-search",
            "foretell-checkpoint",
            "foretell-estimator",
            "foretell-neural",
            "foretell-classical",
            "foretell-prophet",
            "foretell-evaluate",
            "foretell-hierarchy",
            "foretell-simulation",
            "foretell-features",
        ],
    ),
    // A page of plain data, of whatever origin.
    room(9, "foretell-report", &[]),
    room(10, "foretell-server", &["foretell"]),
    room(10, "foretell-cli", &["foretell-files", "foretell", "foretell-report", "foretell-server"]),
    room(10, "foretell-python", &["foretell"]),
    room(
        10,
        "foretell-candle",
        &["foretell-simd", "foretell-threads", "foretell-gemm", "foretell-tensor", "foretell-flash"],
    ),
    room(
        10,
        "foretell-benches",
        &[
            "foretell-simd",
            "foretell-pool",
            "foretell-threads",
            "foretell-gemm",
            "foretell-tensor",
            "foretell-flash",
            "foretell-kernels",
            "foretell-autograd",
            "foretell-nn",
            "foretell-optim",
            "foretell-amp",
            "foretell-data",
            "foretell-models",
            "foretell-checkpoint",
            "foretell-infer",
            "foretell-train",
            "foretell",
        ],
    ),
    room(10, "foretell-matrix", &["foretell-simd", "foretell-threads", "foretell"]),
];

const fn room(floor: u8, name: &'static str, uses: &'static [&'static str]) -> Room {
    Room { name, floor, uses }
}

/// The modules of a crate, which have floors of their own.
pub(super) struct Folders {
    /// Relative to the workspace.
    pub(super) source: &'static str,
    /// The folders and files at the top of the crate, those of a floor separated by blanks. Code of one uses only itself and
    /// those of the floors before it.
    pub(super) from_the_ground_up: &'static [&'static str],
}

/// A crate with more modules than these has a row in [`FOLDERS`].
pub(super) const FEW_MODULES: usize = 4;

pub(super) const FOLDERS: &[Folders] = &[
    folders("crates/autograd/src", &["graph step_weight", "var", "operators ops"]),
    folders(
        "crates/candle/src",
        &["error optional_operand", "operand", "attention convert linear norm softmax"],
    ),
    folders(
        "crates/checkpoint/src",
        &[
            "packed tensor",
            "checksum",
            "error",
            "directory file names pickle tagged",
            "column loss",
            "configuration dataset model",
            "plain_model",
            "checkpoint",
        ],
    ),
    folders(
        "crates/classical/src",
        &[
            "error numeric repeated",
            "hyper",
            "method",
            "local naive seasonal_naive",
            "arima averages ets intermittent theta",
            "mstl",
        ],
    ),
    folders(
        "crates/cli/src",
        &[
            "closed_stdout failure file_args file_limit forecast_columns forecast_windows interrupt layout_args model_facts out_of_memory png precision row_args setting setting_words shell_word table threshold ticks",
            "config feature_args figure hierarchy_args importances inputs markdown progress report saving",
            "args output",
            "data_args demo_files model_args",
            "train_args",
            "commands",
        ],
    ),
    folders(
        "crates/data/src",
        &[
            "nan_as_null nearest setting wording",
            "calendar",
            "error",
            "frames",
            "tables",
            "panels",
            "windows",
        ],
    ),
    folders(
        "crates/evaluate/src",
        &["anomalies error history metric", "metrics rows", "diebold_mariano evaluate parse"],
    ),
    folders(
        "crates/estimator/src",
        &[
            "columns error forecasts memory_limit outputs progress reduction",
            "memory run series_numbers",
            "estimator",
        ],
    ),
    folders(
        "crates/features/src",
        &["arguments clock error", "day_file rows", "feature past", "kinds", "table", "spec", "compute"],
    ),
    folders(
        "crates/files/src",
        &["error identity place unfinished", "lock regular rename", "directory file", "snapshot"],
    ),
    folders(
        "crates/flash/src",
        &["pattern sizes", "attention", "tiles", "shared", "backward forward small", "dispatch"],
    ),
    folders(
        "crates/foretell/src",
        &[
            "columns forecast_part own_settings predict_options reading reconciliation_error registry simulate_options usage_error warning",
            "error model_spec",
            "bench conformal ensemble fitted_model hierarchies inputs",
            "coherence",
            "memory trained_models weights",
            "forecasts",
            "calibration importances sample_paths",
            "training",
            "directory",
            "fitted",
            "forecaster imported kept_models saved_panel",
            "scores",
            "tuning",
        ],
    ),
    folders(
        "crates/gemm/src",
        &[
            "amx flops options vector view",
            "batch check epilogue f16 interleave plan transpose",
            "parts product record",
            "int8",
            "general skinny strips tiny",
            "dispatch",
            "tasks",
            "bf16",
            "packed",
            "weights",
            "rhs",
            "matmul",
            "complex",
        ],
    ),
    folders(
        "crates/hierarchy/src",
        &[
            "cholesky error",
            "hierarchy method residuals",
            "covariance draws levels summing_matrix",
            "reconciler",
            "quantiles",
        ],
    ),
    folders("crates/infer/src", &["ancestral stepwise", "forecast", "explain step_forecaster"]),
    folders(
        "crates/kernels/src",
        &[
            "additive_attention auto_correlation axis causal_convolution column_sums decomposition \
             fourier interpolate matrix_memory mode_products moving_average pool recurrent scalar_memory splines stochastic_pool wavelets",
            "convolution cumulative_sum gather select",
            "depthwise sparse_queries",
        ],
    ),
    folders(
        "crates/models/src",
        &[
            "categorical_columns normalised rules",
            "hyper",
            "architecture",
            "linear",
            "recurrent",
            "convolution",
            "transformer",
            "mixer",
            "registry",
            "own",
        ],
    ),
    folders(
        "crates/neural/src",
        &[
            "acceleration product_rate spec_error torch_classes unknown_name",
            "common error",
            "optimizer_settings state",
            "spec",
            "multivariate train_config windows",
            "synthetic",
            "kept",
            "memory",
            "bench trained_network",
            "importances model_file start",
            "training",
            "estimator import",
        ],
    ),
    folders(
        "crates/nn/src",
        &[
            "amp explanation hyper_parameter_error needs spline_noise",
            "init",
            "arguments param_entry weight_precision",
            "layer_params loss",
            "table",
            "held_copies",
            "params",
            "revin rounded_weights running_state",
            "model",
            "weights",
            "layers",
        ],
    ),
    folders(
        "crates/pool/src",
        &["class limits out_of_memory", "block", "shelf", "metrics", "thread_cache", "buffer"],
    ),
    folders(
        "crates/prophet/src",
        &[
            "error holiday lbfgs",
            "rows settings",
            "design hyper_parameters trend",
            "posterior",
            "moments",
            "errors_by_row",
            "fit",
            "decompose learned",
            "intervals",
            "prophet",
        ],
    ),
    folders(
        "crates/python/src",
        &[
            "error setting_words table told watched",
            "batches frame models spec",
            "panel",
            "fitted",
            "forecaster imported",
        ],
    ),
    folders(
        "crates/server/src",
        &[
            "address error field_words media_type metrics queue request settings token",
            "fields reading serve_settings",
            "encode forecast openapi problem",
            "model",
            "models",
            "engine",
            "app",
            "observe receive",
            "routes",
            "serve",
            "run",
        ],
    ),
    folders("crates/report/src", &["contents escape", "markup packed", "sections", "page"]),
    folders("crates/search/src", &["draws trial", "domain", "grid halving tpe", "study"]),
    folders("crates/simd/src", &["amx prefetch scalar vector", "bits level", "loops", "kernels"]),
    folders("crates/simulation/src", &["draws error", "marginals", "copula shuffle", "method"]),
    folders("crates/tensor/src", &["half_values shape", "rows storage", "indices tensor", "kept ops"]),
    folders(
        "crates/threads/src",
        &["patience scope", "helpers", "indices", "rows", "pipeline sequence workers"],
    ),
    folders("crates/train/src", &["config state stopping", "shards", "fit"]),
    folders(
        "xtask/src",
        &[
            "ci figures models neon package python sizes system wasm",
            "compare pgo standalone tidy",
            "asan bench_matrix profile",
        ],
    ),
];

const fn folders(source: &'static str, from_the_ground_up: &'static [&'static str]) -> Folders {
    Folders { source, from_the_ground_up }
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

pub(super) const OWNED: &[Owned] = &[
    Owned {
        third_party: "faer",
        owner: "foretell-gemm",
        reason: "its views and its parallelism stay behind one border, where strides and threads are checked",
    },
    Owned {
        third_party: "pulp",
        owner: "foretell-simd",
        reason: "vector code lives in one crate, where every level and every width is tested",
    },
    Owned {
        third_party: "safetensors",
        owner: "foretell-checkpoint",
        reason: "the file format is known in one place",
    },
    Owned {
        third_party: "realfft",
        owner: "foretell-kernels",
        reason: "its plans and its scratch memory are kept in one place, and each transform has its gradient there",
    },
    Owned {
        third_party: "rayon",
        owner: "foretell-threads",
        reason: "who may use how many threads is decided in one place",
    },
    Owned {
        third_party: "candle-core",
        owner: "foretell-candle",
        reason: "it shares features with pulp and gemm, and nobody else should have to build it",
    },
];

/// The benches measure our crates beside the bare third party, so they may name it.
pub(super) const MEASURES: &str = "foretell-benches";

/// Features that programs have on by default and libraries leave to whoever wants them: they cost a build more than
/// all the rest.
pub(super) const LEFT_TO_USERS: &[&str] = &["excel", "parquet"];

/// Where `unsafe` may stand.
pub(super) enum Unsafe {
    /// In every file.
    Anywhere,
    /// In this file, relative to the workspace; the crate denies it elsewhere.
    File(&'static str),
    /// Nowhere; the crate forbids it.
    Nowhere,
}

pub(super) fn unsafe_in(package: &str) -> Unsafe {
    match package {
        "foretell-simd" | "foretell-pool" | "foretell-threads" | "foretell-gemm" | "foretell-flash" => {
            Unsafe::Anywhere
        }
        "foretell-cli" => Unsafe::File("crates/cli/src/closed_stdout.rs"),
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
            for used in room.uses {
                let below = ROOMS[..i].iter().find(|other| other.name == *used);
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
