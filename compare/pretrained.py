"""Quantiles of the packages of pretrained networks, beside which foretell-pretrained is tested, and their time.

It needs an environment with fracast 0.1.0, chronos-forecasting 2.3.2, timesfm 3.0.2, tirex-ts 1.4.2, transformers 5.24, safetensors, numpy
and torch:

python compare/pretrained.py                      writes the fixtures of the tests: small networks of random weights, and quantiles
                                                  that the packages give of them and of Fracast-0's own weights
python compare/pretrained.py --weights DIR        copies Fracast-0's weights from its package to DIR/fracast, for
                                                  FORETELL_PRETRAINED=DIR
python compare/pretrained.py --csv FILE           writes the hundred series of the timing to a file
python compare/pretrained.py --time THREADS       prints the seconds of a forecast of these by the package, as one batch and one by one
                             --bolt DIR           of Chronos-Bolt in the sizes of chronos-bolt-small, whose random weights it writes to DIR
                             --chronos-2 DIR      of Chronos-2 in its own sizes, likewise; it also writes DIR.json, a fixture of ten series,
                                                  for FORETELL_CHRONOS_2=DIR
                             --timesfm DIR        of TimesFM 2.5, likewise, for FORETELL_TIMESFM=DIR
                             --tirex DIR          of TiRex, likewise, for FORETELL_TIREX=DIR

Series are made by whole numbers alone, so that the tests make the same ones.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import shutil
import time
from pathlib import Path

import numpy as np
import torch

OUT = Path("crates/pretrained/tests/fixtures")
LEVELS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]


def series(case: dict) -> np.ndarray:
    """The values of a case, NaN where they are missing: also in src/tests/packages.rs."""
    state, values = case["seed"], []
    for t in range(case["length"]):
        state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
        noise = (state >> 16) % (2 * case["noise"] + 1) - case["noise"]
        y = case["level"] + case["slope"] * t // 16 + noise
        y += case["amplitude"] * abs(2 * (t % case["period"]) - case["period"])
        if case["step"] and t % case["longer"] * 2 < case["longer"]:
            y += case["step"]
        if case["zeros"] and (state >> 8) % case["zeros"]:
            y = 0
        is_gap = case["gap"] and case["length"] // 3 <= t < case["length"] // 2
        if is_gap or (case["missing"] and (state >> 5) % case["missing"] == 0):
            y = float("nan")
        values.append(y * 2.0 ** case["exponent"])
    return np.array(values, dtype=np.float32)


def cases() -> list[dict]:
    """A hundred series of several kinds."""
    lengths = [9, 14, 30, 60, 100, 168, 300, 700, 1500, 2048, 2600]
    periods = [7, 12, 24, 52, 4, 96, 168]
    made = []
    for i in range(100):
        case = {
            "length": lengths[i % 11], "seed": 7919 * i + 1, "level": [500, 0, 20000, 90][i % 4],
            "slope": [0, 3, -2, 0, 16][i % 5], "period": periods[i % 7], "amplitude": [4, 0, 30, 9, 1][i % 5],
            "longer": 7 * periods[i % 7], "step": [0, 60, 0][i % 3], "noise": [0, 5, 40, 1][(i // 3) % 4],
            "zeros": 3 if i % 13 == 5 else 0, "missing": [0, 0, 7, 0, 3][(i // 2) % 5], "gap": i % 9 == 4,
            "exponent": [0, -10, 8][(i // 7) % 3], "horizon": 130 if i % 10 == 3 else 48 if i % 5 == 1 else 24,
        }
        if i % 20 == 19:  # constant
            case |= {"slope": 0, "amplitude": 0, "step": 0, "noise": 0, "zeros": 0}
        if i % 25 == 24:  # known in the first half only
            case |= {"length": 200, "gap": True}
        while np.isfinite(series(case)).sum() < 8 or np.isfinite(series(case)[-64:]).sum() < 8:
            case["missing"], case["length"] = 0, case["length"] + 1
        made.append(case)
    return made


def shown(forecast: np.ndarray, steps: list[int]) -> list[list[float]]:
    """The quantiles of some steps, as short as 32 bits allow."""
    return [[float(str(np.float32(q))) for q in forecast[step]] for step in steps]


def steps(case: dict, count: int) -> list[int]:
    return sorted({round(i * (case["horizon"] - 1) / (count - 1)) for i in range(count)})


def tiny_fracast() -> dict:
    """The configuration of a small Fracast network."""
    from fracast.inference import _PACKAGE_WEIGHTS_DIR

    config = json.loads((_PACKAGE_WEIGHTS_DIR / "config.json").read_text())
    config["model"] |= {
        "d_model": 8, "W": 64, "level_widths": [64], "horizon": 12, "future_queries": 3, "future_patch": 4, "n_stages": 4,
        "scale_cond_dim": 4, "head_d_ff": 12, "head_future_conv_layers": 3, "head_future_conv_seed": 16, "periodic_topk": 3,
        "periodic_harmonics": 2,
    }
    return config


def write_fracast() -> None:
    from fracast import FracastModel
    from fracast._core.model import build_from_cfg
    from fracast._core.safetensors_io import is_w8_weight
    from safetensors.torch import save_file

    torch.manual_seed(1)
    config = tiny_fracast()
    core, head = build_from_cfg({key: config[key] for key in ("model", "pyramid")})
    state = {f"{part}.{name}": value for part, of in (("core", core), ("head", head)) for name, value in of.state_dict().items()}
    for name, value in state.items():
        around = 1.0 if "norm" in name else 0.0
        state[name] = around + torch.randn(value.shape) * (0.1 if "norm" in name else 0.35)
    folder, int8 = OUT / "fracast", OUT / "fracast-int8"
    for path in (folder, int8):
        path.mkdir(parents=True, exist_ok=True)
        (path / "config.json").write_text(json.dumps(config) + "\n")
    save_file(state, str(folder / "model.safetensors"))
    packed, quant_map = {}, {}
    for name, value in state.items():
        if not is_w8_weight(name):
            packed[name] = value
            continue
        over = tuple(range(1, value.dim()))
        scale = value.abs().amax(dim=over, keepdim=True) / 127 if over else value.abs().amax().reshape(1) / 127
        packed[f"{name}.qweight"] = torch.round(value / scale).clamp(-128, 127).to(torch.int8)
        packed[f"{name}.scale"] = scale
        quant_map[name] = {"qweight": f"{name}.qweight", "scale": f"{name}.scale", "axis": 0}
    save_file(packed, str(int8 / "model.int8.safetensors"))
    manifest = {"format": "fracast-w8-symmetric-per-output-channel", "quant_map": quant_map}
    (int8 / "w8_manifest.json").write_text(json.dumps(manifest))
    models = {
        "tiny": (FracastModel.from_pretrained(folder, weights="fp32"), 3),
        "tiny_int8": (FracastModel.from_pretrained(int8, weights="w8"), 3),
        "fracast_0": (FracastModel.from_pretrained(weights="fp32"), 5),
        "fracast_0_int8": (FracastModel.from_pretrained(weights="w8"), 2),
    }
    (int8 / "w8_manifest.json").unlink()
    made = []
    for i, case in enumerate(cases()):
        y = series(case)
        for name, (model, count) in models.items():
            if name.endswith("int8") and i % 10:
                continue
            kept = steps(case, count)
            case[name] = {"steps": kept, "quantiles": shown(model.forecast(y, horizon=case["horizon"]), kept)}
        made.append(case)
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in made)
    (OUT / "fracast.json").write_text('{"cases":[\n' + lines + "\n]}\n")


def bolt_config(small: bool) -> dict:
    """The configuration of Chronos-Bolt, of a small one or in the sizes of `chronos-bolt-small`."""
    sizes = {"d_model": 16, "d_kv": 5, "d_ff": 24, "num_heads": 3, "num_layers": 2, "num_decoder_layers": 2}
    if not small:
        sizes = {"d_model": 512, "d_kv": 64, "d_ff": 2048, "num_heads": 8, "num_layers": 6, "num_decoder_layers": 6}
    own = {"context_length": 1024 if small else 2048, "input_patch_size": 8 if small else 16, "prediction_length": 12 if small else 64,
           "quantiles": LEVELS, "use_reg_token": True}
    own["input_patch_stride"] = own["input_patch_size"]
    return {"architectures": ["ChronosBoltModelForForecasting"], "chronos_config": own, "model_type": "t5", "dense_act_fn": "relu",
            "feed_forward_proj": "relu", "is_gated_act": False, "relative_attention_num_buckets": 32,
            "relative_attention_max_distance": 128, "layer_norm_epsilon": 1e-6, "decoder_start_token_id": 0, "pad_token_id": 0,
            "eos_token_id": 1, "reg_token_id": 1, "dropout_rate": 0.1, "vocab_size": 2, "initializer_factor": 0.05,
            "is_encoder_decoder": True} | sizes


def bolt(folder: Path, small: bool):
    """A pipeline of random weights, which are written to a folder."""
    from chronos.chronos_bolt import ChronosBoltModelForForecasting, ChronosBoltPipeline
    from safetensors.torch import save_file
    from transformers import T5Config

    torch.manual_seed(2)
    config = bolt_config(small)
    model = ChronosBoltModelForForecasting(T5Config(**config)).eval()
    state = {name: value for name, value in model.state_dict().items() if not name.endswith("embed_tokens.weight")}
    for name, value in state.items():
        around, spread = (1.0, 0.1) if "norm" in name else (0.0, 0.6 if "bias" in name else value.shape[-1] ** -0.5)
        value.copy_(around + torch.randn(value.shape) * spread)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config) + "\n")
    save_file({name: value.contiguous() for name, value in state.items()}, str(folder / "model.safetensors"))
    return ChronosBoltPipeline(model)


def write_bolt() -> None:
    pipeline = bolt(OUT / "bolt", small=True)
    made = []
    for case in cases():
        case["horizon"] = {130: 30, 48: 12, 24: 7}[case["horizon"]]
        kept = steps(case, 4)
        y = torch.tensor(series(case))
        forecast = pipeline.predict([y], prediction_length=case["horizon"])[0].numpy().T
        case["tiny"] = {"steps": kept, "quantiles": shown(forecast, kept)}
        made.append(case)
    write_cases(OUT / "bolt.json", {"cases": made})


def write_cases(path: Path, kinds: dict[str, list[dict]]) -> None:
    """A case a line."""
    lines = {kind: ",\n".join(json.dumps(case, separators=(",", ":")) for case in made) for kind, made in kinds.items()}
    path.write_text("{" + ",\n".join(f'"{kind}":[\n{all_of}\n]' for kind, all_of in lines.items()) + "}\n")


def chronos_2_config(small: bool) -> dict:
    """The configuration of Chronos-2, of a small one or in its own sizes."""
    sizes = {"d_model": 16, "d_kv": 6, "d_ff": 24, "num_heads": 3, "num_layers": 2}
    if not small:
        sizes = {"d_model": 768, "d_kv": 64, "d_ff": 3072, "num_heads": 12, "num_layers": 12}
    levels = [0.01, *(round(0.05 * i, 2) for i in range(1, 20)), 0.99]
    own = {"context_length": 1024 if small else 8192, "input_patch_size": 8 if small else 16, "max_output_patches": 3 if small else 64,
           "quantiles": levels, "time_encoding_scale": 900 if small else 8192, "use_arcsinh": True, "use_reg_token": True}
    own["input_patch_stride"] = own["output_patch_size"] = own["input_patch_size"]
    return {"architectures": ["Chronos2Model"], "chronos_config": own, "chronos_pipeline_class": "Chronos2Pipeline", "model_type": "t5",
            "dense_act_fn": "relu", "feed_forward_proj": "relu", "is_gated_act": False, "layer_norm_epsilon": 1e-6, "pad_token_id": 0,
            "reg_token_id": 1, "rope_theta": 10000.0, "dropout_rate": 0.1, "vocab_size": 2, "initializer_factor": 0.05} | sizes


def chronos_2(folder: Path, small: bool):
    """A pipeline of random weights, which are written to a folder: those of a small one but for norms and biases as brain floats."""
    from chronos.chronos2 import Chronos2Model, Chronos2Pipeline
    from chronos.chronos2.config import Chronos2CoreConfig
    from safetensors.torch import save_file

    torch.manual_seed(3)
    config = chronos_2_config(small)
    model = Chronos2Model(Chronos2CoreConfig(**config)).eval()
    state, kept = model.state_dict(), {}
    for name, value in state.items():
        around, spread = (1.0, 0.1) if "norm" in name else (0.0, 0.6 if "bias" in name else value.shape[-1] ** -0.5)
        made = around + torch.randn(value.shape) * spread
        kept[name] = made.to(torch.bfloat16) if small and value.ndim > 1 else made
        value.copy_(kept[name])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config) + "\n")
    save_file(kept, str(folder / "model.safetensors"))
    return Chronos2Pipeline(model)


def column(case: dict, i: int) -> dict:
    """A column of a case beside its history and forecast."""
    own = {"seed": case["seed"] + 101 * (i + 1), "level": [40, -300, 7][i], "amplitude": [3, 0, 11][i], "noise": [4, 90, 1][i],
           "length": case["length"] + case["horizon"], "missing": 0, "gap": False}
    return case | own


def labels(column: dict, h: int) -> np.ndarray:
    """Categories of a case, one of which is met in the last `h` alone: also in src/tests/packages.rs."""
    state, values = column["seed"], []
    for t in range(column["length"]):
        state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
        values.append(f"k{1 + (state >> 16) % (column['categories'] + (t >= column['length'] - h))}")
    return np.array(values)


def task_2(case: dict, columns: list[dict]) -> dict:
    """A case beside columns, of which some are known ahead and some hold categories."""
    h = case["horizon"]
    made = {f"x{i}": (labels(column, h) if "categories" in column else series(column), column["known"])
            for i, column in enumerate(columns)}
    return {"target": series(case), "past_covariates": {name: values[:-h] for name, (values, _) in made.items()},
            "future_covariates": {name: values[-h:] for name, (values, known) in made.items() if known}}


def forecast_2(pipeline, case: dict, columns: list[dict]) -> np.ndarray:
    """Quantiles `[steps, levels]` of a case beside columns."""
    return pipeline.predict([task_2(case, columns)], prediction_length=case["horizon"])[0][0].numpy().T


@contextlib.contextmanager
def in_64_bits(pipeline):
    """The pipeline with all of its numbers in 64 bits, also where it asks for 32; its weights stay so."""
    from chronos.chronos2.layers import Chronos2RotaryEmbedding

    of_32, to_32 = torch.float32, torch.Tensor.float
    try:
        pipeline.model.double()
        torch.float32 = torch.float = torch.float64
        torch.Tensor.float = torch.Tensor.double
        for module in pipeline.model.modules():
            if isinstance(module, Chronos2RotaryEmbedding):
                module.inv_freq = Chronos2RotaryEmbedding.compute_default_rope_parameters(module.config)[0]
        yield
    finally:
        torch.float32 = torch.float = of_32
        torch.Tensor.float = to_32


def groups_2(pipeline) -> list[dict]:
    """Series that are forecast together, without and with a column each."""
    made = []
    plain = [case for case in cases() if not case["gap"] and not case["missing"] and not case["zeros"]]
    for i in range(8):
        group = [case | {"horizon": 60 if i % 4 == 3 else 20} for case in plain[5 * i :][: 2 + i % 3]]
        columns = [[column(case, 0) | {"known": i % 4 == 1}] if i % 2 else [] for case in group]
        tasks = [task_2(case, beside) for case, beside in zip(group, columns)]
        kept = steps(group[0], 2)
        found = pipeline.predict(tasks, prediction_length=group[0]["horizon"], cross_learning=True)
        tiny = [{"steps": kept, "quantiles": shown(forecast[0].numpy().T, kept)} for forecast in found]
        made.append({"series": [case | {"columns": beside, "tiny": quantiles}
                                for case, beside, quantiles in zip(group, columns, tiny)]})
    # A target of several series, which is a group without columns.
    group = [case | {"horizon": 20, "length": 200} for case in plain[7:10]]
    found = pipeline.predict([{"target": np.stack([series(case) for case in group])}], prediction_length=20)[0]
    kept = steps(group[0], 2)
    made.append({"series": [case | {"columns": [], "tiny": {"steps": kept, "quantiles": shown(forecast.numpy().T, kept)}}
                            for case, forecast in zip(group, found)]})
    return made


def write_chronos_2(folder: Path, small: bool = True) -> None:
    pipeline = chronos_2(folder, small)
    alone, beside = [], []
    for i, case in enumerate(cases()[:: 1 if small else 9]):
        case["horizon"] = {130: 60, 48: 24, 24: 7}[case["horizon"]] if small else {130: 1100, 48: 48, 24: 24}[case["horizon"]]
        kept = steps(case, 2)
        alone.append(case | {"tiny": {"steps": kept, "quantiles": shown(forecast_2(pipeline, case, []), kept)}})
        if i % 5 == 3 or not small:
            # Known ahead, of the past alone, or both.
            columns = [column(case, j) | {"known": known} for j, known in enumerate([[True], [False], [False, True, True]][i // 5 % 3])]
            forecast = forecast_2(pipeline, case, columns)
            beside.append(case | {"columns": columns, "tiny": {"steps": kept, "quantiles": shown(forecast, kept)}})
    written = {"cases": alone, "columns": beside, "categories": []}
    if small:
        # Far from zero the package's means of categories, in 32 bits, are rounded to much of what they differ by.
        near = [case for case in cases() if case["level"] < 20000]
        written["categories"] = [case | {"columns": columns_2(case, i)} for i, case in enumerate(near[3::7])]
        for case in written["categories"]:
            case["horizon"] = 60 if case["horizon"] == 130 else 20
            for beside in case["columns"]:
                beside["length"] = case["length"] + case["horizon"]
            kept = steps(case, 2)
            case["tiny"] = {"steps": kept, "quantiles": shown(forecast_2(pipeline, case, case["columns"]), kept)}
        written["groups"] = groups_2(pipeline)
    else:
        with in_64_bits(pipeline):
            for case in [*alone, *beside]:
                # One of several passes takes too long.
                if case["horizon"] <= 1024:
                    kept = case["tiny"]["steps"]
                    case["exact"] = {"steps": kept, "quantiles": shown(forecast_2(pipeline, case, case.get("columns", [])), kept)}
    write_cases(folder.with_suffix(".json"), written)


def columns_2(case: dict, i: int) -> list[dict]:
    """Columns of categories beside a case, known ahead or not, and one of numbers."""
    categories = {"categories": 2 + i % 3, "seed": case["seed"] + 17, "known": i % 2 == 0}
    other = column(case, 1) | {"known": True}
    return [categories, other] if i % 3 == 0 else [categories]


def timesfm_config(small: bool) -> dict:
    """The configuration of TimesFM 2.5 in the layout of transformers, of a small one or in its own sizes."""
    sizes = {"patch_length": 32, "context_length": 16384, "horizon_length": 128, "output_quantile_len": 1024, "hidden_size": 1280,
             "intermediate_size": 1280, "head_dim": 80, "num_attention_heads": 16, "num_key_value_heads": 16, "num_hidden_layers": 20}
    if small:
        sizes = {"patch_length": 4, "context_length": 512, "horizon_length": 8, "output_quantile_len": 24, "hidden_size": 12,
                 "intermediate_size": 20, "head_dim": 6, "num_attention_heads": 2, "num_key_value_heads": 2, "num_hidden_layers": 2}
    return {"architectures": ["TimesFm2_5ModelForPrediction"], "model_type": "timesfm2_5", "quantiles": LEVELS, "decode_index": 5,
            "rms_norm_eps": 1e-6, "use_bias": False, "attention_bias": False, "activation": "swish", "force_flip_invariance": True,
            "infer_is_positive": True, "use_continuous_quantile_head": True, "max_position_embeddings": 16384,
            "rope_parameters": {"rope_theta": 10000.0, "rope_type": "default"}} | sizes


def timesfm(folder: Path, small: bool):
    """Models of random weights by the package timesfm, which forecasts any horizon, and by transformers, in whose layout a folder is
    written."""
    from dataclasses import replace

    from safetensors.torch import save_file
    from timesfm.timesfm_2p5 import timesfm_2p5_base, timesfm_2p5_torch
    from transformers import TimesFm2_5Config, TimesFm2_5ModelForPrediction

    torch.manual_seed(4)
    config = timesfm_config(small)
    model = TimesFm2_5ModelForPrediction(TimesFm2_5Config(**config)).eval()
    state = model.state_dict()
    for name, value in state.items():
        around, spread = (1.0, 0.1) if "norm" in name else (0.0, 0.5) if value.ndim == 1 else (0.0, value.shape[-1] ** -0.5)
        value.copy_(around + torch.randn(value.shape) * spread)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config) + "\n")
    save_file({name: value.contiguous() for name, value in state.items()}, str(folder / "model.safetensors"))

    d, outputs = config["hidden_size"], 1 + len(LEVELS)
    sizes = timesfm_2p5_base.TimesFM_2p5_200M_Definition()
    block = lambda of, inputs, out: replace(of, input_dims=inputs, hidden_dims=d, output_dims=out)  # noqa: E731
    layers = replace(sizes.stacked_transformers.transformer, model_dims=d, hidden_dims=config["intermediate_size"],
                     num_heads=config["num_attention_heads"])
    timesfm_2p5_torch.TimesFM_2p5_200M_torch_module.config = replace(
        sizes, input_patch_len=config["patch_length"], output_patch_len=config["horizon_length"],
        output_quantile_len=config["output_quantile_len"], tokenizer=block(sizes.tokenizer, 2 * config["patch_length"], d),
        stacked_transformers=replace(sizes.stacked_transformers, num_layers=config["num_hidden_layers"], transformer=layers),
        output_projection_point=block(sizes.output_projection_point, d, config["horizon_length"] * outputs),
        output_projection_quantiles=block(sizes.output_projection_quantiles, d, config["output_quantile_len"] * outputs))
    package = timesfm_2p5_torch.TimesFM_2p5_200M_torch(torch_compile=False)
    renamed = {}
    for name, value in state.items():
        part = name.removeprefix("model.").replace("input_ff_layer", "tokenizer").replace("input_layer.", "hidden_layer.")
        for theirs, ours in {"layers.": "stacked_xf.", "input_layernorm.weight": "pre_attn_ln.scale",
                             "post_attention_layernorm.weight": "post_attn_ln.scale", "pre_feedforward_layernorm.weight": "pre_ff_ln.scale",
                             "post_feedforward_layernorm.weight": "post_ff_ln.scale", "mlp.fc1": "ff0", "mlp.fc2": "ff1",
                             "self_attn.o_proj": "attn.out", "self_attn.q_norm.weight": "attn.query_ln.scale",
                             "self_attn.k_norm.weight": "attn.key_ln.scale", "self_attn.scaling": "attn.per_dim_scale.per_dim_scale"}.items():
            part = part.replace(theirs, ours)
        renamed[part] = value
    for i in range(config["num_hidden_layers"]):
        name = f"stacked_xf.{i}.self_attn"
        renamed[f"stacked_xf.{i}.attn.qkv_proj.weight"] = torch.cat([renamed.pop(f"{name}.{part}_proj.weight") for part in "qkv"])
    package.model.load_state_dict(renamed, strict=True)
    package.model.eval()
    return package, model


def forecast_timesfm(package, y: np.ndarray, horizon: int) -> np.ndarray:
    """Quantiles `[steps, levels]` by the package, of a context that is filled up to whole patches alone."""
    from timesfm import ForecastConfig

    size, known = package.model.p, int((~np.isnan(y)).argmax())
    context = min(-(-(len(y) - known) // size) * size, 512 if size < 32 else 16384 - 1024)
    package.compile(ForecastConfig(
        max_context=context, max_horizon=horizon, normalize_inputs=True, use_continuous_quantile_head=True, force_flip_invariance=True,
        infer_is_positive=True))
    return package.forecast(horizon, [y.copy()])[1][0][:, 1:]


def write_timesfm(folder: Path, small: bool = True) -> None:
    package, model = timesfm(folder, small)
    made = []
    for case in cases()[:: 1 if small else 10]:
        case["horizon"] = {130: 24, 48: 16, 24: 7}[case["horizon"]] if small else {130: 300, 48: 48, 24: 24}[case["horizon"]]
        kept = steps(case, 3)
        y = series(case)
        forecast = forecast_timesfm(package, y, case["horizon"])
        case["tiny"] = {"steps": kept, "quantiles": shown(forecast, kept)}
        made.append(case)
        if np.isfinite(y).all() and case["horizon"] <= package.model.o:
            # The two packages agree on one pass.
            whole = -(-len(y) // package.model.p) * package.model.p
            other = model(past_values=[torch.tensor(y)], forecast_context_len=min(whole, model.context_len)).full_predictions[0]
            off = np.abs(other.detach().numpy()[: case["horizon"], 1:] - forecast).max() / max(np.ptp(y), 1e-3 * np.abs(y).max())
            assert off < 1e-3, (case, off)
    write_cases(folder.with_suffix(".json"), {"cases": made})


def tirex(folder: Path, small: bool):
    """A model of random weights, which are written to a folder, with its cells in 32 bits: the package rounds their states to brain floats."""
    from safetensors.torch import save_file
    from tirex.models.slstm.cell import sLSTMCell, sLSTMCellTorch
    from tirex.models.tirex import TiRexZero

    torch.manual_seed(5)
    blocks = {"num_blocks": 12, "embedding_dim": 512, "num_heads": 4, "ffn_proj_factor": 2.6667}
    sizes = {"input_patch_size": 32, "output_patch_size": 32, "quantiles": LEVELS, "input_ff_dim": 2048, "block_kwargs": blocks}
    if small:
        blocks |= {"num_blocks": 2, "embedding_dim": 12, "num_heads": 2}
        sizes |= {"input_patch_size": 8, "output_patch_size": 8, "input_ff_dim": 20}
    config = {"model_config": sizes, "train_ctx_len": 512 if small else 2048}
    model = TiRexZero(backend="torch", **config).eval()
    state = model.state_dict()
    for name, value in state.items():
        around = 1.0 if "norm" in name and "group" not in name else 0.0
        spread = 0.1 if "norm" in name else 0.5 if value.ndim == 1 else value.shape[-2 if "kernel" in name else -1] ** -0.5
        value.copy_(around + torch.randn(value.shape) * spread)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps({"architectures": ["TiRexZero"]} | config) + "\n")
    save_file({name: value.contiguous() for name, value in state.items()}, str(folder / "model.safetensors"))

    def in_32_bits(cell, inputs, states):
        of = cell.config
        bias = cell._bias_.reshape(of.num_heads, of.num_gates, of.head_dim).permute(1, 0, 2).reshape(-1)
        inputs = inputs.reshape(inputs.shape[0], inputs.shape[1], -1)
        return sLSTMCellTorch.slstm_forward(inputs, states, cell._recurrent_kernel_, bias)

    own = sLSTMCell._impl_torch
    return model, {"32 bits": in_32_bits, "own": own}, sLSTMCell


def forecast_tirex(model, y: np.ndarray, horizon: int) -> np.ndarray:
    return model.forecast(torch.tensor(y), prediction_length=horizon, output_type="numpy")[0][0]


def write_tirex(folder: Path, small: bool = True) -> None:
    model, cells, cell = tirex(folder, small)
    made, rounded = [], 0.0
    for case in cases()[:: 1 if small else 10]:
        case["horizon"] = {130: 24, 48: 16, 24: 7}[case["horizon"]] if small else {130: 130, 48: 48, 24: 24}[case["horizon"]]
        kept, y = steps(case, 3), series(case)
        cell._impl_torch = cells["own"]
        as_it_is = forecast_tirex(model, y, case["horizon"])
        cell._impl_torch = cells["32 bits"]
        forecast = forecast_tirex(model, y, case["horizon"])
        case["tiny"] = {"steps": kept, "quantiles": shown(forecast, kept)}
        if np.nanmin(y) == np.nanmax(y):
            # Equal values have their distance from 0 for their deviation.
            case["tiny"]["scale"] = float(np.nanmax(np.abs(y)))
        made.append(case)
        rounded = max(rounded, np.abs(as_it_is - forecast).max() / max(np.nanmax(y) - np.nanmin(y), 1e-3 * np.nanmax(np.abs(y)), 1e-5))
    cell._impl_torch = cells["own"]
    print(f"TiRex: states in brain floats are off those in 32 bits by {rounded:.1e} of the range at most")
    write_cases(folder.with_suffix(".json"), {"cases": made})


def measure_tirex(folder: Path, threads: int) -> None:
    torch.set_num_threads(threads)
    write_tirex(folder, small=False)
    model, _, _ = tirex(folder, small=False)
    rows = torch.tensor(np.stack(timed_series()))
    for size in (100, 10, 1):
        def run(size=size):
            for first in range(0, 100, size):
                model.forecast(rows[first : first + size], prediction_length=48)

        timed(f"tirex, {threads} threads, 48 steps, batches of {size}", run)


def timed_series() -> list[np.ndarray]:
    """A hundred series of two thousand hours."""
    base = {"length": 2000, "level": 500, "slope": 1, "period": 24, "amplitude": 6, "longer": 168, "step": 60, "noise": 20,
            "zeros": 0, "missing": 0, "gap": False, "exponent": 0}
    return [series(base | {"seed": 7919 * i + 1}) for i in range(100)]


def write_csv(path: Path) -> None:
    hours = np.datetime64("2024-01-01T00") + np.arange(2000).astype("timedelta64[h]")
    with path.open("w") as file:
        file.write("unique_id,ds,y\n")
        for i, y in enumerate(timed_series()):
            file.writelines(f"s{i:03},{hour}:00:00,{value:g}\n" for hour, value in zip(hours, y))


def timed(what: str, run) -> None:
    """Prints the seconds of a run, by the clock and of processors: the clock says little where others use the machine."""
    start, used = time.perf_counter(), time.process_time()
    run()
    print(f"{what}: {time.perf_counter() - start:.3f} s, {time.process_time() - used:.3f} s of processors", flush=True)


def measure_bolt(folder: Path, threads: int) -> None:
    torch.set_num_threads(threads)
    pipeline = bolt(folder, small=False)
    rows = torch.tensor(np.stack(timed_series()))
    for horizon in (48, 128):
        for size in (100, 10, 1):
            def run(size=size, horizon=horizon):
                for first in range(0, 100, size):
                    pipeline.predict(rows[first : first + size], prediction_length=horizon)

            timed(f"chronos-bolt-small, {threads} threads, {horizon} steps, batches of {size}", run)


def measure_chronos_2(folder: Path, threads: int) -> None:
    torch.set_num_threads(threads)
    write_chronos_2(folder, small=False)
    pipeline = chronos_2(folder, small=False)
    rows = torch.tensor(np.stack(timed_series()))[:, None]
    for size in (100, 10, 4, 1):
        def run(size=size):
            for first in range(0, 100, size):
                pipeline.predict(rows[first : first + size], prediction_length=48)

        timed(f"chronos-2, {threads} threads, 48 steps, batches of {size}", run)


def measure_timesfm(folder: Path, threads: int) -> None:
    from timesfm import ForecastConfig

    torch.set_num_threads(threads)
    write_timesfm(folder, small=False)
    package, _ = timesfm(folder, small=False)
    for size in (100, 10, 1):
        package.compile(ForecastConfig(
            max_context=2016, max_horizon=128, normalize_inputs=True, use_continuous_quantile_head=True, force_flip_invariance=True,
            infer_is_positive=True, per_core_batch_size=size))
        timed(f"timesfm 2.5, {threads} threads, 48 steps, batches of {size}", lambda: package.forecast(48, timed_series()))


def measure(threads: int) -> None:
    from fracast import FracastModel

    torch.set_num_threads(threads)
    rows = np.stack(timed_series())
    model = FracastModel.from_pretrained(weights="fp32")
    model.forecast(rows[0], horizon=48)
    for name, run in {
        "one batch": lambda: model.forecast_batch(rows, horizon=48),
        "batches of 10": lambda: [model.forecast_batch(rows[i : i + 10], horizon=48) for i in range(0, 100, 10)],
        "one by one": lambda: [model.forecast(row, horizon=48) for row in rows],
    }.items():
        for _ in range(3):
            timed(f"fracast, {threads} threads, {name}", run)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weights", type=Path)
    parser.add_argument("--csv", type=Path)
    parser.add_argument("--time", type=int)
    parser.add_argument("--bolt", type=Path)
    parser.add_argument("--chronos-2", type=Path)
    parser.add_argument("--timesfm", type=Path)
    parser.add_argument("--tirex", type=Path)
    arguments = parser.parse_args()
    if arguments.weights:
        from fracast.inference import _PACKAGE_WEIGHTS_DIR

        shutil.copytree(_PACKAGE_WEIGHTS_DIR, arguments.weights / "fracast", ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    elif arguments.csv:
        write_csv(arguments.csv)
    elif arguments.bolt:
        measure_bolt(arguments.bolt, arguments.time or 1)
    elif arguments.chronos_2:
        measure_chronos_2(arguments.chronos_2, arguments.time or 1)
    elif arguments.timesfm:
        measure_timesfm(arguments.timesfm, arguments.time or 1)
    elif arguments.tirex:
        measure_tirex(arguments.tirex, arguments.time or 1)
    elif arguments.time is not None:
        measure(arguments.time)
    else:
        write_fracast()
        write_bolt()
        write_chronos_2(OUT / "chronos2")
        write_timesfm(OUT / "timesfm")
        write_tirex(OUT / "tirex")


if __name__ == "__main__":
    main()
