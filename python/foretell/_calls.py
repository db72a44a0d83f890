"""What may be given by name beside a function's own arguments, so that type checkers find names that are misspelt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    #: A table of any library: what comes out is of the kind that went in.
    TableT = TypeVar("TableT", default=Any)


class TrainerOptions(TypedDict, total=False):
    """Arguments of Lightning's trainer, and those of the engine that models take in their place."""

    accelerator: Any
    barebones: Any
    benchmark: Any
    callbacks: Any
    check_val_every_n_epoch: Any
    default_root_dir: Any
    detect_anomaly: Any
    deterministic: Any
    devices: Any
    enable_autolog_hparams: Any
    enable_checkpointing: Any
    enable_model_summary: Any
    enable_progress_bar: Any
    fast_dev_run: Any
    inference_mode: Any
    limit_predict_batches: Any
    limit_test_batches: Any
    limit_train_batches: Any
    limit_val_batches: Any
    log_every_n_steps: Any
    logger: Any
    max_epochs: Any
    max_time: Any
    min_epochs: Any
    min_steps: Any
    model_registry: Any
    num_nodes: Any
    num_sanity_val_steps: Any
    overfit_batches: Any
    plugins: Any
    precision: str | int | None
    profiler: Any
    reload_dataloaders_every_n_epochs: Any
    strategy: Any
    sync_batchnorm: Any
    threads: int | None
    use_distributed_sampler: Any
    val_check_interval: Any


class LoaderOptions(TypedDict, total=False):
    """What neuralforecast hands on to PyTorch's DataLoader and to its models' forecasts, which has no meaning here."""

    batch_size: Any
    shuffle: Any
    sampler: Any
    batch_sampler: Any
    num_workers: Any
    collate_fn: Any
    pin_memory: Any
    drop_last: Any
    timeout: Any
    worker_init_fn: Any
    multiprocessing_context: Any
    generator: Any
    prefetch_factor: Any
    persistent_workers: Any
    pin_memory_device: Any
    in_order: Any
    random_seed: int | None


class KeptOptions(TypedDict, total=False):
    """Settings that models keep, by their names in the engine."""

    non_negative: bool
    integer: bool
    end: str | None


class EngineOptions(KeptOptions, total=False):
    """Settings of all forecasters, by their names in the engine."""

    threads: int
    precision: str | None
    low_memory: bool
    max_memory: int | None
    features: str | None


class ForecasterOptions(EngineOptions, total=False):
    """Settings that `NeuralForecast` takes by name."""

    restore_best: bool
    keep_optimizer: bool
    raw_quantiles: bool
    baselines: int


class AutoOptions(EngineOptions, total=False):
    """Arguments of `AutoForecaster` that `forecast` hands on."""

    models: Sequence[str] | str | None
    metric: str
    ensemble: bool
    below_zero: bool
    season_length: int | Sequence[int] | None
    hist_exog_list: Sequence[str]
    futr_exog_list: Sequence[str]
    stat_exog_list: Sequence[str]
    cat_exog_list: Sequence[str]
    id_col: str | Sequence[str]
    time_col: str
    target_col: str
