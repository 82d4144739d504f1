#include "ir/mugraph_format.h"

#include <algorithm>
#include <array>

namespace mirage::ir {

std::string_view name_of(Epoch epoch) { return epoch == Epoch::Old ? "old" : "new"; }

std::optional<Epoch> epoch_named(std::string_view name) {
  for (Epoch epoch : {Epoch::Old, Epoch::New})
    if (name_of(epoch) == name) return epoch;
  return std::nullopt;
}

namespace mugraph {
namespace {

struct DTypeCode {
  int64_t code;
  DType dtype;
};
// Codes that never changed; 921, 940 and 941 are below.
constexpr std::array kCodes = {
    DTypeCode{930, DType::F8E4M3}, DTypeCode{935, DType::I8},  DTypeCode{936, DType::U8},
    DTypeCode{945, DType::I16},    DTypeCode{946, DType::U16}, DTypeCode{950, DType::F32},
    DTypeCode{955, DType::I32},    DTypeCode{956, DType::U32}, DTypeCode{960, DType::F64},
    DTypeCode{965, DType::I64},    DTypeCode{966, DType::U64},
};

struct PlainOp {
  OpKind kind;
  bool in_kernel;  // implemented by the published reader at this level
  bool in_block;
};
constexpr std::array kPlainOps = {
    PlainOp{OpKind::MatMul, true, true}, PlainOp{OpKind::Exp, true, true},
    PlainOp{OpKind::Square, true, true}, PlainOp{OpKind::Sqrt, true, true},
    PlainOp{OpKind::Silu, true, true},   PlainOp{OpKind::Sigmoid, false, false},
    PlainOp{OpKind::Gelu, true, true},   PlainOp{OpKind::Relu, true, true},
    PlainOp{OpKind::Log, false, false},  PlainOp{OpKind::Add, true, true},
    PlainOp{OpKind::Sub, false, true},   PlainOp{OpKind::Mul, true, true},
    PlainOp{OpKind::Div, true, true},    PlainOp{OpKind::Pow, true, true},
};

}  // namespace

std::optional<DType> dtype_of(int64_t code, Epoch epoch) {
  if (code == 921) return DType::F16;
  if (code == 940) return epoch == Epoch::Old ? DType::BF16 : DType::F16;
  if (code == 941) return epoch == Epoch::Old ? DType::F16 : DType::BF16;
  for (const DTypeCode& row : kCodes)
    if (row.code == code) return row.dtype;
  return std::nullopt;
}

std::optional<int64_t> code_of(DType dtype, Epoch epoch) {
  // The oldest readers know f16 only as 921; those between read it too.
  if (dtype == DType::F16) return epoch == Epoch::Old ? 921 : 940;
  if (dtype == DType::BF16) return epoch == Epoch::Old ? 940 : 941;
  for (const DTypeCode& row : kCodes)
    if (row.dtype == dtype) return row.code;
  return std::nullopt;
}

std::optional<OpKind> plain_op(std::string_view name) {
  for (const PlainOp& row : kPlainOps)
    if (def(row.kind).name == name) return row.kind;
  return std::nullopt;
}

bool published_reader_has(OpKind kind, Level level) {
  for (const PlainOp& row : kPlainOps)
    if (row.kind == kind) return level == Level::Kernel ? row.in_kernel : row.in_block;
  return false;
}

}  // namespace mugraph
}  // namespace mirage::ir
