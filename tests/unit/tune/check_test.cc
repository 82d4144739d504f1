#include "tune/check.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "ir/builder.h"

namespace mirage::tune {
namespace {

using testing::HasSubstr;

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

Result<Deviation> compare_one(double found, double want, double bound) {
  std::vector<HostTensor> outputs;
  outputs.push_back(*HostTensor::make({ir::DType::F64, {1, 2}}));
  outputs[0].assign({1, found});
  return compare(outputs, std::vector<ReferenceOutput>{{outputs[0].type(), {1, want}, {0, bound}}},
                 Family::Large);
}

TEST(Check, ComparesEntryByEntry) {
  EXPECT_TRUE(compare_one(2.5, 2, 0.5));
  EXPECT_EQ(compare_one(2.5, 2, 0.5)->max_of_bound, 1);
  EXPECT_FALSE(compare_one(2.51, 2, 0.5));
  EXPECT_FALSE(compare_one(kNan, 2, 0.5));
  EXPECT_FALSE(compare_one(kInf, 2, 0.5));
  EXPECT_TRUE(compare_one(kNan, kNan, kInf));
  EXPECT_TRUE(compare_one(kInf, kNan, kInf));
  EXPECT_FALSE(compare_one(1, kNan, kInf));
  EXPECT_TRUE(compare_one(kInf, 1e300, kInf));  // no claim
  EXPECT_EQ(compare_one(kInf, 1e300, kInf)->without_bound, 1);
}

// The other entry is 1 with bound 0. Entries near 0 are no worse than the others.
TEST(Check, CountsBoundsBelowTheMeanSize) {
  EXPECT_EQ(compare_one(2, 2, 1.4)->sharp, 2);
  EXPECT_EQ(compare_one(2, 2, 1.6)->sharp, 1);
  EXPECT_EQ(compare_one(-2, -2, 1.4)->sharp, 2);
  EXPECT_EQ(compare_one(0, 0, 0.4)->sharp, 2);
  EXPECT_EQ(compare_one(2, 2, kInf)->sharp, 1);
  EXPECT_EQ(compare_one(kNan, kNan, kInf)->sharp, 1);
}

// The other entry is 1 and right.
TEST(Check, RelativeErrorCountsEntriesWithoutBoundToo) {
  EXPECT_DOUBLE_EQ(compare_one(2.5, 2, 0.5)->relative, 0.5 / std::sqrt(5));
  EXPECT_DOUBLE_EQ(compare_one(2.5, 2, kInf)->relative, 0.5 / std::sqrt(5));
  EXPECT_EQ(compare_one(kNan, kNan, kInf)->relative, 0);
}

TEST(Check, NamesTheEntry) {
  const Result<Deviation> wrong = compare_one(3, 2, 0.5);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, Code::Mismatch);
  EXPECT_THAT(wrong.error().message,
              HasSubstr("output 0 entry [0,1] on large inputs: found 3, expected 2 +- 0.5"));
}

/// Doubles its input, or leaves the last element as it was.
class Doubler : public runtime::Executable {
 public:
  explicit Doubler(bool forgets) : forgets_(forgets) {}
  const codegen::SourceUnit& source() const override { return source_; }
  Result<void> run(std::span<const runtime::TensorView> inputs,
                   std::span<const runtime::TensorView> outputs, int) const override {
    const auto* in = static_cast<const float*>(inputs[0].data);
    auto* out = static_cast<float*>(outputs[0].data);
    for (int i = 0; i < (forgets_ ? 7 : 8); ++i) out[i] = in[i] + in[i];
    return {};
  }

 private:
  bool forgets_;
  codegen::SourceUnit source_;
};

TEST(Check, UnwrittenEntriesShowInEveryFamily) {
  ir::GraphBuilder b;
  const auto x = *b.input({ir::DType::F32, {8}});
  (void)*b.add(ir::OpKind::Add, {x, x});
  const ir::GraphPtr graph = *b.finish();
  for (Family family : all_families()) {
    const auto inputs = *make_inputs(*graph, family, 1);
    const auto reference = *reference_of(*graph, inputs, {});
    EXPECT_TRUE(run_and_compare(Doubler(false), *graph, inputs, reference, family, 1))
        << name_of(family);
    if (std::isinf(reference[0].bounds[7])) continue;
    EXPECT_FALSE(run_and_compare(Doubler(true), *graph, inputs, reference, family, 1))
        << name_of(family);
  }
}

}  // namespace
}  // namespace mirage::tune
