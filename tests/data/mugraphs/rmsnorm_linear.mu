// RMS norm and linear layer in one kernel; the weight is stored by columns.
kernel @rmsnorm_linear(%x: f16[2,64], %w: f16[64,48] strides(1,64)) -> f16[2,48] {
  %y = block(%x, %w) axes(x: grid 6, i: loop 4) threads(128) {
    %a = load %x [., i]
    %b = load %w [i, x]
    %p = accum sum (matmul %a, %b)
    %r = sqrt (accum mean (mean (square %a) axis=1))
    store (div %p, %r) [., x]
  }
  return %y
}
