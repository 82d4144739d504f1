#include "runtime/cuda/look.h"

#include <cstring>
#include <new>

#include "runtime/contain.h"
#include "runtime/cuda/driver.h"

namespace mirage::runtime::cuda {
namespace {

struct Answer {
  char name[256];
  int architecture, multiprocessors;
};

constexpr std::chrono::seconds kPatience{30};

}  // namespace

Result<GpuInfo> look_at_gpu() {
  if (is_driver_in_use()) {
    MIRAGE_TRY(const Gpu* const device, gpu());
    return GpuInfo{device->name, device->architecture, device->multiprocessors};
  }
  MIRAGE_TRY(const SharedMemory memory, SharedMemory::make(sizeof(Answer)));
  auto* const answer = new (memory.data()) Answer();
  MIRAGE_TRY_VOID(contain(kPatience, [&]() -> Result<void> {
    MIRAGE_TRY(const Gpu* const device, gpu());
    std::strncpy(answer->name, device->name.c_str(), sizeof answer->name - 1);
    answer->architecture = device->architecture;
    answer->multiprocessors = device->multiprocessors;
    return {};
  }));
  return GpuInfo{answer->name, answer->architecture, answer->multiprocessors};
}

}  // namespace mirage::runtime::cuda
