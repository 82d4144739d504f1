#pragma once
// What is known of each two bytes of memory that kernels write: whether anybody wrote them, and
// which accesses a new one must come after.

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/emulate/clock.h"

namespace mirage::runtime::emulate {

/// Why an access is a fault.
enum class Trouble : uint8_t {
  Outside,        // memory that is no one's
  Unwritten,      // a read of what nobody wrote
  InFlight,       // a copy has been asked for and may not be there
  IsBarrier,      // the memory of a barrier
  WrittenBefore,  // by `other`, without a barrier between
  ReadBefore,     // and now written
  OtherBlocks,    // blocks that do not wait for each other, one of them writes
};

struct Conflict {
  Trouble trouble;
  Epoch other{};
};

enum class CellState : uint8_t { Outside, Unwritten, Written, InFlight, Barrier };

/// Who accesses, and what it has seen.
struct Accessor {
  Epoch now;
  const Clock& seen;
  uint32_t cluster;  // numbered through all launches, from 1
};

class Shadow {
 public:
  static constexpr size_t kBytesPerCell = 2;

  explicit Shadow(size_t bytes, CellState state) { reset(bytes, state); }
  /// As if it were new.
  void reset(size_t bytes, CellState state);

  /// Forgets who accessed it.
  void set(size_t begin, size_t bytes, CellState state);
  /// The first cell of this state in some bytes, as an offset.
  std::optional<size_t> find(size_t begin, size_t bytes, CellState state) const;
  /// A copy is there: InFlight becomes Written.
  void land(size_t begin, size_t bytes);
  /// Clusters from this number on belong to a new launch.
  void begin_launch(uint32_t first_cluster) { first_cluster_ = first_cluster; }

  std::optional<Conflict> read(size_t begin, size_t bytes, const Accessor& who);
  std::optional<Conflict> write(size_t begin, size_t bytes, const Accessor& who,
                                CellState after = CellState::Written);

 private:
  /// Reads that do not come after each other, ordered by component.
  using Crowd = std::vector<Epoch>;
  struct Cell {
    Epoch written{};
    Epoch read{};          // the last one, unless there is a crowd
    uint32_t crowd = 0;    // of crowds_, from 1; 0: none
    uint32_t cluster = 0;  // of the epochs
    CellState state;
    bool read_elsewhere = false;  // by other clusters of this launch
  };

  std::optional<Conflict> enter(Cell& cell, const Accessor& who, bool is_write);
  std::optional<Conflict> after_reads(const Cell& cell, const Accessor& who) const;
  void add_read(Cell& cell, const Accessor& who);
  void forget_reads(Cell& cell);

  std::vector<Cell> cells_;
  std::vector<Crowd> crowds_;
  std::vector<uint32_t> free_crowds_;
  uint32_t first_cluster_ = 0;
};

}  // namespace mirage::runtime::emulate
