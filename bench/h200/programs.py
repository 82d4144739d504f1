"""The GPU benchmark's table as data: 42 rows, each one program at one shape, in f16.

A row is a family of programs and its sizes. `text` is the program as `.mu`; weights are stored (in, out), keys (seq, d),
and scores are not scaled: the scale is folded into the queries. Softmax is written without a maximum, which back ends put in by
themselves. torch_forms.py has the same families for PyTorch.
"""
from dataclasses import dataclass
from math import prod

GROUPS = 6  # of rows, each measured in at most eight minutes


@dataclass(frozen=True)
class Program:
    """Shapes of the inputs by name, the shape of the output %y, and the operators between them."""
    inputs: dict
    output: tuple
    body: str

    def text(self, name, dtype="f16"):
        def of(shape):
            return f"{dtype}[{','.join(map(str, shape))}]"

        arguments = ", ".join(f"%{value}: {of(shape)}" for value, shape in self.inputs.items())
        lines = "".join(f"  {line.strip()}\n" for line in self.body.strip().splitlines())
        return f"kernel @{name}({arguments}) -> {of(self.output)} {{\n{lines}  return %y\n}}\n"


RMS = "%n = div %x, sqrt (mean (square %x) axis=1)\n"


def rmsnorm_linear(m, k, n):
    return Program({"x": (m, k), "w": (k, n)}, (m, n), RMS + "%y = matmul %n, %w")


def layernorm_linear(m, k, n):
    return Program({"x": (m, k), "w": (k, n)}, (m, n), """
        %c = sub %x, mean %x axis=1
        %n = div %c, sqrt (mean (square %c) axis=1)
        %y = matmul %n, %w""")


def gated_mlp(m, k, n):
    return Program({"x": (m, k), "w1": (k, n), "w2": (k, n)}, (m, n),
                   "%y = mul (silu (matmul %x, %w1)), (matmul %x, %w2)")


def rmsnorm_gated_mlp(m, k, n):
    return Program({"x": (m, k), "w1": (k, n), "w2": (k, n)}, (m, n),
                   RMS + "%y = mul (silu (matmul %n, %w1)), (matmul %n, %w2)")


def lora(m, k, n, r):
    return Program({"x": (m, k), "w": (k, n), "a": (k, r), "b": (r, n)}, (m, n),
                   "%y = add (matmul %x, %w), (matmul (matmul %x, %a), %b)")


ATTENTION = """
    %e = exp %s
    %p = div %e, (sum %e axis=2)
"""


def attention(heads, queries, keys, d):
    """Batch and heads are one axis. A group of query heads that share a key head is folded into the rows of q."""
    return Program({"q": (heads, queries, d), "k": (heads, keys, d), "v": (heads, keys, d)}, (heads, queries, d),
                   "%s = matmul %q, (transpose %k perm=[0,2,1])" + ATTENTION + "%y = matmul %p, %v")


def qknorm_attention(heads, queries, keys, d):
    plain = attention(heads, queries, keys, d)
    return Program(plain.inputs, plain.output, """
        %qn = div %q, sqrt (mean (square %q) axis=2)
        %kn = div %k, sqrt (mean (square %k) axis=2)
        %s = matmul %qn, (transpose %kn perm=[0,2,1])""" + ATTENTION + "%y = matmul %p, %v")


def mla_decode(batch, heads, keys, d, dv):
    """Multi-head latent attention, absorbed: keys are the latent, values its first dv columns."""
    return Program({"q": (batch, heads, d), "c": (batch, keys, d)}, (batch, heads, dv),
                   "%s = matmul %q, (transpose %c perm=[0,2,1])" + ATTENTION
                   + f"%y = matmul %p, (narrow %c axis=2 start=0 length={dv})")


def ntrans(rows, d):
    """The normalised residual of nGPT."""
    return Program({"h": (rows, d), "x": (rows, d), "alpha": (rows, d)}, (rows, d), """
        %n = div %h, sqrt (mean (square %h) axis=1)
        %c = add %x, (mul %alpha, (add %n, %x))
        %y = div %c, sqrt (mean (square %c) axis=1)""")


def softmax(rows, columns):
    return Program({"x": (rows, columns)}, (rows, columns), "%e = exp %x\n%y = div %e, (sum %e axis=1)")


FAMILIES = {function.__name__: function for function in (
    rmsnorm_linear, layernorm_linear, gated_mlp, rmsnorm_gated_mlp, lora, attention, qknorm_attention, mla_decode, ntrans,
    softmax)}


@dataclass(frozen=True)
class Row:
    name: str
    family: str
    sizes: tuple
    group: int
    autotune: bool  # max-autotune was the best form of PyTorch here, or near it

    @property
    def program(self):
        return FAMILIES[self.family](*self.sizes)

    @property
    def text(self):
        return self.program.text(self.name)

    @property
    def bytes(self):
        """Of the inputs and the output in f16, each once: what the plain read kernel reads."""
        return 2 * (sum(map(prod, self.program.inputs.values())) + prod(self.program.output))


AUTOTUNE = {"rmsnorm_linear_4096x4096_m1", "gated_mlp_4096x4096_m1", "rmsnorm_gated_mlp_4096x12288_m1",
            "lora_256x4096_r16_m1", "lora_256x4096_r16_m16", "softmax_4096x4096"}


def _sizes():
    """(name, family, sizes) in the order of the table."""
    for m in (2, 16):
        yield f"rmsnorm_linear_4096x6144_m{m}", "rmsnorm_linear", (m, 4096, 6144)
    for m in (1, 2, 16, 32):
        yield f"rmsnorm_linear_4096x4096_m{m}", "rmsnorm_linear", (m, 4096, 4096)
    for m in (1, 8, 16, 32):
        yield f"gated_mlp_4096x4096_m{m}", "gated_mlp", (m, 4096, 4096)
    for n in (4096, 12288):
        for m in (1, 8):
            yield f"rmsnorm_gated_mlp_4096x{n}_m{m}", "rmsnorm_gated_mlp", (m, 4096, n)
    for m in (1, 8, 16):
        yield f"lora_256x4096_r16_m{m}", "lora", (m, 256, 4096, 16)
    yield "lora_4096x4096_r16_m8", "lora", (8, 4096, 4096, 16)
    for name, heads, queries, batches in (("gqa", 2, 256, (1, 8, 16)), ("mha", 32, 16, (1, 8)), ("mqa", 1, 1024, (1, 8))):
        for batch in batches:
            yield f"{name}_bs{batch}", "attention", (batch * heads, queries, 4096, 64)
    for batch in (1, 8):
        yield f"qknorm_gqa_bs{batch}", "qknorm_attention", (batch * 2, 256, 4096, 64)
    for keys, batch in ((512, 1), (4096, 1), (4096, 8), (4096, 32)):
        yield f"decode_ctx{keys}_bs{batch}", "attention", (batch * 8, 4, keys, 128)
    for batch in (1, 8, 32):
        yield f"mla_decode_ctx4096_bs{batch}", "mla_decode", (batch, 128, 4096, 576, 512)
    for rows in (8, 64):
        yield f"ntrans_rows{rows}", "ntrans", (rows, 4096)
    for rows, columns in ((64, 4096), (4096, 4096), (8, 128256)):
        yield f"softmax_{rows}x{columns}", "softmax", (rows, columns)
    for m in (1, 8, 16):
        yield f"layernorm_linear_4096x4096_m{m}", "layernorm_linear", (m, 4096, 4096)


# Groups deal the rows out in turns, so that each has some of every family and takes about as long.
ROWS = tuple(Row(name, family, sizes, 1 + i % GROUPS, name in AUTOTUNE)
             for i, (name, family, sizes) in enumerate(_sizes()))

if __name__ == "__main__":  # for scripts: the groups
    print(*range(1, GROUPS + 1))
