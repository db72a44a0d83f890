"""crates/amp/tests/fixtures/grad_scaler.json: torch.amp.GradScaler over steps with and without overflows.

README.md says how it is laid out.
"""

import json

import torch
from common import fixtures, generator, one_thread

STEPS = 60

# Its arguments, and the share of steps whose gradient overflows.
CASES = [
    ({}, 0.0),
    ({}, 0.3),
    (dict(init_scale=1024.0, growth_interval=4), 0.1),
    (dict(init_scale=3.0, growth_factor=1.7, backoff_factor=0.3, growth_interval=2), 0.2),
    (dict(init_scale=2.0**120, growth_interval=1), 0.0),
    (dict(growth_factor=1.1, backoff_factor=0.9, growth_interval=3), 0.5),
]


def case(arguments, share):
    scaler = torch.amp.GradScaler("cpu", **arguments)
    weight = torch.zeros(3, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=1.0)
    random = generator("grad_scaler", json.dumps(arguments))
    steps = []
    for _ in range(STEPS):
        scale = scaler.get_scale() if scaler._scale is not None else scaler._init_scale
        overflows = bool(torch.rand((), generator=random) < share)
        with torch.no_grad():
            weight.zero_()
        optimizer.zero_grad()
        scaler.scale(weight.sum()).backward()
        # The derivative of the scaled loss by each weight is the scale.
        if overflows:
            weight.grad[1] = float("inf") if torch.rand((), generator=random) < 0.5 else float("nan")
        scaler.step(optimizer)
        scaler.update()
        taken = bool(weight.detach().ne(0).any())
        steps.append([scale, overflows, taken, scaler.get_scale()])
    return dict(arguments=arguments, steps=steps)


def main():
    one_thread()
    cases = [case(*each) for each in CASES]
    lines = ",\n".join(json.dumps(each, separators=(",", ":"), allow_nan=False) for each in cases)
    (fixtures("amp") / "grad_scaler.json").write_text(f"[\n{lines}\n]\n")
    print(f"grad_scaler.json: {len(cases)} cases")


if __name__ == "__main__":
    main()
