#include "tune/suite.h"

#include <chrono>
#include <cmath>
#include <limits>

#include "interp/interp.h"
#include "ir/element.h"
#include "util/rng.h"

namespace mirage::tune {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::vector<interp::TensorF64> logical(std::span<const HostTensor> inputs) {
  std::vector<interp::TensorF64> tensors;
  for (const HostTensor& input : inputs)
    tensors.emplace_back(input.type().shape, input.to_doubles());
  return tensors;
}

/// Confirms entries of the reference by the interpreter, which shares no code with it. Stops early
/// where single entries are too much work.
Result<int64_t> spot_check(const Suite& suite, const TestCase& test, const SuiteOptions& options) {
  const std::vector<interp::TensorF64> inputs = logical(test.inputs);
  interp::LazyEvaluator lazy(suite.program, inputs);
  lazy.set_work_limit(options.spot_work_limit);
  Rng rng(options.seed);
  int64_t confirmed = 0;
  for (int64_t i = 0; i < options.spot_checks; ++i) {
    const size_t o = static_cast<size_t>(i) % test.reference.size();
    const ReferenceOutput& output = test.reference[o];
    if (output.values.empty()) continue;
    const auto entry = rng.below(output.values.size());
    const Result<double> value = lazy.output(o, static_cast<int64_t>(entry));
    if (!value && value.error().code == Code::LimitExceeded) break;
    if (!value) return tl::unexpected(value.error());
    const double want = output.values[entry];
    // Both are float64; the bound is for the storage type and far wider than their difference.
    const bool agrees = std::isnan(want)
                            ? std::isnan(*value)
                            : *value == want || std::fabs(*value - want) <= output.bounds[entry];
    if (!agrees)
      return fail(Code::Internal, "float64 references disagree on output {} entry {}: {} and {}", o,
                  entry, want, *value);
    ++confirmed;
  }
  return confirmed;
}

/// For programs that the plain reference does not know: all entries while they are few, else a
/// random sample; nothing is claimed of the others. Bounds are relative to the largest entry.
Result<std::vector<ReferenceOutput>> interpreted(const ir::GraphPtr& program, const TestCase& test,
                                                 const SuiteOptions& options) {
  const std::vector<interp::TensorF64> inputs = logical(test.inputs);
  interp::LazyEvaluator lazy(program, inputs);
  lazy.set_work_limit(options.spot_work_limit);
  Rng rng(options.seed);
  std::vector<ReferenceOutput> outputs;
  for (size_t o = 0; o < program->outputs.size(); ++o) {
    const ir::TensorType& type = program->type(program->outputs[o]);
    const auto count = static_cast<size_t>(ir::element_count(type.shape));
    ReferenceOutput output{type, std::vector<double>(count, 0),
                           std::vector<double>(count, std::numeric_limits<double>::infinity())};
    const size_t wanted = std::min<size_t>(count, count <= 4096 ? count : 256);
    double largest = 0;
    std::vector<size_t> known;
    for (size_t i = 0; i < wanted; ++i) {
      const size_t entry = wanted == count ? i : rng.below(count);
      const Result<double> value = lazy.output(o, static_cast<int64_t>(entry));
      if (!value && value.error().code == Code::LimitExceeded) break;
      if (!value) return tl::unexpected(value.error());
      output.values[entry] = *value;
      if (std::isfinite(*value)) largest = std::max(largest, std::fabs(*value));
      known.push_back(entry);
    }
    const double unit = std::max(ir::unit_roundoff(type.dtype), 0x1p-24);
    for (size_t entry : known)
      output.bounds[entry] = 256 * unit * largest + ir::min_positive(type.dtype);
    outputs.push_back(std::move(output));
  }
  return outputs;
}

}  // namespace

Result<Suite> make_suite(ir::GraphPtr program, const ir::Graph& safe, const SuiteOptions& options) {
  const auto start = Clock::now();
  Suite suite;
  suite.program = std::move(program);
  bool has_blocks = false;
  for (const ir::Op& op : safe.ops) has_blocks |= ir::def(op.kind).form == ir::Form::Block;
  for (Family family : all_families()) {
    const bool is_first = suite.cases.empty();
    if (!is_first && options.is_cancelled && options.is_cancelled()) break;
    if (!is_first && seconds_since(start) * static_cast<double>(suite.cases.size() + 1) /
                             static_cast<double>(suite.cases.size()) >
                         options.time_limit_seconds) {
      suite.notes.push_back(
          fmt::format("not checked on {} inputs and the families after it: time", name_of(family)));
      break;
    }
    if (has_blocks && family != Family::Ordinary && family != Family::Zeros) continue;
    TestCase test;
    test.family = family;
    MIRAGE_TRY(test.inputs, make_inputs(*suite.program, family, options.seed));
    if (has_blocks) {
      MIRAGE_TRY(test.reference, interpreted(suite.program, test, options));
    } else {
      ReferenceOptions reference;
      reference.is_random = is_random(family);
      reference.threads = options.threads;
      MIRAGE_TRY(test.reference, reference_of(safe, test.inputs, reference));
    }
    suite.cases.push_back(std::move(test));
    if (is_first && !has_blocks) {
      MIRAGE_TRY(suite.spot_checks, spot_check(suite, suite.cases[0], options));
      if (suite.spot_checks < options.spot_checks && suite.spot_checks > 0)
        suite.notes.push_back(fmt::format("the interpreter confirmed {} entries of the reference",
                                          suite.spot_checks));
    }
  }
  return suite;
}

}  // namespace mirage::tune
