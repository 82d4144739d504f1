"""The programs that the documentation shows run as printed."""

import pathlib
import re
import textwrap

import pytest

ROOT = pathlib.Path(__file__).parents[2]


@pytest.mark.parametrize("page", ["README.md", "docs/python.md"])
def test_the_first_program_of_the_page(page, capsys):
    blocks = re.findall(r"((?:^(?: {4}.*)?\n)+)", (ROOT / page).read_text(), re.MULTILINE)
    (program,) = [textwrap.dedent(block) for block in blocks if "import mirage as mi" in block]
    names = {}
    exec(program.replace("time_limit=30", "time_limit=3"), names)
    assert names["y"].shape == (16, 4096) and abs(names["y"] - 1024).max() < 1
    assert "winner" in capsys.readouterr().out
