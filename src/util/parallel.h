#pragma once
// A range of independent work shared between threads.

#include <algorithm>
#include <cstdint>
#include <system_error>
#include <thread>
#include <vector>

namespace mirage {

/// Calls work(first, last) for pieces that make up [0, count), each on a thread of its own and none
/// smaller than `least` unless it is the only one; returns when all are done. `work` must not
/// throw.
template <class Work>
void in_parallel(int threads, int64_t count, int64_t least, const Work& work) {
  const int64_t most = std::max<int64_t>(count / std::max<int64_t>(least, 1), 1);
  const int64_t pieces = std::min<int64_t>(std::max(threads, 1), most);
  const auto start = [&](int64_t piece) {
    return count / pieces * piece + std::min(piece, count % pieces);
  };
  std::vector<std::thread> helpers;
  int64_t own = 0;  // pieces that this thread does
  try {
    for (int64_t piece = pieces - 1; piece > 0; --piece) {
      own = piece;
      helpers.emplace_back([&, piece] { work(start(piece), start(piece + 1)); });
    }
    own = 0;
  } catch (const std::system_error&) {
    // No more threads are to be had: the rest is done here.
  }
  work(int64_t{0}, start(own + 1));
  for (std::thread& helper : helpers) helper.join();
}

}  // namespace mirage
