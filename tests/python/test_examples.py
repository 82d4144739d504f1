"""The examples in Python are the programs of the .mu files of the same names."""

import importlib
import pathlib

import mirage as mi
import pytest

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples"
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.py") if not path.stem.startswith("_"))


@pytest.mark.parametrize("name", NAMES)
def test_the_program_is_that_of_the_text(name, monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    graph = importlib.import_module(name).program()
    (text,) = mi.load(EXAMPLES / f"{name}.mu")
    assert graph.hash == text.hash, str(graph)
    assert str(graph).splitlines()[0].split("(")[0] == f"kernel @{name}"


def test_every_text_has_its_program():
    texts = {path.stem for path in EXAMPLES.glob("*.mu")}
    assert set(NAMES) == texts
