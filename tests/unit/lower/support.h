#pragma once
// Programs for tests of lowering, as text.

#include <gtest/gtest.h>

#include <string_view>

#include "ir/text.h"
#include "lower/lower.h"

namespace mirage::lower {

inline ir::GraphPtr graph_of(std::string_view text) {
  const auto graphs = ir::parse(text);
  EXPECT_TRUE(graphs) << graphs.error().message;
  return graphs ? (*graphs)[0] : nullptr;
}

/// For a row with two cores, so that grids do not depend on the machine.
inline Result<Program> lowered(std::string_view text, LowerOptions options = {}) {
  Target target = *target_named("cpu-portable");
  target.units = 2;
  return lower(graph_of(text), target, options);
}

inline int count(const std::vector<Step>& steps, StepKind kind) {
  int found = 0;
  for (const Step& step : steps) found += step.kind == kind;
  return found;
}

}  // namespace mirage::lower
