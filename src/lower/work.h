#pragma once
// What the kernels of a program do in one run, counted from their plans: the one place for bytes
// and operations. Short tiles count with the length they have on average, so that sums are exact
// where one axis of a step is short.

#include <string>
#include <vector>

#include "lower/program.h"

namespace mirage::lower {

struct KernelWork {
  std::string name;
  int64_t items = 1;       // grid points, spread over threads
  int64_t loop_steps = 1;  // of each
  double flops = 0;        // operations on elements; a term of a product counts two
  /// Of the tensors in memory that the kernel reads and writes, each counted once.
  double read_bytes = 0, written_bytes = 0;
  /// Of all reads and writes of them, those that find the data in a cache included.
  double accessed_bytes = 0;
  int64_t scratch_bytes = 0;  // of each thread
};

std::vector<KernelWork> work_of(const Program& program);

}  // namespace mirage::lower
