#include "runtime/cuda/driver.h"

#include "runtime/library.h"

namespace mirage::runtime::cuda {
namespace {

constexpr const char* kLibrary = "libcuda.so.1";

Result<Driver> load() {
  MIRAGE_TRY(const Library library, Library::open("CUDA driver", {kLibrary, "libcuda.so"}));
  Driver driver{};
#define MIRAGE_CUDA_FIND(name, member, parameters) \
  if (!library.find(#name, driver.member)) return unsupported("the CUDA driver lacks {}", #name);
  MIRAGE_CUDA_FUNCTIONS(MIRAGE_CUDA_FIND)
#undef MIRAGE_CUDA_FIND
  return driver;
}

const Result<Driver>& loaded() {
  static const Result<Driver> kDriver = load();
  return kDriver;
}

Result<Gpu> open() {
  if (!loaded()) return tl::unexpected(loaded().error());
  const Driver& driver = *loaded();
  Gpu gpu;
  gpu.driver = &driver;
  MIRAGE_TRY_VOID(driver.check(driver.init(0), "no CUDA device"));
  MIRAGE_TRY_VOID(driver.check(driver.device_get(&gpu.device, 0), "no CUDA device"));
  char name[256] = {};
  MIRAGE_TRY_VOID(driver.check(driver.device_name(name, sizeof name, gpu.device), "device name"));
  gpu.name = name;
  const auto attribute = [&](int which) {
    int value = 0;
    driver.device_attribute(&value, which, gpu.device);
    return value;
  };
  gpu.multiprocessors = attribute(kMultiprocessors);
  gpu.architecture = 10 * attribute(kMajor) + attribute(kMinor);
  gpu.l2_bytes = attribute(kL2Bytes);
  MIRAGE_TRY_VOID(driver.check(driver.context_retain(&gpu.context, gpu.device), "context"));
  return gpu;
}

}  // namespace

Result<void> Driver::check(int status, std::string_view what) const {
  if (status == 0) return {};
  const char *name = "?", *text = "?";
  error_name(status, &name);
  error_text(status, &text);
  return fail(Code::RunFailed, "{}: {} ({})", what, name, text);
}

bool is_driver_in_use() {
  const std::optional<Library> library = Library::in_use(kLibrary);
  int (*device_count)(int*) = nullptr;
  if (!library || !library->find("cuDeviceGetCount", device_count)) return false;
  constexpr int kNotInitialized = 3;
  int count = 0;
  return device_count(&count) != kNotInitialized;
}

Result<const Gpu*> gpu() {
  static const Result<Gpu> kOpened = open();
  if (!kOpened) return tl::unexpected(kOpened.error());
  MIRAGE_TRY_VOID(
      kOpened->driver->check(kOpened->driver->context_set(kOpened->context), "context"));
  return &*kOpened;
}

}  // namespace mirage::runtime::cuda
