#include "codegen/cuda/emit.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "codegen/cuda/pipeline.h"
#include "codegen/cuda/rows.h"
#include "codegen/kernel.h"
#include "codegen/spell.h"

namespace mirage::codegen {
namespace {

using lower::KernelPlan;
using lower::Operand;
using lower::Step;

constexpr int kThreads = 256;

void emit_matmul(Writer& out, const KernelPlan& plan, const Step& step) {
  const size_t rank = step.out[0].lengths.size();
  const std::vector<LoopAxis> outer = batch_loops(step);
  const auto tile = [&](const Operand& operand, size_t which, bool is_read) {
    const std::string at = address(plan, operand, strides_of(outer, which));
    return fmt::format("Tile{{{}, {}, {}}}", is_read ? fmt::format("as_const({})", at) : at,
                       operand.strides[rank - 2], operand.strides[rank - 1]);
  };
  open_loops(out, outer);
  out.line("gemm<T>({}, {}, {}, {}, {}, {}, Start::{});", length_text(step.lengths[rank - 2]),
           length_text(step.lengths[rank - 1]), length_text(step.lengths[rank]),
           tile(step.in[0], 1, true), tile(step.in[1], 2, true), tile(step.out[0], 0, false),
           step.accumulate ? "FromC" : "Zero");
  close_loops(out, outer);
}

constexpr Dialect kDialect{emit_matmul};

int threads_of(const KernelPlan& plan) {
  constexpr int kWarp = 32;
  if (plan.rows) return plan.rows->threads();
  return plan.pipeline ? (plan.pipeline->readers() + 1) * kWarp : kThreads;
}

/// Blocks that run together.
int cluster_of(const KernelPlan& plan) {
  return plan.pipeline ? plan.pipeline->blocks : plan.rows ? plan.rows->cluster : 1;
}

/// The copy engine wants the ring aligned to more than a block's memory is.
constexpr int64_t kRingAlignment = 1024;

int64_t shared_bytes(const KernelPlan& plan) {
  if (!plan.pipeline) return plan.scratch_bytes;
  return kRingAlignment + plan.pipeline->ring_bytes() + plan.scratch_bytes;
}

void emit_kernel(Writer& out, const KernelPlan& plan) {
  std::vector<std::string> parameters;
  if (plan.pipeline)
    for (size_t i = 0; i < plan.pipeline->tiles.size(); ++i)
      parameters.push_back(fmt::format("const __grid_constant__ TensorMap m{}", i));
  for (size_t i = 0; i < plan.params.size(); ++i)
    parameters.push_back(fmt::format("{}* __restrict__ b{}", pointee(plan, i), i));
  const int blocks = cluster_of(plan);
  // Two blocks of a cluster that shares a loop fit one multiprocessor (fit_stages), in registers
  // too.
  out.line("extern \"C\" __global__ void {}__launch_bounds__({}{})",
           blocks > 1 ? fmt::format("__cluster_dims__({}, 1, 1) ", blocks) : "", threads_of(plan),
           plan.pipeline && blocks > 1 ? ", 2" : "");
  out.open("{}({}) {{", plan.name, fmt::join(parameters, ", "));
  out.line("using T = {};", type_name(plan.compute));
  out.line("using V = T;");
  if (plan.pipeline) {
    out.line("using fast::exp;");
    out.line("unsigned char* const memory = align_shared<{}>(launch_memory());", kRingAlignment);
    out.line("unsigned char* const scratch = memory + {};", plan.pipeline->ring_bytes());
  } else if (!plan.rows) {
    out.line("unsigned char* const scratch = launch_memory();");
  }
  emit_pointers(out, plan, [](size_t i) { return fmt::format("b{}", i); });
  if (!plan.rows)
    out.line("const int64_t item = block_index(){};",
             blocks > 1 ? fmt::format(" / {}", blocks) : "");
  if (plan.rows)
    emit_rows(out, plan);
  else if (plan.pipeline)
    emit_pipeline(out, plan, kDialect);
  else
    emit_phases(out, plan, kDialect);
  out.close();
  out.blank();
}

}  // namespace

Result<SourceUnit> emit_cuda(const lower::Program& program) {
  const lower::Target& target = program.target;
  if (target.backend != lower::Backend::Cuda)
    return unsupported("target {}: not a cuda target", target.name);
  SourceUnit unit;
  unit.language = Language::Cuda;
  unit.target = target.name;
  unit.march = target.march;
  unit.options = {"--std=c++20", "--gpu-architecture=" + std::string(target.march), "--fmad=true"};
  unit.prelude = "#include \"mirage/cuda/gemm.h\"\n#include \"mirage/cuda/steps.h\"\n";
  const bool has_pipeline =
      std::any_of(program.launches.begin(), program.launches.end(),
                  [](const KernelPlan& plan) { return plan.pipeline.has_value(); });
  if (has_pipeline)
    unit.prelude += "#include \"mirage/cuda/async.h\"\n#include \"mirage/cuda/merge.h\"\n";
  const bool has_rows = std::any_of(program.launches.begin(), program.launches.end(),
                                    [](const KernelPlan& plan) { return plan.rows.has_value(); });
  if (has_rows) unit.prelude += "#include \"mirage/cuda/rows.h\"\n";
  Writer out;
  emit_banner(out, program);
  out.raw(unit.prelude);
  out.line("namespace mirage::cuda {{");
  out.blank();
  for (const KernelPlan& plan : program.launches) {
    const int64_t bytes = shared_bytes(plan);
    if (bytes > target.scratch_bytes)
      return fail(Code::LimitExceeded,
                  "kernel {}: {} bytes of shared memory, of which {} has {} in a block", plan.name,
                  bytes, target.name, target.scratch_bytes);
    emit_kernel(out, plan);
    const int64_t blocks = plan.rows ? row_blocks(plan) : plan.items() * cluster_of(plan);
    Entry entry{plan.name, blocks, bytes, threads_of(plan), cluster_of(plan)};
    if (plan.pipeline) entry.maps = tensor_maps(plan);
    for (const lower::Param& param : plan.params) entry.buffers.push_back(param.buffer);
    unit.entries.push_back(std::move(entry));
  }
  out.line("}}  // namespace mirage::cuda");
  unit.text = out.take();
  describe(unit, program);
  for (const KernelPlan& plan : program.launches)
    if (plan.rows) align_buffers(unit, plan);
  constexpr int64_t kMapAlignment = 16;  // bytes: what the copy engine asks of an address
  for (const Entry& entry : unit.entries)
    for (const TensorMap& map : entry.maps) {
      int64_t& known = unit.buffers[map.buffer].alignment;
      known = std::max(known, kMapAlignment);
    }
  return unit;
}

}  // namespace mirage::codegen
