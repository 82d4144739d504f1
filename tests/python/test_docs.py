"""The programs that the documentation shows run as printed."""

import importlib.util
import pathlib
import re
import shutil
import subprocess
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


PAGES = [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONVENTIONS.md")]
PAGES += sorted((ROOT / "docs").rglob("*.md"))
TOP = "src|tests|tools|docs|device|bench|python|examples|cmake"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_a_page_names_exist(page):
    """Whole paths, from the root; LAYER, NAME and * stand for something."""
    paths = re.findall(rf"(?<![\w./$-])((?:{TOP})/[\w./-]*\w/?)(?![\w*{{])", page.read_text())
    missing = {path for path in paths if not re.search("[A-Z]{3}", path) and not (ROOT / path).exists()}
    programs = {path for path in missing if (ROOT / f"{path}.cc").exists()}
    assert missing == programs


@pytest.mark.skipif(shutil.which("mirage") is None, reason="no program mirage in PATH")
def test_commands_and_options_of_the_page_are_those_of_the_program():
    def help_of(*command):
        return subprocess.run(["mirage", *command, "--help"], capture_output=True, text=True, check=True).stdout

    rows = re.findall(r"^\| (`[a-z]+[` ].*?) \| (.*) \|$", (ROOT / "docs/cli.md").read_text(), re.MULTILINE)
    described = {}
    for names, text in rows:
        for name in re.findall(r"`([a-z]+(?: list| clear)?)", names):
            described[name] = set(re.findall(r"--[a-z-]+", names + text))
    commands = set(re.findall(r"^  ([a-z]+) ", help_of().split("Subcommands:")[1], re.MULTILINE))
    assert {name.split()[0] for name in described} == commands
    for name, options in described.items():
        found = set(re.findall(r"--[a-z-]+", help_of(*name.split()))) - {"--help", "--json"}
        if name == "explain":  # "Options as `optimize`", which also writes files
            options = described["optimize"] - {"--report", "--save", "--emit"}
        assert options == found, name
