#include "tune/inputs.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/element.h"
#include "tune/machine.h"
#include "util/parallel.h"
#include "util/rng.h"

namespace mirage::tune {
namespace {

constexpr Family kFamilies[] = {Family::Ordinary,  Family::Large,       Family::Equal,
                                Family::Dominant,  Family::Alternating, Family::Zeros,
                                Family::Subnormal, Family::NotANumber,  Family::Infinite};

/// Four 16-bit uniforms of one draw: variance 1, tails to 3.5, and cheap for large weights.
double bell(Rng& rng) {
  const uint64_t bits = rng.next();
  const double sum = static_cast<double>((bits & 0xffff) + (bits >> 16 & 0xffff) +
                                         (bits >> 32 & 0xffff) + (bits >> 48));
  return (sum * 0x1p-16 - 2) * 1.7320508075688772;
}

struct Filler {
  Family family;
  ir::DType dtype;
  int64_t count, row;  // elements in all, and along the last axis
  Rng rng;             // gives each element one draw, then places

  double one(int64_t i, Rng& draws) const {
    const double ordinary = bell(draws);
    switch (family) {
      case Family::Ordinary:
      case Family::NotANumber:
      case Family::Infinite:
        return ordinary;
      case Family::Large:
        return std::copysign(std::min(1e4, ir::max_finite(dtype) / 8), ordinary) *
               (1 + ordinary * 0x1p-4);
      case Family::Equal:
        return 0.625;
      case Family::Dominant:
        return i % row == (i / row * 7) % row ? 50 : ordinary;
      case Family::Alternating:
        return (i % 2 == 0 ? 1 : -1) + ordinary * 0x1p-10;
      case Family::Zeros:
        return i / row % 2 == 0 ? 0 : ordinary;
      case Family::Subnormal:
        return ordinary * 4 * ir::min_positive(dtype);
    }
    return ordinary;
  }

  std::vector<double> all(int threads) {
    constexpr int64_t kLeast = 1 << 16;  // elements that are worth a thread
    std::vector<double> values(static_cast<size_t>(count));
    in_parallel(threads, count, kLeast, [&](int64_t first, int64_t last) {
      Rng draws = rng;
      draws.skip(static_cast<uint64_t>(first));
      for (int64_t i = first; i < last; ++i) values[static_cast<size_t>(i)] = one(i, draws);
    });
    rng.skip(static_cast<uint64_t>(count));
    return values;
  }

  void spoil(std::vector<double>& values) {
    constexpr double kInf = std::numeric_limits<double>::infinity();
    if (count == 0) return;
    const auto place = [&] { return rng.below(static_cast<uint64_t>(count)); };
    if (family == Family::NotANumber) values[place()] = std::numeric_limits<double>::quiet_NaN();
    if (family != Family::Infinite) return;
    values[place()] = kInf;
    values[place()] = -kInf;
    const auto first = place() / static_cast<uint64_t>(row) * static_cast<uint64_t>(row);
    std::fill_n(values.begin() + static_cast<int64_t>(first), row, -kInf);
  }
};

}  // namespace

std::string_view name_of(Family family) {
  switch (family) {
    case Family::Ordinary:
      return "ordinary";
    case Family::Large:
      return "large";
    case Family::Equal:
      return "equal";
    case Family::Dominant:
      return "dominant";
    case Family::Alternating:
      return "alternating";
    case Family::Zeros:
      return "zeros";
    case Family::Subnormal:
      return "subnormal";
    case Family::NotANumber:
      return "nan";
    case Family::Infinite:
      return "infinite";
  }
  return "?";
}

std::span<const Family> all_families() { return kFamilies; }

bool is_random(Family family) {
  return family == Family::Ordinary || family == Family::NotANumber || family == Family::Infinite;
}

namespace {

/// Before anything is filled: what the inputs and the values of the largest one take.
Result<void> check_memory(const ir::Graph& graph) {
  double bytes = 0, largest = 0;
  for (ir::ValueId input : graph.inputs) {
    const ir::TensorType& type = graph.type(input);
    const auto count = static_cast<double>(ir::element_count(type.shape));
    bytes += count * static_cast<double>(ir::bytes_of(type.dtype));
    largest = std::max(largest, count * sizeof(double));
  }
  const auto there = static_cast<double>(memory_bytes());
  if (bytes + largest > there)
    return fail(Code::LimitExceeded, "the inputs need {:.1f} GB, this machine has {:.1f}",
                (bytes + largest) * 1e-9, there * 1e-9);
  return {};
}

}  // namespace

Result<std::vector<HostTensor>> make_inputs(const ir::Graph& graph, Family family, uint64_t seed,
                                            int threads) {
  MIRAGE_TRY_VOID(check_memory(graph));
  std::vector<HostTensor> inputs;
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    const ir::TensorType& type = graph.type(graph.inputs[i]);
    MIRAGE_TRY(HostTensor tensor, HostTensor::make(type, graph.input_strides[i]));
    const int64_t count = ir::element_count(type.shape);
    const int64_t row = type.shape.empty() ? 1 : std::max<int64_t>(type.shape.back(), 1);
    Filler filler{family, type.dtype, count, row, Rng(seed * 1000003 + i)};
    std::vector<double> values = filler.all(threads);
    filler.spoil(values);
    tensor.assign(values, threads);
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}

}  // namespace mirage::tune
