// Loads and stores: addresses and masks.

#include <algorithm>
#include <limits>

#include "codegen/spell.h"
#include "codegen/steps.h"
#include "codegen/triton/kernel_emitter.h"
#include "codegen/triton/tile_text.h"

namespace mirage::codegen::triton {

using ir::DType;
using ir::Op;
using ir::Phase;
using ir::ValueId;
using lower::Length;

bool KernelEmitter::needs_wide_offsets(const lower::Param& param) const {
  int64_t reach = param.offset;
  for (size_t i = 0; i < param.shape.size(); ++i)
    reach += std::max<int64_t>(param.shape[i] - 1, 0) * std::abs(param.strides[i]);
  return reach > std::numeric_limits<int32_t>::max();
}

std::string KernelEmitter::pointers(size_t index, const ir::Bind& bind, ValueId value,
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

std::string KernelEmitter::mask(ValueId value, const std::vector<Part>& parts, bool is_store) {
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

std::string KernelEmitter::load_text(const Op& load, ValueId value,
                                     const std::vector<Part>& parts) {
  const auto at = std::find(block_.inputs.begin(), block_.inputs.end(), load.operands[0]);
  const auto index = static_cast<size_t>(at - block_.inputs.begin());
  const std::string where = mask(value, parts, false);
  return fmt::format("tl.load({}{})", pointers(index, load.attrs.bind, value, parts),
                     where.empty() ? "" : fmt::format(", mask={}, other=0.0", where));
}

void KernelEmitter::load(const Op& op) {
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

void KernelEmitter::store(const Op& op) {
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

}  // namespace mirage::codegen::triton
