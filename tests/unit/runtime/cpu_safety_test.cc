// Softmax that cannot overflow, from graph to numbers: op by op and in a block with a loop.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "codegen/cpu/emit.h"
#include "ir/text.h"
#include "lower/lower.h"
#include "runtime/cpu/compile.h"
#include "tune/check.h"

namespace mirage {
namespace {

constexpr std::string_view kOpByOp = R"(
kernel(%s: f32[4,24], %v: f32[24,3]) -> f32[4,3] {
  %e = exp %s
  %y = div (matmul %e, %v), (sum %e axis=1)
  return %y
})";
constexpr std::string_view kLooped = R"(
kernel(%s: f32[4,24], %v: f32[24,3]) -> f32[4,3] {
  %y = block(%s, %v) axes(m: grid 2, t: loop 3) {
    %e = exp (load %s [m, t])
    store (div (accum sum (matmul %e, (load %v [t, .]))), (accum sum (sum %e axis=1))) [m, .]
  }
  return %y
})";

class CpuSafety : public ::testing::TestWithParam<std::string_view> {
 protected:
  void SetUp() override {
    const auto graph = ir::parse(GetParam());
    ASSERT_TRUE(graph) << graph.error().message;
    graph_ = (*graph)[0];
    const auto program = lower::lower(graph_, *lower::target_named("cpu"));
    ASSERT_TRUE(program) << program.error().message;
    const auto unit = codegen::emit_cpu(*program);
    ASSERT_TRUE(unit);
    const auto executable =
        runtime::compile(*unit, {.cache_dir = MIRAGE_BINARY_DIR "/kernel-cache"});
    ASSERT_TRUE(executable) << executable.error().message;
    executable_ = *executable;
  }

  /// The outputs for scores s(row, key); v(key, col) = key + col.
  std::vector<double> run(const std::function<double(int, int)>& score) {
    std::vector<tune::HostTensor> inputs;
    inputs.push_back(*tune::HostTensor::make({ir::DType::F32, {4, 24}}));
    inputs.push_back(*tune::HostTensor::make({ir::DType::F32, {24, 3}}));
    std::vector<double> s, v;
    for (int row = 0; row < 4; ++row)
      for (int key = 0; key < 24; ++key) s.push_back(score(row, key));
    for (int key = 0; key < 24; ++key)
      for (int col = 0; col < 3; ++col) v.push_back(key + col);
    inputs[0].assign(s);
    inputs[1].assign(v);
    const auto outputs = tune::make_outputs(*graph_);
    EXPECT_TRUE(executable_->run(tune::views_of(inputs), tune::views_of(*outputs), 2));
    return (*outputs)[0].to_doubles();
  }

  ir::GraphPtr graph_;
  std::shared_ptr<const runtime::Executable> executable_;
};

TEST_P(CpuSafety, HugeLogitsGiveTheLargestKey) {
  for (double sign : {1.0, -1.0}) {
    const auto y = run([&](int row, int key) { return sign * 1e4 + (key == 5 * row ? 100 : 0); });
    for (int row = 0; row < 4; ++row)
      for (int col = 0; col < 3; ++col)
        EXPECT_NEAR(y[static_cast<size_t>(3 * row + col)], 5 * row + col, 1e-4);
  }
}

TEST_P(CpuSafety, AMaximumThatMovesRescales) {
  // Rising by far more than exp can span: only the last keys count.
  const auto y = run([](int, int key) { return 1000.0 * key; });
  for (int row = 0; row < 4; ++row) EXPECT_NEAR(y[static_cast<size_t>(3 * row)], 23, 1e-4);
  const auto z = run([](int, int key) { return -1000.0 * key; });
  for (int row = 0; row < 4; ++row) EXPECT_NEAR(z[static_cast<size_t>(3 * row)], 0, 1e-4);
}

TEST_P(CpuSafety, EqualLogitsGiveTheMean) {
  for (double value : {0.0, 1e4, -1e4, 88.0}) {
    const auto y = run([&](int, int) { return value; });
    for (int row = 0; row < 4; ++row) EXPECT_NEAR(y[static_cast<size_t>(3 * row)], 11.5, 1e-4);
  }
}

TEST_P(CpuSafety, RowsWithoutKeysAreNotANumber) {
  const double none = -std::numeric_limits<double>::infinity();
  const auto y = run([&](int row, int) { return row == 1 ? none : 0; });
  for (int row = 0; row < 4; ++row)
    EXPECT_EQ(std::isnan(y[static_cast<size_t>(3 * row)]), row == 1) << row;
}

TEST_P(CpuSafety, KeysThatStartMaskedDoNotPoisonTheRow) {
  const double none = -std::numeric_limits<double>::infinity();
  const auto y = run([&](int, int key) { return key < 20 ? none : -1e4; });
  for (int row = 0; row < 4; ++row) EXPECT_NEAR(y[static_cast<size_t>(3 * row)], 21.5, 1e-4);
}

TEST_P(CpuSafety, NotANumberStaysInItsRow) {
  const auto y = run([](int row, int key) { return row == 2 && key == 13 ? std::nan("") : 0; });
  for (int row = 0; row < 4; ++row)
    EXPECT_EQ(std::isnan(y[static_cast<size_t>(3 * row)]), row == 2) << row;
}

TEST(CpuLibrary, AVendorProductOrOursIsTheProduct) {
  const auto graph =
      (*ir::parse("kernel(%a: f32[3,5], %b: f32[5,4]) -> f32[3,4] { %y = matmul "
                  "%a, %b return %y }"))[0];
  lower::LowerOptions options;
  options.may_use_blas = true;
  const auto program = lower::lower(graph, *lower::target_named("cpu"), options);
  ASSERT_TRUE(program);
  const auto unit = codegen::emit_cpu(*program);
  ASSERT_TRUE(unit);
  EXPECT_NE(unit->text.find("mirage_sgemm(101"), std::string::npos) << unit->text;
  const auto executable = runtime::compile(*unit, {.cache_dir = MIRAGE_BINARY_DIR "/kernel-cache"});
  ASSERT_TRUE(executable) << executable.error().message << executable.error().notes[0];
  std::vector<tune::HostTensor> inputs;
  inputs.push_back(*tune::HostTensor::make({ir::DType::F32, {3, 5}}));
  inputs.push_back(*tune::HostTensor::make({ir::DType::F32, {5, 4}}));
  inputs[0].assign(std::vector<double>(15, 2));
  inputs[1].assign({0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3});
  const auto outputs = tune::make_outputs(*graph);
  ASSERT_TRUE((*executable)->run(tune::views_of(inputs), tune::views_of(*outputs), 1));
  const auto y = (*outputs)[0].to_doubles();
  for (size_t i = 0; i < y.size(); ++i) EXPECT_EQ(y[i], 10.0 * static_cast<double>(i % 4));
}

INSTANTIATE_TEST_SUITE_P(All, CpuSafety, ::testing::Values(kOpByOp, kLooped),
                         [](const auto& test) { return test.index ? "looped" : "op_by_op"; });

}  // namespace
}  // namespace mirage
