// run: mirage optimize --target sm_90 {}
kernel @a(%x: f32[4]) -> f32[4] {
  %y = exp %x
  return %y
}
