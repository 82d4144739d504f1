#pragma once
// What must hold for every graph that a reader accepts, however strange: it prints and parses again
// to the same graph, and lowering and code generation answer without aborting.

#include "codegen/cpu/emit.h"
#include "ir/text.h"
#include "lower/lower.h"
#include "util/check.h"

namespace mirage::fuzz {

inline void check_accepted(const ir::GraphPtr& graph) {
  const std::string text = ir::print(*graph);
  const auto again = ir::parse(text);
  MIRAGE_CHECK(again && again->size() == 1, "printed text must parse");
  MIRAGE_CHECK((*again)[0]->hash == graph->hash, "printed text must be the same graph");
  MIRAGE_CHECK(ir::print(*(*again)[0]) == text, "printing must not change");
  if (graph->level != ir::Level::Kernel) return;
  static const lower::Target target = *lower::target_named("cpu-portable");
  const auto program = lower::lower(graph, target);
  if (program) (void)codegen::emit_cpu(*program);
}

}  // namespace mirage::fuzz
