#pragma once
// Runs CUDA kernels that were compiled for the host (device/host): the threads of a cluster's
// blocks are fibers that take turns in a random order, clusters run one after another.
//
// What a GPU would let pass is a fault here: memory that is no one's, reads of what nobody wrote or
// of copies that have not been waited for, accesses of two threads with no barrier between, one of
// them a write, lanes of a warp that do different things, threads that wait for ever. Copies come
// as late as they may, or at a random moment before.

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/interface.h"
#include "runtime/emulate/clock.h"
#include "runtime/emulate/fiber.h"
#include "runtime/emulate/memory.h"
#include "runtime/emulate/tensor_map.h"
#include "runtime/emulate/warp.h"
#include "util/result.h"
#include "util/rng.h"

namespace mirage::runtime::emulate {

struct Launch {
  std::string_view name;
  void (*kernel)(const TensorMap* maps, void* const* buffers) = nullptr;
  const TensorMap* maps = nullptr;
  void* const* buffers = nullptr;
  int64_t blocks = 1;
  int cluster = 1;  // blocks that run together
  int threads = 32;
  uint32_t shared_bytes = 0;  // that the launch asks for
};

/// Memory of a loaded object, which kernels may read.
struct Span {
  uintptr_t begin = 0, end = 0;
  bool contains(const void* at) const {
    const auto address = reinterpret_cast<uintptr_t>(at);
    return address >= begin && address < end;
  }
};

class Machine {
 public:
  /// The seed decides the order of threads and when copies come.
  Machine(uint64_t seed, Span constants);

  GlobalMemory& memory() { return memory_; }
  /// RunFailed names the first fault. No other machine may run in this thread of the host.
  Result<void> launch(const Launch& launch);

  /// Where in the text the access was that is the first fault; null if that was none.
  const void* code_of_fault() const { return code_of_fault_; }

  /// What generated text calls: the same address for every machine.
  static host::Kit& kit();

 private:
  struct Block;
  enum class Wait : uint8_t { None, Block, Cluster, Warp, Barrier, Ended };
  struct Thread {
    Context context{};
    Block* block = nullptr;
    uint32_t index = 0;  // in the block
    Component component = 0;
    Time now = 1;
    Seen seen{};
    Wait wait = Wait::None;
    uint32_t barrier = 0, parity = 0;  // of Wait::Barrier
  };
  /// Counts arrivals and bytes; a phase ends when none is missing.
  struct Barrier {
    int count = 0, missing = 0;
    int64_t missing_bytes = 0;
    uint32_t phase = 0;
    Gathering arrived{};
    Seen completed{};  // what arrived in the phases that have ended
    Epoch made{};
    bool is_ready = false;  // for the copy engine
    Component copies = 0;   // component of what arrives here
    Time copy_time = 0;
  };
  struct Warp {
    int arrived = 0;
    host::Collective what{};
    Operands operands{};
    Gathering gathering{};
  };
  struct Block {
    explicit Block(SharedWindow& memory) : window(memory) {}
    uint32_t rank = 0;
    int64_t index = 0;
    uint32_t arrived = 0, ended = 0;
    Clock visits{};  // of threads of other blocks: their last access to this one's memory
    Gathering gathering{};
    std::vector<Warp> warps{};
    std::map<const void*, uint32_t> arrays{};  // offsets by tag
    std::map<uint32_t, Barrier> barriers{};    // by offset
    SharedWindow& window;
  };
  struct Copy {
    Block* block;
    uint32_t to, barrier;  // offsets
    BoxMap map;
    int at[kMostDims];
    Seen seen;
    Epoch epoch;
  };

  // ---- machine.cc: threads and what they wait for ----
  void begin_cluster(int64_t first_block);
  void run_cluster();
  bool has_fault() const { return !fault_.empty(); }
  /// Of the running thread. What it is in comes back, and then the machine stops.
  void fault(const std::string& what) { fault_of(*running_, what); }
  void fault_of(const Thread& thread, const std::string& what) {
    report(name_of(thread) + ": " + what);
  }
  /// The first one counts.
  void report(std::string what) {
    if (fault_.empty()) fault_ = std::move(what);
  }
  template <auto kFunction>
  struct Call;
  void check_stack();
  void stop_if_faulty();
  static void on_trap(int signal, const void* address);
  void wait(Wait what);
  void wake(Thread& thread);
  template <class Select>
  void let_go(Wait what, const Select& select, const Seen* seen);
  static void thread_main(void* thread);
  void end_thread();
  void sync_block();
  void sync_cluster();

  // ---- collect.cc: warps ----
  void collect(host::Collective what, uint32_t lanes, void* operands);
  void perform(Warp& warp, uint32_t first_thread);
  void load_matrices(const Warp& warp, uint32_t first_thread, bool is_transposed);

  // ---- access.cc: memory ----
  Accessor accessor(const Thread& thread) const {
    return {{thread.now, thread.component}, *thread.seen, cluster_};
  }
  void access(const void* at, uint32_t bytes, host::Access access, const void* caller);
  void check_access(const void* at, uint32_t bytes, host::Access access);
  void access_constant(const void* at, uint32_t bytes, const void* caller);
  void access_global(Region& region, const void* at, uint32_t bytes, host::Access access);
  bool access_shared(const Thread& thread, Block& block, uint32_t offset, uint32_t bytes,
                     host::Access access);
  bool is_shared(const void* at) const;
  void* launch_memory() { return running_->block->window.memory + SharedWindow::kLaunch; }
  void* shared_array(const void* tag, uint32_t bytes, uint32_t alignment);
  uint32_t shared_address(const void* data);
  uint32_t remote_address(uint32_t address, int rank);
  /// Null after a fault.
  Block* block_at(uint32_t address);
  bool may_visit(const Thread& thread, Block& block, host::Access access);
  void* at_shared_of(const Thread& thread, uint32_t address, uint32_t bytes, host::Access access);
  void* at_shared(uint32_t address, uint32_t bytes, host::Access access) {
    return at_shared_of(*running_, address, bytes, access);
  }

  // ---- copies.cc: barriers that count, and copies ----
  void barrier_init(uint32_t address, int count);
  void barriers_ready();
  void barrier_arrive(uint32_t address, int bytes);
  void barrier_wait(uint32_t address, int parity);
  void copy_box(uint32_t to, const void* map, uint32_t barrier, const int* at, int rank);
  /// Null after a fault.
  Barrier* own_barrier(uint32_t address);
  bool may_copy(const Copy& copy, uint32_t to, int rank);
  void advance(Block& block, uint32_t offset, Barrier& barrier);
  bool land_copy();
  void land_source(const Copy& copy);

  // ---- words.cc: what faults are called ----
  std::string name_of(const Thread& thread) const;
  std::string name_of(Epoch epoch) const;
  /// Who waits for what.
  std::string deadlock() const;
  std::string reason(const Thread& thread) const;
  std::string sentence(const Conflict& conflict, std::string_view action, uint32_t bytes,
                       const std::string& place) const;
  std::string words_of_trap() const;

  Rng rng_;
  Span constants_;
  GlobalMemory memory_;
  std::unique_ptr<std::byte, void (*)(std::byte*)> shared_;  // memory of the windows
  std::deque<SharedWindow> windows_;                         // by rank
  Stacks stacks_;
  Joins joins_;
  Launch launch_;
  std::vector<std::unique_ptr<Block>> blocks_;
  std::vector<Thread> threads_;
  std::vector<Thread*> ready_;
  std::vector<Copy> copies_;
  Gathering cluster_gathering_;
  uint32_t cluster_arrived_ = 0;
  size_t living_ = 0;
  uint32_t cluster_ = 0;  // numbered through all launches
  Component components_ = 0;
  Thread* running_ = nullptr;
  Context scheduler_{};
  std::string fault_;
  const void* code_of_fault_ = nullptr;
  bool is_inside_ = false;  // of a call from generated text
  int trap_ = 0;            // signal that generated text raised
  const void* trap_address_ = nullptr;
};

}  // namespace mirage::runtime::emulate
