"""The GPU benchmark's table (bench/h200): its programs, the forms of PyTorch beside them, merging and showing results."""

import json
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "bench/h200"))

import merge  # noqa: E402
import programs  # noqa: E402
import show  # noqa: E402

MIRAGE = shutil.which("mirage")
needs_mirage = pytest.mark.skipif(MIRAGE is None, reason="no program mirage in PATH")

# What the table asks for, written a second time: shapes of the inputs and the output.
SHAPES = {
    "rmsnorm_linear_4096x6144_m16": [(16, 4096), (4096, 6144), (16, 6144)],
    "rmsnorm_linear_4096x4096_m32": [(32, 4096), (4096, 4096), (32, 4096)],
    "gated_mlp_4096x4096_m1": [(1, 4096), (4096, 4096), (4096, 4096), (1, 4096)],
    "rmsnorm_gated_mlp_4096x12288_m8": [(8, 4096), (4096, 12288), (4096, 12288), (8, 12288)],
    "lora_256x4096_r16_m16": [(16, 256), (256, 4096), (256, 16), (16, 4096), (16, 4096)],
    "lora_4096x4096_r16_m8": [(8, 4096), (4096, 4096), (4096, 16), (16, 4096), (8, 4096)],
    "gqa_bs16": [(32, 256, 64), (32, 4096, 64), (32, 4096, 64), (32, 256, 64)],
    "mha_bs8": [(256, 16, 64), (256, 4096, 64), (256, 4096, 64), (256, 16, 64)],
    "mqa_bs8": [(8, 1024, 64), (8, 4096, 64), (8, 4096, 64), (8, 1024, 64)],
    "qknorm_gqa_bs8": [(16, 256, 64), (16, 4096, 64), (16, 4096, 64), (16, 256, 64)],
    "decode_ctx512_bs1": [(8, 4, 128), (8, 512, 128), (8, 512, 128), (8, 4, 128)],
    "decode_ctx4096_bs32": [(256, 4, 128), (256, 4096, 128), (256, 4096, 128), (256, 4, 128)],
    "mla_decode_ctx4096_bs32": [(32, 128, 576), (32, 4096, 576), (32, 128, 512)],
    "ntrans_rows64": [(64, 4096)] * 4,
    "softmax_8x128256": [(8, 128256)] * 2,
    "layernorm_linear_4096x4096_m8": [(8, 4096), (4096, 4096), (8, 4096)],
}

SMALL = {
    "rmsnorm_linear": (2, 64, 32), "layernorm_linear": (3, 64, 32), "gated_mlp": (2, 64, 32),
    "rmsnorm_gated_mlp": (2, 64, 32), "lora": (2, 64, 32, 16), "attention": (4, 4, 32, 16),
    "qknorm_attention": (2, 8, 32, 16), "mla_decode": (2, 8, 32, 24, 16), "ntrans": (3, 64), "softmax": (3, 50),
}


def rms(x):
    return x / np.sqrt((x * x).mean(-1, keepdims=True))


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def silu(x):
    return x / (1 + np.exp(-x))


def attend(q, k, v):
    return softmax(q @ k.swapaxes(-1, -2)) @ v


FORMULAS = {
    "rmsnorm_linear": lambda x, w: rms(x) @ w,
    "layernorm_linear": lambda x, w: (x - x.mean(-1, keepdims=True)) / x.std(-1, keepdims=True) @ w,
    "gated_mlp": lambda x, w1, w2: silu(x @ w1) * (x @ w2),
    "rmsnorm_gated_mlp": lambda x, w1, w2: silu(rms(x) @ w1) * (rms(x) @ w2),
    "lora": lambda x, w, a, b: x @ w + x @ a @ b,
    "attention": attend,
    "qknorm_attention": lambda q, k, v: attend(rms(q), rms(k), v),
    "mla_decode": lambda q, c: attend(q, c, c[..., :16]),
    "ntrans": lambda h, x, alpha: rms(x + alpha * (rms(h) + x)),
    "softmax": softmax,
}


def small_row(family):
    return programs.Row(family, family, SMALL[family], 1, True)


def error(found, expected):
    assert found.shape == expected.shape
    return np.linalg.norm(found - expected) / np.linalg.norm(expected)


def test_there_are_42_rows_with_names_of_their_own():
    names = [row.name for row in programs.ROWS]
    assert len(set(names)) == len(names) == 42
    assert {row.family for row in programs.ROWS} == set(programs.FAMILIES) == set(SMALL) == set(FORMULAS)
    assert {row.group for row in programs.ROWS} == set(range(1, programs.GROUPS + 1))
    assert programs.AUTOTUNE < set(names)


@pytest.mark.parametrize("name", SHAPES)
def test_shapes(name):
    (row,) = [row for row in programs.ROWS if row.name == name]
    assert [*row.program.inputs.values(), row.program.output] == SHAPES[name]
    assert row.bytes == 2 * sum(int(np.prod(shape)) for shape in SHAPES[name])


@needs_mirage
@pytest.mark.parametrize("row", programs.ROWS, ids=lambda row: row.name)
def test_the_search_finds_a_fused_kernel(row, tmp_path):
    file = tmp_path / f"{row.name}.mu"
    file.write_text(row.text)
    done = subprocess.run([MIRAGE, "search", file, "--json", "--time-limit", "60"], capture_output=True, text=True)
    found = json.loads(done.stdout)
    assert found["program"] == row.name, done.stderr
    assert found["structures"]


@needs_mirage
@pytest.mark.parametrize("family", SMALL)
def test_small_programs_compute_the_formula(family, tmp_path):
    row, rng = small_row(family), np.random.default_rng(5)
    (tmp_path / "p.mu").write_text(row.text)
    arrays, words = [], []
    for name, shape in row.program.inputs.items():
        arrays.append((rng.standard_normal(shape) * shape[-1] ** -0.25).astype(np.float16))
        np.save(tmp_path / f"{name}.npy", arrays[-1])
        words += ["--input", f"{name}={tmp_path / name}.npy"]
    subprocess.run([MIRAGE, "run", tmp_path / "p.mu", "--target", "cpu", *words, "--output", f"y={tmp_path}/y.npy"], check=True)
    expected = FORMULAS[family](*(array.astype(np.float64) for array in arrays))
    assert error(np.load(tmp_path / "y.npy").astype(np.float64), expected) < 2e-3


@pytest.mark.parametrize("family", SMALL)
def test_forms_of_pytorch_compute_the_formula(family):
    torch = pytest.importorskip("torch")
    import torch_forms

    torch.manual_seed(5)
    row = small_row(family)
    tensors = torch_forms.inputs(row, "cpu", torch.float32)
    expected = FORMULAS[family](*(t.double().numpy() for t in tensors))
    for form in torch_forms.forms(row):
        if "cudnn" in form.label:
            continue
        found = form.run(*form.prepare(*tensors)).double().numpy().reshape(expected.shape)
        assert error(found, expected) < 1e-5, form.label


def part(commit, **times):
    rows = [{"program": name, "us": us, "torch_us": 2.0 * us, "read_us": 1.0, "rel_error": 1e-4, "candidate0_us": 3.0 * us,
             "families": 9, "structure": "grid{n}", "schedule": "grid n 2"} for name, us in times.items()]
    return {"device": "GPU", "commit": commit, "torch": "2", "rows": rows}


def times(result):
    return {row["program"]: row["us"] for row in result["rows"]}


def test_groups_merge_by_commit_and_device():
    first = merge.merge(None, part("a", softmax_64x4096=2.0, gqa_bs1=5.0))
    both = merge.merge(first, part("a", gqa_bs1=4.0, ntrans_rows8=3.0))
    assert list(times(both).items()) == [("gqa_bs1", 4.0), ("ntrans_rows8", 3.0), ("softmax_64x4096", 2.0)]
    with pytest.raises(merge.Refused, match="of commit a, the part of b"):
        merge.merge(both, part("b", gqa_bs1=1.0))
    assert times(merge.merge(both, part("b", gqa_bs1=1.0), "drop")) == {"gqa_bs1": 1.0}
    kept = merge.merge(both, part("b", gqa_bs1=1.0), "keep")
    assert [row.get("commit") for row in kept["rows"]] == [None, "a", "a"] and kept["commit"] == "b"
    third = merge.merge(kept, part("c", gqa_bs1=1.0), "keep")
    assert [row.get("commit") for row in third["rows"]] == [None, "a", "a"] and third["commit"] == "c"
    with pytest.raises(merge.Refused, match="device"):
        merge.merge(both, {**part("a"), "device": "another device"})
    with pytest.raises(merge.Refused, match="no row is named x"):
        merge.merge(both, part("a", x=1.0))


def test_merging_files(tmp_path):
    (tmp_path / "1.json").write_text(json.dumps(part("a", gqa_bs1=4.0)))
    (tmp_path / "2.json").write_text(json.dumps(part("b", gqa_bs8=4.0)))
    command = [sys.executable, ROOT / "bench/h200/merge.py", "--into", tmp_path / "all.json"]
    done = subprocess.run([*command, tmp_path / "1.json"], capture_output=True, text=True)
    assert done.returncode == 0 and "1 of 42 rows; missing: rmsnorm_linear_4096x6144_m2 " in done.stdout
    done = subprocess.run([*command, tmp_path / "2.json"], capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.startswith(f"{tmp_path / '2.json'}: results are of commit a")
    assert times(json.loads((tmp_path / "all.json").read_text())) == {"gqa_bs1": 4.0}


def test_the_page_shows_results():
    result = part("a", gqa_bs1=4.0, softmax_64x4096=2.0)
    result["rows"][1].update(torch_us=1.0, commit="older")
    result["rows"].append({"program": "ntrans_rows8", "us": None, "torch_us": 3.4, "read_us": 1.5, "rel_error": None,
                           "error": "exit 69"})
    page = show.page(f"before\n{show.BEGIN}\nold\n{show.END}\nafter\n", result)
    assert page.startswith(f"before\n{show.BEGIN}\n") and page.endswith(f"{show.END}\nafter\n") and "old\n" not in page
    assert "2 of 42 rows; geomean **1.00**, worst 0.50 (softmax_64x4096)" in page
    assert "| gqa_bs1 | 4.00 | 8.00 | 1.00 | 2.00 | 1.0e-04 | 9 | 12.0 | grid{n}; grid n 2 |" in page
    assert "| softmax_64x4096 (older) | 2.00 | 1.00 |" in page
    assert "| ntrans_rows8 | - | 3.40 | 1.50 | - | - | - | - | exit 69 |" in page
    plot = show.plot(result)
    assert plot.count("<rect") == 3 and ">gqa_bs1<" in plot  # the ground and two bars


def test_the_page_is_up_to_date():
    done = subprocess.run([sys.executable, ROOT / "bench/h200/show.py", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
