#include "optimize/build.h"

#include <algorithm>

#include "codegen/emit.h"
#include "ir/builder.h"
#include "runtime/load.h"

namespace mirage::optimize {
namespace {

/// A graph with other outputs: output i is the one that was order[i], in the program's strides.
Result<ir::GraphPtr> with_outputs(const ir::Graph& graph, const std::vector<size_t>& order,
                                  const ir::Graph& program) {
  std::vector<ir::ValueId> outputs;
  for (size_t from : order) outputs.push_back(graph.outputs[from]);
  return ir::GraphBuilder(graph).finish(outputs, program.output_strides);
}

/// Whether the outputs are in the program's order.
bool has_order(const verify::Verified& verified) {
  const std::vector<size_t>& order = verified.verdict().output_order;
  return std::is_sorted(order.begin(), order.end());
}

/// Proves the candidate; one with the program's outputs in another order is put right first. Only
/// what will be built is proved, so the verdict is that of the new graph.
Result<verify::Verified> prove(const ir::GraphPtr& program, const ir::GraphPtr& candidate,
                               const verify::VerifyOptions& options) {
  MIRAGE_TRY(verify::Verified verified, verify::verified(program, candidate, options));
  if (has_order(verified)) return verified;
  MIRAGE_TRY(const ir::GraphPtr ordered,
             with_outputs(*candidate, verified.verdict().output_order, *program));
  MIRAGE_TRY(verify::Verified again, verify::verified(program, ordered, options));
  if (!has_order(again))
    return unsupported("verify: no order of the candidate's outputs is the program's");
  return again;
}

}  // namespace

Result<Built> build_source(const ir::GraphPtr& program, const ir::GraphPtr& candidate,
                           const BuildOptions& options, Stage& stage) {
  stage = Stage::Verify;
  MIRAGE_TRY(verify::Verified verified, prove(program, candidate, options.verify));
  stage = Stage::Lower;
  MIRAGE_TRY(lower::Program lowered, lower::lower(verified.graph(), options.target, options.lower));
  stage = Stage::Emit;
  MIRAGE_TRY(codegen::SourceUnit source, codegen::emit(lowered));
  return Built{std::move(verified), std::move(lowered), std::move(source), nullptr};
}

Result<Built> build(const ir::GraphPtr& program, const ir::GraphPtr& candidate,
                    const BuildOptions& options, Stage& stage) {
  MIRAGE_TRY(Built built, build_source(program, candidate, options, stage));
  stage = Stage::Compile;
  MIRAGE_TRY(built.executable, runtime::load_when_run(built.source, options.compile));
  return built;
}

}  // namespace mirage::optimize
