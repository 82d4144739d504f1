#include <map>
#include <mutex>

#include "runtime/cuda/compile.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/memory.h"

namespace mirage::runtime {
namespace {

using cuda::DevicePtr;
using cuda::Driver;
using cuda::Gpu;

class CudaExecutable final : public Executable {
 public:
  CudaExecutable(codegen::SourceUnit unit, const Gpu& gpu, cuda::Module module,
                 std::vector<cuda::Function> functions)
      : unit_(std::move(unit)), gpu_(gpu), module_(module), functions_(std::move(functions)) {}
  ~CudaExecutable() override { (void)gpu_.driver->module_unload(module_); }

  const codegen::SourceUnit& source() const override { return unit_; }

  Result<void> run(std::span<const TensorView> inputs, std::span<const TensorView> outputs,
                   int /*threads*/) const override {
    MIRAGE_TRY_VOID(check_arguments(unit_, inputs, outputs));
    MIRAGE_TRY_VOID(cuda::gpu());
    // Memory of the host is mirrored: copied in, and results copied out.
    std::vector<cuda::Mirror> mirrors;
    std::vector<DevicePtr> in, out;
    for (const TensorView& view : inputs) {
      MIRAGE_TRY(mirrors.emplace_back(), cuda::Mirror::make(gpu_, view));
      in.push_back(mirrors.back().address());
    }
    for (const TensorView& view : outputs) {
      MIRAGE_TRY(mirrors.emplace_back(), cuda::Mirror::make(gpu_, view));
      out.push_back(mirrors.back().address());
    }
    MIRAGE_TRY_VOID(launch(in, out, nullptr));
    MIRAGE_TRY_VOID(gpu_.driver->check(gpu_.driver->stream_synchronize(nullptr), "run"));
    for (size_t i = inputs.size(); i < mirrors.size(); ++i) MIRAGE_TRY_VOID(mirrors[i].fetch());
    return {};
  }

  Result<void> launch(std::span<const DevicePtr> inputs, std::span<const DevicePtr> outputs,
                      cuda::Stream stream) const {
    MIRAGE_TRY(const DevicePtr workspace, workspace_of(stream));
    std::vector<DevicePtr> buffers;
    for (const codegen::Buffer& buffer : unit_.buffers) {
      switch (buffer.source) {
        case codegen::BufferSource::Input:
          buffers.push_back(inputs[buffer.index]);
          break;
        case codegen::BufferSource::Output:
          buffers.push_back(outputs[buffer.index]);
          break;
        case codegen::BufferSource::Workspace:
          buffers.push_back(workspace + static_cast<uint64_t>(buffer.offset));
          break;
      }
    }
    for (size_t i = 0; i < unit_.entries.size(); ++i) {
      const codegen::Entry& entry = unit_.entries[i];
      if (entry.items == 0) continue;
      std::vector<void*> arguments;
      for (size_t buffer : entry.buffers) arguments.push_back(&buffers[buffer]);
      const int status = gpu_.driver->launch(
          functions_[i], static_cast<unsigned>(entry.items), 1, 1,
          static_cast<unsigned>(entry.threads), 1, 1, static_cast<unsigned>(entry.scratch_bytes),
          stream, arguments.data(), nullptr);
      MIRAGE_TRY_VOID(gpu_.driver->check(status, "launch of " + entry.name));
    }
    return {};
  }

 private:
  /// Launches of one stream follow each other and share memory.
  Result<DevicePtr> workspace_of(cuda::Stream stream) const {
    if (unit_.workspace_bytes == 0) return DevicePtr{0};
    const std::lock_guard lock(mutex_);
    const auto found = workspaces_.find(stream);
    if (found != workspaces_.end()) return found->second.address();
    MIRAGE_TRY(cuda::Memory memory,
               cuda::Memory::make(gpu_, static_cast<size_t>(unit_.workspace_bytes)));
    return workspaces_.emplace(stream, std::move(memory)).first->second.address();
  }

  codegen::SourceUnit unit_;
  const Gpu& gpu_;
  cuda::Module module_;
  std::vector<cuda::Function> functions_;
  mutable std::mutex mutex_;
  mutable std::map<cuda::Stream, cuda::Memory> workspaces_;
};

}  // namespace

Result<std::shared_ptr<const Executable>> load_cubin(const std::string& cubin,
                                                     const codegen::SourceUnit& unit) {
  MIRAGE_TRY(const Gpu* const gpu, cuda::gpu());
  const Driver& driver = *gpu->driver;
  cuda::Module module = nullptr;
  MIRAGE_TRY_VOID(driver.check(driver.module_load(&module, cubin.data()),
                               fmt::format("{} cannot run code for {}", gpu->name, unit.target)));
  const auto unload = [&](cuda::ModuleTag* loaded) { (void)driver.module_unload(loaded); };
  std::unique_ptr<cuda::ModuleTag, decltype(unload)> guard(module, unload);
  std::vector<cuda::Function> functions;
  for (const codegen::Entry& entry : unit.entries) {
    cuda::Function function = nullptr;
    MIRAGE_TRY_VOID(driver.check(driver.module_function(&function, module, entry.name.c_str()),
                                 "kernel " + entry.name));
    MIRAGE_TRY_VOID(driver.check(driver.function_set(function, cuda::kFunctionMaxDynamicShared,
                                                     static_cast<int>(entry.scratch_bytes)),
                                 "shared memory of " + entry.name));
    functions.push_back(function);
  }
  return std::make_shared<CudaExecutable>(unit, *gpu, guard.release(), std::move(functions));
}

}  // namespace mirage::runtime
