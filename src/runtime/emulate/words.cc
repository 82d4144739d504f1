// What faults are called.
#include <csignal>

#include "runtime/emulate/machine.h"

namespace mirage::runtime::emulate {

std::string Machine::name_of(const Thread& thread) const {
  return fmt::format("block {}, thread {}", thread.block->index, thread.index);
}

std::string Machine::name_of(Epoch epoch) const {
  if (epoch.by >= threads_.size()) return "a copy";
  return name_of(threads_[epoch.by]);
}

std::string Machine::reason(const Thread& thread) const {
  const auto missing = [&](uint32_t arrived, size_t all) {
    return fmt::format("{} of {} threads have arrived", arrived, all);
  };
  switch (thread.wait) {
    case Wait::None:
    case Wait::Ended:
      return "have ended";
    case Wait::Block:
      return "wait for their block: " +
             missing(thread.block->arrived, static_cast<size_t>(launch_.threads));
    case Wait::Cluster:
      return "wait for their cluster: " + missing(cluster_arrived_, threads_.size());
    case Wait::Warp:
      return "wait for lanes of their warp";
    case Wait::Barrier:
      break;
  }
  const Barrier& barrier = thread.block->barriers.at(thread.barrier);
  return fmt::format(
      "wait for parity {} of the barrier at {}: its phase {} lacks {} of {} arrivals "
      "and {} bytes",
      thread.parity, thread.block->window.name_of(thread.barrier), barrier.phase, barrier.missing,
      barrier.count, barrier.missing_bytes);
}

/// Neighbours that wait for the same are named together.
std::string Machine::deadlock() const {
  std::string text = "deadlock:";
  for (size_t i = 0; i < threads_.size();) {
    const std::string why = reason(threads_[i]);
    size_t end = i + 1;
    while (end < threads_.size() && threads_[end].block == threads_[i].block &&
           reason(threads_[end]) == why)
      ++end;
    text += fmt::format(" block {}, threads {} to {} {};", threads_[i].block->index,
                        threads_[i].index, threads_[end - 1].index, why);
    i = end;
  }
  text.pop_back();
  return text;
}

std::string Machine::sentence(const Conflict& conflict, std::string_view action, uint32_t bytes,
                              const std::string& place) const {
  std::string what = fmt::format("{} {} bytes at {}", action, bytes, place);
  switch (conflict.trouble) {
    case Trouble::Outside:
      return what + ": out of bounds";
    case Trouble::Unwritten:
      return what + ": nobody wrote them";
    case Trouble::InFlight:
      return what + ": a copy to them has not been waited for";
    case Trouble::IsBarrier:
      return what + ": they are a barrier's";
    case Trouble::WrittenBefore:
      return what + fmt::format(": race with {}, which wrote them; no barrier is between",
                                name_of(conflict.other));
    case Trouble::ReadBefore:
      return what + fmt::format(": race with {}, which read them; no barrier is between",
                                name_of(conflict.other));
    case Trouble::OtherBlocks:
      return what + ": race with a block that does not wait for this one";
  }
  return what;
}

std::string Machine::words_of_trap() const {
  switch (trap_) {
    case SIGFPE:
      return "an integer divided by zero";
    case SIGILL:
      return "an instruction that must not be reached";
    default:
      break;
  }
  if (stacks_.is_below(running_->component, trap_address_))
    return fmt::format("needs more than {} bytes of stack", Stacks::kBytes);
  return fmt::format("touches {}, memory that is no one's", trap_address_);
}

}  // namespace mirage::runtime::emulate
