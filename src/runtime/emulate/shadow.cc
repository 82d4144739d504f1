#include "runtime/emulate/shadow.h"

#include <algorithm>

namespace mirage::runtime::emulate {

void Shadow::set(size_t begin, size_t bytes, CellState state) {
  const size_t first = begin / kBytesPerCell;
  const size_t end = (begin + bytes + kBytesPerCell - 1) / kBytesPerCell;
  for (size_t i = first; i < end; ++i) cells_[i] = Cell{.state = state};
}

std::optional<size_t> Shadow::find(size_t begin, size_t bytes, CellState state) const {
  const size_t end = std::min(cells_.size(), (begin + bytes + 1) / kBytesPerCell);
  for (size_t i = begin / kBytesPerCell; i < end; ++i)
    if (cells_[i].state == state) return i * kBytesPerCell;
  return {};
}

void Shadow::land(size_t begin, size_t bytes) {
  for (size_t i = begin / kBytesPerCell; i < (begin + bytes) / kBytesPerCell; ++i)
    cells_[i].state = CellState::Written;
}

/// Clusters do not wait for each other: what another one of this launch did is in conflict, what
/// earlier launches did is long over.
std::optional<Conflict> Shadow::enter(Cell& cell, const Accessor& who, bool is_write) const {
  if (cell.cluster == who.cluster) {
    if (is_write && cell.read_elsewhere) return Conflict{Trouble::OtherBlocks};
    return {};
  }
  const bool is_this_launch = cell.cluster >= first_cluster_ && cell.cluster != 0;
  if (is_this_launch) {
    if (cell.written.time != 0 || is_write) return Conflict{Trouble::OtherBlocks};
    cell.read_elsewhere = true;
  } else {
    cell.read_elsewhere = false;
  }
  cell.written = {};
  cell.read_count = 0;
  cell.cluster = who.cluster;
  return {};
}

void Shadow::add_read(Cell& cell, const Accessor& who) {
  for (int i = 0; i < cell.read_count; ++i) {
    Epoch& read = cell.reads[i];
    // A read that this one comes after needs no place of its own.
    if (read.by == who.now.by || has_seen(who.seen, read)) {
      read = who.now;
      return;
    }
  }
  if (cell.read_count < kReads) {
    cell.reads[cell.read_count++] = who.now;
    return;
  }
  cell.reads[1 + cell.next_read] = who.now;
  cell.next_read = static_cast<uint8_t>((cell.next_read + 1) % (kReads - 1));
}

std::optional<Conflict> Shadow::read(size_t begin, size_t bytes, const Accessor& who) {
  const size_t end = std::min(cells_.size(), (begin + bytes + 1) / kBytesPerCell);
  for (size_t i = begin / kBytesPerCell; i < end; ++i) {
    Cell& cell = cells_[i];
    switch (cell.state) {
      case CellState::Written:
        break;
      case CellState::Outside:
        return Conflict{Trouble::Outside};
      case CellState::Unwritten:
        return Conflict{Trouble::Unwritten};
      case CellState::InFlight:
        return Conflict{Trouble::InFlight, cell.written};
      case CellState::Barrier:
        return Conflict{Trouble::IsBarrier};
    }
    if (auto conflict = enter(cell, who, false)) return conflict;
    if (cell.written.by != who.now.by && !has_seen(who.seen, cell.written))
      return Conflict{Trouble::WrittenBefore, cell.written};
    add_read(cell, who);
  }
  return {};
}

std::optional<Conflict> Shadow::write(size_t begin, size_t bytes, const Accessor& who,
                                      CellState after) {
  const size_t end = std::min(cells_.size(), (begin + bytes + 1) / kBytesPerCell);
  for (size_t i = begin / kBytesPerCell; i < end; ++i) {
    Cell& cell = cells_[i];
    if (cell.state == CellState::Outside) return Conflict{Trouble::Outside};
    if (cell.state == CellState::InFlight) return Conflict{Trouble::InFlight, cell.written};
    if (cell.state == CellState::Barrier) return Conflict{Trouble::IsBarrier};
    if (auto conflict = enter(cell, who, true)) return conflict;
    if (cell.written.by != who.now.by && !has_seen(who.seen, cell.written))
      return Conflict{Trouble::WrittenBefore, cell.written};
    for (int read = 0; read < cell.read_count; ++read)
      if (cell.reads[read].by != who.now.by && !has_seen(who.seen, cell.reads[read]))
        return Conflict{Trouble::ReadBefore, cell.reads[read]};
    cell.written = who.now;
    cell.read_count = 0;
    cell.state = after;
  }
  return {};
}

}  // namespace mirage::runtime::emulate
