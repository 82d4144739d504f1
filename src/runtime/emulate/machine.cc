#include "runtime/emulate/machine.h"

#include <sys/mman.h>

#include <algorithm>

#include "runtime/emulate/trap.h"

namespace mirage::runtime::emulate {
namespace {

constexpr size_t kMostBlocks = 16;  // of a cluster
constexpr size_t kSharedBytes = kMostBlocks * SharedWindow::kBytes;
constexpr int kMostThreads = 1024;

void unmap(std::byte* memory) {
  if (memory != nullptr) munmap(memory, kSharedBytes);
}

std::byte* map_shared() {
  void* const made = mmap(nullptr, kSharedBytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return made == MAP_FAILED ? nullptr : static_cast<std::byte*>(made);
}

/// The machine that runs in this thread of the host.
struct Active {
  Machine* machine = nullptr;
};
Active& active() {
  static thread_local Active running;
  return running;
}

}  // namespace

Machine::Machine(uint64_t seed, Span constants)
    : rng_(seed), constants_(constants), shared_(map_shared(), unmap) {}

template <class R, class... Parameters, R (Machine::*kFunction)(Parameters...)>
struct Machine::Call<kFunction> {
  static R call(Parameters... parameters) {
    Machine& machine = *active().machine;
    machine.check_stack();
    machine.is_inside_ = true;
    if constexpr (std::is_void_v<R>) {
      (machine.*kFunction)(parameters...);
      machine.is_inside_ = false;
      machine.stop_if_faulty();
    } else {
      const R result = (machine.*kFunction)(parameters...);
      machine.is_inside_ = false;
      machine.stop_if_faulty();
      return result;
    }
  }
};

host::Kit& Machine::kit() {
  static thread_local host::Kit table{
      .thread = 0,
      .threads = 0,
      .block = 0,
      .rank = 0,
      .access = Call<&Machine::access>::call,
      .access_constant = Call<&Machine::access_constant>::call,
      .sync_block = Call<&Machine::sync_block>::call,
      .sync_cluster = Call<&Machine::sync_cluster>::call,
      .collect = Call<&Machine::collect>::call,
      .shared_array = Call<&Machine::shared_array>::call,
      .launch_memory = Call<&Machine::launch_memory>::call,
      .shared_address = Call<&Machine::shared_address>::call,
      .remote_address = Call<&Machine::remote_address>::call,
      .at_shared = Call<&Machine::at_shared>::call,
      .barrier_init = Call<&Machine::barrier_init>::call,
      .barriers_ready = Call<&Machine::barriers_ready>::call,
      .barrier_arrive = Call<&Machine::barrier_arrive>::call,
      .barrier_wait = Call<&Machine::barrier_wait>::call,
      .copy_box = Call<&Machine::copy_box>::call,
  };
  return table;
}

Result<void> Machine::launch(const Launch& launch) {
  if (launch.blocks % launch.cluster != 0 || launch.threads % kLanes != 0 ||
      launch.threads > kMostThreads || launch.cluster > static_cast<int>(kMostBlocks) ||
      launch.shared_bytes > kMostSharedBytes)
    return fail(Code::RunFailed,
                "kernel {}: no launch of {} blocks in clusters of {} with {} threads and {} bytes",
                launch.name, launch.blocks, launch.cluster, launch.threads, launch.shared_bytes);
  if (!shared_) return fail(Code::LimitExceeded, "no memory for the shared memory of a cluster");
  launch_ = launch;
  const size_t count = static_cast<size_t>(launch.cluster) * static_cast<size_t>(launch.threads);
  MIRAGE_TRY_VOID(stacks_.reserve(count));
  memory_.begin_launch(cluster_ + 1);
  active().machine = this;
  const TrapGuard guard(on_trap);
  for (int64_t first = 0; first < launch.blocks && !has_fault(); first += launch.cluster) {
    begin_cluster(first);
    run_cluster();
  }
  active().machine = nullptr;
  if (has_fault()) return fail(Code::RunFailed, "kernel {}, {}", launch.name, fault_);
  return {};
}

void Machine::begin_cluster(int64_t first_block) {
  ++cluster_;
  blocks_.clear();
  copies_.clear();
  ready_.clear();
  cluster_gathering_ = {};
  cluster_arrived_ = 0;
  const auto of_block = static_cast<size_t>(launch_.threads);
  living_ = static_cast<size_t>(launch_.cluster) * of_block;
  components_ = static_cast<Component>(living_);
  threads_.assign(living_, Thread{});
  const Seen nothing = std::make_shared<const Clock>();
  for (uint32_t rank = 0; rank < static_cast<uint32_t>(launch_.cluster); ++rank) {
    if (rank == windows_.size()) windows_.emplace_back(shared_.get() + rank * SharedWindow::kBytes);
    windows_[rank].reset(launch_.shared_bytes);
    blocks_.push_back(std::make_unique<Block>(windows_[rank]));
    Block& block = *blocks_.back();
    block.rank = rank;
    block.index = first_block + rank;
    block.warps.resize(of_block / kLanes);
    for (size_t i = 0; i < of_block; ++i) {
      const size_t number = rank * of_block + i;
      Thread& thread = threads_[number];
      thread.block = &block;
      thread.index = static_cast<uint32_t>(i);
      thread.component = static_cast<Component>(number);
      thread.seen = nothing;
      stacks_.start(number, thread.context, thread_main, this);
      ready_.push_back(&thread);
    }
  }
}

void Machine::run_cluster() {
  constexpr uint64_t kPatience = 512;  // turns of threads for one early copy
  while (living_ > 0 && !has_fault()) {
    const bool comes_early = !copies_.empty() && rng_.below(kPatience) == 0;
    if (ready_.empty() || comes_early) {
      if (land_copy()) continue;
      return report(deadlock());
    }
    std::swap(ready_[rng_.below(ready_.size())], ready_.back());
    running_ = ready_.back();
    ready_.pop_back();
    host::Kit& table = kit();
    table.thread = running_->index;
    table.threads = static_cast<uint32_t>(launch_.threads);
    table.block = static_cast<uint32_t>(running_->block->index);
    table.rank = running_->block->rank;
    is_inside_ = false;
    switch_context(scheduler_, running_->context);
    is_inside_ = true;
    if (trap_ != 0) fault(words_of_trap());
  }
}

void Machine::thread_main(void* machine) {
  auto* const self = static_cast<Machine*>(machine);
  self->launch_.kernel(self->launch_.maps, self->launch_.buffers);
  self->is_inside_ = true;
  self->end_thread();
  self->wait(Wait::Ended);
}

void Machine::end_thread() {
  Block& block = *running_->block;
  --living_;
  for (size_t i = 0; i < block.visits.size(); ++i) {
    const Epoch visit{block.visits[i], static_cast<Component>(i)};
    if (!has_seen(*running_->seen, visit))
      return fault(
          fmt::format("ends, while {} may not have done with its shared memory; no "
                      "barrier is between",
                      name_of(visit)));
  }
  if (++block.ended == static_cast<uint32_t>(launch_.threads))
    for (const Copy& copy : copies_)
      if (copy.block == &block)
        fault(fmt::format("the block has ended before a copy to {} was there",
                          block.window.name_of(copy.to)));
}

void Machine::wait(Wait what) {
  running_->wait = what;
  switch_context(running_->context, scheduler_);
}

void Machine::wake(Thread& thread) {
  thread.wait = Wait::None;
  ready_.push_back(&thread);
}

/// No frame that owns anything is left on the stacks of fibers.
void Machine::stop_if_faulty() {
  while (has_fault()) switch_context(running_->context, scheduler_);
}

// ---- what the processor finds ----

/// The machine runs on the stacks of threads, and must not be what finds their end.
void Machine::check_stack() {
  constexpr size_t kNeeded = size_t{16} << 10;
  const std::byte here{};
  const auto* const lowest = stacks_.lowest(running_->component);
  if (static_cast<size_t>(&here - lowest) >= kNeeded) return;
  on_trap(SIGSEGV, lowest - 1);
}

/// Called on the stack of signals: what happened is put in words where there is more of it.
void Machine::on_trap(int signal, const void* address) {
  Machine* const machine = active().machine;
  if (machine == nullptr || machine->is_inside_) return;
  machine->trap_ = signal;
  machine->trap_address_ = address;
  switch_context(machine->running_->context, machine->scheduler_);
}

// ---- barriers of blocks and clusters ----

/// Threads that wait for this and are selected go on; with `seen` as what they have seen.
template <class Select>
void Machine::let_go(Wait what, const Select& select, const Seen* seen) {
  for (Thread& thread : threads_)
    if ((thread.wait == what || &thread == running_) && select(thread)) {
      if (seen != nullptr) thread.seen = *seen;
      if (&thread != running_) wake(thread);
    }
}

void Machine::sync_block() {
  Block& block = *running_->block;
  block.gathering.add(running_->seen, {running_->now++, running_->component});
  if (++block.arrived < static_cast<uint32_t>(launch_.threads)) return wait(Wait::Block);
  block.arrived = 0;
  const Seen all = block.gathering.finish(joins_);
  let_go(
      Wait::Block, [&](const Thread& thread) { return thread.block == &block; }, &all);
}

void Machine::sync_cluster() {
  cluster_gathering_.add(running_->seen, {running_->now++, running_->component});
  if (++cluster_arrived_ < threads_.size()) return wait(Wait::Cluster);
  cluster_arrived_ = 0;
  const Seen all = cluster_gathering_.finish(joins_);
  let_go(
      Wait::Cluster, [](const Thread&) { return true; }, &all);
}

}  // namespace mirage::runtime::emulate
