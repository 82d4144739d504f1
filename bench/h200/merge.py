#!/usr/bin/env python3
"""Merges results of row groups, as measure.py writes them, into one file.

usage: merge.py [--into FILE.json] [--other-commits keep|drop] PART.json ...

The file holds results of one device. Parts of the file's commit replace its rows of the same names. Parts of another commit are
refused, unless rows of older commits are to be dropped, or kept: these then say their `commit`. Later parts win.
"""
import argparse
import json
import sys
from pathlib import Path

from programs import ROWS

ORDER = {row.name: i for i, row in enumerate(ROWS)}
DEFAULT = Path(__file__).resolve().parents[1] / "results/h200.json"


class Refused(Exception):
    pass


def merge(into, part, other_commits=None):
    """Both as measure.py writes them; `into` may be None."""
    if into is None:
        into = {**part, "rows": []}
    if into["device"] != part["device"]:
        raise Refused(f"results are of {into['device']}, the part of {part['device']}")
    kept = {row["program"]: row for row in into["rows"]}
    if into["commit"] != part["commit"]:
        if other_commits is None:
            raise Refused(f"results are of commit {into['commit']}, the part of {part['commit']}: --other-commits keep or drop")
        kept = {} if other_commits == "drop" else {
            name: {**row, "commit": row.get("commit", into["commit"])} for name, row in kept.items()}
    for row in part["rows"]:
        if row["program"] not in ORDER:
            raise Refused(f"no row is named {row['program']}")
        kept[row["program"]] = row
    return {**part, "rows": sorted(kept.values(), key=lambda row: ORDER[row["program"]])}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="+", type=Path)
    parser.add_argument("--into", type=Path, default=DEFAULT)
    parser.add_argument("--other-commits", choices=["keep", "drop"])
    options = parser.parse_args()
    merged = json.loads(options.into.read_text()) if options.into.exists() else None
    try:
        for part in options.parts:
            merged = merge(merged, json.loads(part.read_text()), options.other_commits)
    except Refused as error:
        sys.exit(f"{part}: {error}")
    options.into.parent.mkdir(parents=True, exist_ok=True)
    options.into.write_text(json.dumps(merged, indent=1) + "\n")
    missing = sorted(set(ORDER) - {row["program"] for row in merged["rows"]}, key=ORDER.get)
    print(f"{options.into}: {len(merged['rows'])} of {len(ORDER)} rows" + (f"; missing: {' '.join(missing)}" if missing else ""))


if __name__ == "__main__":
    main()
