"""Trainings that continue others: with parameters that stay unchanged, or after a kill."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

from foretell import NeuralForecast
from foretell.models import NHITS, NLinear
from foretell.utils import AirPassengersPanel

#: Steps that take long enough to be interrupted, and short enough to be waited for.
STEPS = 20_000


def long_training():
    return NeuralForecast([NLinear(h=12, input_size=24, max_steps=STEPS, windows_batch_size=32)], freq="ME", threads=1)


def forecast(nf):
    return nf.predict()["NLinear"].to_numpy()


@pytest.fixture(scope="module")
def whole():
    """The forecasts of a training that nothing interrupted."""
    nf = long_training()
    nf.fit(AirPassengersPanel)
    return forecast(nf)


def is_kept(state):
    return any(state.glob("training-*.safetensors"))


def fit_until_interrupted(nf, panel, state):
    """Has Ctrl-C end the training once a state of it is kept."""

    def interrupt():
        while not is_kept(state):
            time.sleep(0.005)
        os.kill(os.getpid(), signal.SIGINT)

    # As in a session, also where the tests run in the background of a shell, which has its processes ignore it.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            nf.fit(panel, checkpoint=state, checkpoint_every=50)
    finally:
        thread.join()
        signal.signal(signal.SIGINT, before)


def test_frozen_parameters_stay_as_they_are(panel):
    nf = NeuralForecast([NHITS(h=12, input_size=24, max_steps=5, mlp_units=3 * [[16, 16]])], freq="ME")
    with pytest.raises(ValueError, match="freeze: new weights are to be trained"):
        nf.fit(panel, freeze=["blocks.0"])
    nf.fit(panel)
    first = nf.decompose()
    nf.fit(panel, freeze=["blocks.0", "blocks.1"])
    second = nf.decompose()
    # Blocks see what those before them left, so the first two add what they added.
    for block in ("NHITS:block_1", "NHITS:block_2"):
        np.testing.assert_array_equal(first[block], second[block])
    assert not np.array_equal(first["NHITS:block_3"], second["NHITS:block_3"])
    with pytest.raises(ValueError, match="blocks.7"):
        nf.fit(panel, freeze="blocks.7")


def test_a_training_that_ctrl_c_ended_goes_on_where_it_was(panel, tmp_path, whole):
    state = tmp_path / "state"
    nf = long_training()
    fit_until_interrupted(nf, panel, state)
    assert is_kept(state) and not np.array_equal(forecast(nf), whole)
    nf.fit(panel, checkpoint=state, checkpoint_every=50)
    np.testing.assert_array_equal(forecast(nf), whole)
    assert not state.exists()


def test_a_training_that_was_killed_ends_with_the_same_weights(panel, tmp_path, whole):
    state = tmp_path / "state"
    script = f"""
        from foretell import NeuralForecast
        from foretell.models import NLinear
        from foretell.utils import AirPassengersPanel
        nf = NeuralForecast([NLinear(h=12, input_size=24, max_steps={STEPS}, windows_batch_size=32)], freq="ME", threads=1)
        nf.fit(AirPassengersPanel, checkpoint={str(state)!r}, checkpoint_every=50)
    """
    child = subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)])
    while not is_kept(state) and child.poll() is None:
        time.sleep(0.005)
    child.kill()
    assert child.wait() == -signal.SIGKILL
    nf = long_training()
    nf.fit(panel, checkpoint=str(state), checkpoint_every=50)
    np.testing.assert_array_equal(forecast(nf), whole)


def test_a_state_of_another_training_is_refused(panel, tmp_path):
    state = tmp_path / "state"
    fit_until_interrupted(long_training(), panel, state)
    other = NeuralForecast([NLinear(h=12, input_size=36, max_steps=5)], freq="ME")
    with pytest.raises(ValueError, match="input_size"):
        other.fit(panel, checkpoint=state)
    with pytest.raises(ValueError, match="checkpoint_every"):
        other.fit(panel, checkpoint=state, checkpoint_every=0)


def test_a_validation_keeps_its_state_until_it_ends(panel, tmp_path):
    nf = NeuralForecast([NLinear(h=12, input_size=24, max_steps=5)], freq="ME")
    expected = nf.cross_validation(panel, n_windows=2, refit=True)
    again = NeuralForecast([NLinear(h=12, input_size=24, max_steps=5)], freq="ME")
    found = again.cross_validation(panel, n_windows=2, refit=True, checkpoint=tmp_path / "state", checkpoint_every=2)
    assert found.equals(expected) and not (tmp_path / "state").exists()
