"""Models whose hyper-parameters are searched for, with neuralforecast's names, arguments and default spaces.

``AutoNHITS(h=12, num_samples=20)`` in the list of models of ``NeuralForecast`` tries 20 configurations when it is fitted, and forecasts by
the best. Neither Ray nor Optuna is needed; their spaces, searchers and samplers are taken where they are installed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from foretell import models as _models

# neuralforecast's module has the models' names, too, and users import them from here.
from foretell.models import (  # noqa: F401
    GRU, KAN, LSTM, MLP, NBEATS, NHITS, RNN, SOFTS, TCN, TFT, Autoformer, BiTCN, DeepAR, DeepNPTS, DilatedRNN, DLinear, FEDformer,
    Informer, MLPMultivariate, NBEATSx, NLinear, PatchTST, RMoK, SOFTSSharp, StemGNN, TiDE, TimeMixer, TimesNet, TimeXer, TSMixer,
    TSMixerx, VanillaTransformer, XLinear, iTransformer, xLSTM,
)  # fmt: skip
from foretell.auto._base import AutoModel, AutoMultivariate, BaseAuto
from foretell.auto._options import OptunaOptions, RayOptions
from foretell.auto._search import RandomSearch, Results, Trial
from foretell.losses import DistributionLoss, Loss, MQLoss


class AutoRNN(AutoModel, model=_models.RNN):
    """RNN with searched hyper-parameters."""


class AutoLSTM(AutoModel, model=_models.LSTM):
    """LSTM with searched hyper-parameters."""


class AutoGRU(AutoModel, model=_models.GRU):
    """GRU with searched hyper-parameters."""


class AutoTCN(AutoModel, model=_models.TCN):
    """TCN with searched hyper-parameters."""


class AutoDeepAR(AutoModel, model=_models.DeepAR):
    """DeepAR with searched hyper-parameters."""

    def __init__(
        self,
        h: int,
        loss: Loss = DistributionLoss("StudentT", level=[80, 90], return_params=False),
        valid_loss: Loss | None = MQLoss(level=[80, 90]),
        config: Any = None,
        search_alg: Any = None,
        num_samples: int = 10,
        time_budget: float | None = None,
        refit_with_val: bool = False,
        cpus: int | None = None,
        gpus: float | None = None,
        verbose: bool = False,
        alias: str | None = None,
        backend: str = "ray",
        callbacks: list[Any] | None = None,
        ray_options: RayOptions | None = None,
        optuna_options: OptunaOptions | None = None,
    ) -> None:
        super().__init__(
            h, loss, valid_loss, config, search_alg, num_samples, time_budget, refit_with_val, cpus, gpus, verbose, alias, backend,
            callbacks, ray_options, optuna_options,
        )  # fmt: skip


class AutoDilatedRNN(AutoModel, model=_models.DilatedRNN):
    """DilatedRNN with searched hyper-parameters."""


class AutoxLSTM(AutoModel, model=_models.xLSTM):
    """xLSTM with searched hyper-parameters."""


class AutoBiTCN(AutoModel, model=_models.BiTCN):
    """BiTCN with searched hyper-parameters."""


class AutoMLP(AutoModel, model=_models.MLP):
    """MLP with searched hyper-parameters."""


class AutoNBEATS(AutoModel, model=_models.NBEATS):
    """NBEATS with searched hyper-parameters."""


class AutoNBEATSx(AutoModel, model=_models.NBEATSx):
    """NBEATSx with searched hyper-parameters."""


class AutoNHITS(AutoModel, model=_models.NHITS):
    """NHITS with searched hyper-parameters."""


class AutoDLinear(AutoModel, model=_models.DLinear):
    """DLinear with searched hyper-parameters."""


class AutoNLinear(AutoModel, model=_models.NLinear):
    """NLinear with searched hyper-parameters."""


class AutoTiDE(AutoModel, model=_models.TiDE):
    """TiDE with searched hyper-parameters."""


class AutoDeepNPTS(AutoModel, model=_models.DeepNPTS):
    """DeepNPTS with searched hyper-parameters."""


class AutoKAN(AutoModel, model=_models.KAN):
    """KAN with searched hyper-parameters."""


class AutoTFT(AutoModel, model=_models.TFT):
    """TFT with searched hyper-parameters."""


class AutoVanillaTransformer(AutoModel, model=_models.VanillaTransformer):
    """VanillaTransformer with searched hyper-parameters."""


class AutoInformer(AutoModel, model=_models.Informer):
    """Informer with searched hyper-parameters."""


class AutoAutoformer(AutoModel, model=_models.Autoformer):
    """Autoformer with searched hyper-parameters."""


class AutoFEDformer(AutoModel, model=_models.FEDformer):
    """FEDformer with searched hyper-parameters."""


class AutoPatchTST(AutoModel, model=_models.PatchTST):
    """PatchTST with searched hyper-parameters."""


class AutoTimesNet(AutoModel, model=_models.TimesNet):
    """TimesNet with searched hyper-parameters."""


class AutoiTransformer(AutoMultivariate, model=_models.iTransformer):
    """iTransformer with searched hyper-parameters."""


class AutoTimeXer(AutoMultivariate, model=_models.TimeXer):
    """TimeXer with searched hyper-parameters."""


class AutoStemGNN(AutoMultivariate, model=_models.StemGNN):
    """StemGNN with searched hyper-parameters."""


class AutoTSMixer(AutoMultivariate, model=_models.TSMixer):
    """TSMixer with searched hyper-parameters."""


class AutoTSMixerx(AutoMultivariate, model=_models.TSMixerx):
    """TSMixerx with searched hyper-parameters."""


class AutoMLPMultivariate(AutoMultivariate, model=_models.MLPMultivariate):
    """MLPMultivariate with searched hyper-parameters."""


class AutoSOFTS(AutoMultivariate, model=_models.SOFTS):
    """SOFTS with searched hyper-parameters."""


class AutoSOFTSSharp(AutoMultivariate, model=_models.SOFTSSharp):
    """SOFTSSharp with searched hyper-parameters."""


class AutoTimeMixer(AutoMultivariate, model=_models.TimeMixer):
    """TimeMixer with searched hyper-parameters."""


class AutoRMoK(AutoMultivariate, model=_models.RMoK):
    """RMoK with searched hyper-parameters."""


class AutoXLinear(AutoMultivariate, model=_models.XLinear):
    """XLinear with searched hyper-parameters."""


class AutoHINT(BaseAuto):
    """A network with searched hyper-parameters whose forecasts add up, as those of :class:`foretell.models.HINT`.

    ``config`` has "reconciliation" beside what the network has, such as ``tune.choice(["BottomUp", "MinTraceOLS"])``. Configurations are
    compared by the losses of the network, which reconciliation does not change.
    """

    def __init__(
        self,
        cls_model: type[Any],
        h: int,
        loss: Loss,
        valid_loss: Loss | None,
        S: Any,
        config: Any,
        search_alg: Any = None,
        num_samples: int = 10,
        time_budget: float | None = None,
        refit_with_val: bool = False,
        cpus: int | None = None,
        gpus: float | None = None,
        verbose: bool = False,
        alias: str | None = None,
        backend: str = "ray",
        callbacks: list[Any] | None = None,
        ray_options: RayOptions | None = None,
        optuna_options: OptunaOptions | None = None,
    ) -> None:
        if backend != "ray":
            raise ValueError('AutoHINT takes a dictionary: leave backend="optuna" out')
        if "reconciliation" not in config:
            raise ValueError("config needs reconciliation, try tune.choice(['BottomUp', 'MinTraceOLS', 'MinTraceWLS'])")
        super().__init__(
            cls_model, h, loss, valid_loss, config, search_alg, num_samples, time_budget, refit_with_val, verbose, alias, backend,
            callbacks, ray_options, optuna_options, cpus, gpus,
        )  # fmt: skip
        self.S = S

    def make(self, config: Mapping[str, Any]) -> Any:
        """The network of a configuration."""
        return super().make({name: value for name, value in config.items() if name != "reconciliation"})

    def _best_model(self, config: Mapping[str, Any]) -> Any:
        return _models.HINT(self.h, self.S, self.make(config), config["reconciliation"], alias=repr(self))

    def hierarchy(self, ids: Sequence[Any]) -> tuple[list[str], list[str], list[float], str] | None:
        """What forecasts add up by, after a search."""
        found: tuple[list[str], list[str], list[float], str] | None = self.model.hierarchy(ids)
        return found


__all__ = [
    "AutoRNN", "AutoLSTM", "AutoGRU", "AutoTCN", "AutoDeepAR", "AutoDilatedRNN", "AutoBiTCN", "AutoxLSTM",
    "AutoMLP", "AutoNBEATS", "AutoNBEATSx", "AutoNHITS", "AutoDLinear", "AutoNLinear", "AutoTiDE", "AutoDeepNPTS", "AutoKAN",
    "AutoTFT", "AutoVanillaTransformer", "AutoInformer", "AutoAutoformer", "AutoFEDformer", "AutoPatchTST", "AutoiTransformer",
    "AutoTimeXer", "AutoTimesNet", "AutoStemGNN", "AutoHINT", "AutoTSMixer", "AutoTSMixerx", "AutoMLPMultivariate", "AutoSOFTS",
    "AutoSOFTSSharp", "AutoTimeMixer", "AutoRMoK", "AutoXLinear", "BaseAuto", "RayOptions", "OptunaOptions", "RandomSearch", "Results",
    "Trial",
]  # fmt: skip
