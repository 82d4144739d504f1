#pragma once
// Program text with all that is needed to build and to call it, and nothing of how it was made.

#include <cstdint>
#include <string>
#include <vector>

#include "ir/dtype.h"
#include "util/bytes.h"
#include "util/hash.h"

namespace mirage::codegen {

using ElementType = ir::DType;

enum class Language : uint8_t { Cpp, Cuda, Triton };

/// A tensor the program is called with. Strides in elements.
struct Argument {
  std::string name;
  ElementType dtype;
  std::vector<int64_t> shape, strides;
};

/// A tensor of a buffer as the copy engine of a GPU fetches boxes of it; innermost dimension first.
struct TensorMap {
  size_t buffer = 0;   // of SourceUnit::buffers
  int64_t offset = 0;  // bytes from its address
  ElementType dtype;
  std::vector<int64_t> extents, strides;  // strides in bytes; strides[0] is one element
  std::vector<int64_t> box;
  int swizzle_bytes = 0;  // 16-byte pieces are permuted within 128, 64 or 32 bytes; 0: not
};

/// One launch: `items` independent work items, each with `scratch_bytes` of its own. On a CPU an
/// item is what one thread does and scratch memory is the thread's; on a GPU it is a block of
/// `threads` with its shared memory, and the kernel's parameters are `maps`, then the addresses of
/// `buffers`.
struct Entry {
  std::string name;
  int64_t items = 1;
  int64_t scratch_bytes = 0;
  int threads = 1;
  int cluster = 1;                // blocks that run together
  std::vector<size_t> buffers{};  // indices of SourceUnit::buffers
  std::vector<TensorMap> maps{};
};

/// Where the pointer table of the program comes from.
enum class BufferSource : uint8_t { Input, Output, Workspace };
struct Buffer {
  BufferSource source;
  size_t index = 0;       // of inputs or outputs
  int64_t offset = 0;     // bytes in the workspace
  int64_t alignment = 1;  // bytes that kernels ask of the address
};

struct SourceUnit {
  Language language = Language::Cpp;
  std::string target;  // name of the row it was lowered for
  std::string march;
  std::string prelude;  // headers that `text` includes first: the same for all units of a target
  std::string text;
  std::vector<std::string> options;  // of the compiler
  std::vector<Entry> entries;
  std::vector<Buffer> buffers;
  std::vector<Argument> inputs, outputs;
  int64_t workspace_bytes = 0;
  Hash128 key;  // of text and options
};

// For other processes (util/bytes.h).
template <class Archive, Either<Argument> T>
void fields(Archive& archive, T& value) {
  archive(value.name, value.dtype, value.shape, value.strides);
}
template <class Archive, Either<TensorMap> T>
void fields(Archive& archive, T& value) {
  archive(value.buffer, value.offset, value.dtype, value.extents, value.strides, value.box,
          value.swizzle_bytes);
}
template <class Archive, Either<Entry> T>
void fields(Archive& archive, T& value) {
  archive(value.name, value.items, value.scratch_bytes, value.threads, value.cluster, value.buffers,
          value.maps);
}
template <class Archive, Either<SourceUnit> T>
void fields(Archive& archive, T& value) {
  archive(value.language, value.target, value.march, value.prelude, value.text, value.options,
          value.entries, value.buffers, value.inputs, value.outputs, value.workspace_bytes,
          value.key);
}

}  // namespace mirage::codegen
