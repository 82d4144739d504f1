// run: mirage optimize {}
kernel @a(%x: f32[4]) -> f32[4] {
  %y = exp %z
  return %y
}
