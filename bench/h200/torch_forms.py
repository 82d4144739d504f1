"""What a user of PyTorch would write for each family of programs.py, in several forms: the best of them is the baseline.

A form takes the inputs of the program in its own storage: linear layers keep weights as (out, in) where that is what
torch.nn does, and `prepare` makes that storage from the program's inputs outside of the time. Every form is checked against
the program in float32.
"""
from dataclasses import dataclass
from typing import Callable

import torch
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

EPS = 1e-6  # far below the rounding of f16: the programs have none


@dataclass(frozen=True)
class Form:
    label: str
    run: Callable
    mode: str = "eager"  # or compile, autotune
    prepare: Callable = lambda *inputs: inputs

    def callable(self):
        if self.mode == "eager":
            return self.run
        options = {"mode": "max-autotune-no-cudagraphs"} if self.mode == "autotune" else {}
        return torch.compile(self.run, dynamic=False, **options)


def every_mode(label, run, prepare=lambda *inputs: inputs):
    suffix = f"_{label}" if label else ""
    return [Form(mode + suffix, run, mode, prepare) for mode in ("eager", "compile", "autotune")]


def rms(x, dim):
    return F.rms_norm(x, (dim,), None, EPS)


# ---- linear layers: weights (in, out) in the program, (out, in) in torch.nn

def turned(x, *weights):
    return (x, *(w.t().contiguous() for w in weights))


def joined(x, w1, w2):
    return x, torch.cat([w1.t(), w2.t()])


def linear_forms(norm):
    return (every_mode("", lambda x, w: F.linear(norm(x), w), turned)
            + every_mode("in_out", lambda x, w: norm(x) @ w)[:2])


def gated_forms(norm):
    def two(x, w1, w2):
        y = norm(x)
        return F.silu(F.linear(y, w1)) * F.linear(y, w2)

    def one(x, w):
        a, b = F.linear(norm(x), w).chunk(2, -1)
        return F.silu(a) * b

    return every_mode("", two, turned) + every_mode("1gemm", one, joined)


def rmsnorm_linear(m, k, n):
    return linear_forms(lambda x: rms(x, k))


def layernorm_linear(m, k, n):
    return linear_forms(lambda x: F.layer_norm(x, (k,), None, None, EPS))


def gated_mlp(m, k, n):
    return gated_forms(lambda x: x)


def rmsnorm_gated_mlp(m, k, n):
    return gated_forms(lambda x: rms(x, k))


def lora(m, k, n, r):
    return (every_mode("", lambda x, w, a, b: F.linear(x, w) + F.linear(F.linear(x, a), b), turned)
            + every_mode("addmm", lambda x, w, a, b: torch.addmm(F.linear(x, w), F.linear(x, a), b.t()), turned)[:1])


# ---- attention

def plain(q, k, v):
    return torch.softmax(q @ k.transpose(-1, -2), -1) @ v


def sdpa(backend=None, **options):
    def run(q, k, v):
        if backend is None:
            return F.scaled_dot_product_attention(q, k, v, scale=1.0, **options)
        with sdpa_kernel(backend):
            return F.scaled_dot_product_attention(q, k, v, scale=1.0, **options)

    return run


FLASH, CUDNN = SDPBackend.FLASH_ATTENTION, SDPBackend.CUDNN_ATTENTION


def four_axes(*tensors):
    """(heads, n, d) as (1, heads, n, d), which the fused kernels want."""
    return tuple(t.unsqueeze(0) for t in tensors)


def grouped(q, k, v):
    """The rows of q as heads of one row that share a key head."""
    heads, rows, d = q.shape
    return q.reshape(1, heads * rows, 1, d), k.unsqueeze(0), v.unsqueeze(0)


def attention(heads, queries, keys, d):
    forms = every_mode("", plain, four_axes) + [
        Form("sdpa_auto", sdpa(), prepare=four_axes), Form("sdpa_flash", sdpa(FLASH), prepare=four_axes),
        Form("sdpa_cudnn", sdpa(CUDNN), prepare=four_axes)]
    if queries <= 8:  # decode: the query rows are heads
        forms += [Form("sdpa_auto_gqa", sdpa(enable_gqa=True), prepare=grouped),
                  Form("sdpa_flash_gqa", sdpa(FLASH, enable_gqa=True), prepare=grouped),
                  Form("sdpa_cudnn_gqa", sdpa(CUDNN, enable_gqa=True), prepare=grouped)]
    return forms


def qknorm_attention(heads, queries, keys, d):
    def normed(attend):
        return lambda q, k, v: attend(rms(q, d), rms(k, d), v)

    forms = every_mode("", normed(plain), four_axes)
    for label, backend in (("flash", FLASH), ("cudnn", CUDNN)):
        forms += [Form(f"{mode}_sdpa_{label}", normed(sdpa(backend)), mode, four_axes) for mode in ("eager", "compile")]
    return forms


def mla_decode(batch, heads, keys, d, dv):
    """The fused kernels refuse 576 wide keys, but for the memory-efficient one, which is ten times slower than the plain form."""
    return every_mode("", lambda q, c: plain(q, c, c[..., :dv]), lambda q, c: (q.unsqueeze(1), c.unsqueeze(1)))


# ---- rows

def ntrans(rows, d):
    return every_mode("", lambda h, x, alpha: rms(x + alpha * (rms(h, d) + x), d))


def softmax(rows, columns):
    return every_mode("", lambda x: torch.softmax(x, -1))


def forms(row, autotune=True):
    made = globals()[row.family](*row.sizes)
    return [form for form in made if form.mode != "autotune" or (autotune and row.autotune)]


def inputs(row, device, dtype=torch.float16):
    """Random inputs of the program; weights and queries so scaled that results keep the size of the inputs."""
    tensors = []
    for name, shape in row.program.inputs.items():
        is_weight = name in ("w", "w1", "w2", "a", "b")
        is_query = name == "q" and row.family != "qknorm_attention"
        scale = shape[0] ** -0.5 if is_weight else shape[-1] ** -0.5 if is_query else 1.0
        tensors.append(torch.empty(shape, device=device, dtype=dtype).normal_(0, scale))
    return tensors
