// Each access of a thread to memory.
#include "runtime/emulate/machine.h"

namespace mirage::runtime::emulate {
namespace {

std::string_view verb(host::Access access) {
  return access == host::Access::Write ? "writes" : "reads";
}

}  // namespace

bool Machine::is_shared(const void* at) const {
  const auto* const address = static_cast<const std::byte*>(at);
  return address >= shared_.get() &&
         address < shared_.get() + blocks_.size() * SharedWindow::kBytes;
}

void Machine::access(const void* at, uint32_t bytes, host::Access access, const void* caller) {
  check_access(at, bytes, access);
  if (has_fault()) code_of_fault_ = caller;
}

void Machine::check_access(const void* at, uint32_t bytes, host::Access access) {
  if (stacks_.contains(running_->component, at)) return;
  if (is_shared(at)) {
    const uint32_t offset = shared_address(at) % SharedWindow::kBytes;
    access_shared(*running_, *running_->block, offset, bytes, access);
    return;
  }
  if (Region* const region = memory_.find(at)) return access_global(*region, at, bytes, access);
  if (access == host::Access::Read && constants_.contains(at)) return;
  fault(fmt::format("{} {} bytes at {}, memory that is no one's", verb(access), bytes, at));
}

void Machine::access_global(Region& region, const void* at, uint32_t bytes, host::Access access) {
  const size_t offset = region.offset_of(at);
  const auto place = [&] {
    return fmt::format("{} {:+}", region.name, static_cast<ptrdiff_t>(offset));
  };
  if (offset >= region.bytes || region.bytes - offset < bytes)
    return fault(sentence({Trouble::Outside}, verb(access), bytes, place()));
  if (offset % bytes != 0)
    return fault(fmt::format("{} {} bytes at {}: not aligned", verb(access), bytes, place()));
  if (region.is_constant) {
    if (access == host::Access::Write)
      fault(fmt::format("writes {} bytes at {}: not an output", bytes, place()));
    else if (region.shadow.find(offset, bytes, CellState::Outside))
      fault(sentence({Trouble::Outside}, verb(access), bytes, place()));
    return;
  }
  const Accessor who = accessor(*running_);
  const auto conflict = access == host::Access::Write ? region.shadow.write(offset, bytes, who)
                                                      : region.shadow.read(offset, bytes, who);
  if (conflict) fault(sentence(*conflict, verb(access), bytes, place()));
}

void Machine::access_constant(const void* at, uint32_t bytes, const void* caller) {
  access(at, bytes, host::Access::Read, caller);
}

bool Machine::access_shared(const Thread& thread, Block& block, uint32_t offset, uint32_t bytes,
                            host::Access access) {
  SharedWindow& window = block.window;
  if (offset % bytes != 0) {
    fault_of(thread, fmt::format("{} {} bytes at {}: not aligned", verb(access), bytes,
                                 window.name_of(offset)));
    return false;
  }
  const bool is_inside = offset + bytes <= SharedWindow::kLaunch + window.launch_bytes;
  std::optional<Conflict> conflict = Conflict{Trouble::Outside};
  if (is_inside)
    conflict = access == host::Access::Write ? window.shadow.write(offset, bytes, accessor(thread))
                                             : window.shadow.read(offset, bytes, accessor(thread));
  if (conflict) fault_of(thread, sentence(*conflict, verb(access), bytes, window.name_of(offset)));
  return !conflict;
}

void* Machine::shared_array(const void* tag, uint32_t bytes, uint32_t alignment) {
  Block& block = *running_->block;
  uint32_t& offset = block.arrays[tag];
  if (offset == 0) {
    offset = block.window.add_array(bytes, alignment);
    if (offset == 0 || block.window.array_bytes + block.window.launch_bytes > kMostSharedBytes)
      fault(fmt::format("an array of {} bytes: more shared memory than a block has", bytes));
  }
  return block.window.memory + offset;
}

uint32_t Machine::shared_address(const void* data) {
  const auto distance = static_cast<const std::byte*>(data) - shared_.get();
  if (!is_shared(data) || distance / SharedWindow::kBytes != running_->block->rank)
    fault(fmt::format("{} is not in the block's shared memory", data));
  return static_cast<uint32_t>(distance);
}

uint32_t Machine::remote_address(uint32_t address, int rank) {
  return address % SharedWindow::kBytes + static_cast<uint32_t>(rank) * SharedWindow::kBytes;
}

Machine::Block* Machine::block_at(uint32_t address) {
  const uint32_t rank = address / SharedWindow::kBytes;
  if (rank < blocks_.size()) return blocks_[rank].get();
  fault(fmt::format("uses shared memory of block {} of a cluster of {}: beyond the cluster", rank,
                    blocks_.size()));
  return nullptr;
}

/// Whether another block's memory is there, and stays: end_thread() looks at the visits.
bool Machine::may_visit(const Thread& thread, Block& block, host::Access access) {
  const size_t of_block = threads_.size() / blocks_.size();
  const auto first = static_cast<Component>(block.rank * of_block);
  if (!has_seen(*thread.seen, {1, first}))
    fault_of(thread, fmt::format("{} shared memory of block {}, which may not have begun",
                                 verb(access), block.index));
  else if (block.ended > 0)
    fault_of(thread, fmt::format("{} shared memory of block {}, which has ended", verb(access),
                                 block.index));
  block.visits.resize(threads_.size());
  block.visits[thread.component] = thread.now;
  return !has_fault();
}

void* Machine::at_shared_of(const Thread& thread, uint32_t address, uint32_t bytes,
                            host::Access access) {
  Block* const block = block_at(address);
  if (block == nullptr) return nullptr;
  if (block != thread.block && !may_visit(thread, *block, access)) return nullptr;
  const uint32_t offset = address % SharedWindow::kBytes;
  if (!access_shared(thread, *block, offset, bytes, access)) return nullptr;
  return block->window.memory + offset;
}

}  // namespace mirage::runtime::emulate
