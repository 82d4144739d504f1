"""The programs that the documentation shows run as printed."""

import importlib.util
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


def test_the_edits_of_the_page_on_operators_fit_the_sources():
    """The quick part of tests/howto/add_an_op.py, which also builds and runs them."""
    spec = importlib.util.spec_from_file_location("add_an_op", ROOT / "tests/howto/add_an_op.py")
    page = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(page)
    texts = page.edited()
    assert set(texts) == {"src/ir/ops.def", "src/ir/ops/bodies.h"}
    for name, text in texts.items():
        assert len(text.splitlines()) == len((ROOT / name).read_text().splitlines()) + 1
