// The examples as CUDA for every architecture: as written, and the best fused kernel that the
// search sizes for the target. No GPU is needed. What is emitted must compile; what does not fit a
// block's shared memory must be said before.

#include "runtime/cuda/compile.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "codegen/emit.h"
#include "ir/load_file.h"
#include "lower/lower.h"
#include "optimize/proposals.h"
#include "runtime/cache_folder.h"
#include "runtime/cuda/nvrtc.h"

namespace mirage {
namespace {

namespace fs = std::filesystem;

// NVRTC is a pip package of the tests' environment. A machine without it skips, and says so.
class CudaText : public testing::Test {
 protected:
  void SetUp() override {
    setenv("VIRTUAL_ENV", MIRAGE_SOURCE_DIR "/.venv", 0);
    if (const auto version = runtime::nvrtc_version(); !version)
      GTEST_SKIP() << version.error().message;
  }

  static Result<std::string> compiled(const ir::GraphPtr& graph, const lower::Target& target) {
    MIRAGE_TRY(const lower::Program program, lower::lower(graph, target));
    MIRAGE_TRY(const codegen::SourceUnit unit, codegen::emit(program));
    return runtime::compile_cubin(unit.text, unit.options);
  }

  static void expect_compiles(const fs::path& file, const lower::Target& target) {
    const auto graph = ir::load_graph(file.string());
    ASSERT_TRUE(graph) << graph.error().message;
    const auto as_written = compiled(*graph, target);
    EXPECT_TRUE(as_written) << file << ' ' << target.name << ": " << as_written.error().message
                            << (as_written.error().notes.empty() ? ""
                                                                 : as_written.error().notes[0]);
    auto found = search::search(**graph, {});
    ASSERT_TRUE(found) << found.error().message;
    optimize::Proposals proposals(std::move(found->structures), optimize::limits_of(target, 1));
    for (const optimize::Proposal& proposal : proposals.first_wave(1)) {
      const auto fused = compiled(proposal.graph, target);
      EXPECT_TRUE(fused) << file << ' ' << target.name << ' ' << proposal.plan << " ("
                         << proposal.schedule << "): " << fused.error().message
                         << (fused.error().notes.empty() ? "" : fused.error().notes[0]);
    }
  }
};

TEST_F(CudaText, ExamplesCompileForTheMeasuredTarget) {
  const auto target = lower::target_named("sm_90");
  ASSERT_TRUE(target);
  int files = 0;
  for (const auto& entry : fs::directory_iterator(MIRAGE_SOURCE_DIR "/examples")) {
    if (entry.path().extension() != ".mu") continue;
    expect_compiles(entry.path(), *target);
    ++files;
  }
  EXPECT_GE(files, 23);
}

TEST_F(CudaText, AttentionAndNormCompileForAllTargets) {
  for (const lower::Target& target : lower::target_table()) {
    if (target.backend != lower::Backend::Cuda) continue;
    for (const char* name : {"gqa_bs1", "rmsnorm_bs1"})
      expect_compiles(fs::path(MIRAGE_SOURCE_DIR "/examples") / (std::string(name) + ".mu"),
                      target);
  }
}

TEST_F(CudaText, DamagedMachineCodeIsMadeAgain) {
  const auto graph = ir::load_graph(MIRAGE_SOURCE_DIR "/examples/softmax.mu");
  ASSERT_TRUE(graph) << graph.error().message;
  const auto program = lower::lower(*graph, *lower::target_named("sm_90"));
  ASSERT_TRUE(program) << program.error().message;
  const auto unit = codegen::emit(*program);
  ASSERT_TRUE(unit) << unit.error().message;
  std::string folder = testing::TempDir() + "mirage-cubin-XXXXXX";
  runtime::CompileOptions options;
  options.cache_dir = mkdtemp(folder.data());
  const auto made = runtime::cubin_of(*unit, options);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->substr(1, 3), "ELF");
  const fs::path file = *runtime::cubin_file(*unit, options);
  for (const size_t size : {size_t{0}, made->size() / 2, made->size()}) {
    ASSERT_TRUE(runtime::write_file(file, made->substr(0, size)));
    const auto again = runtime::cubin_of(*unit, options);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(*again, *made) << size;
    EXPECT_TRUE(runtime::is_intact(file));
  }
  fs::remove_all(options.cache_dir);
}

TEST_F(CudaText, TooMuchSharedMemoryIsAnErrorThatNamesTheKernel) {
  // A row of 100000 in one block, kept for three passes; sm_80 has no clusters that could share it.
  const auto graph = ir::load_graph(MIRAGE_SOURCE_DIR "/tests/device/cuda/wide_row.mu");
  ASSERT_TRUE(graph) << graph.error().message;
  const auto target = lower::target_named("sm_80");
  const auto program = lower::lower(*graph, *target);
  ASSERT_TRUE(program) << program.error().message;
  const auto unit = codegen::emit(*program);
  ASSERT_FALSE(unit);
  EXPECT_EQ(unit.error().code, Code::LimitExceeded);
  EXPECT_EQ(unit.error().message,
            "kernel k0_block: 400064 bytes of shared memory, of which sm_80 has 166912 in a block");
}

}  // namespace
}  // namespace mirage
