#include "runtime/emulate/warp.h"

#include <cstddef>

#include "cpu/storage.h"

namespace mirage::runtime::emulate {
namespace {

template <class T>
T& lane_of(const Operands& lanes, int lane) {
  return *static_cast<T*>(lanes[static_cast<size_t>(lane)]);
}

float half_of(uint32_t pair, int which, bool is_bf16) {
  const auto bits = static_cast<uint16_t>(pair >> (16 * which));
  return is_bf16 ? cpu::to_float(cpu::Bf16{bits}) : cpu::to_float(cpu::F16{bits});
}

}  // namespace

void shuffle(const Operands& lanes) {
  std::array<double, kLanes> values;
  for (int lane = 0; lane < kLanes; ++lane)
    values[static_cast<size_t>(lane)] = lane_of<host::ShuffleLane>(lanes, lane).value;
  for (int lane = 0; lane < kLanes; ++lane) {
    auto& own = lane_of<host::ShuffleLane>(lanes, lane);
    own.value = values[static_cast<size_t>(own.source % kLanes)];
  }
}

void vote_any(const Operands& lanes) {
  int any = 0;
  for (int lane = 0; lane < kLanes; ++lane) any |= lane_of<host::AnyLane>(lanes, lane).vote;
  for (int lane = 0; lane < kLanes; ++lane) lane_of<host::AnyLane>(lanes, lane).vote = any != 0;
}

void distribute_matrices(const Operands& lanes, const MatrixRows& rows, bool is_transposed) {
  for (int lane = 0; lane < kLanes; ++lane)
    for (int matrix = 0; matrix < 4; ++matrix) {
      uint32_t pair = 0;
      for (int e = 0; e < 2; ++e) {
        const int outer = lane / 4, inner = lane % 4 * 2 + e;
        const int row = is_transposed ? inner : outer, column = is_transposed ? outer : inner;
        const uint16_t element =
            rows[static_cast<size_t>(matrix) * 8 + static_cast<size_t>(row)][column];
        pair |= static_cast<uint32_t>(element) << (16 * e);
      }
      lane_of<host::MatricesLane>(lanes, lane).words[matrix] = pair;
    }
}

void multiply(const Operands& lanes, bool is_bf16) {
  float a[16][16], b[16][8];
  for (int lane = 0; lane < kLanes; ++lane) {
    const auto& own = lane_of<host::ProductLane>(lanes, lane);
    for (int pair = 0; pair < 4; ++pair)
      for (int e = 0; e < 2; ++e) {
        a[lane / 4 + pair % 2 * 8][lane % 4 * 2 + e + pair / 2 * 8] =
            half_of(own.a[pair], e, is_bf16);
        if (pair < 2) b[lane % 4 * 2 + e + pair * 8][lane / 4] = half_of(own.b[pair], e, is_bf16);
      }
  }
  for (int lane = 0; lane < kLanes; ++lane)
    for (int i = 0; i < 4; ++i) {
      const int row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
      float& sum = lane_of<host::ProductLane>(lanes, lane).c[i];
      for (int k = 0; k < 16; ++k) sum += a[row][k] * b[k][column];
    }
}

}  // namespace mirage::runtime::emulate
