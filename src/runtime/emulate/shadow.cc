#include "runtime/emulate/shadow.h"

#include <algorithm>

namespace mirage::runtime::emulate {

void Shadow::reset(size_t bytes, CellState state) {
  cells_.assign((bytes + kBytesPerCell - 1) / kBytesPerCell, Cell{.state = state});
  crowds_.clear();
  free_crowds_.clear();
}

void Shadow::set(size_t begin, size_t bytes, CellState state) {
  const size_t first = begin / kBytesPerCell;
  const size_t end = (begin + bytes + kBytesPerCell - 1) / kBytesPerCell;
  for (size_t i = first; i < end; ++i) {
    forget_reads(cells_[i]);
    cells_[i] = Cell{.state = state};
  }
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
std::optional<Conflict> Shadow::enter(Cell& cell, const Accessor& who, bool is_write) {
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
  forget_reads(cell);
  cell.cluster = who.cluster;
  return {};
}

void Shadow::forget_reads(Cell& cell) {
  cell.read = {};
  if (cell.crowd == 0) return;
  crowds_[cell.crowd - 1].clear();
  free_crowds_.push_back(cell.crowd);
  cell.crowd = 0;
}

void Shadow::add_read(Cell& cell, const Accessor& who) {
  if (cell.crowd == 0) {
    // A read that this one comes after needs no place of its own.
    if (cell.read.time == 0 || cell.read.by == who.now.by || has_seen(who.seen, cell.read)) {
      cell.read = who.now;
      return;
    }
    if (free_crowds_.empty()) {
      crowds_.emplace_back();
      free_crowds_.push_back(static_cast<uint32_t>(crowds_.size()));
    }
    cell.crowd = free_crowds_.back();
    free_crowds_.pop_back();
    crowds_[cell.crowd - 1].push_back(cell.read);
  }
  Crowd& crowd = crowds_[cell.crowd - 1];
  const auto at = std::lower_bound(crowd.begin(), crowd.end(), who.now,
                                   [](Epoch a, Epoch b) { return a.by < b.by; });
  if (at != crowd.end() && at->by == who.now.by)
    *at = who.now;
  else
    crowd.insert(at, who.now);
}

/// Whether a write comes after all reads.
std::optional<Conflict> Shadow::after_reads(const Cell& cell, const Accessor& who) const {
  const auto check = [&](Epoch read) -> std::optional<Conflict> {
    if (read.by == who.now.by || has_seen(who.seen, read)) return {};
    return Conflict{Trouble::ReadBefore, read};
  };
  if (cell.crowd == 0) return check(cell.read);
  for (const Epoch read : crowds_[cell.crowd - 1])
    if (auto conflict = check(read)) return conflict;
  return {};
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
    if (auto conflict = after_reads(cell, who)) return conflict;
    cell.written = who.now;
    forget_reads(cell);
    cell.state = after;
  }
  return {};
}

}  // namespace mirage::runtime::emulate
