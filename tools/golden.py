#!/usr/bin/env python3
"""Runs the golden tests: every tests/golden/<stage>/NAME.mu against NAME.expect beside it.

The first line of NAME.mu is `// run: mirage WORD...`; {} stands for the file, which is named by its
last part (the command runs in its folder). Standard output is compared and the command must succeed;
under tests/golden/errors/ the error output is compared, and the exit status, as the last line.

  tools/golden.py                      compare all
  tools/golden.py lower search/gqa     only files whose path contains one of the words
  tools/golden.py --update             rewrite .expect files; then read the diff
"""
import argparse
import concurrent.futures
import difflib
import os
import pathlib
import shlex
import subprocess
import sys
import time
from xml.sax.saxutils import escape, quoteattr

ROOT = pathlib.Path(__file__).resolve().parents[1]
GOLDEN = ROOT / "tests" / "golden"
PREFIX = "// run: mirage "
SECONDS = 300


def run(file, program):
    """(text to compare, reason why the run itself is wrong or None)"""
    with open(file) as lines:
        first = lines.readline().rstrip("\n")
    if not first.startswith(PREFIX):
        return "", f"first line is not '{PREFIX}...'"
    words = [file.name if word == "{}" else word for word in shlex.split(first[len(PREFIX) :])]
    try:
        done = subprocess.run([program, *words], cwd=file.parent, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return "", f"no end after {SECONDS} s"
    if file.is_relative_to(GOLDEN / "errors"):
        ok = 0 < done.returncode < 128
        return f"{done.stderr}exit {done.returncode}\n", None if ok else f"exit {done.returncode}"
    return done.stdout, f"exit {done.returncode}\n{done.stderr}" if done.returncode else None


def check(file, program, update):
    """(seconds, None or what is wrong)"""
    start = time.monotonic()
    got, wrong = run(file, program)
    expect = file.with_suffix(".expect")
    want = expect.read_text() if expect.exists() else None
    if wrong is None and got != want:
        if update:
            expect.write_text(got)
            print(f"updated {expect.relative_to(ROOT)}")
        elif want is None:
            wrong = f"{expect.name} is missing; tools/golden.py --update writes it"
        else:
            names = (str(expect.relative_to(ROOT)), "output")
            lines = difflib.unified_diff(want.splitlines(), got.splitlines(), *names, lineterm="")
            wrong = "\n".join(lines) or "differs in the end of the last line only"
    return time.monotonic() - start, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--mirage", help="the program (default: the newest build/*/bin/mirage)")
    parser.add_argument("--junit", help="write results as JUnit XML")
    args = parser.parse_args()
    built = sorted(ROOT.glob("build/*/bin/mirage"), key=os.path.getmtime)
    if not args.mirage and not built:
        sys.exit("golden: no build/*/bin/mirage; build first or give --mirage")
    program = os.path.abspath(args.mirage or built[-1])

    files = sorted(GOLDEN.rglob("*.mu"))
    files = [f for f in files if not args.words or any(w in str(f.relative_to(GOLDEN)) for w in args.words)]
    strays = [f for f in sorted(GOLDEN.rglob("*.expect")) if not f.with_suffix(".mu").exists()]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda f: check(f, program, args.update), files))
    rows = [(f, *result) for f, result in zip(files, results)]
    rows += [(f, 0.0, "has no .mu") for f in strays]

    cases = []
    for file, seconds, wrong in rows:
        name = str(file.relative_to(GOLDEN))
        if wrong is not None:
            print(f"FAILED {name}\n{wrong}")
        body = "" if wrong is None else f"<failure>{escape(wrong)}</failure>"
        cases.append(f'<testcase classname="golden" name={quoteattr(name)} time="{seconds:.3f}">{body}</testcase>')
    if args.junit:
        os.makedirs(os.path.dirname(os.path.abspath(args.junit)), exist_ok=True)
        with open(args.junit, "w") as out:
            out.write("<testsuites><testsuite name=\"golden\">" + "\n".join(cases) + "</testsuite></testsuites>\n")
    failed = sum(wrong is not None for _, _, wrong in rows)
    print(f"golden: {len(rows) - failed} passed, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
