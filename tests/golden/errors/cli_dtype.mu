// run: mirage show {}
kernel @a(%x: f33[4]) -> f32[4] {
  %y = exp %x
  return %y
}
