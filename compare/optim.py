"""Optimiser and schedule fixtures, computed by PyTorch:

crates/optim/tests/fixtures/optimizers.json    parameters after some steps of each optimiser, clipped or not
crates/optim/tests/fixtures/schedules.json     rates of each schedule

README.md says how they are laid out.
"""

import json
import warnings

import torch
from common import fixtures, generator, one_thread
from torch.optim import lr_scheduler

PARAMETERS, STEPS, SHOWN = 24, 9, (1, 4, 9)

ADAM = dict(betas=[0.8, 0.95], eps=1e-6, weight_decay=0.1)
CYCLE = dict(max_lr=0.05, total_steps=STEPS, base_momentum=0.6, max_momentum=0.9)

# Optimiser, its arguments, how gradients are clipped, and a OneCycleLR if there is one.
OPTIMIZERS = [
    ("Adam", {}, None, None),
    ("Adam", ADAM, None, None),
    ("Adam", {}, dict(norm=1.0), None),
    ("Adam", {}, None, CYCLE),
    ("AdamW", {}, None, None),
    ("AdamW", ADAM, None, None),
    ("RAdam", {}, None, None),
    ("RAdam", ADAM, None, None),
    ("SGD", {}, None, None),
    ("SGD", dict(weight_decay=0.1), dict(value=0.5), None),
    ("SGD", dict(momentum=0.9), None, None),
    ("SGD", dict(momentum=0.9, dampening=0.3, weight_decay=0.1), None, None),
    ("SGD", dict(momentum=0.9, nesterov=True), None, None),
    ("SGD", {}, dict(norm=1.0), None),
    ("SGD", {}, dict(norm=1000.0), None),
    ("SGD", {}, None, CYCLE),
    ("RMSprop", {}, None, None),
    ("RMSprop", dict(alpha=0.9, eps=1e-4, weight_decay=0.1), None, None),
    ("RMSprop", dict(momentum=0.5), dict(value=0.5), None),
    ("RMSprop", dict(alpha=0.9), None, CYCLE),
    ("NAdam", {}, None, None),
    ("NAdam", ADAM | dict(momentum_decay=0.5), None, None),
    ("Adamax", {}, None, None),
    ("Adamax", ADAM, None, None),
    ("Adagrad", {}, None, None),
    ("Adagrad", dict(lr_decay=0.1, initial_accumulator_value=0.5, eps=1e-5, weight_decay=0.1), None, None),
    ("Adadelta", {}, None, None),
    ("Adadelta", dict(rho=0.8, eps=1e-3, weight_decay=0.1), None, None),
]

LOSSES = [3.0, 2.0, 2.5, 2.0, 1.9999, 1.5, 1.6, 1.7, 1.8, 1.55, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9]

SCHEDULES = [
    ("StepLR", dict(step_size=7)),
    ("StepLR", dict(step_size=1, gamma=0.9)),
    ("ExponentialLR", dict(gamma=0.8)),
    ("MultiStepLR", dict(milestones=[9, 4, 4, 15], gamma=0.5)),
    ("ConstantLR", {}),
    ("ConstantLR", dict(factor=0.2, total_iters=8)),
    ("LinearLR", {}),
    ("LinearLR", dict(start_factor=0.1, end_factor=0.5, total_iters=12)),
    ("PolynomialLR", {}),
    ("PolynomialLR", dict(total_iters=16, power=2.0)),
    ("CosineAnnealingWarmRestarts", dict(T_0=7)),
    ("CosineAnnealingWarmRestarts", dict(T_0=3, T_mult=2, eta_min=0.01)),
    ("CosineAnnealingLR", dict(T_max=20)),
    ("CosineAnnealingLR", dict(T_max=6, eta_min=0.01)),
    ("OneCycleLR", dict(max_lr=0.3, total_steps=21)),
    ("OneCycleLR", dict(max_lr=0.3, total_steps=21, pct_start=0.5, anneal_strategy="linear", div_factor=5.0, final_div_factor=10.0)),
    ("OneCycleLR", dict(max_lr=0.3, total_steps=21, three_phase=True, pct_start=0.4)),
    ("OneCycleLR", dict(max_lr=0.3, total_steps=21, three_phase=True, pct_start=0.4, anneal_strategy="linear", base_momentum=0.7, max_momentum=0.8)),
    ("OneCycleLR", dict(max_lr=0.3, total_steps=21, cycle_momentum=False, pct_start=0.0)),
    ("ReduceLROnPlateau", dict(patience=1)),
    ("ReduceLROnPlateau", dict(patience=0, factor=0.5, cooldown=2)),
    ("ReduceLROnPlateau", dict(patience=2, factor=0.3, threshold=0.2, threshold_mode="abs", min_lr=0.005)),
    ("ReduceLROnPlateau", dict(patience=0, factor=0.5, eps=0.02)),
]


def short(values, digits):
    return [float(f"{value:.{digits}g}") for value in values]


def optimizers():
    start = torch.randn(PARAMETERS, generator=generator("start"))
    gradients = torch.randn(STEPS, PARAMETERS, generator=generator("gradients"))
    cases = []
    for name, kwargs, clip, cycle in OPTIMIZERS:
        params = start.clone().requires_grad_()
        optimizer = getattr(torch.optim, name)([params], lr=0.02, **kwargs)
        scheduler = cycle and lr_scheduler.OneCycleLR(optimizer, **cycle)
        found = []
        for step, gradient in enumerate(gradients, 1):
            params.grad = gradient.clone()
            if clip and "norm" in clip:
                torch.nn.utils.clip_grad_norm_([params], clip["norm"])
            elif clip:
                torch.nn.utils.clip_grad_value_([params], clip["value"])
            optimizer.step()
            if scheduler:
                scheduler.step()
            if step in SHOWN:
                found.append(short(params.tolist(), 9))
        cases.append(dict(optimizer=name, kwargs=kwargs, clip=clip, cycle=cycle, params=found))
    write("optimizers.json", dict(
        lr=0.02, shown=SHOWN, start=short(start.tolist(), 9), gradients=[short(g.tolist(), 9) for g in gradients], cases=cases,
    ))


def schedules():
    cases = []
    for name, kwargs in SCHEDULES:
        optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.1, momentum=0.9)
        scheduler = getattr(lr_scheduler, name)(optimizer, **kwargs)
        group, rates, momenta = optimizer.param_groups[0], [], []
        for loss in LOSSES:
            rates.append(group["lr"])
            momenta.append(group["momentum"])
            optimizer.step()
            scheduler.step(*([loss] if name == "ReduceLROnPlateau" else []))
        cases.append(dict(scheduler=name, kwargs=kwargs, rates=short(rates, 15), momenta=short(momenta, 15)))
    write("schedules.json", dict(lr=0.1, losses=LOSSES, cases=cases))


def write(name, value):
    # One case a line: a change of one case is one line of a diff.
    line = lambda part: json.dumps(part, separators=(",", ":"), allow_nan=False)  # noqa: E731
    head = [f"{line(key)}:{line(part)}" for key, part in value.items() if key != "cases"]
    cases = ",\n".join(map(line, value["cases"]))
    (fixtures("optim") / name).write_text("{\n" + ",\n".join([*head, f'"cases":[\n{cases}\n]']) + "\n}\n")
    print(f"{name}: {len(value['cases'])} cases")


def main():
    one_thread()
    warnings.filterwarnings("ignore")
    optimizers()
    schedules()


if __name__ == "__main__":
    main()
