"""Losses of distributions: the negative log-likelihood of the values by a distribution or a mixture of some."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from foretell.losses._base import Loss, names_of_quantiles, quantiles_of_level


class _Likelihood(Loss):
    """A model whose outputs are a distribution's parameters; forecasts are its mean, its quantiles and, on request, these."""

    is_distribution_output: ClassVar[bool] = True

    def __init__(
        self,
        level: Sequence[float],
        quantiles: Sequence[float] | None,
        num_samples: int,
        return_params: bool,
        horizon_weight: Sequence[float] | None,
    ) -> None:
        found, names = quantiles_of_level(level) if quantiles is None else names_of_quantiles(quantiles)
        super().__init__(horizon_weight, None, None)
        self.quantiles, self._names = found, names
        self.level = list(level) if quantiles is None else None
        self.num_samples, self.return_params = num_samples, return_params

    def _outputs(self, param_names: list[str]) -> None:
        """Names the outputs: the mean, the quantiles and, if they are to be returned, the parameters."""
        self.param_names = param_names
        self.outputsize_multiplier = len(param_names)
        self.output_names = ["", *self._names, *(param_names if self.return_params else [])]

    def _given(self) -> dict[str, Any]:
        """The arguments that all distributions have, where they are not the defaults."""
        given: dict[str, Any] = {}
        if self.level is None:
            given["quantiles"] = self.quantiles
        elif self.level != [80, 90]:
            given["level"] = self.level
        if self.num_samples != 1000:
            given["num_samples"] = self.num_samples
        if self.return_params:
            given["return_params"] = True
        return given


#: The distributions with the suffixes of their parameters; those of ISQF depend on its quantiles.
DISTRIBUTIONS: dict[str, list[str]] = {
    "Bernoulli": ["-logits"],
    "Normal": ["-loc", "-scale"],
    "Poisson": ["-loc"],
    "StudentT": ["-df", "-loc", "-scale"],
    "NegativeBinomial": ["-total_count", "-logits"],
    "Tweedie": ["-log_mu"],
    "ISQF": [],
}


class DistributionLoss(_Likelihood):
    """The negative log-likelihood of the values by a distribution.

    Args:
        distribution: "Bernoulli", "Normal", "Poisson", "StudentT", "NegativeBinomial", "Tweedie" or "ISQF" (Park et al. 2022).
        level: The percentages of the central intervals that are forecast; the median comes with them.
        quantiles: The quantiles that are forecast, instead of ``level``.
        num_samples: The samples that quantiles without a formula (Tweedie's) are taken from.
        return_params: Whether the distribution's parameters are forecast, too.
        horizon_weight: The weight of each step, ``h`` numbers of at least 0; None for equal ones.
        **distribution_kwargs: The distribution's own: ``rho`` of Tweedie, between 1 and 2; ``num_pieces`` of ISQF.
    """

    def __init__(
        self,
        distribution: str,
        level: Sequence[float] = [80, 90],
        quantiles: Sequence[float] | None = None,
        num_samples: int = 1000,
        return_params: bool = False,
        horizon_weight: Sequence[float] | None = None,
        **distribution_kwargs: Any,
    ) -> None:
        if distribution not in DISTRIBUTIONS:
            raise ValueError(f"there is no distribution {distribution!r}: expected one of {', '.join(DISTRIBUTIONS)}")
        if distribution == "Tweedie" and "rho" not in distribution_kwargs:
            raise ValueError("the Tweedie distribution needs rho, between 1 and 2: DistributionLoss('Tweedie', rho=1.5)")
        if return_params and distribution in ("Tweedie", "ISQF"):
            raise ValueError(f"return_params must be False for {distribution}: its parameters are no columns")
        super().__init__(level, None if quantiles is None else sorted(quantiles), num_samples, return_params, horizon_weight)
        self.distribution, self.distribution_kwargs = distribution, dict(distribution_kwargs)
        self._outputs(self._isqf_names() if distribution == "ISQF" else DISTRIBUTIONS[distribution])
        self._record(distribution=distribution, **self._given(), **self.distribution_kwargs)

    def _isqf_names(self) -> list[str]:
        """The parameters of an incremental spline of quantiles: knots and heights of each piece, both tails, the quantiles."""
        pieces = (len(self.quantiles) - 1) * int(self.distribution_kwargs.get("num_pieces", 5))
        numbered = [("-spline_knot", pieces), ("-spline_height", pieces), ("-beta", 0), ("-quantile_knot", len(self.quantiles))]
        tails = {"-beta": ["-beta_l", "-beta_r"]}
        return [name for stem, n in numbered for name in tails.get(stem, [f"{stem}_{i + 1}" for i in range(n)])]


class _Mixture(_Likelihood):
    """A mixture of ``n_components`` distributions of one kind, with equal weights or learnt ones."""

    _stems: ClassVar[tuple[str, ...]] = ()
    _default_components: ClassVar[int] = 1

    def _finish(self, n_components: int, weighted: bool, **correlations: bool) -> None:
        self.n_components, self.weighted = n_components, weighted
        self.n_outputs = len(self._stems) + weighted
        stems = self._stems + ("-weight",) * weighted
        self._outputs([f"{stem}-{i + 1}" for i in range(n_components) for stem in stems])
        given = self._given()
        if n_components != self._default_components:
            given["n_components"] = n_components
        if weighted:
            given["weighted"] = True
        for name, value in correlations.items():
            setattr(self, name, value)
            if value:
                given[name] = True
        self._record(**given)


class PMM(_Mixture):
    """The negative log-likelihood of a mixture of Poisson distributions.

    Args:
        n_components: The distributions of the mixture.
        level: The percentages of the central intervals that are forecast; the median comes with them.
        quantiles: The quantiles that are forecast, instead of ``level``.
        num_samples: Not used: quantiles are those of the mixture.
        return_params: Whether the parameters are forecast, too.
        batch_correlation: Must be False; foretell refuses it.
        horizon_correlation: Whether all steps of a window are of the same component.
        weighted: Whether the components' weights are learnt; equal ones otherwise.
    """

    _stems = ("-lambda",)
    _default_components = 10

    def __init__(
        self,
        n_components: int = 10,
        level: Sequence[float] = [80, 90],
        quantiles: Sequence[float] | None = None,
        num_samples: int = 1000,
        return_params: bool = False,
        batch_correlation: bool = False,
        horizon_correlation: bool = False,
        weighted: bool = False,
    ) -> None:
        super().__init__(level, quantiles, num_samples, return_params, None)
        self._finish(n_components, weighted, batch_correlation=batch_correlation, horizon_correlation=horizon_correlation)


class GMM(_Mixture):
    """The negative log-likelihood of a mixture of normal distributions.

    Args:
        n_components: The distributions of the mixture.
        level: The percentages of the central intervals that are forecast; the median comes with them.
        quantiles: The quantiles that are forecast, instead of ``level``.
        num_samples: Not used: quantiles are those of the mixture.
        return_params: Whether the parameters are forecast, too.
        batch_correlation: Must be False; foretell refuses it.
        horizon_correlation: Whether all steps of a window are of the same component.
        weighted: Whether the components' weights are learnt; equal ones otherwise.
    """

    _stems = ("-mu", "-std")

    def __init__(
        self,
        n_components: int = 1,
        level: Sequence[float] = [80, 90],
        quantiles: Sequence[float] | None = None,
        num_samples: int = 1000,
        return_params: bool = False,
        batch_correlation: bool = False,
        horizon_correlation: bool = False,
        weighted: bool = False,
    ) -> None:
        super().__init__(level, quantiles, num_samples, return_params, None)
        self._finish(n_components, weighted, batch_correlation=batch_correlation, horizon_correlation=horizon_correlation)


class NBMM(_Mixture):
    """The negative log-likelihood of a mixture of negative binomial distributions.

    Args:
        n_components: The distributions of the mixture.
        level: The percentages of the central intervals that are forecast; the median comes with them.
        quantiles: The quantiles that are forecast, instead of ``level``.
        num_samples: Not used: quantiles are those of the mixture.
        return_params: Whether the parameters are forecast, too.
        weighted: Whether the components' weights are learnt; equal ones otherwise.
    """

    _stems = ("-total_count", "-probs")

    def __init__(
        self,
        n_components: int = 1,
        level: Sequence[float] = [80, 90],
        quantiles: Sequence[float] | None = None,
        num_samples: int = 1000,
        return_params: bool = False,
        weighted: bool = False,
    ) -> None:
        super().__init__(level, quantiles, num_samples, return_params, None)
        self._finish(n_components, weighted)
