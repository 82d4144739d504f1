// Programs of a GPU, whose driver is tests/fake_cuda, measured by `mirage worker`.

#include "tune/gpu_worker.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <optional>

#include "ir/builder.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/look.h"
#include "tune/measure.h"

namespace mirage::tune {
namespace {

/// y = 2 x for 64 floats.
ir::GraphPtr doubling() {
  ir::GraphBuilder builder;
  const ir::ValueId x = *builder.input({ir::DType::F32, {64}});
  (void)*builder.add(ir::OpKind::Add, {x, x});
  return *builder.finish();
}

/// The fake driver knows what a kernel of this name does.
codegen::SourceUnit unit_of(const std::string& kernel) {
  codegen::SourceUnit unit;
  unit.language = codegen::Language::Cuda;
  unit.target = "sm_90";
  unit.text = "// " + kernel;
  unit.key = hash_bytes(kernel);
  unit.entries = {{kernel, 1, 0, 32, 1, {0, 1}}};
  unit.buffers = {{codegen::BufferSource::Input, 0}, {codegen::BufferSource::Output, 0}};
  unit.inputs = {{"x", ir::DType::F32, {64}, {1}}};
  unit.outputs = {{"", ir::DType::F32, {64}, {1}}};
  return unit;
}

class GpuWorkerTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::string name = testing::TempDir() + "mirage-worker-XXXXXX";
    folder_ = ::mkdtemp(name.data());
    // As in a host that uses CUDA itself: children of this process cannot.
    const auto gpu = runtime::cuda::gpu();
    ASSERT_TRUE(gpu) << gpu.error().message;
    ASSERT_EQ((*gpu)->name, "fake GPU");
  }
  static void TearDownTestSuite() { std::filesystem::remove_all(folder_); }

  void SetUp() override {
    options_.compile.cache_dir = folder_;
    options_.time = {std::chrono::milliseconds(0), std::chrono::milliseconds(0), 2, 2};
    options_.worker = &worker_;
    program_ = doubling();
    suite_.emplace(*make_suite(program_, *program_, SuiteOptions()));
  }

  Error error_of(const std::string& kernel) {
    const Result<Measured> result = measure(unit_of(kernel), *suite_, options_);
    EXPECT_FALSE(result);
    return result ? Error{} : result.error();
  }
  void expect_that_others_are_measured() {
    const Result<Measured> next = measure(unit_of("mul"), *suite_, options_);
    EXPECT_TRUE(next) << next.error().message;
  }

  static inline std::string folder_;
  GpuWorker worker_{{MIRAGE_BINARY_DIR "/bin/mirage", "worker"}};
  MeasureOptions options_;
  ir::GraphPtr program_;
  std::optional<Suite> suite_;
};

TEST_F(GpuWorkerTest, ChildrenOfThisProcessCannotMeasure) {
  options_.worker = nullptr;
  const Error error = error_of("mul");
  EXPECT_EQ(error.code, Code::RunFailed);
  EXPECT_NE(error.message.find("CUDA_ERROR_NOT_INITIALIZED"), std::string::npos) << error.message;
}

TEST_F(GpuWorkerTest, TheGpuIsSeenAllTheSame) {
  const auto info = runtime::cuda::look_at_gpu();
  ASSERT_TRUE(info) << info.error().message;
  EXPECT_EQ(info->name, "fake GPU");
  EXPECT_EQ(info->architecture, 90);
}

TEST_F(GpuWorkerTest, ComparesOnEveryFamilyThenTimes) {
  const codegen::SourceUnit unit = unit_of("mul");
  const Result<Measured> result = measure(unit, *suite_, options_);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->key(), unit.key);
  EXPECT_EQ(result->cases(), static_cast<int>(suite_->cases.size()));
  EXPECT_EQ(result->timing().samples, 2);
  EXPECT_EQ(result->deviation().compared, 64);
}

TEST_F(GpuWorkerTest, ManyAreTimedInTurns) {
  const codegen::SourceUnit one = unit_of("mul"), other = unit_of("mul2");
  std::vector<Measured> measured;
  for (const codegen::SourceUnit* unit : {&one, &other})
    measured.push_back(*measure(*unit, *suite_, options_));
  options_.time.min_samples = options_.time.max_samples = 3;
  const std::vector<const codegen::SourceUnit*> units = {&one, &other};
  const std::vector<Measured*> pointers = {&measured[0], &measured[1]};
  const Result<void> done = measure_again(units, pointers, *suite_, options_);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(measured[0].timing().samples, 3);
  EXPECT_EQ(measured[1].timing().samples, 3);
}

TEST_F(GpuWorkerTest, WrongOutputsHaveNoTime) {
  EXPECT_EQ(error_of("nothing").code, Code::Mismatch);
  expect_that_others_are_measured();
}

TEST_F(GpuWorkerTest, AFaultIsAnErrorAndTheNextProgramHasANewProcess) {
  const Error error = error_of("fault");
  EXPECT_EQ(error.code, Code::RunFailed);
  EXPECT_NE(error.message.find("CUDA_ERROR_ILLEGAL_ADDRESS"), std::string::npos) << error.message;
  expect_that_others_are_measured();
}

TEST_F(GpuWorkerTest, ACrashIsAnErrorAndTheNextProgramHasANewProcess) {
  const Error error = error_of("crash");
  EXPECT_EQ(error.code, Code::RunFailed);
  EXPECT_EQ(error.message, "crashed with signal 6 (ABRT)");
  expect_that_others_are_measured();
}

TEST_F(GpuWorkerTest, AHangIsAnErrorAndTheNextProgramHasANewProcess) {
  options_.time_limit = std::chrono::milliseconds(300);
  const Error error = error_of("hang");
  EXPECT_EQ(error.code, Code::Timeout);
  EXPECT_EQ(error.message, "ran longer than 300 ms");
  options_.time_limit = std::chrono::seconds(20);
  expect_that_others_are_measured();
}

TEST_F(GpuWorkerTest, TheSuiteIsTheOneThatIsGiven) {
  expect_that_others_are_measured();
  // Inputs whose doubles are asked of a program that triples.
  for (TestCase& test : suite_->cases)
    for (double& value : test.reference[0].values) value *= 1.5;
  worker_.forget_suite();
  EXPECT_EQ(error_of("mul").code, Code::Mismatch);
}

TEST_F(GpuWorkerTest, AWorkerThatDoesNotStartIsAnError) {
  GpuWorker none({MIRAGE_BINARY_DIR "/bin/mirage", "no-such-command"});
  options_.worker = &none;
  const Error error = error_of("mul");
  EXPECT_EQ(error.code, Code::RunFailed);
  EXPECT_EQ(error.message,
            "the process that measures on the GPU: exited with status 64 before it was done");
}

}  // namespace
}  // namespace mirage::tune
