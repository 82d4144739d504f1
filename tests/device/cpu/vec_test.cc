#include "mirage/cpu/vec.h"

#include "device/cpu/support.h"

namespace mirage::cpu {
namespace {

template <class T>
class VecTest : public testing::Test {};
using Elements = testing::Types<float, double>;
TYPED_TEST_SUITE(VecTest, Elements);

/// All 2^16 values survive load and store; NaNs stay NaNs.
template <class T, class S>
void check_round_trip() {
  constexpr int kLanes = V<T>::kLanes;
  for (uint32_t first = 0; first < 65536; first += kLanes) {
    S in[kLanes], out[kLanes];
    for (int i = 0; i < kLanes; ++i)
      in[i].bits = static_cast<uint16_t>(first + static_cast<uint32_t>(i));
    V<T>::load(in).store(out);
    for (int i = 0; i < kLanes; ++i) {
      const float value = to_float(in[i]);
      if (value != value) {
        EXPECT_TRUE(std::isnan(to_float(out[i])));
      } else {
        EXPECT_EQ(in[i].bits, out[i].bits);
        EXPECT_EQ(V<T>::load(in)[i], static_cast<T>(value));
      }
    }
  }
}

TYPED_TEST(VecTest, NarrowTypesRoundTrip) {
  check_round_trip<TypeParam, Bf16>();
  check_round_trip<TypeParam, F16>();
}

/// Stores of values around every midpoint of neighbours go to the nearest, ties to even.
template <class T, class S>
void check_rounding() {
  const auto store = [](T value) {
    S out[V<T>::kLanes];
    V<T>(value).store(out);
    S part[1];
    V<T>(value).store(part, 1);
    EXPECT_EQ(out[0].bits, part[0].bits);
    return out[0].bits;
  };
  const uint16_t infinity = std::is_same_v<S, F16> ? 0x7c00 : 0x7f80;
  for (uint16_t bits = 0; bits + 1 < infinity;
       bits = static_cast<uint16_t>(bits + (bits < 64 ? 1 : 37))) {
    const uint16_t next = static_cast<uint16_t>(bits + 1);
    const T low = widen<T>(S{bits}), high = widen<T>(S{next});
    const T middle = low + (high - low) / 2;
    EXPECT_EQ(store(middle), bits % 2 == 0 ? bits : next);
    EXPECT_EQ(store(std::nextafter(middle, T{0})), bits);
    EXPECT_EQ(store(std::nextafter(middle, high)), next);
    EXPECT_EQ(store(-std::nextafter(middle, high)), next | 0x8000);
  }
  EXPECT_EQ(store(std::numeric_limits<T>::infinity()), infinity);
  EXPECT_EQ(store(std::numeric_limits<T>::max()), infinity);
  EXPECT_TRUE(std::isnan(to_float(S{store(std::numeric_limits<T>::quiet_NaN())})));
}

TYPED_TEST(VecTest, StoresRoundToNearestEven) {
  check_rounding<TypeParam, Bf16>();
  check_rounding<TypeParam, F16>();
}

template <class T, class S>
void check_parts() {
  constexpr int kLanes = V<T>::kLanes;
  const auto values = random_values<S>(kLanes);
  for (int count = 0; count <= kLanes; ++count) {
    GuardedBuffer<S> in(std::vector<S>(values.begin(), values.begin() + count)), out(count);
    const V<T> v = V<T>::load(in.data(), count);
    v.store(out.data(), count);
    for (int i = 0; i < kLanes; ++i)
      EXPECT_EQ(v[i], i < count ? widen<T>(values[static_cast<size_t>(i)]) : T{0});
    for (int i = 0; i < count; ++i) EXPECT_EQ(in[i], out[i]);
    const V<T> mixed = first_lanes(V<T>(T{1}), V<T>(T{2}), count);
    for (int i = 0; i < kLanes; ++i) EXPECT_EQ(mixed[i], i < count ? 1 : 2);
  }
}

TYPED_TEST(VecTest, PartsTouchNothingElse) {
  check_parts<TypeParam, float>();
  check_parts<TypeParam, double>();
  check_parts<TypeParam, Bf16>();
  check_parts<TypeParam, F16>();
}

TYPED_TEST(VecTest, MaximumAndMinimumKeepNan) {
  using T = TypeParam;
  const V<T> nan(std::numeric_limits<T>::quiet_NaN()), one(T{1}), two(T{2});
  EXPECT_TRUE(std::isnan(maximum(nan, one)[0]));
  EXPECT_TRUE(std::isnan(maximum(one, nan)[0]));
  EXPECT_TRUE(std::isnan(minimum(nan, one)[0]));
  EXPECT_TRUE(std::isnan(minimum(one, nan)[0]));
  EXPECT_TRUE(std::isnan(relu(nan)[0]));
  EXPECT_EQ(maximum(one, two)[0], 2);
  EXPECT_EQ(minimum(one, two)[0], 1);
  EXPECT_EQ(relu(-one)[0], 0);
  EXPECT_TRUE(std::signbit(V<T>(T(-0.0))[0]));
}

TYPED_TEST(VecTest, LanesCombine) {
  using T = TypeParam;
  T values[V<T>::kLanes];
  T sum = 0;
  for (int i = 0; i < V<T>::kLanes; ++i) sum += values[i] = static_cast<T>((i * 7) % 16 - 5);
  const V<T> v = V<T>::load(values);
  EXPECT_EQ(reduce_add(v), sum);
  EXPECT_EQ(reduce_max(v), *std::max_element(values, values + V<T>::kLanes));
  EXPECT_EQ(reduce_min(v), *std::min_element(values, values + V<T>::kLanes));
  for (T& value : values) {
    const T kept = std::exchange(value, std::numeric_limits<T>::quiet_NaN());
    EXPECT_TRUE(std::isnan(reduce_max(V<T>::load(values))));
    value = kept;
  }
  EXPECT_TRUE(any(v == V<T>(values[V<T>::kLanes - 1])));
  EXPECT_FALSE(any(v == V<T>(T{99})));
}

}  // namespace
}  // namespace mirage::cpu
