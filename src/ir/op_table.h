#pragma once
// The op table: ops.def as data. Nobody else lists operators; ask def(kind).

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace mirage::ir {

enum class OpKind : uint8_t {
#define OP(id, ...) id,
#include "ir/ops.def"
#undef OP
};

/// How an operator's facts are derived from its row (ARCHITECTURE.md, "The single op table").
enum class Form : uint8_t { Leaf, Map, Contract, Reduce, Move, Accum, Block };
enum class Combine : uint8_t { None, Sum, Mean, Max };
enum class Level : uint8_t { Kernel, Block, Thread };
enum class AttrKey : uint8_t { Axis, Perm, Shape, Start, Length, Value, Lo, Hi, Combine, Bind };

struct OpDef {
  OpKind kind;
  std::string_view name;
  int arity;  // -1: one or more
  Form form;
  uint8_t levels;  // bit mask over Level
  std::string_view index_rule;
  Combine combine;
  std::span<const AttrKey> attrs;
  std::string_view description;

  bool exists_at(Level level) const { return (levels >> static_cast<int>(level)) & 1; }
  bool has(AttrKey key) const;
};

const OpDef& def(OpKind kind);
std::span<const OpDef> op_table();
std::optional<OpKind> op_named(std::string_view name);

std::string_view name_of(AttrKey key);
std::string_view name_of(Combine combine);
std::string_view name_of(Level level);
std::optional<Combine> combine_named(std::string_view name);

}  // namespace mirage::ir
