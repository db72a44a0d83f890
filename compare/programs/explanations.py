"""Contributions of inputs to forecasts."""

from neuralforecast import NeuralForecast
from neuralforecast.losses.pytorch import MQLoss
from neuralforecast.models import MLP, NHITS
from neuralforecast.utils import AirPassengersPanel, AirPassengersStatic

train = AirPassengersPanel[AirPassengersPanel.ds < AirPassengersPanel["ds"].values[-12]]
test = AirPassengersPanel[AirPassengersPanel.ds >= AirPassengersPanel["ds"].values[-12]].reset_index(drop=True)
models = [
    NHITS(h=12, input_size=24, futr_exog_list=["trend"], hist_exog_list=["y_[lag12]"], stat_exog_list=["airline1"], max_steps=3),
    MLP(h=12, input_size=24, hidden_size=8, max_steps=3, loss=MQLoss(level=[80])),
]
nf = NeuralForecast(models=models, freq="ME")
nf.fit(df=train, static_df=AirPassengersStatic)


def told(explanations):
    for model, parts in explanations.items():
        shapes = {name: None if part is None else tuple(part.shape) for name, part in parts.items()}
        show(model, sorted(shapes.items()))


for explainer in ("IntegratedGradients", "InputXGradient", "ShapleyValueSampling"):
    fcst, explanations = nf.explain(futr_df=test, static_df=AirPassengersStatic, horizons=[0, 11], explainer=explainer, verbose=False)
    show("forecasts " + explainer, fcst)
    told(explanations)
show("outputs of one model", lambda: nf.explain(futr_df=test, outputs=[0, 1], series=[0], verbose=False))
show("a horizon beyond", lambda: nf.explain(futr_df=test, horizons=[12], verbose=False))
show("an output beyond", lambda: nf.explain(futr_df=test, outputs=[7], verbose=False))
show("another", lambda: nf.explain(futr_df=test, explainer="Lime", verbose=False))
