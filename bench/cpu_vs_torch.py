#!/usr/bin/env python3
"""Times the example programs on this CPU beside PyTorch, eager and torch.compile, in one run.

usage: cpu_vs_torch.py [--threads N] [--only NAME ...] [--out FILE.json]

Each program is optimized cold by `mi.optimize`, which checks the winner against float64 before it times it; then the
winner, called from Python like the others, and both PyTorch forms take turns on the same inputs with the same number of
threads. A time is the median over twelve turns of 0.06 s each. candidate0_us is the time of the program operator by
operator that the optimization measured. The machine should be idle. Needs PyTorch and the module mirage.
"""
import argparse, json, math, os, platform, re, statistics, subprocess, sys, time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def programs(torch):
    """name of the example -> function of its inputs, in their order."""
    from torch.nn import functional as F

    def rms(x):
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True))

    def attention(q, k, v):
        return torch.softmax(q @ k, -1) @ v

    def ntrans(h, x, alpha):
        return rms(x + alpha * (rms(h) + x))

    table = {
        "lora": lambda x, w, a, b: x @ w + (x @ a) @ b,
        "gated_mlp": lambda x, w1, w2: F.silu(x @ w1) * (x @ w2),
        "rmsnorm_gated_mlp": lambda x, w1, w2: (lambda y: F.silu(y @ w1) * (y @ w2))(rms(x)),
        "layernorm_linear": lambda x, w: F.layer_norm(x, x.shape[-1:]) @ w,
        "softmax": lambda x: torch.softmax(x, -1),
        "safe_softmax_attention": attention,
        "mlp3": lambda x, w1, w2, w3: (F.silu(x @ w1) * (x @ w2)) @ w3,
        "matmul_chain": lambda a, b, c: (a @ b) @ c,
        "qknorm_doc": lambda q, k, v: attention(rms(q), rms(k), v),
    }
    for size in ("bs1", "bs8"):
        table[f"rmsnorm_{size}"] = lambda x, w: rms(x) @ w
        table[f"ntrans_{size}"] = ntrans
        table[f"qknorm_qk_{size}"] = lambda q, k, v: attention(rms(q), k * torch.rsqrt((k * k).mean(-2, keepdim=True)), v)
        table[f"qknorm_qv_{size}"] = lambda q, k, v: attention(rms(q), k, rms(v))
        for name in ("gqa", "mha", "mqa"):
            table[f"{name}_{size}"] = attention
    return table


def medians_us(calls, rounds=12, slice_s=0.06):
    """Median of each call in microseconds. The calls take turns in slices, so that a slow moment of the machine
    meets all of them; the first calls of a slice, in which caches and threads are still the other's, do not count."""
    samples = [[] for _ in calls]
    for _ in range(rounds):
        for call, own in zip(calls, samples):
            time.sleep(0.005)  # threads of the other libraries stop spinning
            for _ in range(2):
                call()
            start = time.perf_counter()
            while True:
                begin = time.perf_counter()
                call()
                end = time.perf_counter()
                own.append((end - begin) * 1e6)
                if end - start > slice_s:
                    break
    return [statistics.median(own) for own in samples]


def input_shapes(file):
    """Shapes of the inputs, from the signature of an example."""
    signature = file.read_text().split("->")[0]
    return [tuple(map(int, shape.split(","))) for shape in re.findall(r"f32\[([\d,]+)\]", signature)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--out", default=str(ROOT / "bench/results/cpu.json"))
    args = parser.parse_args()

    import mirage as mi
    import torch

    torch.set_num_threads(args.threads)
    torch.manual_seed(0)
    rows = []
    for name, function in sorted(programs(torch).items()):
        file = ROOT / "examples" / f"{name}.mu"
        if not file.exists() or (args.only and name not in args.only):
            continue
        (graph,) = mi.load(file)
        begin = time.perf_counter()
        program = mi.optimize(graph, threads=args.threads, use_records=False)
        cold_s = time.perf_counter() - begin
        inputs = [torch.randn(shape) * 0.3 for shape in input_shapes(file)]
        with torch.no_grad():
            compiled_function = torch.compile(function)
            compiled_function(*inputs)
            us, eager, compiled = medians_us([lambda: program(*inputs), lambda: function(*inputs),
                                              lambda: compiled_function(*inputs)])
        report = program.report
        row = {"program": name, "us": us, "candidate0_us": report.baseline_us, "eager_us": eager,
               "compile_us": compiled, "cold_s": round(cold_s, 2)}
        row["speedup"] = min(eager, compiled) / row["us"]
        rows.append(row)
        print(f"{name:24} {row['us']:10.1f} us   candidate 0 {row['candidate0_us']:10.1f}   eager {eager:10.1f}   "
              f"compile {compiled:10.1f}   x{row['speedup']:.2f}   cold {cold_s:.1f} s", flush=True)
    if not rows:
        sys.exit("no program was run")
    geomean = math.exp(sum(math.log(row["speedup"]) for row in rows) / len(rows))
    print(f"geomean over {len(rows)} programs: x{geomean:.2f} over the better of the two, worst x{min(r['speedup'] for r in rows):.2f}")
    commit = subprocess.check_output(["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"], text=True).strip()
    device = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
    result = {"device": device, "threads": args.threads, "commit": commit, "torch": torch.__version__,
              "python": platform.python_version(), "geomean_speedup": geomean, "rows": rows}
    Path(args.out).parent.mkdir(parents=True, exist_ok=True)
    Path(args.out).write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
