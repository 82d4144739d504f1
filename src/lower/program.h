#pragma once
// What runs, in which order, on which memory: the printable result of lowering.
//
// A Program is a list of kernels over buffers (inputs, outputs, one workspace). A kernel runs its
// steps for every grid point: prologue, then the loop body for every step of the loop axes, then
// the epilogue. Steps read and write Operands: strided views of kernel parameters or of scratch
// memory that one thread owns. Lowering alone decides what is fused (Step::body, a thread-level
// graph), what lives where, and in which order; back ends only spell it.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "lower/target.h"
#include "util/hash.h"

namespace mirage::lower {

enum class BufferKind : uint8_t { Input, Output, Workspace };

struct BufferPlan {
  BufferKind kind;
  size_t index = 0;  // of the graph's inputs or outputs
  ir::DType dtype = ir::DType::F32;
  int64_t bytes = 0;   // of workspace buffers
  int64_t offset = 0;  // in the workspace, 64-aligned
  size_t first = 0;    // workspace: first and last launch that uses it
  size_t last = 0;
};

/// A strided view of a program buffer: what a kernel sees as one of its tensors.
struct Param {
  size_t buffer = 0;  // Program::buffers
  ir::DType dtype = ir::DType::F32;
  int64_t offset = 0;  // elements
  ir::Shape shape;
  ir::Strides strides;
  std::string name;
};

/// The number of elements of a tile along an axis that does not divide: a function of the grid
/// point and loop step. `axes` as in ir::Bind.
struct Ragged {
  int64_t extent = 0;
  std::vector<uint8_t> axes;
  bool operator==(const Ragged&) const = default;
};

/// Number of elements along an axis of a tile: `max`, or the value of KernelPlan::ragged[ragged]
/// where that is not -1.
struct Length {
  int64_t max = 1;
  int ragged = -1;
  bool operator==(const Length&) const = default;
};

/// Elements to skip for every step of a block axis: offset += position(axis) * stride. `dim` is the
/// parameter's dimension that moves.
struct AxisStride {
  uint8_t axis;
  int64_t stride;
  uint8_t dim = 0;
};

enum class Space : uint8_t { Param, Scratch };

/// A view of a parameter or of a scratch buffer. Extents are the lengths of the step that uses it;
/// an axis of one element, or broadcast, has stride 0.
struct Operand {
  Space space = Space::Scratch;
  size_t index = 0;  // KernelPlan::params or KernelPlan::scratch
  ir::DType dtype = ir::DType::F32;
  int64_t offset = 0;  // elements
  std::vector<AxisStride> moves{};
  std::vector<Length> lengths{};
  ir::Strides strides{};  // elements
};

enum class StepKind : uint8_t {
  Fill,     // out[0] = value
  Count,    // out[0] = the length `lengths[0]`, as a number
  Copy,     // out[0] = in[0]
  Map,      // out[i] = body's output i, elementwise over `lengths`
  Reduce,   // out[0] = combination over `axis` of body(in...), see `accumulate`
  MatMul,   // out[0] = in[0] in[1], batched over leading axes, see `accumulate`
  Running,  // (out[0], out[1]) = (m, d) from in[0] and the state out[2]
};

struct Step {
  StepKind kind;
  ir::GraphPtr body{};            // Map, Reduce: a thread-level graph over the inputs
  std::vector<Length> lengths{};  // iteration space
  std::vector<Operand> in{}, out{};
  int64_t axis = 0;                         // Reduce
  ir::Combine combine = ir::Combine::None;  // Reduce
  bool accumulate = false;                  // Reduce, MatMul: combine with what out[0] holds
  bool is_gauge = false;                    // Reduce, Running: 0 where the maximum is infinite
  bool is_library = false;                  // MatMul: a vendor library may do it
  double value = 0;                         // Fill
  std::string label{};                      // the graph's text of it, for people
};

struct Scratch {
  std::string name;
  ir::DType dtype = ir::DType::F32;
  int64_t elements = 0;
  int64_t offset = 0;  // bytes in the thread's scratch memory, 64-aligned
  size_t first =
      0;  // first and last step that uses it, counted from the prologue through the epilogue
  size_t last = 0;
};

// ---- pipelined loops ----
//
// On GPUs a loop can be walked by warps with its values in registers, its tiles copied to a ring of
// stages ahead of their use. Every warp takes a part of each step's elements along the class that
// the loop walks (slices of 16) for a part of the rows (tiles of 16); sums and running maxima are
// the warp's own until the loop has ended.

/// What a value of the loop has one number for: everything; a row; an element of the step (a
/// column); both; a row and a column of a product's result.
enum class Spread : uint8_t { Scalar, Rows, Columns, Tile, Sums };

/// A parameter's tile of every loop step, copied to shared memory in boxes side by side.
struct StagedTile {
  struct Dim {
    uint8_t dim;                      // of the parameter
    int64_t box;                      // elements of a box along it
    std::vector<AxisStride> moves{};  // of its coordinate, in elements of this dimension
  };
  size_t param = 0;
  std::vector<Dim> dims{};  // innermost first; dimensions of one element are left out
  size_t row_dim = 0;       // of dims: what rows are; dims.size() where there is one row
  int64_t rows = 1, columns = 1;
  int64_t width = 0;      // columns of a box
  int64_t box_bytes = 0;  // from one box to the next
  int64_t offset = 0;     // in the stage

  int64_t boxes() const { return columns / width; }
  int64_t bytes() const;  // that copies of one step bring
};

/// Where a loop step finds an operand.
struct Source {
  enum class From : uint8_t { Stage, Register, Before } from = From::Before;
  size_t index = 0;  // of Pipeline::tiles, registers or before
  Spread spread = Spread::Scalar;
};

struct LoopStep {
  std::vector<Source> in{};
  std::vector<size_t> out{};      // Pipeline::registers
  int64_t depth = 0;              // Reduce over the other class of a staged tile: its elements
  bool right_rows_are_k = false;  // MatMul: staged rows of the right operand run along k
  bool is_rescale = false;        // Map: sums times a factor of the row
};

/// A scratch buffer that lives in registers.
struct Register {
  size_t scratch = 0;
  Spread spread = Spread::Scalar;
  int64_t columns = 0;                      // Sums
  bool is_state = false;                    // lives over all steps
  ir::Combine combine = ir::Combine::None;  // of a state's parts
  bool is_read_after = false;
};

/// What is loaded into registers before the loop: row values, numbers, or a left operand of
/// `depth` columns.
struct Before {
  Operand operand{};
  Spread spread = Spread::Scalar;
  int64_t depth = 0;
  size_t row_axis = 0, depth_axis = 0;  // of the operand
};

struct Pipeline {
  uint8_t axis = 0;                    // the loop
  ir::DType element = ir::DType::F16;  // of all that is staged or multiplied
  int64_t rows = 1;
  int row_warps = 1, row_tiles = 1;            // rows <= 16 * row_warps * row_tiles
  int slice_warps = 1, slices = 1, turns = 1;  // a step has 16 * slice_warps * slices * turns
  int blocks = 1;  // of a cluster, that share the steps of the loop in equal runs
  int stages = 1;
  int64_t stage_bytes = 0;
  int64_t merge_bytes = 0;
  std::vector<StagedTile> tiles{};
  std::vector<Register> registers{};
  std::vector<Before> before{};
  std::vector<LoopStep> steps{};  // one a step of KernelPlan::loop

  int readers() const { return row_warps * slice_warps; }
  /// Of the ring, and of the merging that uses its memory after the loop.
  int64_t ring_bytes() const { return std::max(stages * stage_bytes, merge_bytes); }
};

// ---- rows in registers ----
//
// On GPUs a kernel without a loop whose reductions all go along one axis, the columns of a row, can
// hold its values in registers: each row is dealt to a team of threads in chunks of neighbouring
// columns, reductions cross the team, and what has no columns is in every thread of it. Rows of all
// items are numbered through, so that a block is some teams whatever the grid is.

/// Where a row step finds an operand.
struct RowSource {
  bool is_load = false;  // RowPlan::loads, else the result of a step
  size_t index = 0;
  bool is_tile = false;  // it has columns
};

/// A parameter's view, read before the first step.
struct RowLoad {
  Operand operand{};
  bool is_tile = false;
  int64_t access = 1;  // elements read at once
};

struct RowStep {
  std::vector<RowSource> in{};
  bool is_tile = false;
  int64_t access = 1;              // elements written at once, where the result is a parameter
  std::vector<size_t> combined{};  // reductions that the team finishes before it, together
};

struct RowPlan {
  std::vector<Length> rows{};      // of an item, outermost first
  std::vector<size_t> row_axes{};  // of operands, counted from the last axis
  size_t column_axis = 0;          // likewise
  Length columns{};
  int64_t width = 1;   // columns of a chunk
  int64_t chunks = 1;  // of a thread
  int team = 1;        // threads of a block that hold a row
  int teams = 1;       // rows of a block
  int cluster = 1;     // blocks whose teams hold a row together
  std::vector<RowLoad> loads{};
  std::vector<RowStep> steps{};    // one a step of the prologue, then of the epilogue
  std::vector<size_t> combined{};  // reductions that are finished after the last step

  int threads() const { return team * teams; }
  int64_t members() const { return int64_t{team} * cluster; }
  int64_t rows_of_item() const;
  bool is_even() const;  // all chunks of all threads hold `width` columns of a row
};

struct KernelPlan {
  std::string name;
  ir::Launch launch;  // grid axes are work items, loop axes run inside
  ir::DType compute = ir::DType::F32;
  std::vector<Param> params;
  size_t first_output = 0;  // params[first_output ...] are written
  std::vector<Ragged> ragged;
  std::vector<Scratch> scratch;
  int64_t scratch_bytes = 0;
  std::vector<Step> prologue, loop, epilogue;
  std::optional<Pipeline> pipeline{};
  std::optional<RowPlan> rows{};
  ir::GraphPtr block{};  // what the steps compute, for back ends whose programs are values of tiles

  int64_t items() const;       // product of the grid axes
  int64_t loop_steps() const;  // product of the loop axes
};

struct Program {
  Target target;
  std::vector<BufferPlan> buffers;
  std::vector<KernelPlan> launches;  // run in this order, each after the one before has finished
  int64_t workspace_bytes = 0;
  std::vector<ir::TensorType> inputs, outputs;
  std::vector<ir::Strides> input_strides, output_strides;  // complete, never empty lists
  std::vector<std::string> input_names;
  Hash128 graph_hash;
  std::string name;
};

std::string_view name_of(StepKind kind);
/// The whole program as text, a line a step.
std::string print(const Program& program);

}  // namespace mirage::lower
