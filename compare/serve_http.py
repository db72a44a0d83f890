"""The same forecasts behind FastAPI, by PyTorch or ONNX Runtime: what `foretell serve` is measured beside.

    python compare/serve_http.py torch DIR PORT
    python compare/serve_http.py onnx DIR PORT

DIR is a directory of `NeuralForecast.save` or `foretell fit` with one model of one series. `POST /v1/forecast` takes the JSON columns
that `foretell serve` takes, of series with integers as times, and answers with JSON columns. Packages beside those of neuralforecast:
fastapi, uvicorn, and for ONNX onnxruntime, onnx, onnxscript.
"""

import sys

import numpy as np
import torch
import uvicorn
from fastapi import FastAPI, Request
from neuralforecast import NeuralForecast

engine, directory, port = sys.argv[1:]
torch.set_num_threads(1)
model = NeuralForecast.load(directory).models[0].eval()
h, input_size = model.h, model.input_size


class Forecast(torch.nn.Module):
    """The forward pass of a window, scaled and scaled back."""

    def __init__(self):
        super().__init__()
        self.model = model

    def forward(self, insample_y):
        loc = insample_y.mean(1, keepdim=True)
        scale = insample_y.std(1, keepdim=True, correction=0)
        scaled = (insample_y - loc) / scale
        mask = torch.ones_like(scaled)
        batch = dict(insample_y=scaled.unsqueeze(-1), insample_mask=mask.unsqueeze(-1), hist_exog=None, futr_exog=None, stat_exog=None)
        return self.model(batch)[..., 0] * scale + loc


forecast = Forecast().eval()
if engine == "onnx":
    import onnxruntime

    path = f"/tmp/serve_http_{port}.onnx"
    torch.onnx.export(forecast, (torch.randn(1, input_size),), path, input_names=["y"], output_names=["f"], dynamo=True)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])

    def run(window):
        return session.run(["f"], {"y": window})[0]
else:

    def run(window):
        with torch.inference_mode():
            return forecast(torch.from_numpy(window)).numpy()


app = FastAPI()


@app.post("/v1/forecast")
async def answer(request: Request):
    data = (await request.json())["data"]
    by_id = {}
    for unique_id, ds, y in zip(data["unique_id"], data["ds"], data["y"]):
        by_id.setdefault(unique_id, []).append((ds, y))
    columns = {"unique_id": [], "ds": [], type(model).__name__: []}
    for unique_id, rows in by_id.items():
        rows.sort()
        window = np.zeros((1, input_size), dtype=np.float32)
        known = np.array([y for _, y in rows[-input_size:]], dtype=np.float32)
        window[0, input_size - len(known):] = known
        columns["unique_id"] += [unique_id] * h
        columns["ds"] += [rows[-1][0] + 1 + step for step in range(h)]
        columns[type(model).__name__] += run(window)[0].tolist()
    return {"columns": columns}


uvicorn.run(app, host="127.0.0.1", port=int(port), log_level="warning", access_log=False)
