// Layer norm and a linear layer.
kernel @layernorm_linear(%x: f32[16,4096], %w: f32[4096,6144]) -> f32[16,6144] {
  %c = sub %x, mean %x axis=1
  %n = div %c, sqrt (mean (square %c) axis=1)
  %y = matmul %n, %w
  return %y
}
