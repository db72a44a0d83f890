"""Write the spaces that neuralforecast's Auto models search, for ours: python compare/spaces.py

Each hyper-parameter has the words of `foretell tune --space`, with a horizon of 7. An input size below 1 stands for 3 times the horizon in
neuralforecast, as -1 does in ours; -7 is -1 times the horizon, and written as -1.
"""

import inspect
import json

import neuralforecast.auto as auto
from common import fixtures
from ray.tune.search.sample import Categorical, Float, Integer

H = 7


def words(domain):
    """A domain of ray's in the words of --space; ray's integers leave out their upper end."""
    if isinstance(domain, Categorical):
        return [-1 if value == -H else value for value in domain.categories]
    if isinstance(domain, Integer):
        return f"int:{domain.lower}:{domain.upper - 1}"
    assert isinstance(domain, Float), domain
    ends = f"{domain.lower:g}:{domain.upper:g}"
    sampler = domain.get_sampler()
    step = getattr(sampler, "q", None)
    if step is not None:
        return f"quniform:{ends}:{step:g}"
    return ("loguniform:" if type(sampler).__name__ == "_LogUniform" else "uniform:") + ends


def space(model):
    takes_series = "n_series" in model.default_config
    config = model.get_default_config(h=H, backend="ray", **({"n_series": 2} if takes_series else {}))
    return {name: words(domain) for name, domain in config.items() if domain is not None}


def main():
    classes = [value for name, value in vars(auto).items()
               if name.startswith("Auto") and inspect.isclass(value) and hasattr(value, "default_config")]
    spaces = {model.__name__.removeprefix("Auto"): space(model) for model in classes}
    lines = (f"{json.dumps(name)}: {json.dumps(found)}" for name, found in sorted(spaces.items()))
    (fixtures("tuning") / "spaces.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
