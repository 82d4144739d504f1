#include "codegen/triton/emit.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "codegen/kernel.h"
#include "codegen/spell.h"
#include "codegen/triton/kernel.h"
#include "codegen/writer.h"

namespace mirage::codegen {
namespace {

using lower::BufferKind;
using lower::KernelPlan;
using triton::KernelText;

/// A tuple of Python.
std::string tuple(const std::vector<int64_t>& numbers) {
  return fmt::format("({}{})", fmt::join(numbers, ", "), numbers.size() == 1 ? "," : "");
}

std::string type_text(ir::DType dtype) { return fmt::format("torch.{}", triton_type_name(dtype)); }

/// What a buffer is called in the launcher.
std::string buffer_name(const lower::Program& program, size_t buffer) {
  const lower::BufferPlan& plan = program.buffers[buffer];
  switch (plan.kind) {
    case BufferKind::Input:
      return fmt::format("inputs[{}]", plan.index);
    case BufferKind::Output:
      return fmt::format("outputs[{}]", plan.index);
    case BufferKind::Workspace:
      break;
  }
  return fmt::format("b{}", buffer);
}

std::string specs(const std::vector<ir::TensorType>& types,
                  const std::vector<ir::Strides>& strides) {
  std::string text;
  for (size_t i = 0; i < types.size(); ++i)
    text += fmt::format("    ({}, {}, {}),\n", tuple(types[i].shape), tuple(strides[i]),
                        type_text(types[i].dtype));
  return text;
}

/// PyTorch has no views that walk backwards.
Result<void> check_strides(const std::vector<ir::Strides>& strides, std::string_view what) {
  for (size_t i = 0; i < strides.size(); ++i)
    for (int64_t stride : strides[i])
      if (stride < 0)
        return unsupported("{} {}: PyTorch has no negative strides, found {}", what, i, stride);
  return {};
}

constexpr const char* kHead = R"(import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def larger(a, b):
    """The maximum, NaN where an operand is."""
    return tl.maximum(a, b, tl.PropagateNan.ALL)


@triton.jit
def smaller(a, b):
    """The minimum, NaN where an operand is."""
    return tl.minimum(a, b, tl.PropagateNan.ALL)


@triton.jit
def tile_length(length, position, tile):
    """Elements of a tile that exist along an axis of which so many are left."""
    return tl.minimum(tl.maximum(length - position * tile, 0), tile)
)";

constexpr const char* kRun = R"(

def check(tensors, specs, what):
    """Raises ValueError unless shape, strides and dtype are those the kernels were made for."""
    if len(tensors) != len(specs):
        raise ValueError(f"expected {len(specs)} {what}s, found {len(tensors)}")
    for i, (tensor, (shape, strides, dtype)) in enumerate(zip(tensors, specs)):
        found = (tuple(tensor.shape), tuple(tensor.stride()), tensor.dtype)
        # A stride matters where there is more than one element.
        same = all(a == b or n <= 1 for a, b, n in zip(found[1], strides, shape))
        if found[0] != shape or found[2] != dtype or not same:
            raise ValueError(f"{what} {i}: expected {(shape, strides, dtype)}, found {found}")


def run(*inputs, device="cuda"):
    """The outputs for these tensors as a list, on the device of the first one."""
    if inputs:
        device = inputs[0].device
    outputs = [
        torch.empty_strided(shape, strides, dtype=dtype, device=device)
        for shape, strides, dtype in OUTPUTS
    ]
    execute_mugraph(*inputs, *outputs)
    return outputs
)";

void emit_launches(Writer& out, const lower::Program& program,
                   const std::vector<KernelText>& kernels) {
  out.line("def execute_mugraph(*tensors):");
  out.indent();
  out.line("\"\"\"Computes the outputs, the last tensors, from the inputs, the first ones.\"\"\"");
  out.line("inputs, outputs = tensors[:{0}], tensors[{0}:]", program.inputs.size());
  out.line("check(inputs, INPUTS, \"input\")");
  out.line("check(outputs, OUTPUTS, \"output\")");
  if (program.workspace_bytes > 0)
    out.line("workspace = torch.empty({}, dtype=torch.uint8, device=outputs[0].device)",
             program.workspace_bytes);
  for (size_t i = 0; i < program.buffers.size(); ++i) {
    const lower::BufferPlan& buffer = program.buffers[i];
    if (buffer.kind == BufferKind::Workspace)
      out.line("{} = workspace[{}:{}].view({})", buffer_name(program, i), buffer.offset,
               buffer.offset + buffer.bytes, type_text(buffer.dtype));
  }
  for (size_t i = 0; i < kernels.size(); ++i) {
    const KernelPlan& plan = program.launches[i];
    if (plan.items() == 0) continue;
    std::vector<std::string> arguments;
    for (const lower::Param& param : plan.params)
      arguments.push_back(buffer_name(program, param.buffer));
    out.line("{}[({},)]({}, num_warps={}, num_stages={})", plan.name, plan.items(),
             fmt::join(arguments, ", "), kernels[i].warps, kernels[i].stages);
  }
  out.outdent();
}

}  // namespace

Result<SourceUnit> emit_triton(const lower::Program& program) {
  if (program.target.backend != lower::Backend::Triton)
    return unsupported("target {}: not a triton target", program.target.name);
  MIRAGE_TRY_VOID(check_strides(program.input_strides, "input"));
  MIRAGE_TRY_VOID(check_strides(program.output_strides, "output"));
  SourceUnit unit;
  unit.language = Language::Triton;
  unit.target = program.target.name;
  Writer out(4);
  out.line("# program @{}, graph {}, target {}", program.name, to_hex(program.graph_hash),
           program.target.name);
  out.raw(kHead);
  std::vector<KernelText> kernels;
  for (const KernelPlan& plan : program.launches) {
    MIRAGE_TRY(KernelText kernel, triton::kernel_text(plan, program.target));
    out.blank();
    out.raw(kernel.text);
    kernels.push_back(std::move(kernel));
    unit.entries.push_back({plan.name, plan.items()});
    for (const lower::Param& param : plan.params)
      unit.entries.back().buffers.push_back(param.buffer);
  }
  out.blank();
  out.line("# Shape, strides in elements and dtype of each tensor.");
  out.raw("INPUTS = [\n" + specs(program.inputs, program.input_strides) + "]");
  out.raw("OUTPUTS = [\n" + specs(program.outputs, program.output_strides) + "]");
  out.raw(kRun);
  out.blank();
  emit_launches(out, program, kernels);
  unit.text = out.take();
  describe(unit, program);
  return unit;
}

}  // namespace mirage::codegen
