// run: mirage optimize --target z80 {}
kernel @a(%x: f32[4]) -> f32[4] {
  %y = exp %x
  return %y
}
