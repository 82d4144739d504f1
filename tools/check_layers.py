#!/usr/bin/env python3
"""Checks that arrows between the folders of src/ point down, as in the picture of ARCHITECTURE.md.

Every include must be in the DEPS of its layer's mirage_layer() call, every one of DEPS in ALLOWED,
every file in SOURCES, and the whole free of cycles.
"""
import graphlib
import pathlib
import re
import sys

# `verify/verdict.h` allows one header, `verify/*` those that the layer's DEPS name one by one.
ALLOWED = {
    "util": "",
    "ir": "util",
    "algebra": "util ir",
    "interp": "util ir",
    "search": "util ir algebra",
    "verify": "util ir algebra interp",
    "lower": "util ir verify/verdict.h",
    "codegen": "util ir lower",
    "runtime": "util codegen/source_unit.h device_headers",
    "tune": "util ir interp verify/verdict.h lower codegen runtime",
    "optimize": "util ir algebra interp search verify lower codegen runtime tune device_headers",
    "report": "util ir search/* verify/* lower/* codegen/* runtime/* tune/* optimize/*",
}
ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1])
CODE = {".h", ".cc", ".def"}


def layer_calls(path):
    """{layer: {"DEPS": [...], "SOURCES": [...]}} of the mirage_layer() calls in a CMake file."""
    text = re.sub(r"#.*", "", path.read_text()) if path.exists() else ""
    calls = {}
    for name, body in re.findall(r"mirage_layer\(\s*(\w+)([^)]*)\)", text):
        words = re.split(r"\b(DEPS|SOURCES|LIBS)\b", body)[1:]
        calls[name] = {key: value.split() for key, value in zip(words[::2], words[1::2])}
    return calls


def check():
    arrows = {}
    for layer in ALLOWED if len(sys.argv) == 1 else ():  # other trees may be parts of one
        if not (ROOT / "src" / layer).is_dir():
            yield f"tools/check_layers.py: there is no src/{layer}"
    for folder in sorted(p for p in (ROOT / "src").glob("*") if p.is_dir()):
        layer = folder.name
        call = layer_calls(folder / "CMakeLists.txt").get(layer)
        if call is None or layer not in ALLOWED:
            yield f"src/{layer}: no mirage_layer({layer} ...) in its CMakeLists.txt, or not in ALLOWED"
            continue
        deps, allowed = call.get("DEPS", []), ALLOWED[layer].split()
        for dep in deps:
            other = dep.split("/")[0]
            if dep not in allowed and other not in allowed and not ("/" in dep and f"{other}/*" in allowed):
                yield f"src/{layer}/CMakeLists.txt: {layer} may not depend on {dep} (allowed: {' '.join(allowed)})"
        arrows[layer] = {dep.split("/")[0] for dep in deps}
        for file in sorted(p for p in folder.rglob("*") if p.suffix in CODE):
            if str(file.relative_to(folder)) not in call.get("SOURCES", []):
                yield f"src/{layer}/CMakeLists.txt: {file.relative_to(folder)} is not in SOURCES"
            for number, line in enumerate(file.read_text().splitlines(), 1):
                match = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
                if not match or match[1].split("/")[0] == layer:
                    continue
                header = match[1]
                if (ROOT / "device" / header).exists():
                    header = "device_headers"
                if header.split("/")[0].removesuffix(".h") not in deps and header not in deps:
                    where = f"{file.relative_to(ROOT)}:{number}"
                    yield f"{where}: {layer} includes {header}, its DEPS are: {' '.join(deps)}"
    try:
        graphlib.TopologicalSorter(arrows).prepare()
    except graphlib.CycleError as error:
        yield "cycle: " + " -> ".join(error.args[1])


errors = list(check())
print("\n".join(errors) if errors else "layers: all arrows point down")
sys.exit(bool(errors))
