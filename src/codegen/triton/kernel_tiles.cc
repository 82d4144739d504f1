// Names of values, and tiles as operands of an expression.

#include <algorithm>
#include <set>

#include "codegen/spell.h"
#include "codegen/steps.h"
#include "codegen/triton/kernel_emitter.h"
#include "codegen/triton/tile_text.h"

namespace mirage::codegen::triton {
namespace {

constexpr int64_t kMostElements = 1 << 20;  // of a tile: the language's own limit

}  // namespace

using ir::Op;
using ir::Phase;
using ir::ValueId;
using lower::Length;

std::string KernelEmitter::fresh(const std::string& wanted) {
  std::string name;
  for (char c : wanted)
    name += (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ? c : '_';
  if (name.empty() || (name[0] >= '0' && name[0] <= '9') || is_reserved(name)) name = "v_" + name;
  std::string result = name;
  for (int i = 1; !names_.insert(result).second; ++i) result = fmt::format("{}_{}", name, i);
  return result;
}

bool KernelEmitter::is_reserved(const std::string& name) {
  static const std::set<std::string> kWords = {
      "and",    "as",    "assert", "async",   "await",      "break",  "class",     "continue",
      "def",    "del",   "elif",   "else",    "except",     "False",  "finally",   "float",
      "for",    "from",  "global", "if",      "import",     "in",     "is",        "lambda",
      "larger", "None",  "not",    "or",      "pass",       "pid",    "libdevice", "nonlocal",
      "raise",  "range", "return", "smaller", "tl",         "triton", "True",      "torch",
      "try",    "while", "with",   "yield",   "tile_length"};
  if (kWords.count(name) > 0) return true;
  const size_t digits = name.find_first_of("0123456789");
  const std::string head = name.substr(0, digits);
  return digits != std::string::npos &&
         (head == "a" || head == "p" || head == "r" || head == "length");
}

std::string KernelEmitter::name_for(ValueId value) const {
  const std::string& name = block_.value(value).name;
  return name.empty() ? fmt::format("v{}", value.index) : name;
}

std::string KernelEmitter::range(ValueId value, size_t axis) {
  const size_t number = axes_.classes[value.index][axis];
  ranges_.insert(number);
  return fmt::format("r{}", number);
}

std::vector<std::string>& KernelEmitter::section(Phase phase) {
  return phase == Phase::Invariant ? prologue_ : phase == Phase::InLoop ? loop_ : epilogue_;
}

void KernelEmitter::define(ValueId value, const std::string& text, std::vector<bool> is_zero) {
  Tile& tile = values_[value.index].emplace();
  tile.text = fresh(name_for(value));
  tile.dtype = plan_.compute;
  tile.is_zero = std::move(is_zero);
  section(value).push_back(fmt::format("{} = {}", tile.text, text));
}

Result<void> KernelEmitter::check_size(ValueId value) {
  int64_t elements = 1;
  for (int64_t extent : axes_.shape(value)) elements *= extent;
  most_elements_ = std::max(most_elements_, elements);
  if (elements <= kMostElements) return {};
  return fail(Code::LimitExceeded, "kernel {}: tile %{} of {} elements, of which Triton has {}",
              plan_.name, name_for(value), elements, kMostElements);
}

Result<void> KernelEmitter::check_operands(const Op& product) const {
  int64_t bytes = 0;
  for (ValueId operand : product.operands) {
    int64_t elements = 1;
    for (int64_t extent : axes_.shape(operand)) elements *= extent;
    bytes += elements * ir::bytes_of(block_.type(operand).dtype);
  }
  if (bytes <= target_.scratch_bytes) return {};
  return fail(Code::LimitExceeded,
              "kernel {}: operands of product %{} of {} bytes, of which a program has {}",
              plan_.name, name_for(product.results[0]), bytes, target_.scratch_bytes);
}

std::string KernelEmitter::wide(ValueId value) const {
  const Tile& known = tile(value);
  if (known.is_number || known.dtype == plan_.compute) return known.text;
  return fmt::format("{}.to({})", known.text, compute_type());
}

std::vector<bool> KernelEmitter::aligned(ValueId operand, size_t rank) const {
  const std::vector<bool> kept = axes_.kept(operand);
  std::vector<bool> result(rank - kept.size(), false);
  result.insert(result.end(), kept.begin(), kept.end());
  return result;
}

std::string KernelEmitter::broadcast(ValueId operand, ValueId result) const {
  const std::vector<bool> want = axes_.kept(result);
  return expanded(wide(operand), aligned(operand, want.size()), want);
}

bool KernelEmitter::has_idle_lanes(ValueId value, size_t axis) const {
  const Length& length = lengths(value)[axis];
  return axes_.size(value, axis) > 1 &&
         (length.ragged >= 0 || axes_.size(value, axis) != length.max);
}

std::string KernelEmitter::along(const std::string& text, ValueId value, size_t axis) const {
  std::vector<bool> has(lengths(value).size(), false);
  has[axis] = true;
  return expanded(text, has, axes_.kept(value));
}

std::string KernelEmitter::is_element(ValueId value, size_t axis) {
  return fmt::format("{} < {}", along(range(value, axis), value, axis),
                     length_text(lengths(value)[axis]));
}

std::string KernelEmitter::filled(ValueId value, size_t axis, const std::string& text,
                                  const char* neutral) {
  if (!has_idle_lanes(value, axis)) return text;
  return fmt::format("tl.where({}, {}, {})", is_element(value, axis), text, neutral);
}

bool KernelEmitter::is_zero_beyond(ValueId value, size_t axis) const {
  return axis < tile(value).is_zero.size() && tile(value).is_zero[axis];
}

std::string KernelEmitter::zero_filled(ValueId value, size_t axis, const std::string& text) {
  return is_zero_beyond(value, axis) ? text : filled(value, axis, text, "0.0");
}

std::string KernelEmitter::conformed(std::string text, const std::vector<bool>& has,
                                     ValueId value) const {
  const std::vector<bool> want = axes_.kept(value);
  if (has == want) return text;
  return fmt::format("tl.broadcast_to({}, {})", expanded(text, has, want),
                     shape_text(axes_.shape(value)));
}

}  // namespace mirage::codegen::triton
