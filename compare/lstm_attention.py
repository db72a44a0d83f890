"""LSTM-Attention in PyTorch: what crates/models/src/recurrent/lstm_attention.rs computes. neuralforecast has no such model, so
this one is its judge, written with neuralforecast's own base class, attention and perceptron."""

import torch
import torch.nn as nn
from neuralforecast.common._base_model import BaseModel
from neuralforecast.common._modules import MLP, AttentionLayer, FullAttention
from neuralforecast.losses.pytorch import MAE

# What the base class has no defaults for.
COMMON = dict(
    valid_loss=None,
    learning_rate=1e-3,
    max_steps=1000,
    val_check_steps=100,
    batch_size=32,
    valid_batch_size=None,
    windows_batch_size=128,
    inference_windows_batch_size=1024,
    start_padding_enabled=False,
    scaler_type="robust",
)


class LSTMAttention(BaseModel):
    EXOGENOUS_FUTR = True
    EXOGENOUS_HIST = True
    EXOGENOUS_STAT = True
    EXOGENOUS_CAT = True
    MULTIVARIATE = False
    RECURRENT = False

    def __init__(
        self,
        h,
        input_size,
        encoder_n_layers=2,
        encoder_hidden_size=128,
        encoder_dropout=0.0,
        n_head=4,
        attn_dropout=0.0,
        dropout=0.0,
        decoder_hidden_size=128,
        decoder_layers=2,
        decoder_activation="ReLU",
        loss=MAE(),
        **common,
    ):
        super().__init__(h=h, input_size=input_size, loss=loss, **COMMON | common)
        hidden = encoder_hidden_size
        columns = 1 + self.hist_exog_size + self.stat_exog_size + self.futr_exog_size
        self.hist_encoder = nn.LSTM(columns, hidden, encoder_n_layers, dropout=encoder_dropout, batch_first=True)
        self.horizon_embedding = nn.Parameter(torch.empty(h, hidden).uniform_(-(hidden**-0.5), hidden**-0.5))
        if self.futr_exog_size:
            self.futr_embedding = nn.Linear(self.futr_exog_size, hidden, bias=False)
        self.attention = AttentionLayer(FullAttention(False, attention_dropout=attn_dropout), hidden, n_head)
        self.norm = nn.LayerNorm(hidden)
        self.dropout = nn.Dropout(dropout)
        self.mlp_decoder = MLP(
            in_features=hidden + self.futr_exog_size,
            out_features=self.loss.outputsize_multiplier,
            hidden_size=decoder_hidden_size,
            num_layers=decoder_layers,
            activation=decoder_activation,
            dropout=dropout,
        )

    def forward(self, windows_batch):
        y, hist, futr, stat = (windows_batch[key] for key in ("insample_y", "hist_exog", "futr_exog", "stat_exog"))
        parts, ahead = [y], None
        if hist is not None:
            parts.append(hist)
        if stat is not None:
            parts.append(stat[:, None].expand(-1, self.input_size, -1))
        if futr is not None:
            parts.append(futr[:, : self.input_size])
            ahead = futr[:, -self.h :]
        states, _ = self.hist_encoder(torch.cat(parts, dim=2))  # [B, L, hidden]

        queries = states[:, -1:] + self.horizon_embedding  # [B, h, hidden]
        if ahead is not None:
            queries = queries + self.futr_embedding(ahead)
        read, _ = self.attention(queries, states, states, attn_mask=None)
        known = self.norm(queries + self.dropout(read))
        return self.mlp_decoder(known if ahead is None else torch.cat([known, ahead], dim=2))
