#include "ir/op_table.h"

#include <array>
#include <vector>

#include "util/check.h"

namespace mirage::ir {
namespace {

enum Levels : uint8_t { K = 1, B = 2, KB = 3, KBT = 7 };

struct Row {
  OpDef def;
  std::string_view attrs;
};

constexpr Row kRows[] = {
#define OP(id, name, arity, form, levels, rule, combine, attrs, description) \
  {{OpKind::id, name, arity, Form::form, levels, rule, Combine::combine, {}, description}, attrs},
#include "ir/ops.def"
#undef OP
};

constexpr std::array kAttrNames = {"axis",  "perm", "shape", "start",   "length",
                                   "value", "lo",   "hi",    "combine", "bind"};
constexpr std::array kCombineNames = {"none", "sum", "mean", "max"};
constexpr std::array kLevelNames = {"kernel", "block", "thread"};

struct Table {
  std::vector<std::vector<AttrKey>> keys;
  std::vector<OpDef> defs;

  Table() {
    keys.reserve(std::size(kRows));
    for (const Row& row : kRows) {
      keys.emplace_back();
      for (std::string_view rest = row.attrs; !rest.empty();) {
        const std::string_view word = rest.substr(0, rest.find(' '));
        rest.remove_prefix(word.size() == rest.size() ? word.size() : word.size() + 1);
        size_t index = 0;
        while (index < kAttrNames.size() && kAttrNames[index] != word) ++index;
        MIRAGE_CHECK(index < kAttrNames.size(), "ops.def names an attribute that has no AttrKey");
        keys.back().push_back(static_cast<AttrKey>(index));
      }
      defs.push_back(row.def);
      defs.back().attrs = keys.back();
    }
  }
};

const Table& table() {
  static const Table kInstance;
  return kInstance;
}

}  // namespace

bool OpDef::has(AttrKey key) const {
  for (AttrKey k : attrs)
    if (k == key) return true;
  return false;
}

const OpDef& def(OpKind kind) { return table().defs[static_cast<size_t>(kind)]; }
std::span<const OpDef> op_table() { return table().defs; }

std::optional<OpKind> op_named(std::string_view name) {
  for (const OpDef& row : op_table())
    if (row.name == name) return row.kind;
  return std::nullopt;
}

std::string_view name_of(AttrKey key) { return kAttrNames[static_cast<size_t>(key)]; }
std::string_view name_of(Combine combine) { return kCombineNames[static_cast<size_t>(combine)]; }
std::string_view name_of(Level level) { return kLevelNames[static_cast<size_t>(level)]; }

std::optional<Combine> combine_named(std::string_view name) {
  for (size_t i = 0; i < kCombineNames.size(); ++i)
    if (kCombineNames[i] == name) return static_cast<Combine>(i);
  return std::nullopt;
}

}  // namespace mirage::ir
