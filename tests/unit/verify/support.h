#pragma once
// Programs for tests of verification, as the parts of a text.

#include <gtest/gtest.h>

#include <string>

#include "ir/text.h"

namespace mirage::verify {

inline ir::GraphPtr graph_of(const std::string& inputs, const std::string& body) {
  const auto graphs = ir::parse("kernel @g(" + inputs + ") {\n" + body + "\n}\n");
  EXPECT_TRUE(graphs) << graphs.error().message << "\n" << body;
  return graphs ? (*graphs)[0] : nullptr;
}

}  // namespace mirage::verify
