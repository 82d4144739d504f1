#include "tune/gpu_turn.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

namespace mirage::tune {
namespace {

std::string lock_file() {
  if (const char* file = std::getenv("MIRAGE_GPU_LOCK"); file != nullptr && *file != '\0')
    return file;
  std::error_code ignored;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(ignored);
  return (folder / fmt::format("mirage-gpu-{}.lock", ::getuid())).string();
}

}  // namespace

Result<GpuTurn> GpuTurn::take(const Deadline& deadline) {
  const std::string file = lock_file();
  GpuTurn turn;
  turn.descriptor_ = ::open(file.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  if (turn.descriptor_ < 0)
    return fail(Code::Io, "lock of the GPU {}: {}", file,
                std::error_code(errno, std::generic_category()).message());
  while (::flock(turn.descriptor_, LOCK_EX | LOCK_NB) != 0) {
    if (deadline.is_over()) return fail(Code::Timeout, "another process measures on the GPU");
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return turn;
}

GpuTurn::GpuTurn(GpuTurn&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

GpuTurn::~GpuTurn() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace mirage::tune
