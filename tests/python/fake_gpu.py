"""Programs that run in a process of their own with the driver of tests/fake_cuda in place of a GPU's."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest


def folder():
    """Where the build has put the driver, beside the program `mirage`."""
    program = shutil.which("mirage")
    place = pathlib.Path(program or "").resolve().parent.parent / "fake_cuda"
    if not (place / "libcuda.so.1").exists():
        pytest.skip("the build has no fake driver (target fake_cuda)")
    return place


def environment(tmp_path):
    place = folder()
    return {
        **os.environ,
        "LD_LIBRARY_PATH": str(place),
        "MIRAGE_NVRTC": str(place / "libcuda.so.1"),
        "MIRAGE_CACHE_DIR": str(tmp_path / "cache"),
        "FAKE_CUDA_LOG": str(tmp_path / "calls"),
    }


def run(tmp_path, text):
    """What the program prints, which must end well."""
    done = subprocess.run(
        [sys.executable, "-c", text],
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()
