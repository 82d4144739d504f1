"""The program `mirage`: exit codes, one-line errors, documents that fit their schemas."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

import numpy as np
import pytest

from schema import errors

ROOT = pathlib.Path(__file__).parents[2]
MIRAGE = shutil.which("mirage")
pytestmark = pytest.mark.skipif(MIRAGE is None, reason="no program mirage in PATH")

PROGRAM = """kernel @scaled(%x: f32[4,8], %w: f32[8,2]) -> f32[4,2] {
  %e = exp %x
  %l = sum %e axis=1
  %p = div %e, %l
  %y = matmul %p, %w
  return %y
}
"""
OTHER = PROGRAM.replace("exp %x", "square %x")


@pytest.fixture
def box(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MIRAGE_RECORDS", str(tmp_path / "records.sqlite"))
    (tmp_path / "p.mu").write_text(PROGRAM)
    (tmp_path / "other.mu").write_text(OTHER)
    return tmp_path


def mirage(*words, timeout=300):
    return subprocess.run([MIRAGE, *words], capture_output=True, text=True, timeout=timeout, stdin=subprocess.DEVNULL)


def document(*words, code=0):
    """The JSON document that a command prints, held against its schema."""
    done = mirage(*words, "--json")
    assert done.returncode == code, done.stderr
    found = json.loads(done.stdout)
    name, kind, version = found["schema"].split("/")
    assert (name, version) == ("mirage", "1")
    schema = json.loads((ROOT / "docs/schemas" / f"{kind}.schema.json").read_text())
    assert list(errors(found, schema)) == []
    return found


def test_version():
    assert mirage("--version").stdout.startswith("mirage ")


USAGE = [
    [], ["nosuch"], ["show"], ["show", "p.mu", "more"], ["show", "p.mu", "--format", "svg"],
    ["optimize", "p.mu", "--top", "0"], ["optimize", "p.mu", "--time-limit", "x"],
    ["optimize", "p.mu", "--target", "z80"], ["optimize", "p.mu", "--threads", "-1"],
    ["show", "p.mu#7"], ["show", "p.txt"], ["convert", "p.mu", "p.txt"],
    ["convert", "p.mu", "p.json", "--epoch", "mid"], ["cache", "burn"], ["run", "p.mu"],
    ["run", "p.mu", "--input", "x"], ["run", "p.mu", "--input", "q=a.npy"], ["bench", "nosuch"],
    ["verify", "p.mu"],
]


@pytest.mark.parametrize("words", USAGE, ids=" ".join)
def test_bad_usage(box, words):
    (box / "p.txt").write_text(PROGRAM)
    done = mirage(*words)
    assert done.returncode == 64, done.stderr
    assert done.stdout == ""
    assert done.stderr.startswith("mirage: ") and done.stderr.count("\n") == 1


def test_missing_file(box):
    done = mirage("show", "nofile.mu")
    assert (done.returncode, done.stdout) == (74, "")
    assert done.stderr == "mirage: nofile.mu: No such file or directory\n"
    assert document("show", "nofile.mu", code=74)["message"] == "nofile.mu: No such file or directory"


def test_place_that_cannot_be_written(box):
    assert mirage("convert", "p.mu", "/proc/nowhere/p.mu").returncode == 74


def test_missing_devices_and_compilers(box, monkeypatch):
    assert mirage("optimize", "p.mu", "--target", "sm_90").returncode == 69
    monkeypatch.setenv("CXX", str(box / "no-compiler"))
    assert mirage("run", "p.mu", "--random", "1").returncode == 69


@pytest.mark.parametrize("command", [["run", "--random", "1"], ["optimize", "--no-cache"]])
def test_a_compiler_that_never_works(box, monkeypatch, command):
    script = box / "broken"
    script.write_text("#!/bin/sh\n[ $1 = --version ] && exec echo broken 1.0\necho no licence >&2; exit 1\n")
    script.chmod(0o755)
    monkeypatch.setenv("CXX", str(script))
    one, *rest = command
    done = mirage(one, "p.mu", *rest)
    assert (done.returncode, done.stdout) == (69, ""), done.stderr
    assert "no licence" in done.stderr and done.stderr.count("\n") == 1


def test_words_of_the_compiler(box, monkeypatch):
    monkeypatch.setenv("CXX", "env -u NOTHING 'c++' -g0")
    assert mirage("run", "p.mu", "--random", "1").returncode == 0


@pytest.mark.parametrize("command", [["run", "--random", "1"], ["optimize", "--time-limit", "5"]])
def test_programs_larger_than_the_memory(box, command):
    one, *rest = command
    (box / "input.mu").write_text("kernel @a(%x: f32[68719476736]) { %y = exp %x return %y }")
    (box / "between.mu").write_text(
        "kernel @a(%x: f32[1048576,1], %w: f32[1,1048576]) { %y = add %x, %w %s = sum %y axis=1 return %s }")
    for name in ("input.mu", "between.mu"):
        done = mirage(one, name, *rest)
        assert (done.returncode, done.stdout) == (69, ""), done.stderr
        assert "memory" in done.stderr or "GB" in done.stderr
        assert done.stderr.count("\n") == 1


def test_verify_says_it_in_the_exit_code(box):
    assert mirage("verify", "p.mu", "p.mu").returncode == 0
    done = mirage("verify", "p.mu", "other.mu")
    assert done.returncode == 1 and done.stdout.startswith("#0 different")
    assert document("verify", "p.mu", "p.mu")["equivalent"] == 1


def test_show_and_convert_round_trip(box):
    text = mirage("show", "p.mu").stdout
    (box / "again.mu").write_text(text)
    assert mirage("show", "again.mu").stdout == text
    assert "digraph" in mirage("show", "p.mu", "--format", "dot").stdout
    document("show", "p.mu")
    document("convert", "p.mu", "copy.mu")
    assert (box / "copy.mu").read_text() == text


def test_single_stages(box):
    assert document("lower", "p.mu")["kernels"] >= 1
    assert "scaled" in document("emit", "p.mu")["text"]
    assert document("search", "p.mu")["search_seconds"] >= 0
    assert mirage("emit", "p.mu", "--out", "p.cc").stdout == ""
    assert (box / "p.cc").stat().st_size > 0


def test_tables(box):
    assert len(document("ops")["operators"]) > 20
    assert any(row["runs_here"] for row in document("targets")["targets"])
    assert mirage("ops", "--md").stdout == (ROOT / "docs/ops.md").read_text()


def test_run_reads_and_writes_arrays(box):
    rng = np.random.default_rng(3)
    x = rng.standard_normal((4, 8)).astype(np.float64)
    w = np.asfortranarray(rng.standard_normal((8, 2)).astype(np.float32))
    np.save("x.npy", x)
    np.save("w.npy", w)
    found = document("run", "p.mu", "--input", "x=x.npy", "--input", "1=w.npy", "--output", "y=y.npy")
    assert found["outputs"][0]["not_finite"] == 0
    e = np.exp(x)
    want = e / e.sum(axis=1, keepdims=True) @ w
    y = np.load("y.npy")
    assert y.dtype == np.float32 and np.allclose(y, want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "array, message",
    [
        (np.zeros((4, 9), np.float32), "input x has shape [4,8], found [4,9]"),
        (np.zeros((4, 8), np.int32), "input x has type f32, found i32"),
        (np.zeros((4, 8), ">f4"), "big-endian"),
        (np.zeros((4, 8), np.complex64), "unknown element type"),
        (b"nothing", "not an array file"),
        (b"\x93NUMPY\x01\x00\xff\xff{          ", "truncated header"),
    ],
)
def test_arrays_that_do_not_fit(box, array, message):
    if isinstance(array, bytes):
        (box / "x.npy").write_bytes(array)
    else:
        np.save("x.npy", array)
    done = mirage("run", "p.mu", "--input", "x=x.npy", "--random", "1")
    assert done.returncode == 64
    assert message in done.stderr and done.stderr.count("\n") == 1


def test_optimize_cold_and_from_the_store(box):
    words = ["optimize", "p.mu", "--time-limit", "30", "--top", "2", "--threads", "1"]
    cold = document(*words, "--report", "r.json", "--save", "best.mu", "--emit", "out")
    assert not cold["is_from_store"]
    assert cold["funnel"]["timed"] >= 1
    assert cold["candidates"][cold["winner"]]["verdict"]["answer"] == "equivalent"
    assert json.loads((box / "r.json").read_text())["program"] == "scaled"
    assert mirage("verify", "p.mu", "best.mu").returncode == 0
    assert list((box / "out").iterdir())
    if cold["stop"] == "complete":
        assert document(*words)["is_from_store"]
        assert len(document("cache", "list")["records"]) == 1
        text = mirage(*words).stdout
        assert "winner" in text and max(map(len, text.splitlines())) <= 80
    assert not document(*words, "--no-cache")["is_from_store"]
    document("cache", "clear")
    assert document("cache", "list")["records"] == []


def test_a_time_limit_too_short_for_a_check(box):
    found = document("optimize", "p.mu", "--time-limit", "0.1", "--no-cache")
    assert found["stop"] == "time limit" and found["skipped"]
    if not found["is_checked"]:
        assert found["winner"] == 0 and found["winner_us"] is None
    assert document("bench", "p.mu", "--time-limit", "0.1", "--no-cache")["programs"]


def test_explain(box):
    found = document("explain", "p.mu", "--time-limit", "30", "--top", "1", "--threads", "1")
    assert "kernel" in found["winner_text"]
    written = found["written_work"]
    assert written["launches"] == len(written["kernels"]) == 6  # with a maximum and a difference that make exp safe
    # Each operator reads and writes its tensors; the product does 4 x 2 sums of 8 terms.
    product = written["kernels"][-1]
    assert product["read_bytes"] == 4 * (4 * 8 + 8 * 2) and product["written_bytes"] == 4 * 4 * 2
    assert product["flops"] == 2 * 4 * 2 * 8
    assert sum(k["read_bytes"] for k in found["winner_work"]["kernels"]) <= sum(
        k["read_bytes"] for k in written["kernels"])
    text = mirage("explain", "p.mu", "--time-limit", "30", "--top", "1", "--threads", "1").stdout
    table = text[:text.index("kernel @")]
    assert "launch" in table and "predicted" in table and max(map(len, table.splitlines())) <= 80


def test_damaged_record_store_is_no_obstacle(box):
    (box / "records.sqlite").write_text("not a database, but of some length, so that it has a header")
    found = document("optimize", "p.mu", "--time-limit", "30", "--top", "1", "--threads", "1")
    assert any("moved to" in note for note in found["notes"])


def caught_signals(pid):
    """A mask in hexadecimal digits: which signals a process has handlers for."""
    with open(f"/proc/{pid}/status") as status:
        return next(line for line in status if line.startswith("SigCgt:")).split()[1]


def test_interrupt(box):
    (box / "big.mu").write_text(PROGRAM.replace("[4,8]", "[512,2048]").replace("[8,2]", "[2048,512]").replace("[4,2]", "[512,512]"))
    running = subprocess.Popen([MIRAGE, "optimize", "big.mu", "--no-cache", "--top", "50"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    handled = 1 << (signal.SIGINT - 1)
    while not handled & int(caught_signals(running.pid), 16) and running.poll() is None:
        time.sleep(0.001)
    os.kill(running.pid, signal.SIGINT)
    running.communicate(timeout=120)
    assert running.returncode == 130


def test_a_result_that_nobody_got_is_an_error(box):
    """A full disk, a closed stream: the exit code says so."""
    for words in (["show", "p.mu"], ["ops", "--md"], ["verify", "p.mu", "p.mu"], ["--version"], ["--help"]):
        with open("/dev/full", "w") as full:
            done = subprocess.run([MIRAGE, *words], stdout=full, stderr=subprocess.PIPE, text=True)
        assert (done.returncode, done.stderr) == (74, "mirage: standard output: No space left on device\n")
        closed = subprocess.run(["sh", "-c", '"$@" >&-', "sh", MIRAGE, *words], stderr=subprocess.PIPE, text=True)
        assert (closed.returncode, closed.stderr) == (74, "mirage: standard output: Bad file descriptor\n")


def test_a_file_that_may_not_grow_is_an_error(box):
    limited = 'ulimit -f 1; export MIRAGE_CACHE_DIR=cache; "$@"'
    done = subprocess.run(["sh", "-c", limited, "sh", MIRAGE, "run", "p.mu", "--random", "1"], capture_output=True, text=True)
    assert done.returncode == 74 and "File too large" in done.stderr
    assert not list(box.glob("cache/**/*.tmp"))


def test_wrong_usage_with_json_is_a_document(box):
    assert document("optimize", "p.mu", "--top", "0", code=64)["message"] == "--top: Value 0 not in range 1 to 1000"
    assert document("show", code=64)["exit"] == 64


@pytest.mark.parametrize("option, place", [("--save", "no/p.mu"), ("--report", "."), ("--emit", "p.mu/out")])
def test_places_are_looked_at_before_the_work(box, option, place):
    done = mirage("optimize", "p.mu", "--target", "sm_90", option, place)
    assert (done.returncode, done.stdout) == (74, ""), "not 69: the target comes later"
    assert place in done.stderr and "cannot be written" in done.stderr


def temporary_files(box):
    return [str(path.relative_to(box)) for path in (box / "tmp").rglob("*")] + [
        str(path.relative_to(box)) for path in (box / "cache/drafts").rglob("*")]


def test_stopped_compilers_leave_no_files(box, monkeypatch):
    """Those of an interrupted run and those that met the time limit."""
    monkeypatch.setenv("MIRAGE_CACHE_DIR", str(box / "cache"))
    monkeypatch.setenv("TMPDIR", str(box / "tmp"))
    (box / "tmp").mkdir()
    for command in (["optimize", "p.mu"], ["run", "p.mu", "--random", "1"]):
        running = subprocess.Popen([MIRAGE, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        end = time.monotonic() + 60
        while not list((box / "cache").glob("drafts/*/*.o*")) and running.poll() is None and time.monotonic() < end:
            time.sleep(0.005)
        os.kill(running.pid, signal.SIGINT)
        running.communicate(timeout=60)
        assert running.returncode == 130
        assert temporary_files(box) == []
    mirage("optimize", "p.mu", "--time-limit", "0.4", "--no-cache")
    assert temporary_files(box) == []
