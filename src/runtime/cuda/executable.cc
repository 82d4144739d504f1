#include "runtime/cuda/executable.h"

#include "runtime/cuda/tensor_map.h"

namespace mirage::runtime::cuda {

CudaExecutable::~CudaExecutable() { (void)gpu_.driver->module_unload(module_); }

Result<void> CudaExecutable::run(std::span<const TensorView> inputs,
                                 std::span<const TensorView> outputs, int /*threads*/) const {
  MIRAGE_TRY_VOID(check_arguments(unit_, inputs, outputs));
  MIRAGE_TRY_VOID(gpu());
  std::vector<Mirror> mirrors;
  std::vector<DevicePtr> in, out;
  for (const TensorView& view : inputs) {
    MIRAGE_TRY(mirrors.emplace_back(), Mirror::make(gpu_, view));
    in.push_back(mirrors.back().address());
  }
  for (const TensorView& view : outputs) {
    MIRAGE_TRY(mirrors.emplace_back(), Mirror::make(gpu_, view));
    out.push_back(mirrors.back().address());
  }
  MIRAGE_TRY_VOID(launch(in, out, nullptr));
  MIRAGE_TRY_VOID(gpu_.driver->check(gpu_.driver->stream_synchronize(nullptr), "run"));
  for (size_t i = inputs.size(); i < mirrors.size(); ++i) MIRAGE_TRY_VOID(mirrors[i].fetch());
  return {};
}

Result<void> CudaExecutable::launch(std::span<const DevicePtr> inputs,
                                    std::span<const DevicePtr> outputs, Stream stream) const {
  MIRAGE_TRY(const DevicePtr workspace, workspace_of(stream));
  auto buffers = buffer_addresses<DevicePtr>(
      unit_, [&](size_t i) { return inputs[i]; }, [&](size_t i) { return outputs[i]; },
      [&](int64_t offset) { return workspace + static_cast<uint64_t>(offset); });
  for (size_t i = 0; i < buffers.size(); ++i)
    if (const auto alignment = static_cast<DevicePtr>(unit_.buffers[i].alignment);
        buffers[i] % alignment != 0)
      return bad_input("buffer {}: expected an address that is a multiple of {}, found {:#x}", i,
                       alignment, buffers[i]);
  for (size_t i = 0; i < unit_.entries.size(); ++i) {
    const codegen::Entry& entry = unit_.entries[i];
    if (entry.items == 0) continue;
    std::vector<TensorMap> maps(entry.maps.size());
    std::vector<void*> arguments;
    for (size_t j = 0; j < maps.size(); ++j) {
      MIRAGE_TRY_VOID(encode(gpu_, entry.maps[j], buffers[entry.maps[j].buffer], maps[j]));
      arguments.push_back(&maps[j]);
    }
    for (size_t buffer : entry.buffers) arguments.push_back(&buffers[buffer]);
    const int status = gpu_.driver->launch(functions_[i], static_cast<unsigned>(entry.items), 1, 1,
                                           static_cast<unsigned>(entry.threads), 1, 1,
                                           static_cast<unsigned>(entry.scratch_bytes), stream,
                                           arguments.data(), nullptr);
    MIRAGE_TRY_VOID(gpu_.driver->check(status, "launch of " + entry.name));
  }
  return {};
}

Result<DevicePtr> CudaExecutable::workspace_of(Stream stream) const {
  if (unit_.workspace_bytes == 0) return DevicePtr{0};
  const std::lock_guard lock(mutex_);
  const auto found = workspaces_.find(stream);
  if (found != workspaces_.end()) return found->second.address();
  MIRAGE_TRY(Memory memory, Memory::make(gpu_, static_cast<size_t>(unit_.workspace_bytes)));
  return workspaces_.emplace(stream, std::move(memory)).first->second.address();
}

Result<std::shared_ptr<const CudaExecutable>> load_cubin(const std::string& cubin,
                                                         const codegen::SourceUnit& unit) {
  MIRAGE_TRY(const Gpu* const gpu, gpu());
  const Driver& driver = *gpu->driver;
  Module module = nullptr;
  MIRAGE_TRY_VOID(driver.check(driver.module_load(&module, cubin.data()),
                               fmt::format("{} cannot run code for {}", gpu->name, unit.target)));
  const auto unload = [&](ModuleTag* loaded) { (void)driver.module_unload(loaded); };
  std::unique_ptr<ModuleTag, decltype(unload)> guard(module, unload);
  std::vector<Function> functions;
  for (const codegen::Entry& entry : unit.entries) {
    Function function = nullptr;
    MIRAGE_TRY_VOID(driver.check(driver.module_function(&function, module, entry.name.c_str()),
                                 "kernel " + entry.name));
    MIRAGE_TRY_VOID(driver.check(driver.function_set(function, kFunctionMaxDynamicShared,
                                                     static_cast<int>(entry.scratch_bytes)),
                                 "shared memory of " + entry.name));
    functions.push_back(function);
  }
  return std::make_shared<CudaExecutable>(unit, *gpu, guard.release(), std::move(functions));
}

}  // namespace mirage::runtime::cuda
