#!/usr/bin/env python3
"""Adds up test results and prints `skipped: ...` and, as the last line, `N passed, N failed`.

count_tests.py [--step NAME=ok|failed]... [--skipped TEXT]... BUILD...

BUILD is a build folder in which `ctest --output-junit ctest.xml` ran. A ctest entry that left
BUILD/test-results/NAME.xml counts as the cases in it, any other as one case. An entry that ctest
calls failed though all its cases passed (a crash at exit, a leak) is one more failure.
Exit status: 0 when something passed and nothing failed.
"""
import argparse
import collections
import pathlib
import sys
import xml.etree.ElementTree as ET

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
parser.add_argument("builds", nargs="*", type=pathlib.Path)
parser.add_argument("--step", action="append", default=[])
parser.add_argument("--skipped", action="append", default=[])
args = parser.parse_args()

passed, failed, skipped = [], [], collections.Counter(args.skipped)


def cases_in(path):
    """[(name, "passed" | "failed" | "skipped", reason)] of a GoogleTest or JUnit file."""
    rows = []
    for case in ET.parse(path).iter("testcase"):
        name = f"{case.get('classname', '')}.{case.get('name')}"
        skip = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            rows.append((name, "failed", ""))
        elif skip is not None or case.get("result") == "skipped":
            message = (skip.get("message") or "") if skip is not None else ""
            rows.append((name, "skipped", message.strip().splitlines()[-1] if message.strip() else name))
        elif case.get("status") == "notrun":
            rows.append((name, "skipped", f"{name} (disabled)"))
        else:
            rows.append((name, "passed", ""))
    return rows


for build in args.builds:
    report = build / "ctest.xml"
    if not report.exists():
        failed.append(f"{build.name}: no test ran")
        continue
    for entry in ET.parse(report).iter("testcase"):
        name, status = entry.get("name"), entry.get("status")
        entry_failed = status not in ("run", "disabled")
        results = build / "test-results" / f"{name}.xml"
        rows = []
        if results.exists():
            try:
                rows = cases_in(results)
            except ET.ParseError:
                entry_failed = True
        elif not entry_failed:
            rows = [(name, "passed", "")] if status == "run" else [(name, "skipped", f"{name} (disabled)")]
        for case, verdict, reason in rows:
            full = f"{build.name}/{name}: {case}" if results.exists() else f"{build.name}/{name}"
            if verdict == "passed":
                passed.append(full)
            elif verdict == "failed":
                failed.append(full)
            else:
                skipped[reason] += 1
        if entry_failed and not any(verdict == "failed" for _, verdict, _ in rows):
            failed.append(f"{build.name}/{name}: the run itself failed")

for step in args.step:
    name, _, verdict = step.partition("=")
    (passed if verdict == "ok" else failed).append(f"step {name}")

for name in failed:
    print(f"FAILED {name}")
texts = [f"{text} ({count} cases)" if count > 1 else text for text, count in sorted(skipped.items())]
print("skipped: " + ("; ".join(texts) if texts else "nothing"))
print(f"{len(passed)} passed, {len(failed)} failed")
sys.exit(0 if passed and not failed else 1)
