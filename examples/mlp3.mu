// The three-matrix MLP: a gated layer and the projection back.
kernel @mlp3(%x: f32[8,4096], %w1: f32[4096,4096], %w2: f32[4096,4096], %w3: f32[4096,4096]) -> f32[8,4096] {
  %g = mul (silu (matmul %x, %w1)), (matmul %x, %w2)
  %y = matmul %g, %w3
  return %y
}
