"""The examples of the readmes run."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parents[2]


@pytest.mark.parametrize("page", ["README.md", "python/README.md"])
def test_examples_of_the_readmes(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    examples = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    assert examples
    for example in examples:
        exec(example, {})
    assert "NHITS-hi-80" in capsys.readouterr().out
