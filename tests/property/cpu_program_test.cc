// Compiled programs against the float64 interpreter, and the memory plans of both levels, on random
// graphs. MIRAGE_SEED and MIRAGE_CASES repeat or widen a run.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "codegen/cpu/emit.h"
#include "interp/interp.h"
#include "ir/text.h"
#include "lower/lower.h"
#include "property/random_cpu_graph.h"
#include "runtime/cpu/compile.h"
#include "tune/check.h"
#include "tune/host_tensor.h"
#include "tune/inputs.h"

namespace mirage {
namespace {

uint64_t number_from(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

double tolerance_of(ir::DType dtype) {
  switch (dtype) {
    case ir::DType::F64:
      return 1e-12;
    case ir::DType::F32:
      return 2e-5;
    case ir::DType::F16:
      return 0x1p-8;
    default:
      return 0x1p-5;
  }
}

/// Largest finite magnitude among all values, at least 1: what errors are relative to.
double largest_value(const std::vector<interp::TensorF64>& values) {
  double largest = 1;
  for (const auto& value : values)
    for (double x : value.data)
      if (std::isfinite(x)) largest = std::max(largest, std::fabs(x));
  return largest;
}

void expect_disjoint(const lower::Program& program) {
  const auto overlap = [](int64_t a, int64_t a_bytes, int64_t b, int64_t b_bytes) {
    return a < b + b_bytes && b < a + a_bytes;
  };
  for (size_t i = 0; i < program.buffers.size(); ++i)
    for (size_t j = i + 1; j < program.buffers.size(); ++j) {
      const auto &a = program.buffers[i], &b = program.buffers[j];
      if (a.kind != lower::BufferKind::Workspace || b.kind != lower::BufferKind::Workspace)
        continue;
      if (a.last < b.first || b.last < a.first) continue;
      EXPECT_FALSE(overlap(a.offset, a.bytes, b.offset, b.bytes)) << print(program);
    }
  for (const auto& plan : program.launches)
    for (size_t i = 0; i < plan.scratch.size(); ++i)
      for (size_t j = i + 1; j < plan.scratch.size(); ++j) {
        const auto &a = plan.scratch[i], &b = plan.scratch[j];
        if (a.last < b.first || b.last < a.first) continue;
        EXPECT_FALSE(overlap(a.offset, a.elements * ir::bytes_of(a.dtype), b.offset,
                             b.elements * ir::bytes_of(b.dtype)))
            << print(program);
      }
}

class CpuProgram : public ::testing::Test {
 protected:
  /// Whether the graph could be lowered and the comparison was made.
  bool check(const ir::GraphPtr& graph, const lower::Target& target, uint64_t seed) {
    const std::string text = fmt::format("seed {}\n{}", seed, ir::print(*graph));
    const auto program = lower::lower(graph, target);
    if (!program) {
      EXPECT_EQ(program.error().code, Code::Unsupported) << program.error().message << text;
      std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed),
                  program.error().message.c_str());
      return false;
    }
    expect_disjoint(*program);
    auto unit = codegen::emit_cpu(*program);
    EXPECT_TRUE(unit) << text;
    // What matters here is the text, not its speed.
    for (std::string& option : unit->options)
      if (option == "-O3") option = "-O0";
    runtime::CompileOptions options;
    options.pool = pool_;
    options.cache_dir = MIRAGE_BINARY_DIR "/kernel-cache";
    const auto executable = runtime::compile(*unit, options);
    if (!executable) {
      ADD_FAILURE() << executable.error().message << "\n"
                    << (executable.error().notes.empty()
                            ? ""
                            : executable.error().notes[0].substr(0, 2000))
                    << text << unit->text;
      return false;
    }

    const auto inputs = tune::make_inputs(*graph, tune::Family::Ordinary, seed);
    std::vector<interp::TensorF64> logical;
    for (const auto& input : *inputs) logical.emplace_back(input.type().shape, input.to_doubles());
    const auto values = interp::evaluate_values(*graph, logical);
    if (!values) return false;  // what the interpreter refuses has no meaning
    const double scale =
        largest_value(*values) * tolerance_of(graph->type(graph->outputs[0]).dtype);
    const auto outputs = tune::make_outputs(*graph);
    for (int threads : {1, 3}) {
      for (const auto& output : *outputs) const_cast<tune::HostTensor&>(output).poison(0xff);
      const auto ran =
          (*executable)->run(tune::views_of(*inputs), tune::views_of(*outputs), threads);
      EXPECT_TRUE(ran) << (ran ? "" : ran.error().message) << text;
      for (size_t i = 0; i < outputs->size(); ++i) {
        const auto& expected = (*values)[graph->outputs[i].index].data;
        const auto found = (*outputs)[i].to_doubles();
        for (size_t at = 0; at < found.size(); ++at) {
          const double want = expected[at];
          const bool is_fine = std::isfinite(want) ? std::fabs(found[at] - want) <= scale
                                                   : !std::isfinite(found[at]);
          if (is_fine) continue;
          ADD_FAILURE() << "output " << i << " entry " << at << ": expected " << want << " found "
                        << found[at] << " within " << scale << "\n"
                        << text << print(*program);
          return true;
        }
      }
    }
    return true;
  }

  std::shared_ptr<runtime::ThreadPool> pool_ = std::make_shared<runtime::ThreadPool>();
};

constexpr ir::DType kTypes[] = {ir::DType::F32, ir::DType::F32, ir::DType::F64, ir::DType::F16,
                                ir::DType::BF16};

TEST_F(CpuProgram, RandomKernelGraphsAgreeWithTheInterpreter) {
  const uint64_t first = number_from("MIRAGE_SEED", 1), cases = number_from("MIRAGE_CASES", 8);
  std::printf("seeds %llu to %llu\n", static_cast<unsigned long long>(first),
              static_cast<unsigned long long>(first + cases - 1));
  for (uint64_t seed = first; seed < first + cases && !HasFailure(); ++seed) {
    Rng rng(seed);
    const auto graph = testing::random_kernel_graph(rng, kTypes[seed % 5]);
    EXPECT_TRUE(check(graph, *lower::target_named("native"), seed)) << seed;
  }
}

TEST_F(CpuProgram, RandomBlocksAgreeWithTheInterpreter) {
  const uint64_t first = number_from("MIRAGE_SEED", 1), cases = number_from("MIRAGE_CASES", 12);
  std::printf("seeds %llu to %llu\n", static_cast<unsigned long long>(first),
              static_cast<unsigned long long>(first + cases - 1));
  uint64_t lowered = 0, tried = 0;
  for (uint64_t seed = first; seed < first + cases && !HasFailure(); ++seed) {
    Rng rng(seed);
    const auto graph = testing::random_block_graph(rng, kTypes[seed % 5]);
    if (!graph) continue;
    ++tried;
    lowered += check(graph, *lower::target_named("native"), seed);
  }
  std::printf("%llu of %llu lowered\n", static_cast<unsigned long long>(lowered),
              static_cast<unsigned long long>(tried));
  EXPECT_GT(lowered * 4, tried);
}

TEST_F(CpuProgram, EveryInstructionSetAgrees) {
  for (const lower::Target& target : lower::target_table()) {
    if (!lower::runs_here(target)) continue;
    Rng rng(3);
    const auto graph = testing::random_kernel_graph(rng, ir::DType::F32);
    ASSERT_TRUE(graph);
    EXPECT_TRUE(check(graph, target, 3)) << target.name;
  }
}

}  // namespace
}  // namespace mirage
