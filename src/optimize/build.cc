#include "optimize/build.h"

#include "codegen/cpu/emit.h"

namespace mirage::optimize {

Result<Built> build(const ir::GraphPtr& program, const ir::GraphPtr& candidate,
                    const BuildOptions& options, Stage& stage) {
  stage = Stage::Verify;
  MIRAGE_TRY(verify::Verified verified, verify::verified(program, candidate, options.verify));
  const std::vector<size_t>& order = verified.verdict().output_order;
  for (size_t i = 0; i < order.size(); ++i)
    if (order[i] != i) return unsupported("outputs in another order");
  stage = Stage::Lower;
  MIRAGE_TRY(lower::Program lowered, lower::lower(verified.graph(), options.target, options.lower));
  stage = Stage::Emit;
  MIRAGE_TRY(codegen::SourceUnit source, codegen::emit_cpu(lowered));
  stage = Stage::Compile;
  MIRAGE_TRY(auto executable, runtime::compile(source, options.compile));
  return Built{std::move(verified), std::move(lowered), std::move(source), std::move(executable)};
}

}  // namespace mirage::optimize
