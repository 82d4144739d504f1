// Barriers that count arrivals and bytes, and the copies whose bytes they count.
#include <cstring>

#include "runtime/emulate/machine.h"

namespace mirage::runtime::emulate {
namespace {

constexpr uint32_t kBarrierBytes = 8;

}  // namespace

void Machine::barrier_init(uint32_t address, int count) {
  if (count < 1) return fault("a barrier for no arrivals");
  if (at_shared(address, kBarrierBytes, host::Access::Write) == nullptr) return;
  Block& block = *running_->block;
  const uint32_t offset = address % SharedWindow::kBytes;
  block.window.shadow.set(offset, kBarrierBytes, CellState::Barrier);
  Barrier& barrier = block.barriers[offset];
  barrier.count = barrier.missing = count;
  barrier.made = {running_->now, running_->component};
  barrier.completed = std::make_shared<const Clock>();
  barrier.copies = components_++;
}

void Machine::barriers_ready() {
  for (auto& [offset, barrier] : running_->block->barriers)
    if (barrier.made.by == running_->component) barrier.is_ready = true;
}

/// The barrier at an address of the thread's own block, made before in the thread's eyes.
Machine::Barrier* Machine::own_barrier(uint32_t address) {
  Block* const block = block_at(address);
  if (block == nullptr) return nullptr;
  const uint32_t offset = address % SharedWindow::kBytes;
  const auto found = block->barriers.find(offset);
  if (block != running_->block || found == block->barriers.end()) {
    fault(fmt::format("no barrier of this block was made at {}", block->window.name_of(offset)));
    return nullptr;
  }
  Barrier& barrier = found->second;
  if (barrier.made.by != running_->component && !has_seen(*running_->seen, barrier.made))
    fault(fmt::format("uses the barrier at {}: race with {}, which made it; no barrier is between",
                      block->window.name_of(offset), name_of(barrier.made)));
  return &barrier;
}

void Machine::barrier_arrive(uint32_t address, int bytes) {
  Barrier* const barrier = own_barrier(address);
  if (barrier == nullptr) return;
  const uint32_t offset = address % SharedWindow::kBytes;
  if (barrier->missing == 0)
    return fault(fmt::format("more than {} arrivals at the barrier at {} in one phase",
                             barrier->count, running_->block->window.name_of(offset)));
  barrier->arrived.add(running_->seen, {running_->now++, running_->component});
  barrier->missing_bytes += bytes;
  --barrier->missing;
  advance(*running_->block, offset, *barrier);
}

/// Ends the phase if nothing is missing.
void Machine::advance(Block& block, uint32_t offset, Barrier& barrier) {
  if (barrier.missing > 0 || barrier.missing_bytes != 0) return;
  barrier.completed = joins_.join(barrier.completed, barrier.arrived.finish(joins_));
  barrier.missing = barrier.count;
  ++barrier.phase;
  for (Thread& thread : threads_)
    if (thread.wait == Wait::Barrier && thread.block == &block && thread.barrier == offset &&
        thread.parity != barrier.phase % 2) {
      thread.seen = joins_.join(thread.seen, barrier.completed);
      wake(thread);
    }
}

void Machine::barrier_wait(uint32_t address, int parity) {
  const Barrier* const barrier = own_barrier(address);
  if (barrier == nullptr) return;
  if (static_cast<int>(barrier->phase % 2) != parity) {
    running_->seen = joins_.join(running_->seen, barrier->completed);
    return;
  }
  running_->barrier = address % SharedWindow::kBytes;
  running_->parity = static_cast<uint32_t>(parity);
  wait(Wait::Barrier);
}

bool Machine::may_copy(const Copy& copy, uint32_t to, int rank) {
  const SharedWindow& window = copy.block->window;
  const std::string place = window.name_of(copy.to);
  // Pieces of a box repeat their permutation after 8 of its rows.
  const uint32_t alignment = copy.map.swizzle_bytes > 0 ? 8u * copy.map.swizzle_bytes : 128u;
  const uint32_t end = SharedWindow::kLaunch + window.launch_bytes;
  if (copy.map.rank != rank)
    fault(fmt::format("a box of {} dimensions at {} coordinates", copy.map.rank, rank));
  else if (to / SharedWindow::kBytes != copy.block->rank || to % alignment != 0)
    fault(fmt::format("copies a box to {}: not a multiple of {}", place, alignment));
  else if (copy.to < SharedWindow::kLaunch || copy.to + copy.map.bytes() > end)
    fault(sentence({Trouble::Outside}, "copies", copy.map.bytes(), place));
  return !has_fault();
}

void Machine::copy_box(uint32_t to, const void* map, uint32_t barrier_address, const int* at,
                       int rank) {
  Barrier* const barrier = own_barrier(barrier_address);
  if (barrier == nullptr) return;
  if (!barrier->is_ready)
    return fault(
        fmt::format("a copy for the barrier at {}, which the copy engine may not see yet",
                    running_->block->window.name_of(barrier_address % SharedWindow::kBytes)));
  Copy copy{};
  copy.block = running_->block;
  copy.to = to % SharedWindow::kBytes;
  copy.barrier = barrier_address % SharedWindow::kBytes;
  copy.epoch = {++barrier->copy_time, barrier->copies};
  std::memcpy(&copy.map, map, sizeof copy.map);
  if (!may_copy(copy, to, rank)) return;
  std::memcpy(copy.at, at, sizeof(int) * static_cast<size_t>(rank));
  Gathering issue;
  issue.add(running_->seen, {running_->now, running_->component});
  copy.seen = issue.finish(joins_);
  SharedWindow& window = copy.block->window;
  const uint32_t bytes = copy.map.bytes();
  if (const auto conflict = window.shadow.write(copy.to, bytes, {copy.epoch, *copy.seen, cluster_},
                                                CellState::InFlight))
    return fault(sentence(*conflict, "copies", bytes, window.name_of(copy.to)));
  std::memset(window.memory + copy.to, kPoison, bytes);
  copies_.push_back(std::move(copy));
}

/// A copy that has been asked for, any of them, happens. Called between two threads' turns.
bool Machine::land_copy() {
  if (copies_.empty()) return false;
  std::swap(copies_[rng_.below(copies_.size())], copies_.back());
  const Copy copy = std::move(copies_.back());
  copies_.pop_back();
  land_source(copy);
  Block& block = *copy.block;
  const uint32_t bytes = copy.map.bytes();
  copy.map.fetch(copy.at, block.window.memory, copy.to);
  block.window.shadow.land(copy.to, bytes);
  Barrier& barrier = block.barriers.at(copy.barrier);
  barrier.arrived.add(copy.seen, copy.epoch);
  barrier.missing_bytes -= bytes;
  advance(block, copy.barrier, barrier);
  return true;
}

/// The tensor must have been written before this launch.
void Machine::land_source(const Copy& copy) {
  Region* const region = memory_.find(copy.map.base);
  if (region == nullptr || region->is_constant) return;
  const Accessor who{copy.epoch, *copy.seen, cluster_};
  const size_t offset = region->offset_of(copy.map.base);
  if (const auto conflict =
          region->shadow.read(offset, static_cast<size_t>(copy.map.element_bytes), who))
    report("a copy: " + sentence(*conflict, "reads", static_cast<uint32_t>(copy.map.element_bytes),
                                 region->name));
}

}  // namespace mirage::runtime::emulate
