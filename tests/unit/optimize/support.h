#pragma once
// Small programs, and sessions that keep what they compile in a folder of their own.

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "ir/text.h"
#include "optimize/optimize.h"

namespace mirage::optimize {

inline ir::GraphPtr program_of(const std::string& text) {
  const Result<std::vector<ir::GraphPtr>> graphs = ir::parse(text);
  return graphs ? (*graphs)[0] : nullptr;
}

inline ir::GraphPtr attention() {
  return program_of(
      "kernel @attention(%q: f32[32,16], %k: f32[16,64], %v: f32[64,16]) -> f32[32,16] {\n"
      "  %s = matmul %q, %k\n  %e = exp %s\n  %l = sum %e axis=1\n  %p = div %e, %l\n"
      "  %o = matmul %p, %v\n  return %o\n}\n");
}

/// Options under which a run takes a few compilations.
inline OptimizeOptions quick() {
  OptimizeOptions options;
  options.target = "cpu-portable";
  options.top = 2;
  options.threads = 2;
  return options;
}

/// A folder that goes with the test, with the records of its sessions.
class Folder : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "mirage-optimize-XXXXXX";
    path_ = ::mkdtemp(name.data());
  }
  void TearDown() override { std::filesystem::remove_all(path_); }

  SessionOptions session_options() const { return {.compiler = {}, .cache_directory = path_}; }
  std::string write(const std::string& name, const std::string& text) const {
    const std::string file = path_ + "/" + name;
    std::ofstream(file) << text;
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    return file;
  }

  std::string path_;
};

}  // namespace mirage::optimize
