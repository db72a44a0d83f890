"""Losses of distributions, quantiles and mixtures, and the columns that they give."""

from neuralforecast import NeuralForecast
from neuralforecast.losses.pytorch import GMM, NBMM, PMM, DistributionLoss, HuberMQLoss, IQLoss, MQLoss, QuantileLoss
from neuralforecast.models import DeepAR, LSTM, MLP, NHITS
from neuralforecast.utils import AirPassengersPanel

df = AirPassengersPanel[["unique_id", "ds", "y"]]
shared = dict(h=12, input_size=24, max_steps=2)
losses = {
    "Normal": DistributionLoss("Normal", level=[80, 90]),
    "StudentT": DistributionLoss("StudentT", quantiles=[0.1, 0.9], return_params=True),
    "Poisson": DistributionLoss("Poisson", level=[90], return_params=True),
    "NegativeBinomial": DistributionLoss("NegativeBinomial", level=[80]),
    "Bernoulli": DistributionLoss("Bernoulli"),
    "Tweedie": DistributionLoss("Tweedie", level=[80], rho=1.5),
    "GMM": GMM(n_components=2, level=[80], return_params=True),
    "PMM": PMM(n_components=3, level=[80]),
    "NBMM": NBMM(n_components=2, quantiles=[0.5, 0.9], weighted=True),
    "MQLoss": MQLoss(level=[80, 90]),
    "MQLoss of quantiles": MQLoss(quantiles=[0.1, 0.5, 0.99]),
    "HuberMQLoss": HuberMQLoss(level=[80.5], delta=0.5),
    "QuantileLoss": QuantileLoss(0.9),
    "sorted": MQLoss(level=[90, 80]),
}
for name, loss in losses.items():
    show("names of " + name, loss.outputsize_multiplier, list(loss.output_names))
    if name == "Bernoulli":
        continue
    nf = NeuralForecast(models=[MLP(hidden_size=8, loss=loss, scaler_type="standard", **shared)], freq="ME")
    nf.fit(df)
    show(name, nf.predict())
    show("levels of " + name, lambda: nf.predict(level=[60]))
    show("quantiles of " + name, lambda: nf.predict(quantiles=[0.1, 0.3]))
nf = NeuralForecast(models=[NHITS(loss=IQLoss(), **shared)], freq="ME")
nf.fit(df)
show("implicit", nf.predict())
show("implicit quantiles", nf.predict(quantiles=[0.05, 0.95]))
show("implicit levels", nf.predict(level=[80]))
recurrent = NeuralForecast(
    models=[
        DeepAR(trajectory_samples=10, lstm_hidden_size=8, **shared),
        LSTM(encoder_hidden_size=8, decoder_hidden_size=8, loss=DistributionLoss("Normal", level=[80]), recurrent=True, **shared),
    ],
    freq="ME",
)
recurrent.fit(df)
show("recurrent", recurrent.predict())
show("further", recurrent.predict(h=18))
show("another distribution", lambda: DistributionLoss("Cauchy"))
show("levels and quantiles", lambda: MQLoss(level=[80], quantiles=[0.1]).output_names)
show("quantile above 1", lambda: MQLoss(quantiles=[0.5, 1.5]).output_names)
show("valid loss", lambda: MLP(loss=MQLoss(), valid_loss=QuantileLoss(0.5), **shared))
