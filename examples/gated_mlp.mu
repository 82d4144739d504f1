// Two linear layers, one gating the other.
kernel @gated_mlp(%x: f32[8,4096], %w1: f32[4096,4096], %w2: f32[4096,4096]) -> f32[8,4096] {
  %y = mul (silu (matmul %x, %w1)), (matmul %x, %w2)
  return %y
}
