#pragma once
// Elements of a block's results on demand: only the loop steps and tile elements that an entry
// depends on are computed. Elements of a tile are numbered row-major in its declared shape; short
// tiles lack the last ones.

#include <functional>
#include <optional>

#include "interp/domain_f64.h"
#include "interp/element_index.h"
#include "interp/memo.h"
#include "ir/graph.h"
#include "util/deadline.h"
#include "util/result.h"

namespace mirage::interp {

/// What evaluation on demand may spend, and what stopped it.
struct Ledger {
  uint64_t work = 0;
  uint64_t limit = UINT64_MAX;
  Deadline deadline{};
  uint64_t next_look = 0;  // at the clock
  std::optional<Error> error;

  /// False once a limit is passed or an error was met.
  bool spend(int64_t operations) {
    work += static_cast<uint64_t>(operations);
    if (work > limit && !error)
      error = Error{Code::LimitExceeded, "evaluation needs more operations than allowed", {}};
    if (work >= next_look) look_at_clock();
    return !error;
  }
  void look_at_clock() {
    constexpr uint64_t kInterval = 100'000;  // operations: a few milliseconds
    next_look = work + kInterval;
    if (deadline.is_over() && !error) error = Error{Code::Timeout, "evaluation was given up", {}};
  }
};

class LazyBlock {
 public:
  /// Reads n elements first, first + step, ... of the block's operand `input`.
  using Read =
      std::function<void(size_t input, int64_t first, int64_t step, size_t n, WideF64* out)>;

  /// The body and the ledger must outlive the block.
  LazyBlock(const ir::Graph& body, Ledger& ledger, Read read);

  /// Element of a result at this position of the whole result.
  WideF64 entry(size_t result, std::span<const int64_t> position);

 private:
  /// One loop step of one grid point.
  struct Moment {
    int64_t number = 0;  // point * steps + step
    std::vector<int64_t> coordinates;
    std::vector<int64_t> origins;   // by ValueId: where a loaded tile starts in its operand
    std::vector<ir::Shape> shapes;  // by ValueId; empty where every tile is whole
  };

  Moment& moment(int64_t point, int64_t step);
  Result<void> measure(Moment& at, const Moment* first);
  Result<ir::Shape> shape_of(const ir::Op& op, const Moment& at, const Moment* first) const;
  Moment& home(ir::ValueId id, Moment& at);
  int64_t extent(const Moment& at, ir::ValueId id, size_t axis) const;
  bool exists(const Moment& at, ir::ValueId id, int64_t index) const;

  WideF64 value(ir::ValueId id, Moment& at, int64_t index);
  WideF64 compute(ir::ValueId id, Moment& at, int64_t index);
  WideF64 move(const ir::Op& op, ir::ValueId id, Moment& at, int64_t index);
  WideF64 accumulated(const ir::Op& op, Moment& at, int64_t index);
  WideF64 running(const ir::Op& op, ir::ValueId id, Moment& at, int64_t index);
  WideF64 running_state(const ir::Op& op, Moment& at, int64_t index);
  /// n elements along an axis, from this one on.
  void row(ir::ValueId id, Moment& at, int64_t index, size_t axis, size_t n, WideF64* out);
  int64_t source(const ir::Op& load, ir::ValueId id, const Moment& at, int64_t index) const;

  const ir::Graph& body_;
  Ledger& ledger_;
  Read read_;
  std::vector<ir::Phase> phases_;
  ElementIndex numbers_;
  std::vector<int64_t> counts_;       // by ValueId, elements of the declared shape
  std::vector<size_t> input_number_;  // by ValueId
  std::vector<Memo> memos_;           // by ValueId; of running pairs: the maximum so far
  std::vector<size_t> grid_, loop_;   // launch axes
  int64_t steps_ = 1;
  bool is_ragged_ = false;
  std::unordered_map<int64_t, std::unique_ptr<Moment>> moments_;  // looked up only
  WideDomain domain_;
};

}  // namespace mirage::interp
