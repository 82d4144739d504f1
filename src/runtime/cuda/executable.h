#pragma once
// Machine code on the GPU, ready to be launched.

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "codegen/source_unit.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/memory.h"
#include "runtime/executable.h"
#include "util/result.h"

namespace mirage::runtime::cuda {

class CudaExecutable final : public Executable {
 public:
  CudaExecutable(codegen::SourceUnit unit, const Gpu& gpu, Module module,
                 std::vector<Function> functions)
      : unit_(std::move(unit)), gpu_(gpu), module_(module), functions_(std::move(functions)) {}
  ~CudaExecutable() override;

  const codegen::SourceUnit& source() const override { return unit_; }

  /// Memory of the host is mirrored: copied to the GPU, and results copied back.
  Result<void> run(std::span<const TensorView> inputs, std::span<const TensorView> outputs,
                   int threads) const override;

  /// Addresses on the GPU of the elements with index 0. Returns before the kernels have run.
  Result<void> launch(std::span<const DevicePtr> inputs, std::span<const DevicePtr> outputs,
                      Stream stream) const;

 private:
  /// Launches of one stream follow each other and share memory.
  Result<DevicePtr> workspace_of(Stream stream) const;

  codegen::SourceUnit unit_;
  const Gpu& gpu_;
  Module module_;
  std::vector<Function> functions_;
  mutable std::mutex mutex_;
  mutable std::map<Stream, Memory> workspaces_;
};

/// Unsupported where there is no GPU; RunFailed where it does not run the unit's target.
Result<std::shared_ptr<const CudaExecutable>> load_cubin(const std::string& cubin,
                                                         const codegen::SourceUnit& unit);

}  // namespace mirage::runtime::cuda
