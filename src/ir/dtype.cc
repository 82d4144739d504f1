#include "ir/dtype.h"

namespace mirage::ir {
namespace {

struct Row {
  std::string_view name;
  int64_t bits;
  DTypeClass kind;
};

constexpr Row kRows[] = {
#define DTYPE(id, name, bits, kind) {name, bits, DTypeClass::kind},
#include "ir/dtype.def"
#undef DTYPE
};

const Row& row(DType dtype) { return kRows[static_cast<size_t>(dtype)]; }

}  // namespace

std::string_view name_of(DType dtype) { return row(dtype).name; }
int64_t bytes_of(DType dtype) { return row(dtype).bits / 8; }
DTypeClass class_of(DType dtype) { return row(dtype).kind; }

std::optional<DType> dtype_named(std::string_view name) {
  for (size_t i = 0; i < std::size(kRows); ++i)
    if (kRows[i].name == name) return static_cast<DType>(i);
  return std::nullopt;
}

}  // namespace mirage::ir
