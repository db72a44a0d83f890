"""The losses under the name of neuralforecast's module, so that ``from foretell.losses.pytorch import MAE`` is a changed import and
nothing more. None of them needs PyTorch."""

from foretell.losses._base import Loss, as_loss, loss_from_spec
from foretell.losses._distribution import GMM, NBMM, PMM, DistributionLoss
from foretell.losses._point import (
    MAE,
    MAPE,
    MASE,
    MSE,
    RMSE,
    SMAPE,
    Accuracy,
    BasePointLoss,
    FreDF,
    HuberLoss,
    TukeyLoss,
    relMSE,
)
from foretell.losses._quantile import (
    HuberIQLoss,
    HuberMQLoss,
    HuberQLoss,
    IQLoss,
    MQLoss,
    QuantileLayer,
    QuantileLoss,
    sCRPS,
)

__all__ = [
    "Loss",
    "as_loss",
    "loss_from_spec",
    "BasePointLoss",
    "MAE",
    "MSE",
    "RMSE",
    "MAPE",
    "SMAPE",
    "MASE",
    "relMSE",
    "QuantileLayer",
    "QuantileLoss",
    "MQLoss",
    "IQLoss",
    "DistributionLoss",
    "PMM",
    "GMM",
    "NBMM",
    "HuberLoss",
    "TukeyLoss",
    "HuberQLoss",
    "HuberMQLoss",
    "HuberIQLoss",
    "Accuracy",
    "sCRPS",
    "FreDF",
]
