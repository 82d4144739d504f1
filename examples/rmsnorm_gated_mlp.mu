// RMS norm, then two linear layers, one gating the other.
kernel @rmsnorm_gated_mlp(%x: f32[8,4096], %w1: f32[4096,4096], %w2: f32[4096,4096]) -> f32[8,4096] {
  %n = div %x, sqrt (mean (square %x) axis=1)
  %y = mul (silu (matmul %n, %w1)), (matmul %n, %w2)
  return %y
}
