// run: mirage optimize --target triton {}
kernel @a(%x: f32[4]) -> f32[4] {
  %y = exp %x
  return %y
}
