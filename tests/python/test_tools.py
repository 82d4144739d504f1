"""The scripts that decide whether a change is good are tested too."""

import pathlib
import subprocess
import sys

import pytest

TOOLS = pathlib.Path(__file__).parents[2] / "tools"


def run(script, *args):
    done = subprocess.run([sys.executable, TOOLS / script, *map(str, args)], capture_output=True, text=True)
    return done.returncode, done.stdout


def write(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


GOOD = {
    "src/util/CMakeLists.txt": "mirage_layer(util SOURCES check.h)",
    "src/util/check.h": "#include <vector>\n",
    "src/ir/CMakeLists.txt": "mirage_layer(ir DEPS util # text\n SOURCES graph.h graph.cc LIBS fmt::fmt)",
    "src/ir/graph.h": '#include "util/check.h"\n',
    "src/ir/graph.cc": '#include "ir/graph.h"\n',
    "src/verify/CMakeLists.txt": "mirage_layer(verify DEPS util ir SOURCES verdict.h verify.h)",
    "src/verify/verdict.h": "",
    "src/verify/verify.h": "",
    "src/lower/CMakeLists.txt": "mirage_layer(lower DEPS util ir verify/verdict.h SOURCES lower.h)",
    "src/lower/lower.h": '#include "verify/verdict.h"\n',
}


@pytest.mark.parametrize(
    "files, message",
    [
        ({}, "all arrows point down"),
        ({"src/util/check.h": '#include "ir/graph.h"\n'}, "src/util/check.h:1: util includes ir/graph.h"),
        ({"src/lower/lower.h": '#include "verify/verify.h"\n'}, "lower includes verify/verify.h"),
        ({"src/lower/lower.h": '#include "lower.h"\n'}, "lower includes lower.h"),
        ({"src/ir/stray.cc": ""}, "stray.cc is not in SOURCES"),
        ({"src/new/new.h": ""}, "src/new: no mirage_layer(new ...)"),
        ({"src/util/CMakeLists.txt": "mirage_layer(util DEPS ir SOURCES check.h)"}, "util may not depend on ir"),
        ({"src/util/CMakeLists.txt": "mirage_layer(util DEPS ir SOURCES check.h)"}, "cycle: "),
    ],
)
def test_check_layers(tmp_path, files, message):
    status, output = run("check_layers.py", write(tmp_path, {**GOOD, **files}))
    assert message in output
    assert status == (1 if files else 0), output


CTEST = """<testsuite>
<testcase name="ir_test" status="{ir}"/><testcase name="golden" status="run"/>
<testcase name="check" status="run"/></testsuite>"""
IR = """<testsuites><testsuite><testcase classname="Graph" name="A" status="run" result="completed"/>
<testcase classname="Graph" name="B" status="run" result="completed">{b}</testcase>
<testcase classname="Graph" name="C" status="run" result="skipped"><skipped message="x.cc:1&#10;no data"/></testcase>
</testsuite></testsuites>"""
GOLDEN = '<testsuites><testsuite><testcase classname="golden" name="x.mu"/></testsuite></testsuites>'


@pytest.mark.parametrize(
    "files, args, last, status",
    [
        ({}, [], ["skipped: no data", "4 passed, 0 failed"], 0),
        ({"test-results/ir_test.xml": IR.format(b="<failure/>"), "ctest.xml": CTEST.format(ir="fail")}, [],
         ["skipped: no data", "3 passed, 1 failed"], 1),
        # All cases passed and yet the run failed: a leak, say.
        ({"ctest.xml": CTEST.format(ir="fail")}, [], ["skipped: no data", "4 passed, 1 failed"], 1),
        # A crash leaves no file, or half of one.
        ({"test-results/ir_test.xml": "<testsuites>", "ctest.xml": CTEST.format(ir="fail")}, [],
         ["skipped: nothing", "2 passed, 1 failed"], 1),
        ({}, ["--step=format=failed", "--step=tidy=ok"], ["skipped: no data", "5 passed, 1 failed"], 1),
        ({"ctest.xml": None}, [], ["skipped: nothing", "0 passed, 1 failed"], 1),
    ],
)
def test_count_tests(tmp_path, files, args, last, status):
    default = {
        "ctest.xml": CTEST.format(ir="run"),
        "test-results/ir_test.xml": IR.format(b=""),
        "test-results/golden.xml": GOLDEN,
    }
    files = {name: text for name, text in {**default, **files}.items() if text is not None}
    got, output = run("count_tests.py", *args, write(tmp_path, files))
    assert output.splitlines()[-2:] == last
    assert got == status


# A program that behaves like mirage where golden.py is concerned.
PROGRAM = """#!/bin/sh
case $1 in
  cat) cat "$2" ;;
  bad) echo "$2:1: no" >&2; exit 1 ;;
  crash) kill -ABRT $$ ;;
esac
"""


@pytest.mark.parametrize(
    "name, first, expect, passed",
    [
        ("ir/a", "cat {}", "// run: mirage cat {}\nbody\n", True),
        ("ir/a", "cat {}", "something else\n", False),
        ("ir/a", "cat {}", None, False),
        ("ir/a", "bad {}", "", False),
        ("errors/a", "bad {}", "a.mu:1: no\nexit 1\n", True),
        ("errors/a", "cat {}", "exit 0\n", False),
        ("errors/a", "crash", "exit -6\n", False),
    ],
)
def test_golden(tmp_path, name, first, expect, passed):
    write(tmp_path, {"tools/golden.py": (TOOLS / "golden.py").read_text(), "program": PROGRAM,
                     f"tests/golden/{name}.mu": f"// run: mirage {first}\nbody\n"})
    (tmp_path / "program").chmod(0o755)
    if expect is not None:
        write(tmp_path, {f"tests/golden/{name}.expect": expect})
    command = [sys.executable, tmp_path / "tools/golden.py", "--mirage", tmp_path / "program"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == f"golden: {int(passed)} passed, {int(not passed)} failed"
    assert done.returncode == (0 if passed else 1)


def test_golden_update_writes_what_the_next_run_accepts(tmp_path):
    write(tmp_path, {"tools/golden.py": (TOOLS / "golden.py").read_text(), "program": PROGRAM,
                     "tests/golden/ir/a.mu": "// run: mirage cat {}\n"})
    (tmp_path / "program").chmod(0o755)
    command = [sys.executable, tmp_path / "tools/golden.py", "--mirage", tmp_path / "program"]
    assert subprocess.run([*command, "--update"]).returncode == 0
    assert subprocess.run(command).returncode == 0
