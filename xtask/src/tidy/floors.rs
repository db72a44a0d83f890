//! The floors of the modules of each crate, as data.

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
            "directory file names pickle tagged optimizer_state",
            "column loss",
            "configuration dataset model",
            "optimizers plain_model",
            "checkpoint",
        ],
    ),
    folders(
        "crates/classical/src",
        &[
            "clock_grid error numeric",
            "hyper repeated",
            "method",
            "local naive seasonal_naive",
            "arima averages ces ets intermittent mfles theta",
            "mstl",
            "one_series",
        ],
    ),
    folders(
        "crates/auto/src",
        &[
            "board error grid history packed season wanted windows",
            "budget guard loss traits understood",
            "candidates greedy settings spread",
            "stage",
            "member mix",
            "chosen rehearse weights",
            "gathered",
            "caveats",
            "choose temporal trained",
            "auto",
        ],
    ),
    folders(
        "crates/cli/src",
        &[
            "closed_stdout failure file_args file_limit interrupt json_table layout_args lettering model_facts model_uses out_of_memory png precision printable row_args setting shell_word threshold ticks value_axis",
            "complaint frequency help setting_words several table",
            "context",
            "config feature_args hierarchy_args importances inputs markdown progress report saving short_series",
            "temporal_args",
            "args",
            "output",
            "picture score_rows",
            "bars figure ranking",
            "data_args demo_files fallback_args model_args truth_args tuned_models",
            "saved_run train_args",
            "train_reading",
            "commands",
        ],
    ),
    folders(
        "crates/calendar/src",
        &[
            "directives error flaw kind steps",
            "days repeated_times",
            "cursor months workdays zone",
            "opening_hours retail written",
            "interval iso mail periods serial unit",
            "freq pattern spelling",
            "freq_guess freq_words period_days season style time_format",
            "integer_dates locale step_hints step_words",
            "clock readings",
            "given_time",
        ],
    ),
    folders("crates/data/src", &["panels", "windows", "reading_tests"]),
    folders(
        "crates/evaluate/src",
        &[
            "anomalies error history metric",
            "metrics rows score_table",
            "samples",
            "diebold_mariano evaluate parse",
        ],
    ),
    folders(
        "crates/estimator/src",
        &[
            "columns contributions described error fallback forecasts hyper interpolate levels_seen memory_limit moment nan_as_null outputs progress reduction sparsity",
            "importances known_columns memory needs run series_numbers",
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
        "crates/flair/src",
        &["box_cox draws error history ridge shape spectrum", "level season settings", "series", "flair"],
    ),
    folders(
        "crates/flash/src",
        &["pattern sizes", "attention", "tiles", "shared", "backward forward small", "dispatch"],
    ),
    folders(
        "crates/foretell/src",
        &[
            "columns decompose_options explain_options insample_options interval_words other_steps own_settings predict_options reconciliation_error registry series_fallback simulate_options smaller_error stage told_columns",
            "usage_error",
            "warning",
            "last_rows",
            "error model_spec training_record warning_listener warning_words",
            "error_facts",
            "bench conformal ensemble fallbacks fitted_model hierarchies inputs intervals_by_dropout",
            "coherence intervals pooled_errors",
            "memory trained_models weights",
            "stages",
            "forecasts",
            "calibration contributions importances sample_paths",
            "decompose",
            "training",
            "directory",
            "fitted packed_model",
            "saved_reading",
            "explanations onnx partial_forecasts sums_gain",
            "forecaster imported kept_models learned saved_panel",
            "distillation foresight scores",
            "pruning",
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
    folders(
        "crates/infer/src",
        &[
            "ancestral attribution_inputs quadrature stepwise",
            "forecast",
            "attribution decompose dropout explain step_forecaster",
        ],
    ),
    folders(
        "crates/kernels/src",
        &[
            "additive_attention auto_correlation axis causal_convolution column_sums decomposition \
             fourier interpolate matrix_memory mode_products moving_average pool recurrent scalar_memory splines stochastic_pool wavelets",
            "convolution cumulative_sum gather select",
            "depthwise sparse_queries",
        ],
    ),
    folders("crates/language/src", &["error", "block config folder tokens", "gpt2", "language_model"]),
    folders(
        "crates/models/src",
        &[
            "categorical_columns implicit_quantiles normalised rules",
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
    folders("crates/mpi/src", &["join_error launched", "apart joined", "world"]),
    folders(
        "crates/neural/src",
        &[
            "acceleration product_rate spec_error torch_classes unknown_name",
            "common error",
            "optimizer_settings state",
            "spec",
            "dropout_samples multivariate train_config windows",
            "synthetic",
            "kept",
            "importances memory",
            "bench trained_network",
            "attributions chain kept_optimizer model_file onnx start",
            "narrowed",
            "training",
            "estimator import",
        ],
    ),
    folders(
        "crates/nn/src",
        &[
            "amp explanation hyper_parameter_error needs spline_noise",
            "init",
            "arguments param_entry weight_precision windows",
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
        "crates/onnx/src",
        &["error extent proto", "graph", "plan scaling", "emitter loss", "operations", "export"],
    ),
    folders(
        "crates/optim/src",
        &["bad_constant setters", "constants schedule", "adaptive", "rule", "check", "optimizer"],
    ),
    folders(
        "crates/pool/src",
        &[
            "class file_numbers limits out_of_memory program_memory",
            "block",
            "shelf",
            "metrics",
            "thread_cache",
            "buffer",
        ],
    ),
    folders(
        "crates/pretrained/src",
        &[
            "attention error network quantiles rotary scale",
            "config settings weights",
            "linear",
            "t5",
            "bolt chronos2 foretell0 fracast",
            "folder",
            "estimator",
            "kinds",
        ],
    ),
    folders("crates/pretrained/src/bolt", &["config", "positions", "encoder", "decoder", "network"]),
    folders("crates/pretrained/src/chronos2", &["unrolled", "config", "tokens", "encoder", "network"]),
    folders(
        "crates/pretrained/src/foretell0",
        &["periods scale", "window", "network", "weights", "forecast lesson", "explain tuning"],
    ),
    folders(
        "crates/pretrained/src/fracast",
        &["config features", "block periods", "encoder head", "network"],
    ),
    folders(
        "crates/prophet/src",
        &[
            "error holiday lbfgs",
            "rows settings",
            "design hyper_parameters trend",
            "holiday_years posterior short_history unlearned",
            "moments",
            "errors_by_row",
            "fit",
            "decompose description learned",
            "intervals",
            "prophet",
        ],
    ),
    folders(
        "crates/python/src",
        &[
            "argument_words frame_text setting_words stream",
            "error told",
            "frame table watched",
            "batches prepared spec training_settings",
            "evaluation models panel",
            "features fitted",
            "forecaster imported leaderboard",
            "reconciliation report",
        ],
    ),
    folders(
        "crates/server/src",
        &[
            "address error field_words joint_sizes media_type metrics page queue settings timed_stream token",
            "request",
            "fields memory_account pieces reading serve_settings",
            "forecast openapi problem",
            "anew encode model",
            "joint_request models",
            "engine",
            "app",
            "observe receive",
            "routes",
            "serve",
            "run",
        ],
    ),
    folders(
        "crates/report/src",
        &["error escape", "contents", "markup metric_words packed", "forecasts sections", "page"],
    ),
    folders("crates/pretraining/src", &["schedule windows", "evaluate training", "state", "main"]),
    folders("crates/search/src", &["draws trial", "domain", "grid halving tpe", "study"]),
    folders("crates/simd/src", &["amx prefetch scalar vector", "bits level", "loops", "kernels"]),
    folders("crates/simulation/src", &["draws error", "marginals", "copula shuffle", "method"]),
    folders("crates/synthetic/src", &["drawn draws", "shapes", "kinds", "series"]),
    folders(
        "crates/tensor/src",
        &["half_values shape", "rows storage", "trace", "indices tensor", "kept ops"],
    ),
    folders(
        "crates/threads/src",
        &["patience scope wanted", "helpers", "indices", "rows", "pipeline sequence workers", "side_by_side"],
    ),
    folders("crates/train/src", &["config shard state stopping", "kept_optimizer pruning", "shards", "fit"]),
    folders(
        "crates/wasm/src",
        &[
            "host message refusal setting_words table",
            "archive evaluation kept series specs",
            "forecast look models",
            "session",
            "exports",
        ],
    ),
    folders(
        "xtask/src",
        &[
            "bench_panels figures models neon outcome package sizes slow_tests system",
            "bench_forecast compare mpi pgo pretrain programs proofs standalone",
            "python test_times tidy wasm",
            "asan bench_matrix ci profile",
        ],
    ),
];

const fn folders(source: &'static str, from_the_ground_up: &'static [&'static str]) -> Folders {
    Folders { source, from_the_ground_up }
}
