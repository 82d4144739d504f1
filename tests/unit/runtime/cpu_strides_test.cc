// Products whose operands lie in memory in unusual ways, from graph to numbers.

#include <gtest/gtest.h>

#include "codegen/cpu/emit.h"
#include "ir/text.h"
#include "lower/lower.h"
#include "runtime/cpu/compile.h"
#include "tune/check.h"

namespace mirage {
namespace {

class CpuStrides : public ::testing::TestWithParam<std::string_view> {};

TEST_P(CpuStrides, ProductReadsItsSecondOperandWhereItLies) {
  const auto graph = ir::parse(GetParam());
  ASSERT_TRUE(graph) << graph.error().message;
  const auto program = lower::lower((*graph)[0], *lower::target_named("cpu"));
  ASSERT_TRUE(program) << program.error().message;
  const auto unit = codegen::emit_cpu(*program);
  ASSERT_TRUE(unit);
  const auto executable = runtime::compile(*unit, {.cache_dir = MIRAGE_BINARY_DIR "/kernel-cache"});
  ASSERT_TRUE(executable) << executable.error().message;
  const ir::Graph& signature = *(*graph)[0];
  std::vector<tune::HostTensor> inputs;
  std::vector<double> x, w;
  for (int i = 0; i < 2 * 4; ++i) x.push_back(i + 1);
  for (int i = 0; i < 4 * 3; ++i) w.push_back((i * 5) % 7);
  for (size_t i = 0; i < 2; ++i) {
    inputs.push_back(
        *tune::HostTensor::make(signature.type(signature.inputs[i]), signature.input_strides[i]));
    inputs[i].assign(i == 0 ? x : w);
  }
  const auto outputs = tune::make_outputs(signature);
  ASSERT_TRUE(outputs);
  ASSERT_TRUE((*executable)->run(tune::views_of(inputs), tune::views_of(*outputs), 2));
  const std::vector<double> y = (*outputs)[0].to_doubles();
  for (size_t m = 0; m < 2; ++m)
    for (size_t n = 0; n < 3; ++n) {
      double sum = 0;
      for (size_t k = 0; k < 4; ++k) sum += x[4 * m + k] * w[3 * k + n];
      EXPECT_EQ(y[3 * m + n], sum) << "row " << m << " column " << n;
    }
}

INSTANTIATE_TEST_SUITE_P(
    Layouts, CpuStrides,
    ::testing::Values("kernel(%x: f32[2,4], %w: f32[4,3]) { %y = matmul %x, %w }",
                      "kernel(%x: f32[2,4], %w: f32[4,3] strides(1,4)) { %y = matmul %x, %w }",
                      "kernel(%x: f32[2,4], %w: f32[4,3] strides(6,2)) { %y = matmul %x, %w }",
                      "kernel(%x: f32[2,4], %w: f32[4,3] strides(2,9)) { %y = matmul %x, %w }",
                      "kernel(%x: f32[2,4], %w: f32[4,3] strides(6,2)) {"
                      "  %y = block(%x, %w) axes(m: grid 2, k: loop 2) {"
                      "    store (accum sum (matmul (load %x [m, k]), (load %w [k, .]))) [m, .]"
                      "  }"
                      "}"));

}  // namespace
}  // namespace mirage
