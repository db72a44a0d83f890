"""Signals, threads, forks, warnings: what the interpreter expects of a module."""

import os
import pathlib
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

from foretell import NeuralForecast
from foretell.models import NLinear


def endless():
    return NLinear(h=12, input_size=24, max_steps=100_000_000)


@pytest.fixture
def interruptible():
    """Ctrl-C as in a session, also where the tests run in the background of a shell, which has its processes ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_ends_a_training_and_keeps_what_was_trained(panel, interruptible, tmp_path):
    def interrupt():
        # Once a state is kept, steps have been taken.
        while not any((tmp_path / "state").glob("training-*.safetensors")):
            time.sleep(0.005)
        os.kill(os.getpid(), signal.SIGINT)

    nf = NeuralForecast([endless()], freq="ME")
    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        nf.fit(panel, checkpoint=tmp_path / "state", checkpoint_every=5)
    thread.join()
    assert len(nf.predict()) == 24
    assert "of 100000000 of NLinear" in nf._engine.interruption


def test_other_threads_run_during_a_training(panel):
    counted, done = 0, threading.Event()
    nf = NeuralForecast([NLinear(h=12, input_size=24, max_steps=2000)], freq="ME")

    def train():
        nf.fit(panel)
        done.set()

    thread = threading.Thread(target=train)
    thread.start()
    while not done.is_set():
        counted += 1
        time.sleep(0.001)
    thread.join()
    # A call that kept the lock would leave room for one or two.
    assert counted > 10


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_forecasts_and_trainings_work_after_a_fork():
    script = """
        import os, sys
        from foretell import NeuralForecast
        from foretell.models import NHITS
        from foretell.utils import AirPassengersPanel
        def fitted():
            nf = NeuralForecast([NHITS(h=12, input_size=24, max_steps=3, windows_batch_size=512)], freq="ME", threads=2)
            nf.fit(AirPassengersPanel)
            return nf
        nf = fitted()
        expected = nf.predict()
        child = os.fork()
        if child == 0:
            same = nf.predict().equals(expected) and fitted().predict().equals(expected)
            os._exit(0 if same else 1)
        _, status = os.waitpid(child, 0)
        assert nf.predict().equals(expected)
        sys.exit(os.waitstatus_to_exitcode(status))
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_progress_is_told_now_and_then(panel, monkeypatch):
    tqdm = pytest.importorskip("tqdm.auto")
    bars = []

    class Bar(tqdm.tqdm):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            bars.append(self)

    monkeypatch.setattr(tqdm, "tqdm", Bar)
    NeuralForecast([NLinear(h=12, input_size=24, max_steps=3000)], freq="ME").fit(panel, verbose=True)
    assert [bar.desc for bar in bars] == ["NLinear"] and 0 < bars[0].n <= 3000


def test_warnings_are_those_of_python(panel):
    nf = NeuralForecast([NLinear(h=12, input_size=24, max_steps=2)], freq="ME")
    nf.fit(panel)
    short = panel.groupby("unique_id").tail(5)
    with pytest.warns(UserWarning, match="fewer rows than input_size = 24") as told:
        nf.predict(short)
    assert told[0].filename.endswith("core.py") or told[0].filename == __file__


def test_the_readmes_example_needs_no_other_package(tmp_path):
    page = (pathlib.Path(__file__).parents[1] / "README.md").read_text()
    example = re.findall(r"```python\n(.*?)```", page, re.DOTALL)[0]
    missing = "import sys\nsys.modules.update(dict.fromkeys(['numpy', 'pandas', 'polars', 'pyarrow', 'narwhals', 'tqdm']))\n"
    done = subprocess.run([sys.executable, "-c", missing + example], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["unique_id", "ds", "NHITS-median", "NHITS-lo-80", "NHITS-hi-80"]
    # Twelve months: the first and the last five, and that there are more; and of the loaded models the same.
    assert lines[1].split()[:2] == ["1", "1961-01-31"] and lines[6] == "... 12 rows" and len(lines) == 2 * 12
    assert lines[:12] == lines[12:]


def test_the_import_brings_no_library_of_tables():
    script = "import sys, foretell; print([m for m in ('numpy', 'pandas', 'polars', 'pyarrow', 'torch') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
