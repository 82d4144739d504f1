#pragma once
// Runs code that may crash, hang or exit, in a child process.

#include <chrono>
#include <cstddef>
#include <functional>
#include <span>

#include "util/deadline.h"
#include "util/result.h"

namespace mirage::runtime {

/// Memory that a contained child and its parent both see.
class SharedMemory {
 public:
  static Result<SharedMemory> make(size_t bytes);
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;
  SharedMemory(const SharedMemory&) = delete;
  ~SharedMemory();
  std::byte* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  SharedMemory(std::byte* data, size_t size) : data_(data), size_(size) {}
  std::byte* data_;
  size_t size_;
};

/// Runs `body` in a forked child. RunFailed if it dies by a signal or exits on its own, Timeout if
/// it takes longer than `limit` or the deadline, else what it returned. Only SharedMemory and the
/// error come back. The child has only the calling thread: body must not use thread pools made
/// before.
Result<void> contain(std::chrono::milliseconds limit, const std::function<Result<void>()>& body,
                     const Deadline& deadline = {});

}  // namespace mirage::runtime
