#include "runtime/cpu/shared_object.h"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>
#include <thread>

#include "runtime/cpu/blas.h"
#include "runtime/work_shares.h"

namespace mirage::runtime {
namespace {

/// What generated code exports. A workspace is scratch memory that grows on demand, one a thread.
struct Entries {
  void (*run)(int64_t launch, void* const* buffers, int64_t begin, int64_t end, std::byte* scratch,
              void* workspace);
  void* (*new_workspace)();
  void (*delete_workspace)(void*);
};

/// Asked once: the system's answer takes longer than a small program.
int cores() {
  static const int kCount = static_cast<int>(std::thread::hardware_concurrency());
  return kCount;
}

struct Closer {
  void operator()(void* handle) const { dlclose(handle); }
};

class AlignedMemory {
 public:
  /// Null if there is not so much.
  std::byte* reserve(size_t bytes) {
    if (bytes > size_) {
      size_ = 0;
      memory_.reset();
      memory_.reset(
          static_cast<std::byte*>(::operator new (bytes, std::align_val_t{64}, std::nothrow)));
      if (memory_) size_ = bytes;
    }
    return memory_.get();
  }

 private:
  struct Free {
    void operator()(std::byte* p) const { ::operator delete (p, std::align_val_t{64}); }
  };
  std::unique_ptr<std::byte, Free> memory_;
  size_t size_ = 0;
};

/// Memory of one call: kept for the next one.
struct CallMemory {
  AlignedMemory bytes;
  std::vector<std::unique_ptr<void, void (*)(void*)>> workspaces;  // one a thread
};

class SharedObject final : public Executable {
 public:
  SharedObject(std::unique_ptr<void, Closer> handle, const Entries& entries,
               codegen::SourceUnit unit, std::shared_ptr<ThreadPool> pool)
      : handle_(std::move(handle)),
        entries_(entries),
        unit_(std::move(unit)),
        pool_(std::move(pool)) {
    for (const codegen::Entry& launch : unit_.entries)
      scratch_bytes_ = std::max(scratch_bytes_, (launch.scratch_bytes + 127) / 64 * 64);
  }

  const codegen::SourceUnit& source() const override { return unit_; }

  Result<void> run(std::span<const TensorView> inputs, std::span<const TensorView> outputs,
                   int threads) const override {
    MIRAGE_TRY_VOID(check_arguments(unit_, inputs, outputs));
    try {
      return run_checked(inputs, outputs, threads);
    } catch (const std::bad_alloc&) {
      return fail(Code::LimitExceeded, "no memory for the intermediate values of a kernel");
    }
  }

 private:
  Result<void> run_checked(std::span<const TensorView> inputs, std::span<const TensorView> outputs,
                           int threads) const {
    if (threads <= 0) threads = cores();
    threads = std::clamp(threads, 1, 1024);
    int64_t most_items = 1;
    for (const codegen::Entry& entry : unit_.entries)
      most_items = std::max(most_items, entry.items);
    threads = static_cast<int>(std::min<int64_t>(threads, most_items));

    // Callers that come at the same time get memory of their own.
    std::unique_lock lock(memory_mutex_, std::try_to_lock);
    CallMemory own;
    CallMemory& memory = lock.owns_lock() ? memory_ : own;
    while (memory.workspaces.size() < static_cast<size_t>(threads))
      memory.workspaces.emplace_back(entries_.new_workspace(), entries_.delete_workspace);
    const int64_t workspace_bytes = (unit_.workspace_bytes + 63) / 64 * 64;
    const int64_t bytes = std::max<int64_t>(1, workspace_bytes + scratch_bytes_ * threads);
    std::byte* const workspace = memory.bytes.reserve(static_cast<size_t>(bytes));
    if (!workspace)
      return fail(Code::LimitExceeded, "no memory for {} bytes of intermediate values", bytes);
    const auto buffers = buffer_addresses<void*>(
        unit_, [&](size_t i) { return inputs[i].data; }, [&](size_t i) { return outputs[i].data; },
        [&](int64_t offset) { return workspace + offset; });
    for (size_t i = 0; i < unit_.entries.size(); ++i) {
      const int64_t items = unit_.entries[i].items;
      const int workers = static_cast<int>(std::min<int64_t>(threads, items));
      WorkShares shares(items, std::max(1, workers));
      pool_->run(workers, [&](int worker) {
        std::byte* const scratch = workspace + workspace_bytes + scratch_bytes_ * worker;
        for (auto range = shares.take(worker); !range.is_empty(); range = shares.take(worker))
          entries_.run(static_cast<int64_t>(i), buffers.data(), range.begin, range.end, scratch,
                       memory.workspaces[static_cast<size_t>(worker)].get());
      });
    }
    return {};
  }

  std::unique_ptr<void, Closer> handle_;
  Entries entries_;
  codegen::SourceUnit unit_;
  std::shared_ptr<ThreadPool> pool_;
  int64_t scratch_bytes_ = 0;
  mutable std::mutex memory_mutex_;
  mutable CallMemory memory_;
};

}  // namespace

Result<std::shared_ptr<const Executable>> load_shared_object(const std::string& path,
                                                             const codegen::SourceUnit& unit,
                                                             std::shared_ptr<ThreadPool> pool) {
  std::unique_ptr<void, Closer> handle(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (!handle) return fail(Code::Io, "cannot load {}: {}", path, dlerror());
  Entries entries{};
  const auto find = [&](const char* name, auto& function) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(handle.get(), name));
    return function != nullptr;
  };
  if (!find("mirage_run", entries.run) || !find("mirage_new_workspace", entries.new_workspace) ||
      !find("mirage_delete_workspace", entries.delete_workspace))
    return fail(Code::Io, "{} lacks an entry point of generated code", path);
  for (const char* name : {"mirage_sgemm", "mirage_dgemm"})
    if (void* place = dlsym(handle.get(), name))
      *static_cast<void**>(place) = blas_function(name[7] == 's' ? "cblas_sgemm" : "cblas_dgemm");
  return std::make_shared<SharedObject>(std::move(handle), entries, unit, std::move(pool));
}

}  // namespace mirage::runtime
