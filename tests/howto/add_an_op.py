#!/usr/bin/env python3
"""docs/how-to/add-an-op.md, followed to the letter in a copy of the sources.

  tests/howto/add_an_op.py [FOLDER]      FOLDER (default build/how-to) is made anew

The edits, the program and the commands are read out of the page; the results are held against the
operator's formula. Builds without optimisation, to be quick. Run with the Python of .venv.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/how-to/add-an-op.md"


def blocks(kind):
    """The fenced blocks of the page with this word after the fence."""
    return re.findall(rf"^```{kind}\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)


def edited():
    """{file: its text with the edits of the page}. A line of context must occur exactly once."""
    texts = {}
    for block in blocks("diff"):
        old, new, *lines = block.splitlines()
        name = new.removeprefix("+++ b/")
        assert old == f"--- a/{name}", block
        assert all(line[0] in " +" for line in lines) and any(line[0] == "+" for line in lines), block
        before = "".join(line[1:] + "\n" for line in lines if line[0] == " ")
        text = texts.get(name) or (ROOT / name).read_text()
        assert ("\n" + text).count("\n" + before) == 1, f"{name} does not have once:\n{before}"
        texts[name] = text.replace(before, "".join(line[1:] + "\n" for line in lines))
    return texts


def copy_sources(to):
    """What git tracks or would track, with the edits of the page."""
    shutil.rmtree(to, ignore_errors=True)
    git = ["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    for name in subprocess.check_output(git, cwd=ROOT, text=True).split("\0"):
        if (ROOT / name).is_file() and not (ROOT / name).is_symlink():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, to / name)
    for name, text in edited().items():
        (to / name).write_text(text)
    (to / ".venv").symlink_to(ROOT / ".venv")


def follow(folder):
    """Runs the commands of the page there."""
    (program,) = blocks("mu")
    (folder / "try.mu").write_text(program)
    for command in "".join(blocks("sh")).splitlines():
        if command.startswith("cmake --preset"):
            command += " -Wno-dev -DMIRAGE_WERROR=ON -DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O0"
        print(f"$ {command}", flush=True)
        subprocess.run(command, shell=True, cwd=folder, check=True)


def mirage(folder, *words, status=0):
    done = subprocess.run([folder / "build/dev/bin/mirage", *words], cwd=folder, capture_output=True, text=True)
    assert done.returncode == status, (words, done.returncode, done.stdout, done.stderr)
    return done.stdout


def check_command_line(folder):
    import json

    import numpy as np

    assert "softsign" in mirage(folder, "ops")
    row = r"| softsign | 1 | map | kernel block thread |  | x / (1 + \|x\|) |"
    assert row in mirage(folder, "ops", "--md").splitlines()
    assert row in (folder / "docs/ops.md").read_text().splitlines()

    text = mirage(folder, "show", "try.mu")
    assert "softsign" in text
    (folder / "printed.mu").write_text(text)
    assert mirage(folder, "show", "printed.mu") == text
    program = (folder / "try.mu").read_text()
    spelt = "%m = matmul %x, %w\n  %y = div %m, (add 1, (maximum %m, (neg %m)))"
    (folder / "spelt.mu").write_text(program.replace("%y = softsign (matmul %x, %w)", spelt))
    (folder / "other.mu").write_text(program.replace("softsign", "tanh"))
    for other, word, status in (("printed", "equivalent", 0), ("spelt", "equivalent", 0), ("other", "different", 1)):
        assert f"#0 {word}" in mirage(folder, "verify", "try.mu", f"{other}.mu", status=status)

    # Generated code: the program as written, and the winner of a search, which has been checked.
    names = ["--input", "x=x.npy", "--input", "w=w.npy", "--output", "y=y.npy"]
    rng = np.random.default_rng(5)
    x, w = (rng.standard_normal(shape).astype(np.float32) for shape in ((16, 64), (64, 32)))
    np.save(folder / "x.npy", x)
    np.save(folder / "w.npy", w)
    mirage(folder, "run", "try.mu", *names)
    product = x.astype(np.float64) @ w.astype(np.float64)
    want = product / (1 + np.abs(product))
    assert np.abs(np.load(folder / "y.npy") - want).max() < 1e-5
    report = json.loads(mirage(folder, "optimize", "try.mu", "--time-limit", "10", "--no-cache", "--json",
                               "--save", "best.mu"))  # fmt: skip
    assert report["is_checked"] and report["funnel"]["checked"] >= 2, report
    mirage(folder, "run", "best.mu", *names)
    assert np.abs(np.load(folder / "y.npy") - want).max() < 1e-5


PYTHON = """
import mirage as mi, numpy as np
g = mi.Graph()
x = g.input((5, 7), "f32", name="x")
g.output(g.softsign(x))
assert "x / (1 + |x|)" in mi.Graph.softsign.__doc__ and hasattr(mi.BlockGraph, "softsign")
a = np.linspace(-9, 9, 35, dtype=np.float32).reshape(5, 7)
want = a.astype(np.float64) / (1 + np.abs(a.astype(np.float64)))
exact, fast = mi.evaluate(g, a), g(a)
assert np.abs(exact - want).max() < 1e-15 and np.abs(fast - want).max() < 1e-6
assert mi.verify(g, *mi.parse(str(g)))
"""


def check_python(folder):
    env = {"PYTHONPATH": folder / "build/dev/python", "PATH": f"{folder}/build/dev/bin:{os.environ['PATH']}"}
    tests = [f"tests/python/{name}.py" for name in ("test_special_values", "test_stub", "test_graph")]
    for command in (["-c", PYTHON], ["-m", "pytest", "-q", "-p", "no:cacheprovider", *tests]):
        subprocess.run([sys.executable, *command], cwd=folder, check=True, env={**os.environ, **env})
    assert "def softsign(self, x: Tensor) -> Tensor" in (folder / "python/mirage/_core.pyi").read_text()


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/how-to").resolve()
    copy_sources(folder)
    os.environ["MIRAGE_CACHE_DIR"] = str(folder / "build/cache")
    follow(folder)
    check_command_line(folder)
    check_python(folder)
    print("add_an_op: the page is true")


if __name__ == "__main__":
    main()
