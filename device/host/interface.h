// Between generated CUDA text that was compiled for the host and the machine that runs it
// (src/runtime/emulate): a table of functions that the text calls. Addresses of shared memory are
// 32-bit numbers as on a GPU, the same for all blocks of a cluster.
#pragma once

#include <cstdint>

namespace mirage::host {

/// What the 32 lanes of a warp do together. Each lane gives a struct of its operands.
enum class Collective : uint8_t {
  Sync,            // nothing else
  Shuffle,         // ShuffleLane
  Any,             // AnyLane
  LoadMatrices,    // MatricesLane
  LoadTransposed,  // MatricesLane
  ProductF16,      // ProductLane
  ProductBf16,     // ProductLane
};

struct ShuffleLane {
  double value;  // wide enough for what is passed around; result
  int source;    // lane
};
struct AnyLane {
  int vote;  // result
};
struct MatricesLane {
  uint32_t address;
  uint32_t* words;  // 4
};
struct ProductLane {
  float* c;           // 4
  const uint32_t* a;  // 4
  uint32_t b[2];
};

enum class Access : uint8_t { Read, Write };

/// All functions are called by the running thread; those that wait come back when it may go on. One
/// that finds a fault does not come back.
struct Kit {
  uint32_t thread, threads, block, rank;  // of the running thread: index, count; block in cluster

  void (*access)(const void* at, uint32_t bytes, Access access, const void* caller);
  /// A read of global memory that nobody writes during the launch.
  void (*access_constant)(const void* at, uint32_t bytes, const void* caller);

  void (*sync_block)();
  void (*sync_cluster)();
  void (*collect)(Collective what, uint32_t lanes, void* operands);

  /// The same memory for all threads of a block and each tag.
  void* (*shared_array)(const void* tag, uint32_t bytes, uint32_t alignment);
  void* (*launch_memory)();
  uint32_t (*shared_address)(const void* data);
  uint32_t (*remote_address)(uint32_t address, int rank);
  /// The memory at an address of shared memory, for this access.
  void* (*at_shared)(uint32_t address, uint32_t bytes, Access access);

  void (*barrier_init)(uint32_t barrier, int count);
  void (*barriers_ready)();
  void (*barrier_arrive)(uint32_t barrier, int bytes);
  void (*barrier_wait)(uint32_t barrier, int parity);
  void (*copy_box)(uint32_t to, const void* map, uint32_t barrier, const int* at, int rank);
};

}  // namespace mirage::host
