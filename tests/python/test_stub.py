"""The committed type stub is that of the module; `python -m nanobind.stubgen -m mirage._core -o
python/mirage/_core.pyi` writes it anew."""

import pathlib
import subprocess
import sys

import pytest

pytest.importorskip("nanobind")
STUB = pathlib.Path(__file__).parents[2] / "python/mirage/_core.pyi"


def test_the_stub_is_current(tmp_path):
    made = tmp_path / "_core.pyi"
    subprocess.run(
        [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "mirage._core", "-o", made],
        check=True,
    )
    assert made.read_text() == STUB.read_text()
