"""RMS norm with gain and a linear layer whose weight is stored by columns, as in Qwen 2.5."""

import mirage as mi
from _run import main


def program() -> mi.Graph:
    g = mi.Graph("qwen_norm_linear")
    x = g.input((1, 2048), name="x")
    gain = g.input((1, 2048), name="g")
    w = g.input((2048, 2560), strides=(1, 2048), name="w")
    g.output(g.rms_norm(x, gain) @ w)
    return g


if __name__ == "__main__":
    main(program())
