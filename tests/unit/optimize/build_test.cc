#include "optimize/build.h"

#include "unit/optimize/support.h"

namespace mirage::optimize {
namespace {

class Build : public Folder {
 protected:
  Result<Built> make(const ir::GraphPtr& program, const ir::GraphPtr& candidate, Stage& stage) {
    BuildOptions options;
    options.target = *lower::target_named("cpu-portable");
    options.compile.cache_dir = path_;
    return build(program, candidate, options, stage);
  }
};

ir::GraphPtr sum_and_product(const std::string& outputs) {
  return program_of(
      "kernel @two(%x: f32[2,4], %y: f32[2,4]) -> f32[2,4], f32[2,4] {\n"
      "  %a = add %x, %y\n  %b = mul %x, %y\n  return " +
      outputs + "\n}\n");
}

TEST_F(Build, OutputsInAnotherOrderArePutRight) {
  const ir::GraphPtr program = sum_and_product("%a, %b"), swapped = sum_and_product("%b, %a");
  ASSERT_TRUE(program && swapped);
  Stage stage{};
  const Result<Built> built = make(program, swapped, stage);
  ASSERT_TRUE(built) << name_of(stage) << ": " << built.error().message;
  EXPECT_EQ(built->verified.graph()->hash, program->hash);
  float x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, y[8] = {2, 2, 2, 2, 3, 3, 3, 3}, a[8], b[8];
  const auto view = [](float* data) {
    return runtime::TensorView{data, ir::DType::F32, {2, 4}, {4, 1}};
  };
  const std::vector<runtime::TensorView> in = {view(x), view(y)}, out = {view(a), view(b)};
  ASSERT_TRUE(built->executable->run(in, out, 1));
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(a[i], x[i] + y[i]);
    EXPECT_EQ(b[i], x[i] * y[i]);
  }
}

TEST_F(Build, TheStageThatFailedIsNamed) {
  const ir::GraphPtr program = sum_and_product("%a, %b"), other = sum_and_product("%a, %a");
  Stage stage{};
  const Result<Built> built = make(program, other, stage);
  ASSERT_FALSE(built);
  EXPECT_EQ(stage, Stage::Verify);
  EXPECT_EQ(built.error().code, Code::Mismatch);
}

}  // namespace
}  // namespace mirage::optimize
