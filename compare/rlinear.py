"""RLinear in PyTorch: what crates/models/src/linear/rlinear.rs computes. neuralforecast has no such model, so this one is its
judge, written with neuralforecast's own base class and normalisation."""

import torch.nn as nn
from lstm_attention import COMMON
from neuralforecast.common._base_model import BaseModel
from neuralforecast.common._modules import RevIN
from neuralforecast.losses.pytorch import MAE


class RLinear(BaseModel):
    EXOGENOUS_FUTR = False
    EXOGENOUS_HIST = False
    EXOGENOUS_STAT = False
    EXOGENOUS_CAT = False
    MULTIVARIATE = False
    RECURRENT = False

    def __init__(self, h, input_size, revin_affine=True, revin_subtract_last=False, dropout=0.0, loss=MAE(), **common):
        super().__init__(h=h, input_size=input_size, loss=loss, **COMMON | common)
        self.norm = RevIN(1, affine=revin_affine, subtract_last=revin_subtract_last)
        self.dropout = nn.Dropout(dropout)
        self.linear = nn.Linear(input_size, h * self.loss.outputsize_multiplier)

    def forward(self, windows_batch):
        y = self.dropout(self.norm(windows_batch["insample_y"], "norm"))  # [B, L, 1]
        forecast = self.linear(y.squeeze(-1)).reshape(len(y), self.h, -1)
        return self.norm(forecast, "denorm")
