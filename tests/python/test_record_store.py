"""The record store under processes that are killed at any moment and that write at the same time."""

import os
import pathlib
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import time

import pytest

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
SEED = 20261


@pytest.fixture
def box(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MIRAGE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("MIRAGE_RECORDS", raising=False)
    (tmp_path / "p.mu").write_text(PROGRAM)
    return tmp_path


def words(seed):
    """A run with a key of its own: it does not find a record and writes one."""
    return [MIRAGE, "optimize", "p.mu", "--time-limit", "60", "--top", "1", "--threads", "1", "--seed", str(seed)]


def start(seed):
    return subprocess.Popen(words(seed), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(process):
    out, error = process.communicate(timeout=120)
    assert process.returncode == 0, error
    assert "damaged" not in out
    return out


def records():
    """How many `mirage cache list` finds."""
    done = subprocess.run([MIRAGE, "cache", "list"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    return int(re.search(r"(\d+) records", done.stdout)[1])


def kill_when_writing(process, wal):
    """Ends the process as soon as the log of the store changes; whether it was in time for that."""
    before = wal.stat().st_size if wal.exists() else 0
    while process.poll() is None:
        if wal.exists() and wal.stat().st_size != before:
            break
        time.sleep(0.0002)
    return process.poll() is None


def test_runs_killed_at_random_moments(box):
    store = box / "cache/records.sqlite"
    finish(start(0))  # compiles what all others use
    finish(start(1))
    begun = time.monotonic()
    finish(start(2))
    length = time.monotonic() - begun
    kept = records()
    assert kept == 3
    chance = random.Random(SEED)
    print(f"seed {SEED}, a run takes {length:.2f} s")
    # Hold the log open, so that the last process to close the store does not fold it up.
    reader = sqlite3.connect(store)
    reader.execute("SELECT count(*) FROM winner").fetchall()
    killed = 0
    for round_number in range(100):
        if killed == 20:
            break
        process = start(100 + round_number)
        if round_number % 4 == 3:
            kill_when_writing(process, store.with_name("records.sqlite-wal"))
        else:
            time.sleep(chance.random() * length)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
        if process.returncode == -signal.SIGKILL:
            killed += 1
        else:
            length *= 0.9  # the machine has less to do than when it was measured
        found = records()
        assert kept <= found <= kept + 1, f"seed {SEED} round {round_number}"
        kept = found
    reader.close()
    assert killed == 20
    check = sqlite3.connect(store)
    assert check.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    check.close()
    finish(start(300))
    assert records() == kept + 1
    assert not list((box / "cache").glob("*.damaged-*"))
    assert "came from the record store" in finish(start(300))


def test_processes_write_at_the_same_time(box):
    finish(start(0))
    running = [start(seed) for seed in range(1, 5)]
    victim = start(9)
    time.sleep(0.2)
    victim.kill()
    victim.communicate(timeout=60)
    for process in running:
        finish(process)
    assert records() in (5, 6)
    assert not list((box / "cache").glob("*.damaged-*"))


def test_a_first_run_killed_leaves_a_cache_that_works(box):
    """Also what is half compiled must not be taken for finished."""
    chance = random.Random(SEED + 1)
    for _ in range(3):
        process = start(0)
        time.sleep(0.3 + chance.random() * 1.5)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate(timeout=60)
    finish(start(0))
    assert records() == 1
