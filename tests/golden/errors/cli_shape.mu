// run: mirage show {}
kernel @a(%x: f32[4,3], %w: f32[4,3]) -> f32[4,3] {
  %y = matmul %x, %w
  return %y
}
