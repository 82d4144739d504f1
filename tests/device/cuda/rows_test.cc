// Kernels with their rows in registers as machine code: odd numbers of columns, all storage types,
// rows in parts of a warp, in a block, in a cluster. No GPU is needed.

#include <gtest/gtest.h>

#include <cstdlib>

#include "codegen/emit.h"
#include "ir/text.h"
#include "lower/lower.h"
#include "runtime/cuda/compile.h"
#include "runtime/cuda/nvrtc.h"

namespace mirage {
namespace {

constexpr std::string_view kSoftmax = R"(
kernel @softmax(%x: {0}[{1},{2}]) -> {0}[{1},{2}] {{
  %y = block(%x) axes(m: grid {1}) {{
    %e = exp (load %x [m, .])
    store (div %e, (sum %e axis=1)) [m, .]
  }}
  return %y
}})";

// Two reductions that share a barrier, numbers of rows, a gain for each column, ragged rows.
constexpr std::string_view kNorm = R"(
kernel @norm(%x: {0}[{1},{2}], %s: {0}[{1},1], %g: {0}[{2}]) -> {0}[{1},{2}] {{
  %y = block(%x, %s, %g) axes(m: grid 2) {{
    %a = load %x [m, .]
    %m = mean %a axis=1
    %q = mean (square %a) axis=1
    %v = sqrt (sub %q, (square %m))
    %n = div (sub %a, %m), (add %v, (load %s [m, .]))
    store (mul %n, (load %g [.])) [m, .] shape=[{1},{2}]
  }}
  return %y
}})";

class CudaRows : public testing::Test {
 protected:
  void SetUp() override {
    setenv("VIRTUAL_ENV", MIRAGE_SOURCE_DIR "/.venv", 0);
    if (const auto version = runtime::nvrtc_version(); !version)
      GTEST_SKIP() << version.error().message;
  }

  static void expect_compiles(const std::string& text) {
    const auto graphs = ir::parse(text);
    ASSERT_TRUE(graphs) << graphs.error().message << text;
    const auto program = lower::lower((*graphs)[0], *lower::target_named("sm_90"));
    ASSERT_TRUE(program) << program.error().message;
    ASSERT_TRUE(program->launches[0].rows) << text;
    const auto unit = codegen::emit(*program);
    ASSERT_TRUE(unit) << unit.error().message;
    const auto cubin = runtime::compile_cubin(unit->text, unit->options);
    EXPECT_TRUE(cubin) << unit->text << cubin.error().message
                       << (cubin.error().notes.empty() ? "" : cubin.error().notes[0]);
  }
};

TEST_F(CudaRows, OddExtentsOfAllTypesCompile) {
  for (const char* type : {"f16", "bf16", "f32"})
    for (const int columns : {1, 3, 7, 1000, 2560, 4095}) {
      SCOPED_TRACE(fmt::format("{} columns of {}", columns, type));
      expect_compiles(fmt::format(kNorm, type, 5, columns));
    }
}

TEST_F(CudaRows, RowsOfABlockAndOfAClusterCompile) {
  for (const char* type : {"f16", "f32"})
    for (const int columns : {128, 4096, 128256}) {
      SCOPED_TRACE(fmt::format("{} columns of {}", columns, type));
      expect_compiles(fmt::format(kSoftmax, type, 8, columns));
    }
}

}  // namespace
}  // namespace mirage
