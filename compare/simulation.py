"""Sample paths by neuralforecast's simulate, of draws that are kept, beside which foretell-simulation is tested."""

import json

import torch
from common import fixtures
from neuralforecast.utils import estimate_ar1_rho, gaussian_copula_sample, schaake_shuffle_sample

SERIES, HORIZON, PATHS, SEED = 3, 6, 12, 7


def draws():
    """The numbers that each method draws first."""
    normals = torch.randn(SERIES, HORIZON, PATHS, dtype=torch.float64, generator=torch.Generator().manual_seed(SEED))
    levels = torch.tensor([0.05, 0.2, 0.5, 0.8, 0.95], dtype=torch.float64)
    generator = torch.Generator().manual_seed(SEED)
    uniforms = torch.empty(SERIES, HORIZON, PATHS, dtype=torch.float64)
    uniforms.uniform_(levels[0].item(), levels[-1].item(), generator=generator)
    return levels, normals, uniforms, generator


def main():
    levels, normals, uniforms, generator = draws()
    own = torch.Generator().manual_seed(1)
    values = torch.randn(SERIES, HORIZON, len(levels), dtype=torch.float64, generator=own).cumsum(1).sort(-1).values
    # The second has fewer stretches than paths, and values that are not known.
    steps = [torch.arange(n, dtype=torch.float64) for n in (60, 15, 40)]
    history = [torch.sin(t * 0.7) + 0.3 * torch.randn(len(t), dtype=torch.float64, generator=own) for t in steps]
    history[1][4] = torch.nan
    starts = []
    for y in history:
        most = int((~torch.isnan(y)).sum()) - HORIZON + 1
        few = most < PATHS
        starts.append(torch.randint(0, most, (PATHS,), generator=generator) if few else torch.randperm(most, generator=generator)[:PATHS])
    fixture = {
        "levels": levels.tolist(),
        "values": values.tolist(),
        "history": [y[~torch.isnan(y)].tolist() for y in history],
        "correlations": [estimate_ar1_rho(y).item() for y in history],
        "normals": normals.tolist(),
        # Between 0 and 1.
        "uniforms": ((uniforms - levels[0]) / (levels[-1] - levels[0])).tolist(),
        "starts": [s.tolist() for s in starts],
        "gaussian_copula": gaussian_copula_sample(levels, values, history, PATHS, SEED).tolist(),
        "schaake_shuffle": schaake_shuffle_sample(levels, values, history, PATHS, SEED).tolist(),
    }
    (fixtures("simulation") / "paths.json").write_text(json.dumps(fixture) + "\n")


if __name__ == "__main__":
    main()
