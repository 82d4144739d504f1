#include "runtime/emulate/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace mirage::runtime::emulate {

Region& GlobalMemory::add(std::string name, size_t bytes, bool is_constant) {
  constexpr size_t kAlignment = 256;
  const size_t all = bytes + 2 * kAround + kAlignment;
  auto memory = std::make_unique<std::byte[]>(all);
  std::memset(memory.get(), kPoison, all);
  std::byte* begin = memory.get() + kAround;
  begin += (kAlignment - reinterpret_cast<uintptr_t>(begin) % kAlignment) % kAlignment;
  Shadow shadow(bytes, is_constant ? CellState::Written : CellState::Unwritten);
  regions_.push_back(
      {std::move(name), begin, bytes, is_constant, std::move(shadow), std::move(memory)});
  return regions_.back();
}

Region* GlobalMemory::find(const void* address) {
  const auto* const at = static_cast<const std::byte*>(address);
  const auto is_near = [&](const Region& region) {
    return at >= region.begin - kAround && at < region.begin + region.bytes + kAround;
  };
  if (last_ != nullptr && is_near(*last_)) return last_;
  const auto found = std::find_if(regions_.begin(), regions_.end(), is_near);
  if (found == regions_.end()) return nullptr;
  return last_ = &*found;
}

void GlobalMemory::begin_launch(uint32_t first_cluster) {
  for (Region& region : regions_) region.shadow.begin_launch(first_cluster);
}

void SharedWindow::reset(uint32_t launch) {
  launch_bytes = launch;
  array_bytes = 0;
  arrays_end = kFirst;
  arrays.clear();
  shadow.reset(kLaunch + launch, CellState::Outside);
  shadow.set(kLaunch, launch, CellState::Unwritten);
  std::memset(memory, kPoison, kLaunch + launch);
}

uint32_t SharedWindow::add_array(uint32_t bytes, uint32_t alignment) {
  const uint32_t offset = (arrays_end + alignment - 1) / alignment * alignment;
  if (offset + bytes + kGap > kLaunch) return 0;
  arrays_end = offset + bytes + kGap;
  array_bytes += bytes;
  arrays.push_back(offset);
  shadow.set(offset, bytes, CellState::Unwritten);
  return offset;
}

std::string SharedWindow::name_of(uint32_t offset) const {
  if (offset >= kLaunch) return fmt::format("the launch's shared memory + {}", offset - kLaunch);
  const auto next = std::upper_bound(arrays.begin(), arrays.end(), offset);
  if (next == arrays.begin()) return fmt::format("shared address {}", offset);
  return fmt::format("shared array {} + {}", next - arrays.begin() - 1, offset - *(next - 1));
}

}  // namespace mirage::runtime::emulate
