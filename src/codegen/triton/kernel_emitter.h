#pragma once
// The text of one kernel while it grows: what its values are called, and the lines before, in and
// after its loop. One file a topic; only kernel.cc is the way in.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "codegen/spell.h"
#include "codegen/triton/axes.h"
#include "codegen/triton/kernel.h"
#include "codegen/writer.h"
#include "ir/graph.h"
#include "lower/fuse.h"
#include "lower/program.h"
#include "lower/tiles.h"
#include "util/result.h"

namespace mirage::codegen::triton {

constexpr const char* kLowest = "float(\"-inf\")";

/// What the text calls a value.
struct Tile {
  std::string text;
  ir::DType dtype = ir::DType::F32;  // a storage type where it is as it was loaded
  bool is_number = false;            // a number of Python
  std::vector<bool> is_zero{};       // by axis: lanes beyond the length hold 0
};

/// Elements of a tile along an axis of another: lane i in [first, last) is element i - shift.
struct Part {
  size_t axis = 0;
  int64_t shift = 0;
  int64_t first = 0, last = 0;
};

class KernelEmitter {
 public:
  KernelEmitter(const lower::KernelPlan& plan, const lower::Target& target,
                lower::TileLengths tiles);

  Result<KernelText> run();

 private:
  // ---- names and tiles: kernel_tiles.cc ----

  /// A name of Python that nothing else has.
  std::string fresh(const std::string& wanted);
  /// Words of the language and of this text: a0_n, p0_x, r0, length0.
  static bool is_reserved(const std::string& name);
  std::string name_for(ir::ValueId value) const;
  std::string range(ir::ValueId value, size_t axis);
  std::vector<std::string>& section(ir::Phase phase);
  std::vector<std::string>& section(ir::ValueId value) { return section(phases_[value.index]); }
  /// Gives the text a name where the value is computed.
  void define(ir::ValueId value, const std::string& text, std::vector<bool> is_zero = {});

  const lower::Lengths& lengths(ir::ValueId value) const { return tiles_.values[value.index]; }
  const Tile& tile(ir::ValueId value) const { return *values_[value.index]; }
  std::string compute_type() const { return fmt::format("tl.{}", triton_type_name(plan_.compute)); }
  Result<void> check_size(ir::ValueId value);
  /// tl.dot finds its operands in shared memory.
  Result<void> check_operands(const ir::Op& product) const;
  /// The value in the type of the computation.
  std::string wide(ir::ValueId value) const;
  /// Axes of an operand by axis of a result of `rank` axes, aligned at the last one.
  std::vector<bool> aligned(ir::ValueId operand, size_t rank) const;
  /// The operand in the space of a result of a Map, in the type of the computation.
  std::string broadcast(ir::ValueId operand, ir::ValueId result) const;
  bool has_idle_lanes(ir::ValueId value, size_t axis) const;
  /// `text` in the space of a value, of which it has one axis.
  std::string along(const std::string& text, ir::ValueId value, size_t axis) const;
  std::string is_element(ir::ValueId value, size_t axis);
  /// The value in whose idle lanes along an axis is `neutral`.
  std::string filled(ir::ValueId value, size_t axis, const std::string& text, const char* neutral);
  bool is_zero_beyond(ir::ValueId value, size_t axis) const;
  std::string zero_filled(ir::ValueId value, size_t axis, const std::string& text);
  /// Text that lacks axes of a value, whose lanes all hold the same, as a tile of its shape.
  std::string conformed(std::string text, const std::vector<bool>& has, ir::ValueId value) const;

  // ---- memory: kernel_memory.cc ----

  /// The last element that a parameter's view reaches decides the type of its offsets.
  bool needs_wide_offsets(const lower::Param& param) const;
  /// Addresses of a parameter's tile over the lanes of `value`.
  std::string pointers(size_t index, const ir::Bind& bind, ir::ValueId value,
                       const std::vector<Part>& parts);
  /// Stores leave out lanes that repeat the only element; loads fill them.
  std::string mask(ir::ValueId value, const std::vector<Part>& parts, bool is_store);
  /// A load of a tile, or of a part of one, over the lanes of `value`.
  std::string load_text(const ir::Op& load, ir::ValueId value, const std::vector<Part>& parts);
  void load(const ir::Op& op);
  void store(const ir::Op& op);

  // ---- operators: kernel_operators.cc ----

  void map(const ir::Op& op);
  /// Whether the first parenthesis ends with the text.
  static bool is_one_pair(const std::string& text);
  /// The combination over an axis, of the shape of `result`.
  std::string reduced(ir::ValueId value, size_t axis, ir::Combine combine, ir::ValueId result);
  std::string count(const lower::Length& length) const;
  static std::string shifted(const std::string& maximum);
  void reduce(const ir::Op& op);
  /// An operand of tl.dot: of rank 2 or 3, 0 beyond the length of the inner axis.
  std::string dot_operand(ir::ValueId value, size_t inner, ir::DType dtype, ir::ValueId result);
  /// A product, added to the state if there is one.
  std::string product(const ir::Op& op, const std::string& state, ir::ValueId result);
  /// A product as a sum of products of broadcast tiles.
  std::string summed_product(ir::ValueId lhs, ir::ValueId rhs, ir::ValueId result);

  // ---- moves: kernel_moves.cc ----

  void move(const ir::Op& op);
  Result<void> reshape(const ir::Op& op);
  /// Elements of a value along an axis over the lanes of `result`: lane i is element i - shift.
  std::string part_text(ir::ValueId value, const Part& part, ir::ValueId result);
  void narrow(const ir::Op& op);
  void concat(const ir::Op& op);

  // ---- accumulators: kernel_accumulators.cc ----

  /// A state of the loop, of the shape of a value.
  std::string new_state(const std::string& name, ir::ValueId value, const char* start);
  /// Whether a product is added to its accumulator at once.
  bool is_added(ir::ValueId value) const;
  void accumulate(const ir::Op& op);
  void running(const ir::Op& op);
  std::string is_first() const;

  // ---- the function: kernel.cc ----

  Result<void> visit(const ir::Op& op);
  void leaf(const ir::Op& op);
  /// Axes of the loop, or of the grid, major first.
  std::vector<uint8_t> axes_of(bool is_loop) const;
  /// As many copies of the loop's tiles ahead of their use as shared memory of small GPUs holds.
  int stages() const;
  void emit_lengths(Writer& out, bool in_loop) const;
  static void emit_lines(Writer& out, const std::vector<std::string>& lines);
  void emit_grid(Writer& out) const;
  std::string function() const;

  const lower::KernelPlan& plan_;
  const lower::Target& target_;
  const ir::Graph& block_;
  lower::TileLengths tiles_;
  std::vector<ir::Phase> phases_;
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

}  // namespace mirage::codegen::triton
