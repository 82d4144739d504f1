#include "tune/measure.h"

#include <gmock/gmock.h>
#include <stdlib.h>

#include <filesystem>

#include "ir/builder.h"
#include "runtime/cpu/compile.h"
#include "runtime/cpu/find_compiler.h"

namespace mirage::tune {
namespace {

ir::GraphPtr doubling() {
  ir::GraphBuilder builder;
  const ir::ValueId x = *builder.input({ir::DType::F32, {8}});
  (void)*builder.add(ir::OpKind::Add, {x, x});
  return *builder.finish();
}

/// y = x + x by hand, with a statement of the test's before it.
codegen::SourceUnit unit_with(const std::string& statement) {
  codegen::SourceUnit unit;
  unit.target = "cpu-portable";
  unit.options = {"-std=c++20", "-O0"};
  unit.text =
      "#include <cstddef>\n#include <cstdint>\n#include <cstdlib>\n"
      "extern \"C\" void mirage_run(int64_t, void* const* buffers, int64_t begin, int64_t end, "
      "std::byte*, void*) {\n  static volatile int calls = 0;\n  calls = calls + 1;\n  " +
      statement +
      "\n  for (int64_t i = begin; i < end; ++i) {\n"
      "    const float x = static_cast<const float*>(buffers[0])[i];\n"
      "    static_cast<float*>(buffers[1])[i] = x + x;\n  }\n}\n"
      "extern \"C\" void* mirage_new_workspace() { return nullptr; }\n"
      "extern \"C\" void mirage_delete_workspace(void*) {}\n";
  unit.entries = {{"k", 8, 0}};
  unit.buffers = {{codegen::BufferSource::Input, 0, 0}, {codegen::BufferSource::Output, 0, 0}};
  unit.inputs = {{"x", ir::DType::F32, {8}, {1}}};
  unit.outputs = {{"", ir::DType::F32, {8}, {1}}};
  return unit;
}

constexpr const char* kCrash = "*static_cast<volatile int*>(nullptr) = 1;";
constexpr const char* kHang = "for (volatile int i = 0;;) i = 1;";

class Measure : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::string name = testing::TempDir() + "mirage-measure-XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  static void TearDownTestSuite() { std::filesystem::remove_all(folder_); }

  void SetUp() override {
    options_.compile.cache_dir = folder_;
    options_.compile.found = *runtime::find_compiler();
    options_.time = {std::chrono::milliseconds(0), std::chrono::milliseconds(0), 2, 2};
    program_ = doubling();
    SuiteOptions suite;
    suite_.emplace(*make_suite(program_, *program_, suite));
  }

  /// Compiles before the child does, whose time is limited.
  Result<Measured> measured(const codegen::SourceUnit& unit) {
    EXPECT_TRUE(runtime::compile(unit, options_.compile));
    return measure(unit, *suite_, options_);
  }

  /// The error of a unit with this statement; afterwards an ordinary unit is measured as ever.
  Error error_of(const std::string& statement) {
    const Result<Measured> result = measured(unit_with(statement));
    const Result<Measured> next = measured(unit_with(""));
    EXPECT_TRUE(next) << next.error().message;
    EXPECT_FALSE(result);
    return result ? Error{} : result.error();
  }

  static inline std::string folder_;
  MeasureOptions options_;
  ir::GraphPtr program_;
  std::optional<Suite> suite_;
};

TEST_F(Measure, ComparesOnEveryFamilyThenTimes) {
  const codegen::SourceUnit unit = unit_with("");
  const Result<Measured> result = measured(unit);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->key(), unit.key);
  EXPECT_EQ(result->cases(), static_cast<int>(suite_->cases.size()));
  EXPECT_EQ(result->timing().samples, 2);
  EXPECT_GT(result->timing().median_us, 0);
  EXPECT_EQ(result->deviation().compared, 8);
}

TEST_F(Measure, ACrashIsAnError) {
  const Error error = error_of(kCrash);
  EXPECT_EQ(error.code, Code::RunFailed);
  EXPECT_EQ(error.message, "crashed with signal 11 (SEGV)");
}

TEST_F(Measure, AnExitIsAnError) {
  const Error error = error_of("std::exit(3);");
  EXPECT_EQ(error.code, Code::RunFailed);
  EXPECT_EQ(error.message, "exited with status 3 before it was done");
}

TEST_F(Measure, AnExitWithoutComplaintIsAnErrorToo) {
  EXPECT_EQ(error_of("std::exit(0);").code, Code::RunFailed);
}

TEST_F(Measure, AHangIsAnError) {
  options_.time_limit = std::chrono::milliseconds(400);
  const Error error = error_of(kHang);
  EXPECT_EQ(error.code, Code::Timeout);
  EXPECT_EQ(error.message, "ran longer than 400 ms");
}

TEST_F(Measure, WrongOutputsHaveNoTime) {
  const Error error = error_of("if (begin <= 3) { begin = end; }");
  EXPECT_EQ(error.code, Code::Mismatch);
  EXPECT_THAT(error.message, testing::ContainsRegex("entry .0. on ordinary inputs: found -?nan"));
}

TEST_F(Measure, TextThatDoesNotCompile) {
  const Result<Measured> result = measure(unit_with("nonsense"), *suite_, options_);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::CompileFailed);
}

TEST_F(Measure, ARoundThatCrashesLeavesTheTimesAsTheyWere) {
  const codegen::SourceUnit good = unit_with("");
  const codegen::SourceUnit bad = unit_with(std::string("if (calls > 1000) ") + kCrash);
  Measured first = *measured(good), second = *measured(bad);
  const double before = second.timing().median_us;
  const std::vector<const codegen::SourceUnit*> units = {&good, &bad};
  const std::vector<Measured*> both = {&first, &second};
  options_.time.min_samples = options_.time.max_samples = 3000;
  const Result<void> again = measure_again(units, both, *suite_, options_);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, Code::RunFailed);
  EXPECT_EQ(second.timing().median_us, before);
  options_.time.min_samples = options_.time.max_samples = 3;
  ASSERT_TRUE(measure_again(units, both, *suite_, options_));
  EXPECT_EQ(first.timing().samples, 3);
  EXPECT_EQ(second.timing().samples, 3);
}

}  // namespace
}  // namespace mirage::tune
