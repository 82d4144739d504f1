#include "tune/suite.h"

#include <chrono>
#include <cmath>
#include <limits>

#include "interp/interp.h"
#include "ir/element.h"
#include "tune/sampled.h"
#include "util/rng.h"

namespace mirage::tune {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::vector<interp::TensorF64> logical(std::span<const HostTensor> inputs, int threads) {
  std::vector<interp::TensorF64> tensors;
  for (const HostTensor& input : inputs)
    tensors.emplace_back(input.type().shape, input.to_doubles(threads));
  return tensors;
}

bool is_no_time(const Error& error) {
  return error.code == Code::LimitExceeded || error.code == Code::Timeout;
}

/// Confirms entries of the reference by the interpreter, which shares no code with it. Stops early
/// where single entries are too much work.
Result<int64_t> spot_check(const Suite& suite, const TestCase& test, const SuiteOptions& options) {
  const std::vector<interp::TensorF64> inputs = logical(test.inputs, options.threads);
  interp::LazyEvaluator lazy(suite.program, inputs);
  lazy.set_work_limit(options.spot_work_limit);
  lazy.set_deadline(options.deadline);
  Rng rng(options.seed);
  int64_t confirmed = 0;
  for (int64_t i = 0; i < options.spot_checks; ++i) {
    const size_t o = static_cast<size_t>(i) % test.reference.size();
    const ReferenceOutput& output = test.reference[o];
    if (output.values.empty()) continue;
    const auto entry = rng.below(output.values.size());
    const Result<double> value = lazy.output(o, static_cast<int64_t>(entry));
    if (!value && is_no_time(value.error())) break;
    if (!value) return tl::unexpected(value.error());
    const double want = output.values[entry];
    // Where float64 overflows on the way, the interpreter, whose exponents are wide, goes on.
    if (!std::isfinite(want)) {
      confirmed += std::isfinite(*value) ? 0 : 1;
      continue;
    }
    // Both are float64; the bound is for the storage type and far wider than their difference.
    if (!(std::fabs(*value - want) <= output.bounds[entry]))
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
  const std::vector<interp::TensorF64> inputs = logical(test.inputs, options.threads);
  interp::LazyEvaluator lazy(program, inputs);
  lazy.set_work_limit(options.spot_work_limit);
  lazy.set_deadline(options.deadline);
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
      if (!value && is_no_time(value.error())) break;
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

/// The reference of one family.
Result<TestCase> make_case(const ir::GraphPtr& program, const ir::Graph& safe, bool has_blocks,
                           Family family, const SuiteOptions& options) {
  TestCase test;
  test.family = family;
  MIRAGE_TRY(test.inputs, make_inputs(*program, family, options.seed, options.threads));
  if (has_blocks) {
    MIRAGE_TRY(test.reference, interpreted(program, test, options));
    if (options.deadline.is_over()) return fail(Code::Timeout, "the reference was given up");
    return test;
  }
  ReferenceOptions reference;
  reference.is_random = is_random(family);
  reference.threads = options.threads;
  reference.deadline = options.deadline;
  MIRAGE_TRY(test.reference, reference_of(safe, test.inputs, reference));
  if (family == Family::Ordinary && wants_samples(test.reference))
    sharpen(safe, test.inputs, reference, test.reference);
  return test;
}

/// Families that a program with these operators is checked on.
std::vector<Family> families_of(bool has_blocks) {
  if (has_blocks) return {Family::Ordinary, Family::Zeros};
  return {all_families().begin(), all_families().end()};
}

}  // namespace

Result<Suite> make_suite(ir::GraphPtr program, const ir::Graph& safe, const SuiteOptions& options) {
  const auto start = Clock::now();
  Suite suite;
  suite.program = std::move(program);
  double longest = 0;  // seconds of one family
  bool has_blocks = false;
  for (const ir::Op& op : safe.ops) has_blocks |= ir::def(op.kind).form == ir::Form::Block;
  for (Family family : families_of(has_blocks)) {
    if (suite.cases.empty()) {
      MIRAGE_TRY(TestCase test, make_case(suite.program, safe, has_blocks, family, options));
      suite.cases.push_back(std::move(test));
      longest = seconds_since(start);
      if (has_blocks) continue;
      MIRAGE_TRY(suite.spot_checks, spot_check(suite, suite.cases[0], options));
      if (suite.spot_checks < options.spot_checks)
        suite.notes.push_back(fmt::format("the interpreter confirmed {} entries of the reference",
                                          suite.spot_checks));
      continue;
    }
    const double begun = seconds_since(start);
    if (!suite.skipped.empty() || begun + longest > options.time_limit_seconds) {
      suite.skipped.push_back(family);
      continue;
    }
    Result<TestCase> test = make_case(suite.program, safe, has_blocks, family, options);
    longest = std::max(longest, seconds_since(start) - begun);
    if (test) {
      suite.cases.push_back(std::move(*test));
    } else if (test.error().code == Code::Timeout) {
      suite.skipped.push_back(family);
    } else {
      return tl::unexpected(test.error());
    }
  }
  return suite;
}

}  // namespace mirage::tune
