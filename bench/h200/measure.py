#!/usr/bin/env python3
"""Measures rows of the GPU table beside PyTorch: `bench/run_h200.sh` builds and calls this.

usage: measure.py --mirage PROGRAM --out FILE.json [--group N ...] [--only NAME ...] [--time-limit S] [--deadline S]
       measure.py --prepare [--group N ...] [--only NAME ...]      fills the compile cache of PyTorch, on all cores

For each row: every form of PyTorch (torch_forms.py), checked against float32; the plain kernel that reads the same bytes; and
`mirage optimize` in a process of its own, which checks against float64 and measures by itself. All times are cold (timing.py).
Rows are searched, compiled and checked side by side, but whoever measures has the GPU for itself: all take turns by the file
$MIRAGE_GPU_LOCK. FILE is written after each row. Needs PyTorch with CUDA.
"""
import argparse
import contextlib
import fcntl
import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from programs import GROUPS, ROWS

ROOT = Path(__file__).resolve().parents[2]
MOST_ERROR = 2e-2  # of a form of PyTorch in f16, relative
START = time.monotonic()


def commit_here():
    return os.environ.get("MIRAGE_COMMIT") or subprocess.check_output(
        ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"], text=True).strip()


@contextlib.contextmanager
def gpu_turn():
    """As tune/gpu_turn.cc takes it."""
    with open(os.environ["MIRAGE_GPU_LOCK"], "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def torch_columns(row, autotune):
    """Microseconds of each form by label, or why there is none."""
    import torch
    from timing import cold_us, rotated
    from torch_forms import forms, inputs

    columns, failed, reference = {}, {}, None
    given = inputs(row, "cuda")
    for form in forms(row, autotune):
        try:
            call = form.callable()
            prepared = form.prepare(*given)
            if reference is None:
                reference = form.run(*(t.float() for t in prepared)).flatten()
            error = (call(*prepared).flatten().float() - reference).norm() / reference.norm()
            if not error < MOST_ERROR:
                raise RuntimeError(f"relative error {error:.1e}")
            columns[form.label] = cold_us(call, rotated(prepared))
        except Exception as error:  # a form that PyTorch refuses here is no form
            failed[form.label] = f"{type(error).__name__}: {error}".split("\n")[0][:200]
    torch._dynamo.reset()
    return columns, failed


def torch_part(row, autotune):
    import torch
    from read_kernel import read_us

    with gpu_turn():
        columns, failed = torch_columns(row, autotune)
        best = min(columns, key=columns.get, default=None)
        part = {"torch_us": columns.get(best), "torch_form": best, "read_us": read_us(row.bytes),
                "torch_forms": {label: round(us, 2) for label, us in columns.items()}, "torch_failed": failed}
        torch.cuda.empty_cache()
    return part


def is_late(options):
    return time.monotonic() - START > options.deadline


def of_report(report):
    """What the table keeps of a report of `mirage optimize`."""
    if not report["is_checked"]:
        return {"us": None, "error": "not checked: " + "; ".join(report["notes"] or [report["stop"]])}
    winner = next(c for c in report["candidates"] if c["number"] == report["winner"])
    rejected = {}
    for lost in report["rejected"]:
        if lost["stage"] not in ("search", "verify"):
            rejected[lost["stage"]] = rejected.get(lost["stage"], 0) + lost["count"]
    return {"us": report["winner_us"], "rel_error": winner["check"]["relative_error"], "candidate0_us": report["baseline_us"],
            "structure": winner["plan"], "schedule": winner["schedule"], "structures": report["funnel"]["structures"],
            "timed": report["funnel"]["timed"], "rejected": rejected, "families": len(report["check_families"]),
            "optimize_s": round(report["total_seconds"], 1),
            "stage_s": {stage: round(seconds, 1) for stage, seconds in report["stage_seconds"].items()}}


def mirage_part(row, options):
    if is_late(options):
        return {"us": None, "error": "not begun: no time was left"}
    with tempfile.TemporaryDirectory() as folder:
        program, report = Path(folder, f"{row.name}.mu"), Path(folder, "report.json")
        program.write_text(row.text)
        command = [options.mirage, "optimize", program, "--target", options.target, "--report", report, "--time-limit",
                   str(options.time_limit)]
        environment = {**os.environ, "MIRAGE_CACHE_DIR": str(Path(folder, "cache"))}
        try:
            done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=options.time_limit + 60)
        except subprocess.TimeoutExpired:
            return {"us": None, "error": "did not end in time"}
        if options.logs:
            Path(options.logs, f"{row.name}.txt").write_text(done.stdout + done.stderr)
        if not report.exists():
            return {"us": None, "error": f"exit {done.returncode}: {done.stderr.strip()[-300:]}"}
        return of_report(json.loads(report.read_text()))


def line_of(row):
    def of(key):
        return f"{row[key]:8.2f}" if row.get(key) is not None else "       -"

    ratio = f"x{row['torch_us'] / row['us']:.2f}" if row.get("us") and row.get("torch_us") else ""
    what = row.get("error") or f"{row['structure']} | {row['schedule']}"
    return (f"{row['program']:32} {of('us')} us  candidate 0 {of('candidate0_us')}  torch {of('torch_us')} "
            f"({row.get('torch_form', '-')})  read {of('read_us')}  {ratio}  {what[:90]}")


def measure(rows, options):
    import torch

    torch.set_grad_enabled(False)
    torch.manual_seed(0)
    result = {"device": torch.cuda.get_device_name(0), "commit": options.commit, "torch": torch.__version__,
              "time_limit_s": options.time_limit, "rows": []}
    columns = {}
    with ThreadPoolExecutor(options.jobs) as pool:
        running = {pool.submit(mirage_part, row, options): row for row in rows}
        for row in rows:
            if not options.skip_torch and not is_late(options):
                columns[row.name] = torch_part(row, not options.no_autotune)
        for done in as_completed(running):
            row = running[done]
            measured = {"program": row.name, "us": None, "torch_us": None, "read_us": None, "rel_error": None,
                        "bytes": row.bytes, **columns.get(row.name, {}), **done.result()}
            result["rows"].append(measured)
            options.out.write_text(json.dumps(result, indent=1) + "\n")
            print(line_of(measured), f" [{time.monotonic() - START:.0f} s]", flush=True)


def prepare(rows, options):
    """Compiles what torch.compile will compile, in several processes with one cache. Not what is tuned by timing: that
    must have the GPU for itself."""
    if options.prepare == "all":
        parts = max(1, min(8, (os.cpu_count() or 2) // 2))
        names = ["--only", *(row.name for row in rows)]
        children = [subprocess.Popen([sys.executable, __file__, "--prepare", f"{i}/{parts}", *names]) for i in range(parts)]
        for child in children:
            child.wait()
        return
    import torch
    from torch_forms import forms, inputs

    torch.set_grad_enabled(False)
    part, parts = map(int, options.prepare.split("/"))
    jobs = [(row, form) for row in rows for form in forms(row, False) if form.mode == "compile"]
    for row, form in jobs[part::parts]:
        try:
            form.callable()(*form.prepare(*inputs(row, "cuda")))
        except Exception as error:  # it is reported when it is measured
            print(f"{row.name} {form.label}: {type(error).__name__}", flush=True)
        torch._dynamo.reset()


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mirage", help="the program")
    parser.add_argument("--out", type=Path, help="the result, JSON")
    parser.add_argument("--group", type=int, nargs="*", help=f"1 to {GROUPS}")
    parser.add_argument("--only", nargs="*", help="names of rows")
    parser.add_argument("--target", default="sm_90")
    parser.add_argument("--time-limit", type=float, default=60, help="of each mirage optimize, seconds")
    parser.add_argument("--jobs", type=int, default=4, help="how many of them at once")
    parser.add_argument("--deadline", type=float, default=400, help="no row is begun after so many seconds")
    parser.add_argument("--skip-torch", action="store_true", help="mirage alone: the columns of PyTorch stay empty")
    parser.add_argument("--no-autotune", action="store_true", help="without the forms of max-autotune")
    parser.add_argument("--logs", type=Path, help="folder for the output of each mirage optimize")
    parser.add_argument("--commit", help="default: $MIRAGE_COMMIT, or that of the checkout")
    parser.add_argument("--prepare", nargs="?", const="all")
    options = parser.parse_args()
    unknown = set(options.only or ()) - {row.name for row in ROWS}
    if unknown:
        parser.error(f"no row is named {', '.join(sorted(unknown))}; rows: {' '.join(row.name for row in ROWS)}")
    if not options.prepare and not (options.mirage and options.out):
        parser.error("--mirage and --out are needed")
    return options


def main():
    options = arguments()
    rows = [row for row in ROWS if (not options.only or row.name in options.only)
            and (not options.group or row.group in options.group)]
    if options.prepare:
        return prepare(rows, options)
    options.commit = options.commit or commit_here()
    if not rows:
        sys.exit("no such row")
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("MIRAGE_GPU_LOCK", str(Path(folder, "gpu.lock")))
        measure(rows, options)


if __name__ == "__main__":
    main()
