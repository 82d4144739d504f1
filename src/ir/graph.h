#pragma once
// The one program type. A Graph is a list of operators over values at one level: kernel (the user's
// program, or a µGraph whose `block` operators have block-level bodies), block (one tile program
// run for every grid point and loop step), or thread (a chain on elements, cut out by lowering).
// Immutable once GraphBuilder::finish has made it; shared as shared_ptr<const Graph>.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ir/dtype.h"
#include "ir/op_table.h"
#include "util/hash.h"
#include "util/id.h"

namespace mirage::ir {

using ValueId = Id<struct ValueTag>;
using OpId = Id<struct OpTag>;

constexpr size_t kMaxRank = 8;

using Shape = std::vector<int64_t>;    // outermost axis first; extents >= 0
using Strides = std::vector<int64_t>;  // in elements, one per axis; empty means row-major

struct TensorType {
  DType dtype = DType::F32;
  Shape shape;
  bool operator==(const TensorType&) const = default;
};

/// For each axis of the whole tensor, the block axes that split it, major first (indices into
/// Launch::axes). An axis of extent e split by trips t gives tiles of ceil(e / t); the last one may
/// be shorter.
using Bind = std::vector<std::vector<uint8_t>>;

struct Attrs {
  int64_t axis = 0;                 // AttrKey::Axis, already normalised to [0, rank)
  std::vector<int64_t> ints;        // Perm or Shape, or Start and Length
  std::vector<double> scalars;      // Value, or Lo and Hi
  Combine combine = Combine::None;  // of accum
  Bind bind;                        // of load and store
  bool operator==(const Attrs&) const = default;
};

class Graph;
using GraphPtr = std::shared_ptr<const Graph>;

struct Value {
  TensorType type;
  OpId def;             // invalid for an input
  uint32_t result = 0;  // which result of def
  std::string name;     // for people; not part of identity
};

struct Op {
  OpKind kind;
  Attrs attrs;
  std::vector<ValueId> operands;
  std::vector<ValueId> results;
  GraphPtr body;  // Block only
};

enum class Role : uint8_t { Grid, Loop, Cluster, Warp };
std::string_view name_of(Role role);

struct Axis {
  std::string name;
  Role role = Role::Grid;
  int64_t trips = 1;
  bool operator==(const Axis&) const = default;
};

/// The iteration space of a block graph: every combination of grid points runs once; loop axes run
/// inside, in order, the last one fastest.
struct Launch {
  std::vector<Axis> axes;
  int64_t threads = 0;  // published block_dim product; 0 leaves it to lowering
  bool operator==(const Launch&) const = default;
};

/// When a value of a block graph is computed. Invariant values depend on no loop axis and may be
/// used anywhere.
enum class Phase : uint8_t { Invariant, InLoop, AfterLoop };

class Graph {
 public:
  Level level = Level::Kernel;
  std::string name;  // not part of identity
  Launch launch;     // block level only
  std::vector<Value> values;
  std::vector<Op> ops;  // in an order where operands come first
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;        // may repeat, be inputs, or be intermediates
  std::vector<Strides> input_strides;  // one per input (kernel level)
  std::vector<Strides> output_strides;
  bool outputs_implied = false;  // nobody marked outputs: they are the values nobody reads
  Hash128 hash;                  // structure, wiring, types, strides, attributes; not names

  const Value& value(ValueId id) const { return values[id.index]; }
  const TensorType& type(ValueId id) const { return values[id.index].type; }
  const Op& op(OpId id) const { return ops[id.index]; }
  const Op* def_of(ValueId id) const {
    return value(id).def.is_valid() ? &op(value(id).def) : nullptr;
  }
  bool is_input(ValueId id) const { return !value(id).def.is_valid(); }
};

int64_t element_count(const Shape& shape);
Strides row_major_strides(const Shape& shape);
/// Extent of a tile along an axis of this extent bound to these block axes (the largest one, if
/// they differ).
int64_t tile_extent(int64_t extent, const std::vector<uint8_t>& axes, const Launch& launch);
/// Phase of the results of an operator of a block; `phases` holds its operands by ValueId.
Phase phase_of(const Op& op, const Launch& launch, const std::vector<Phase>& phases);
/// Phase of every value of a block graph, by ValueId.
std::vector<Phase> phases_of(const Graph& block);
std::string to_string(const Shape& shape);
std::string to_string(const TensorType& type);

}  // namespace mirage::ir
