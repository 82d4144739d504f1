// What the lanes of a warp do together.
#include <algorithm>

#include "runtime/emulate/machine.h"

namespace mirage::runtime::emulate {
namespace {

using host::Collective;

std::string_view words_for(Collective what) {
  switch (what) {
    case Collective::Sync:
      return "a barrier of the warp";
    case Collective::Shuffle:
      return "a shuffle";
    case Collective::Any:
      return "a vote";
    case Collective::LoadMatrices:
      return "a load of matrices";
    case Collective::LoadTransposed:
      return "a load of transposed matrices";
    case Collective::ProductF16:
      return "a product of f16";
    case Collective::ProductBf16:
      return "a product of bf16";
  }
  return {};
}

}  // namespace

void Machine::collect(Collective what, uint32_t lanes, void* operands) {
  if (lanes != 0xffffffffu)
    return fault("only all lanes of a warp together are known to the host kit");
  const uint32_t lane = running_->index % kLanes, first = running_->index - lane;
  Warp& warp = running_->block->warps[first / kLanes];
  if (warp.arrived > 0 && warp.what != what)
    return fault(fmt::format("at {}, while other lanes of the warp are at {}", words_for(what),
                             words_for(warp.what)));
  warp.what = what;
  warp.operands[lane] = operands;
  if (what == Collective::Sync)
    warp.gathering.add(running_->seen, {running_->now++, running_->component});
  if (++warp.arrived < kLanes) return wait(Wait::Warp);
  warp.arrived = 0;
  perform(warp, running_->component - lane);
}

void Machine::perform(Warp& warp, uint32_t first) {
  switch (warp.what) {
    case Collective::Sync: {
      const Seen all = warp.gathering.finish(joins_);
      for (uint32_t lane = 0; lane < kLanes; ++lane) threads_[first + lane].seen = all;
      break;
    }
    case Collective::Shuffle:
      shuffle(warp.operands);
      break;
    case Collective::Any:
      vote_any(warp.operands);
      break;
    case Collective::LoadMatrices:
    case Collective::LoadTransposed:
      load_matrices(warp, first, warp.what == Collective::LoadTransposed);
      break;
    case Collective::ProductF16:
    case Collective::ProductBf16:
      multiply(warp.operands, warp.what == Collective::ProductBf16);
      break;
  }
  for (uint32_t lane = 0; lane < kLanes; ++lane)
    if (Thread& thread = threads_[first + lane]; &thread != running_) wake(thread);
}

void Machine::load_matrices(const Warp& warp, uint32_t first, bool is_transposed) {
  MatrixRows rows;
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    const auto& own = *static_cast<const host::MatricesLane*>(warp.operands[lane]);
    rows[lane] = static_cast<const uint16_t*>(
        at_shared_of(threads_[first + lane], own.address, 16, host::Access::Read));
    if (rows[lane] == nullptr) return;
  }
  distribute_matrices(warp.operands, rows, is_transposed);
}

}  // namespace mirage::runtime::emulate
