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

  explicit Shadow(size_t bytes, CellState state)
      : cells_((bytes + kBytesPerCell - 1) / kBytesPerCell, Cell{.state = state}) {}

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
  /// Reads that a write must come after: the first one, and some of the last.
  static constexpr int kReads = 4;
  struct Cell {
    Epoch written{};
    Epoch reads[kReads]{};
    uint32_t cluster = 0;  // of the epochs
    CellState state;
    uint8_t read_count = 0;
    uint8_t next_read = 0;
    bool read_elsewhere = false;  // by other clusters of this launch
  };

  std::optional<Conflict> enter(Cell& cell, const Accessor& who, bool is_write) const;
  static void add_read(Cell& cell, const Accessor& who);

  std::vector<Cell> cells_;
  uint32_t first_cluster_ = 0;
};

}  // namespace mirage::runtime::emulate
