#include "codegen/triton/kernel.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "codegen/spell.h"
#include "codegen/steps.h"
#include "codegen/triton/axes.h"
#include "codegen/triton/tile_text.h"
#include "ir/text.h"
#include "lower/fuse.h"
#include "lower/tiles.h"

namespace mirage::codegen::triton {
namespace {

using ir::Combine;
using ir::DType;
using ir::Form;
using ir::Op;
using ir::OpKind;
using ir::Phase;
using ir::ValueId;
using lower::KernelPlan;
using lower::Length;
using lower::Lengths;

constexpr int64_t kMostElements = 1 << 20;  // of a tile: the language's own limit
constexpr int64_t kMostPrograms = std::numeric_limits<int32_t>::max();
constexpr const char* kLowest = "float(\"-inf\")";

/// What the text calls a value.
struct Tile {
  std::string text;
  DType dtype = DType::F32;     // a storage type where it is as it was loaded
  bool is_number = false;       // a number of Python
  std::vector<bool> is_zero{};  // by axis: lanes beyond the length hold 0
};

/// Elements of a tile along an axis of another: lane i in [first, last) is element i - shift.
struct Part {
  size_t axis = 0;
  int64_t shift = 0;
  int64_t first = 0, last = 0;
};

class KernelEmitter {
 public:
  KernelEmitter(const KernelPlan& plan, const lower::Target& target, lower::TileLengths tiles)
      : plan_(plan),
        target_(target),
        block_(*plan.block),
        tiles_(std::move(tiles)),
        phases_(ir::phases_of(block_)),
        fusion_(lower::find_fusion(block_)),
        is_live_(lower::live_operators(block_)),
        axes_(tile_axes(block_, tiles_, is_live_)),
        values_(block_.values.size()) {
    for (size_t i = 0; i < block_.outputs.size(); ++i) outputs_[block_.outputs[i].index] = i;
  }

  Result<KernelText> run() {
    if (plan_.items() > kMostPrograms)
      return fail(Code::LimitExceeded, "kernel {}: a grid of {} programs, of which Triton has {}",
                  plan_.name, plan_.items(), kMostPrograms);
    for (size_t i = 0; i < block_.ops.size(); ++i) {
      if (!is_live_[i]) continue;
      for (ValueId result : block_.ops[i].results) MIRAGE_TRY_VOID(check_size(result));
      if (axes_.uses_dot[i]) MIRAGE_TRY_VOID(check_operands(block_.ops[i]));
      MIRAGE_TRY_VOID(visit(block_.ops[i]));
    }
    return KernelText{function(), most_elements_ >= (1 << 14) ? 8 : 4, stages()};
  }

 private:
  // ---- names ----

  /// A name of Python that nothing else has.
  std::string fresh(const std::string& wanted) {
    std::string name;
    for (char c : wanted)
      name += (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ? c : '_';
    if (name.empty() || (name[0] >= '0' && name[0] <= '9') || is_reserved(name)) name = "v_" + name;
    std::string result = name;
    for (int i = 1; !names_.insert(result).second; ++i) result = fmt::format("{}_{}", name, i);
    return result;
  }

  /// Words of the language and of this text: a0_n, p0_x, r0, length0.
  static bool is_reserved(const std::string& name) {
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

  std::string name_for(ValueId value) const {
    const std::string& name = block_.value(value).name;
    return name.empty() ? fmt::format("v{}", value.index) : name;
  }

  std::string range(ValueId value, size_t axis) {
    const size_t number = axes_.classes[value.index][axis];
    ranges_.insert(number);
    return fmt::format("r{}", number);
  }

  std::vector<std::string>& section(Phase phase) {
    return phase == Phase::Invariant ? prologue_ : phase == Phase::InLoop ? loop_ : epilogue_;
  }
  std::vector<std::string>& section(ValueId value) { return section(phases_[value.index]); }

  /// Gives the text a name where the value is computed.
  void define(ValueId value, const std::string& text, std::vector<bool> is_zero = {}) {
    Tile& tile = values_[value.index].emplace();
    tile.text = fresh(name_for(value));
    tile.dtype = plan_.compute;
    tile.is_zero = std::move(is_zero);
    section(value).push_back(fmt::format("{} = {}", tile.text, text));
  }

  // ---- tiles ----

  const Lengths& lengths(ValueId value) const { return tiles_.values[value.index]; }
  const Tile& tile(ValueId value) const { return *values_[value.index]; }
  std::string compute_type() const { return fmt::format("tl.{}", triton_type_name(plan_.compute)); }

  Result<void> check_size(ValueId value) {
    int64_t elements = 1;
    for (int64_t extent : axes_.shape(value)) elements *= extent;
    most_elements_ = std::max(most_elements_, elements);
    if (elements <= kMostElements) return {};
    return fail(Code::LimitExceeded, "kernel {}: tile %{} of {} elements, of which Triton has {}",
                plan_.name, name_for(value), elements, kMostElements);
  }

  /// tl.dot finds its operands in shared memory.
  Result<void> check_operands(const Op& product) const {
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

  /// The value in the type of the computation.
  std::string wide(ValueId value) const {
    const Tile& known = tile(value);
    if (known.is_number || known.dtype == plan_.compute) return known.text;
    return fmt::format("{}.to({})", known.text, compute_type());
  }

  /// Axes of an operand by axis of a result of `rank` axes, aligned at the last one.
  std::vector<bool> aligned(ValueId operand, size_t rank) const {
    const std::vector<bool> kept = axes_.kept(operand);
    std::vector<bool> result(rank - kept.size(), false);
    result.insert(result.end(), kept.begin(), kept.end());
    return result;
  }

  /// The operand in the space of a result of a Map, in the type of the computation.
  std::string broadcast(ValueId operand, ValueId result) const {
    const std::vector<bool> want = axes_.kept(result);
    return expanded(wide(operand), aligned(operand, want.size()), want);
  }

  bool has_idle_lanes(ValueId value, size_t axis) const {
    const Length& length = lengths(value)[axis];
    return axes_.size(value, axis) > 1 &&
           (length.ragged >= 0 || axes_.size(value, axis) != length.max);
  }

  /// `text` in the space of a value, of which it has one axis.
  std::string along(const std::string& text, ValueId value, size_t axis) const {
    std::vector<bool> has(lengths(value).size(), false);
    has[axis] = true;
    return expanded(text, has, axes_.kept(value));
  }

  std::string is_element(ValueId value, size_t axis) {
    return fmt::format("{} < {}", along(range(value, axis), value, axis),
                       length_text(lengths(value)[axis]));
  }

  /// The value in whose idle lanes along an axis is `neutral`.
  std::string filled(ValueId value, size_t axis, const std::string& text, const char* neutral) {
    if (!has_idle_lanes(value, axis)) return text;
    return fmt::format("tl.where({}, {}, {})", is_element(value, axis), text, neutral);
  }

  bool is_zero_beyond(ValueId value, size_t axis) const {
    return axis < tile(value).is_zero.size() && tile(value).is_zero[axis];
  }

  std::string zero_filled(ValueId value, size_t axis, const std::string& text) {
    return is_zero_beyond(value, axis) ? text : filled(value, axis, text, "0.0");
  }

  /// Text that lacks axes of a value, whose lanes all hold the same, as a tile of its shape.
  std::string conformed(std::string text, const std::vector<bool>& has, ValueId value) const {
    const std::vector<bool> want = axes_.kept(value);
    if (has == want) return text;
    return fmt::format("tl.broadcast_to({}, {})", expanded(text, has, want),
                       shape_text(axes_.shape(value)));
  }

  // ---- memory ----

  /// The last element that a parameter's view reaches decides the type of its offsets.
  bool needs_wide_offsets(const lower::Param& param) const {
    int64_t reach = param.offset;
    for (size_t i = 0; i < param.shape.size(); ++i)
      reach += std::max<int64_t>(param.shape[i] - 1, 0) * std::abs(param.strides[i]);
    return reach > std::numeric_limits<int32_t>::max();
  }

  /// Addresses of a parameter's tile over the lanes of `value`.
  std::string pointers(size_t index, const ir::Bind& bind, ValueId value,
                       const std::vector<Part>& parts) {
    const lower::Param& param = plan_.params[index];
    const bool is_wide = needs_wide_offsets(param);
    const auto product = [&](std::string text, int64_t stride) {
      if (is_wide) text = fmt::format("tl.cast({}, tl.int64)", text);
      return stride == 1 ? text : fmt::format("{} * {}", text, stride);
    };
    int64_t offset = param.offset;
    for (const Part& part : parts) offset -= part.shift * param.strides[part.axis];
    std::string text = param_name(plan_, index);
    if (offset) text += fmt::format(" {} {}", offset < 0 ? '-' : '+', std::abs(offset));
    for (const lower::AxisStride& move : tile_moves(param, bind, block_.launch))
      if (move.stride)
        text += fmt::format(" + {}", product(axis_name(plan_, move.axis), move.stride));
    for (size_t i = 0; i < param.strides.size(); ++i) {
      if (axes_.size(value, i) == 1) continue;
      const int64_t stride = lengths(value)[i] == Length{} ? 0 : param.strides[i];
      text += fmt::format(" + {}", product(along(range(value, i), value, i), stride));
    }
    return text;
  }

  /// Stores leave out lanes that repeat the only element; loads fill them.
  std::string mask(ValueId value, const std::vector<Part>& parts, bool is_store) {
    std::vector<std::string> conditions;
    for (size_t i = 0; i < lengths(value).size(); ++i) {
      const auto part =
          std::find_if(parts.begin(), parts.end(), [&](const Part& one) { return one.axis == i; });
      if (part != parts.end() && axes_.size(value, i) > 1) {
        const std::string lane = along(range(value, i), value, i);
        if (part->first > 0) conditions.push_back(fmt::format("{} >= {}", lane, part->first));
        conditions.push_back(fmt::format("{} < {}", lane, part->last));
      } else if (has_idle_lanes(value, i) && (is_store || lengths(value)[i] != Length{})) {
        conditions.push_back(is_element(value, i));
      }
    }
    return conjunction(conditions);
  }

  /// A load of a tile, or of a part of one, over the lanes of `value`.
  std::string load_text(const Op& load, ValueId value, const std::vector<Part>& parts) {
    const auto at = std::find(block_.inputs.begin(), block_.inputs.end(), load.operands[0]);
    const auto index = static_cast<size_t>(at - block_.inputs.begin());
    const std::string where = mask(value, parts, false);
    return fmt::format("tl.load({}{})", pointers(index, load.attrs.bind, value, parts),
                       where.empty() ? "" : fmt::format(", mask={}, other=0.0", where));
  }

  void load(const Op& op) {
    const ValueId result = op.results[0];
    std::vector<bool> is_zero;
    for (size_t i = 0; i < lengths(result).size(); ++i)
      is_zero.push_back(lengths(result)[i] != Length{});
    define(result, load_text(op, result, {}), std::move(is_zero));
    values_[result.index]->dtype = block_.type(result).dtype;
    if (phases_[result.index] != Phase::InLoop) return;
    int64_t elements = 1;
    for (int64_t extent : axes_.shape(result)) elements *= extent;
    loop_bytes_ += elements * ir::bytes_of(block_.type(result).dtype);
  }

  void store(const Op& op) {
    const ValueId result = op.results[0], value = op.operands[0];
    const size_t index = plan_.first_output + outputs_.at(result.index);
    const DType dtype = plan_.params[index].dtype;
    const Tile& known = tile(value);
    std::string text = known.text;
    if (known.is_number)
      text = fmt::format("tl.full([], {}, tl.{})", text, triton_type_name(dtype));
    else if (known.dtype != dtype)
      text += fmt::format(".to(tl.{})", triton_type_name(dtype));
    const std::string where = mask(value, {}, true);
    epilogue_.push_back(fmt::format("tl.store({}, {}{})", pointers(index, op.attrs.bind, value, {}),
                                    text, where.empty() ? "" : ", mask=" + where));
  }

  // ---- operators ----

  void map(const Op& op) {
    const ValueId result = op.results[0];
    std::vector<std::string> operands;
    bool are_numbers = true;
    for (ValueId operand : op.operands) {
      operands.push_back(broadcast(operand, result));
      are_numbers = are_numbers && tile(operand).is_number;
    }
    const bool is_bare = plan_.compute == DType::F64 || are_numbers;
    for (size_t i = 0; i < operands.size(); ++i)
      if (tile(op.operands[i]).is_number && is_bare)
        operands[i] = fmt::format("tl.full([], {}, {})", operands[i], compute_type());
    std::string text = triton_text(plan_.compute, op.kind, op.attrs, operands);
    if (text.front() == '(' && is_one_pair(text)) text = text.substr(1, text.size() - 2);
    define(result, text);
  }

  /// Whether the first parenthesis ends with the text.
  static bool is_one_pair(const std::string& text) {
    int depth = 0;
    for (size_t i = 0; i < text.size(); ++i) {
      depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
      if (depth == 0) return i + 1 == text.size();
    }
    return false;
  }

  /// The combination over an axis, of the shape of `result`.
  std::string reduced(ValueId value, size_t axis, Combine combine, ValueId result) {
    std::vector<bool> has = axes_.kept(value);
    std::string text = wide(value);
    if (has[axis]) {
      const auto place =
          std::count(has.begin(), has.begin() + static_cast<std::ptrdiff_t>(axis), true);
      text =
          combine == Combine::Max
              ? fmt::format("tl.reduce({}, {}, larger)", filled(value, axis, text, kLowest), place)
              : fmt::format("tl.sum({}, axis={})", zero_filled(value, axis, text), place);
      has[axis] = false;
    }
    if (combine == Combine::Mean) text = fmt::format("{} / {}", text, count(lengths(value)[axis]));
    return conformed(text, has, result);
  }

  std::string count(const Length& length) const {
    return length.ragged < 0 ? python_number(static_cast<double>(length.max))
                             : fmt::format("tl.cast({}, {})", length_text(length), compute_type());
  }

  static std::string shifted(const std::string& maximum) {
    return fmt::format("tl.where(tl.abs({0}) == float(\"inf\"), 0.0, {0})", maximum);
  }

  void reduce(const Op& op) {
    const ValueId result = op.results[0];
    const std::string text = reduced(op.operands[0], static_cast<size_t>(op.attrs.axis),
                                     ir::def(op.kind).combine, result);
    if (op.kind != OpKind::GaugeMax) return define(result, text);
    const std::string maximum = fresh(name_for(result) + "_max");
    section(result).push_back(fmt::format("{} = {}", maximum, text));
    define(result, shifted(maximum));
  }

  /// An operand of tl.dot: of rank 2 or 3, 0 beyond the length of the inner axis.
  std::string dot_operand(ValueId value, size_t inner, DType dtype, ValueId result) {
    const Tile& known = tile(value);
    std::string text = known.text;
    if (known.dtype != dtype) text += fmt::format(".to(tl.{})", triton_type_name(dtype));
    text = zero_filled(value, inner, text);
    // Batches: those of the result, as one axis.
    const std::vector<bool> has = axes_.kept(value);
    std::vector<bool> want = axes_.kept(result);
    std::vector<int64_t> shape, whole{1};
    const size_t rank = want.size();
    for (size_t i = 0; i < rank; ++i) {
      if (i + 2 < rank && !want[i]) continue;
      const int64_t lanes = i + 2 < rank ? axes_.size(result, i) : axes_.size(value, i);
      shape.push_back(lanes);
      if (i + 2 < rank)
        whole[0] *= lanes;
      else
        whole.push_back(lanes);
    }
    want[rank - 2] = want[rank - 1] = true;
    if (has != want)
      text = fmt::format("tl.broadcast_to({}, {})", expanded(text, has, want), shape_text(shape));
    return shape.size() > 3 ? fmt::format("tl.reshape({}, {})", text, shape_text(whole)) : text;
  }

  /// A product, added to the state if there is one.
  std::string product(const Op& op, const std::string& state, ValueId result) {
    const ValueId lhs = op.operands[0], rhs = op.operands[1];
    const size_t rank = lengths(lhs).size();
    const auto added = [&](const std::string& text) {
      return state.empty() ? text : fmt::format("{} + {}", state, text);
    };
    if (!axes_.uses_dot[static_cast<size_t>(&op - block_.ops.data())])
      return added(summed_product(lhs, rhs, result));
    const DType type = block_.type(lhs).dtype;
    const DType dtype = ir::bytes_of(type) == 2 ? type : plan_.compute;
    const DType sum = dtype == DType::F64 ? DType::F64 : DType::F32;
    const bool is_batched = axes_.shape(result).size() > 3;
    const bool adds_itself = !state.empty() && !is_batched && sum == plan_.compute;
    std::string text = fmt::format("tl.dot({}, {}", dot_operand(lhs, rank - 1, dtype, result),
                                   dot_operand(rhs, rank - 2, dtype, result));
    if (adds_itself) text += ", " + state;
    if (dtype == DType::F32) text += ", input_precision=\"ieee\"";
    if (dtype == DType::F64) text += ", out_dtype=tl.float64";
    text += ")";
    if (is_batched) text = fmt::format("tl.reshape({}, {})", text, shape_text(axes_.shape(result)));
    if (sum != plan_.compute) text += fmt::format(".to({})", compute_type());
    return adds_itself ? text : added(text);
  }

  /// A product as a sum of products of broadcast tiles.
  std::string summed_product(ValueId lhs, ValueId rhs, ValueId result) {
    const std::vector<bool> left = axes_.kept(lhs), right = axes_.kept(rhs),
                            out = axes_.kept(result);
    const size_t rank = out.size();
    // The space of batches, m, k, n.
    const auto spread = [&](const std::vector<bool>& kept, bool is_left) {
      std::vector<bool> space(kept.begin(), kept.end() - 2);
      space.push_back(is_left && kept[rank - 2]);
      space.push_back(is_left ? kept[rank - 1] : kept[rank - 2]);
      space.push_back(!is_left && kept[rank - 1]);
      return space;
    };
    const std::vector<bool> a = spread(left, true), b = spread(right, false);
    std::vector<bool> all(a.size());
    for (size_t i = 0; i < a.size(); ++i) all[i] = a[i] || b[i];
    std::string text =
        fmt::format("{} * {}", expanded(zero_filled(lhs, rank - 1, wide(lhs)), a, all),
                    expanded(zero_filled(rhs, rank - 2, wide(rhs)), b, all));
    std::vector<bool> has(all.begin(), all.end() - 2);
    has.push_back(all.back());
    const auto place = std::count(all.begin(), all.end() - 2, true);
    if (all[rank - 1]) text = fmt::format("tl.sum({}, axis={})", text, place);
    return conformed(text, has, result);
  }

  void move(const Op& op) {
    const ValueId result = op.results[0], from = op.operands[0];
    const std::vector<bool> kept = axes_.kept(from);
    std::vector<size_t> order;  // of the operand's axes that its shape has
    Tile moved = tile(from);
    std::vector<bool> is_zero;
    for (int64_t axis : op.attrs.ints) {
      const size_t source = static_cast<size_t>(axis);
      is_zero.push_back(is_zero_beyond(from, source));
      if (kept[source])
        order.push_back(static_cast<size_t>(
            std::count(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(source), true)));
    }
    moved.is_zero = std::move(is_zero);
    if (!std::is_sorted(order.begin(), order.end())) {
      const DType dtype = moved.dtype;
      define(result, fmt::format("tl.permute({}, ({}))", moved.text, fmt::join(order, ", ")),
             std::move(moved.is_zero));
      values_[result.index]->dtype = dtype;
    } else {
      values_[result.index] = std::move(moved);
    }
  }

  Result<void> reshape(const Op& op) {
    const ValueId result = op.results[0], from = op.operands[0];
    const auto refuse = [&]() {
      return unsupported("kernel {}: reshape %{}: tiles of {} and {} lanes are padded differently",
                         plan_.name, name_for(result), shape_text(axes_.shape(from)),
                         shape_text(axes_.shape(result)));
    };
    for (size_t i = 0; i < lengths(from).size(); ++i)
      if (lengths(from)[i] == Length{} && axes_.size(from, i) > 1) return refuse();
    std::vector<bool> has = axes_.kept(result);  // axes of one element have one lane at first
    std::vector<int64_t> shape;
    for (size_t i = 0; i < has.size(); ++i) {
      has[i] = has[i] && lengths(result)[i] != Length{};
      if (has[i]) shape.push_back(axes_.size(result, i));
    }
    // Rows of a group are whole but for the outermost axis.
    const auto lanes_of = [&](ValueId value, const std::vector<size_t>& axes) {
      int64_t lanes = 1;
      for (size_t i = 0; i < axes.size(); ++i) {
        if (i > 0 && has_idle_lanes(value, axes[i])) return int64_t{0};
        lanes *= axes_.size(value, axes[i]);
      }
      return lanes;
    };
    for (const ReshapeGroup& group : reshape_groups(lengths(from), lengths(result))) {
      const int64_t lanes = lanes_of(from, group.from);
      if (lanes == 0 || lanes != lanes_of(result, group.to)) return refuse();
    }
    Tile moved = tile(from);
    moved.is_zero.clear();
    if (axes_.shape(from) != shape)
      moved.text = fmt::format("tl.reshape({}, {})", moved.text, shape_text(shape));
    moved.text = conformed(moved.text, has, result);
    if (moved.text == tile(from).text) {
      values_[result.index] = std::move(moved);
    } else {
      define(result, moved.text);
      values_[result.index]->dtype = moved.dtype;
    }
    return {};
  }

  /// Elements of a value along an axis over the lanes of `result`: lane i is element i - shift.
  std::string part_text(ValueId value, const Part& part, ValueId result) {
    const Op* source = block_.def_of(value);
    if (source && source->kind == OpKind::Load) {
      std::string text = load_text(*source, result, {part});
      if (block_.type(value).dtype != plan_.compute) text += fmt::format(".to({})", compute_type());
      return text;
    }
    const std::vector<bool> has = axes_.kept(value), want = axes_.kept(result);
    const int64_t lanes = axes_.size(value, part.axis);
    if (!has[part.axis]) return conformed(wide(value), has, result);
    const auto place =
        std::count(has.begin(), has.begin() + static_cast<std::ptrdiff_t>(part.axis), true);
    if (!want[part.axis])  // one element
      return fmt::format("tl.sum(tl.where({} == {}, {}, 0.0), axis={})",
                         along(range(value, part.axis), value, part.axis), -part.shift, wide(value),
                         place);
    const std::string lane = range(result, part.axis);
    std::string index = part.shift == 0  ? lane
                        : part.shift > 0 ? fmt::format("{} - {}", lane, part.shift)
                                         : fmt::format("{} + {}", lane, -part.shift);
    index = fmt::format("tl.minimum(tl.maximum({}, 0), {})", index, lanes - 1);
    return fmt::format("tl.gather({}, tl.broadcast_to({}, {}), {})", wide(value),
                       along(index, result, part.axis), shape_text(axes_.shape(result)), place);
  }

  void narrow(const Op& op) {
    const ValueId result = op.results[0];
    const auto [start, length] = std::pair(op.attrs.ints[0], op.attrs.ints[1]);
    const Part part{static_cast<size_t>(op.attrs.axis), -start, 0, length};
    define(result, part_text(op.operands[0], part, result));
  }

  void concat(const Op& op) {
    const ValueId result = op.results[0];
    const size_t axis = static_cast<size_t>(op.attrs.axis);
    int64_t at = lengths(result)[axis].max;
    std::string text;
    for (size_t i = op.operands.size(); i-- > 0;) {
      const ValueId value = op.operands[i];
      const int64_t length = lengths(value)[axis].max;
      const std::string part = part_text(value, {axis, at - length, at - length, at}, result);
      text = text.empty() ? part
                          : fmt::format("tl.where({} < {}, {}, {})",
                                        along(range(result, axis), result, axis), at, part, text);
      at -= length;
    }
    define(result, text);
  }

  // ---- accumulators ----

  /// A state of the loop, of the shape of a value.
  std::string new_state(const std::string& name, ValueId value, const char* start) {
    std::string state = fresh(name);
    prologue_.push_back(fmt::format("{} = tl.full({}, {}, {})", state,
                                    shape_text(axes_.shape(value)), start, compute_type()));
    return state;
  }

  /// Whether a product is added to its accumulator at once.
  bool is_added(ValueId value) const {
    const Op* op = block_.def_of(value);
    if (!fusion_.is_accumulated[value.index] || !op || op->kind != OpKind::MatMul) return false;
    const Op& user = block_.op(fusion_.user[value.index]);
    return axes_.shape(value) == axes_.shape(user.results[0]);
  }

  void accumulate(const Op& op) {
    const ValueId result = op.results[0], x = op.operands[0];
    const bool is_max = op.attrs.combine == Combine::Max;
    const std::string state = new_state(name_for(result), result, is_max ? kLowest : "0.0");
    if (op.kind == OpKind::AccumRescale)
      loop_.push_back(fmt::format("{} = {} * {}", state, state, broadcast(op.operands[1], result)));
    if (is_added(x)) {
      loop_.push_back(fmt::format("{} = {}", state, product(*block_.def_of(x), state, x)));
    } else {
      std::string text = broadcast(x, result);
      // A tile shorter than the state adds to its front.
      for (size_t i = 0; op.kind == OpKind::Accum && i < lengths(x).size(); ++i)
        if (lengths(x)[i] != lengths(result)[i])
          text = filled(x, i, text, is_max ? kLowest : "0.0");
      loop_.push_back(
          fmt::format(fmt::runtime(is_max ? "{0} = larger({0}, {1})" : "{0} += {1}"), state, text));
    }
    Tile& known = values_[result.index].emplace();
    known.text = state;
    known.dtype = plan_.compute;
    if (op.attrs.combine != Combine::Mean) return;
    known.text = fresh(state + "_mean");
    epilogue_.push_back(fmt::format("{} = {} / {}", known.text, state,
                                    python_number(static_cast<double>(plan_.loop_steps()))));
  }

  void running(const Op& op) {
    const ValueId m = op.results[0], d = op.results[1];
    const bool is_gauge = op.kind == OpKind::RunningGauge;
    const std::string raw = new_state(name_for(m) + "_raw", m, kLowest);
    const std::string next = fresh(name_for(m) + "_next");
    loop_.push_back(
        fmt::format("{} = larger({}, {})", next, raw,
                    reduced(op.operands[0], static_cast<size_t>(op.attrs.axis), Combine::Max, m)));
    const auto shift = [&](const std::string& text) { return is_gauge ? shifted(text) : text; };
    define(m, shift(next));
    // No step before this one, or the same maximum: nothing to rescale.
    define(d, fmt::format("tl.where(({0} == {1}) | ({2}), 0.0, {3} - {4})", raw, next,
                          is_gauge ? fmt::format("{} == {}", raw, kLowest) : is_first(), shift(raw),
                          tile(m).text));
    loop_.push_back(fmt::format("{} = {}", raw, next));
  }

  /// Axes of the loop, or of the grid, major first.
  std::vector<uint8_t> axes_of(bool is_loop) const {
    std::vector<uint8_t> axes;
    for (size_t i = 0; i < plan_.launch.axes.size(); ++i)
      if ((plan_.launch.axes[i].role == ir::Role::Loop) == is_loop)
        axes.push_back(static_cast<uint8_t>(i));
    return axes;
  }

  std::string is_first() const {
    std::string text;
    for (uint8_t axis : axes_of(true))
      text += fmt::format("{}({} == 0)", text.empty() ? "" : " & ", axis_name(plan_, axis));
    return text.empty() ? "True" : text;
  }

  void leaf(const Op& op) {
    const ValueId result = op.results[0];
    if (op.kind == OpKind::Const) {
      values_[result.index] = Tile{python_number(op.attrs.scalars[0]), plan_.compute, true};
      return;
    }
    const ValueId of = op.operands[0];
    const Length& length = lengths(of)[static_cast<size_t>(op.attrs.axis)];
    if (length.ragged < 0) {
      values_[result.index] = Tile{count(length), plan_.compute, true};
      return;
    }
    // A length may change with the loop although its phase says nothing of it.
    const std::string name = fresh(name_for(result));
    section(of).push_back(fmt::format("{} = {}", name, count(length)));
    values_[result.index] = Tile{name, plan_.compute};
  }

  Result<void> visit(const Op& op) {
    const ValueId result = op.results[0];
    switch (ir::def(op.kind).form) {
      case Form::Leaf:
        leaf(op);
        return {};
      case Form::Map:
        map(op);
        return {};
      case Form::Reduce:
        reduce(op);
        return {};
      case Form::Contract:
        if (!is_added(result)) define(result, product(op, "", result));
        return {};
      case Form::Accum:
        if (op.kind == OpKind::RunningMax || op.kind == OpKind::RunningGauge)
          running(op);
        else
          accumulate(op);
        return {};
      case Form::Move:
        if (op.kind == OpKind::Load) load(op);
        if (op.kind == OpKind::Store) store(op);
        if (op.kind == OpKind::Transpose) move(op);
        if (op.kind == OpKind::Narrow) narrow(op);
        if (op.kind == OpKind::Concat) concat(op);
        return op.kind == OpKind::Reshape ? reshape(op) : Result<void>();
      case Form::Block:
        break;
    }
    return unsupported("kernel {}: {}: no such operator inside a block", plan_.name,
                       ir::def(op.kind).name);
  }

  // ---- the function ----

  /// As many copies of the loop's tiles ahead of their use as shared memory of small GPUs holds.
  int stages() const {
    constexpr int64_t kBytes = 96 << 10, kMost = 3;
    return static_cast<int>(
        std::clamp<int64_t>(kBytes / std::max<int64_t>(loop_bytes_, 1), 1, kMost));
  }

  void emit_lengths(Writer& out, bool in_loop) const {
    for (size_t i = 0; i < plan_.ragged.size(); ++i) {
      const lower::Ragged& ragged = plan_.ragged[i];
      bool depends = false;
      std::string text = std::to_string(ragged.extent);
      int64_t rest = ragged.extent;
      for (uint8_t axis : ragged.axes) {
        const int64_t trips = plan_.launch.axes[axis].trips;
        depends |= plan_.launch.axes[axis].role == ir::Role::Loop;
        rest = (rest + trips - 1) / trips;
        text = fmt::format("tile_length({}, {}, {})", text, axis_name(plan_, axis), rest);
      }
      if (depends == in_loop) out.line("{} = {}", ragged_name(static_cast<int>(i)), text);
    }
  }

  static void emit_lines(Writer& out, const std::vector<std::string>& lines) {
    for (const std::string& line : lines) out.raw(line);
  }

  void emit_grid(Writer& out) const {
    out.line("pid = tl.program_id(0)");
    int64_t inner = plan_.items();
    bool is_outermost = true;
    for (uint8_t axis : axes_of(false)) {
      const int64_t trips = plan_.launch.axes[axis].trips;
      inner /= std::max<int64_t>(trips, 1);
      out.line("{} = pid{}{}", axis_name(plan_, axis),
               inner == 1 ? "" : fmt::format(" // {}", inner),
               is_outermost ? "" : fmt::format(" % {}", trips));
      is_outermost = false;
    }
  }

  std::string function() const {
    Writer out(4);
    const std::string text = ir::print(block_);
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find('\n', at), text.size());
      out.raw("# " + text.substr(at, end - at));
      at = end + 1;
    }
    std::vector<std::string> parameters;
    for (size_t i = 0; i < plan_.params.size(); ++i) parameters.push_back(param_name(plan_, i));
    out.raw("@triton.jit");
    out.line("def {}({}):", plan_.name, fmt::join(parameters, ", "));
    out.indent();
    emit_grid(out);
    for (size_t number : ranges_) out.line("r{} = tl.arange(0, {})", number, axes_.sizes[number]);
    emit_lengths(out, false);
    emit_lines(out, prologue_);
    if (!loop_.empty()) {
      const std::vector<uint8_t> loops = axes_of(true);
      for (uint8_t axis : loops) {
        out.line("for {} in range(0, {}):", axis_name(plan_, axis), plan_.launch.axes[axis].trips);
        out.indent();
      }
      emit_lengths(out, true);
      emit_lines(out, loop_);
      for (size_t i = 0; i < loops.size(); ++i) out.outdent();
    }
    emit_lines(out, epilogue_);
    return out.take();
  }

  const KernelPlan& plan_;
  const lower::Target& target_;
  const ir::Graph& block_;
  lower::TileLengths tiles_;
  std::vector<Phase> phases_;
  lower::Fusion fusion_;
  std::vector<bool> is_live_;
  TileAxes axes_;
  std::vector<std::optional<Tile>> values_;  // by ValueId
  std::map<uint32_t, size_t> outputs_;       // result of a store -> output
  std::set<std::string> names_;
  std::set<size_t> ranges_;  // classes whose lanes are counted
  std::vector<std::string> prologue_, loop_, epilogue_;
  int64_t most_elements_ = 1;
  int64_t loop_bytes_ = 0;
};

}  // namespace

Result<KernelText> kernel_text(const KernelPlan& plan, const lower::Target& target) {
  MIRAGE_TRY(lower::TileLengths tiles, lower::tile_lengths(*plan.block));
  return KernelEmitter(plan, target, std::move(tiles)).run();
}

}  // namespace mirage::codegen::triton
