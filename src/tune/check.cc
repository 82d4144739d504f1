#include "tune/check.h"

#include <cmath>

namespace mirage::tune {
namespace {

std::string index_text(const ir::Shape& shape, int64_t entry) {
  std::string text = "]";
  for (size_t axis = shape.size(); axis-- > 0;) {
    text = fmt::format("{}{}", entry % shape[axis], text);
    if (axis > 0) text.insert(0, 1, ',');
    entry /= shape[axis];
  }
  return "[" + text;
}

}  // namespace

Result<Deviation> compare(std::span<const HostTensor> outputs,
                          std::span<const ReferenceOutput> reference, Family family) {
  Deviation deviation;
  double difference_squares = 0, reference_squares = 0;
  for (size_t o = 0; o < reference.size(); ++o) {
    const std::vector<double> found = outputs[o].to_doubles();
    const ReferenceOutput& want = reference[o];
    const double size = mean_size(want.values);
    for (size_t i = 0; i < found.size(); ++i) {
      const double bound = want.bounds[i];
      const bool is_finite = std::isfinite(want.values[i]);
      const double difference = std::fabs(found[i] - want.values[i]);
      if (is_finite) {
        difference_squares += difference * difference;
        reference_squares += want.values[i] * want.values[i];
      }
      // What is NaN in float64 has no finite value in any arithmetic.
      if (is_finite && std::isinf(bound)) {
        ++deviation.without_bound;
        continue;
      }
      const bool agrees = is_finite ? difference <= bound : !std::isfinite(found[i]);
      if (!agrees)
        return fail(Code::Mismatch,
                    "output {} entry {} on {} inputs: found {:.9g}, expected {:.9g} +- {:.2g}", o,
                    index_text(want.type.shape, static_cast<int64_t>(i)), name_of(family), found[i],
                    want.values[i], bound);
      if (!is_finite) continue;
      ++deviation.compared;
      if (bound < size) ++deviation.sharp;
      deviation.max_abs = std::fmax(deviation.max_abs, difference);
      if (difference > 0)
        deviation.max_of_bound = std::fmax(deviation.max_of_bound, difference / bound);
    }
  }
  if (reference_squares > 0) deviation.relative = std::sqrt(difference_squares / reference_squares);
  return deviation;
}

Result<std::vector<HostTensor>> make_outputs(const ir::Graph& program) {
  std::vector<HostTensor> outputs;
  for (size_t o = 0; o < program.outputs.size(); ++o) {
    MIRAGE_TRY(HostTensor tensor,
               HostTensor::make(program.type(program.outputs[o]), program.output_strides[o]));
    outputs.push_back(std::move(tensor));
  }
  return outputs;
}

std::vector<runtime::TensorView> views_of(std::span<const HostTensor> tensors) {
  std::vector<runtime::TensorView> views;
  for (const HostTensor& tensor : tensors) views.push_back(tensor.view());
  return views;
}

Result<Deviation> run_and_compare(const runtime::Executable& executable, const ir::Graph& program,
                                  std::span<const HostTensor> inputs,
                                  std::span<const ReferenceOutput> reference, Family family,
                                  int threads) {
  MIRAGE_TRY(std::vector<HostTensor> outputs, make_outputs(program));
  // 0xFF is NaN in every float type: an entry left unwritten cannot pass for a finite one. Where
  // the reference itself is not finite, a finite poison shows it: 0x3C.
  const bool has_holes = family == Family::NotANumber || family == Family::Infinite;
  for (HostTensor& output : outputs) output.poison(has_holes ? 0x3C : 0xFF);
  MIRAGE_TRY_VOID(executable.run(views_of(inputs), views_of(outputs), threads));
  return compare(outputs, reference, family);
}

}  // namespace mirage::tune
