// run: mirage lower --target=cpu-portable {}
kernel @norm_linear(%x: f16[8,64], %w: f16[64,100]) -> f16[8,100] {
  %y = block(%x, %w) axes(n: grid 3, k: loop 4) {   // 100 = 34 + 34 + 32: the last tile is shorter
    %a = load %x [., k]
    %b = load %w [k, n]
    %m = accum sum (matmul %a, %b)
    %q = accum sum (sum (square %a) axis=1)
    store (div %m, sqrt (mul %q, 0x1p-6)) [., n] shape=[8, 100]
  }
  return %y
}
