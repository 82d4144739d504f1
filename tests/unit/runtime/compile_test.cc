#include "runtime/cpu/compile.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <thread>

#include "runtime/cache_folder.h"
#include "runtime/cpu/find_compiler.h"

namespace mirage::runtime {
namespace {

namespace fs = std::filesystem;

/// A hand-written unit: y[i] = x[i] + offset, four work items of two elements.
codegen::SourceUnit adder(const std::string& offset) {
  codegen::SourceUnit unit;
  unit.target = "cpu-portable";
  unit.options = {"-std=c++20", "-O1"};
  unit.text =
      "#include <cstddef>\n#include <cstdint>\n#include \"mirage/cpu/storage.h\"\n"
      "extern \"C\" void mirage_run(int64_t, void* const* buffers, int64_t begin, int64_t end, "
      "std::byte*, void*) {\n"
      "  for (int64_t i = 2 * begin; i < 2 * end; ++i)\n"
      "    static_cast<float*>(buffers[1])[i] = static_cast<const float*>(buffers[0])[i] + " +
      offset +
      ";\n}\nextern \"C\" void* mirage_new_workspace() { return nullptr; }\n"
      "extern \"C\" void mirage_delete_workspace(void*) {}\n";
  unit.entries = {{"k", 4, 0}};
  unit.buffers = {{codegen::BufferSource::Input, 0, 0}, {codegen::BufferSource::Output, 0, 0}};
  unit.inputs = {{"x", ir::DType::F32, {8}, {1}}};
  unit.outputs = {{"", ir::DType::F32, {8}, {1}}};
  return unit;
}

class Compile : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "mirage-test-XXXXXX";
    options_.cache_dir = mkdtemp(name.data());
  }
  void TearDown() override { fs::remove_all(options_.cache_dir); }

  size_t objects() const {
    size_t count = 0;
    for (const auto& entry : fs::recursive_directory_iterator(options_.cache_dir))
      count += entry.path().extension() == ".so";
    return count;
  }

  CompileOptions options_;
};

TEST_F(Compile, RunsOnAnyNumberOfThreads) {
  const auto executable = compile(adder("1"), options_);
  ASSERT_TRUE(executable) << executable.error().message;
  for (int threads : {0, 1, 2, 7}) {
    float x[8] = {0, 1, 2, 3, 4, 5, 6, 7}, y[8] = {};
    const TensorView in{x, ir::DType::F32, {8}, {1}}, out{y, ir::DType::F32, {8}, {1}};
    ASSERT_TRUE((*executable)->run({&in, 1}, {&out, 1}, threads));
    for (int i = 0; i < 8; ++i) EXPECT_EQ(y[i], static_cast<float>(i + 1));
  }
}

TEST_F(Compile, TheCacheKnowsTextAndOptions) {
  ASSERT_TRUE(compile(adder("1"), options_));
  ASSERT_TRUE(compile(adder("1"), options_));
  EXPECT_EQ(objects(), 1u);
  ASSERT_TRUE(compile(adder("2"), options_));
  EXPECT_EQ(objects(), 2u);
  auto unit = adder("2");
  unit.options.push_back("-fno-math-errno");
  ASSERT_TRUE(compile(unit, options_));
  EXPECT_EQ(objects(), 3u);
}

TEST_F(Compile, ADamagedObjectIsBuiltAgain) {
  ASSERT_TRUE(compile(adder("1"), options_));
  fs::path object;
  for (const auto& entry : fs::recursive_directory_iterator(options_.cache_dir))
    if (entry.path().extension() == ".so") object = entry.path();
  const std::string whole = *read_file(object);
  std::string holed = whole;
  std::fill(holed.begin() + 4096, holed.begin() + 8192, '\0');
  // The loader of the system ends the process on most of these.
  for (const std::string& damaged :
       {std::string("no object"), std::string(), whole.substr(0, 100), whole.substr(0, 4096),
        whole.substr(0, 8192), whole.substr(0, whole.size() / 2), whole.substr(0, whole.size() - 1),
        holed}) {
    fs::remove(object);
    ASSERT_TRUE(write_file(object, damaged));
    const auto executable = compile(adder("1"), options_);
    EXPECT_TRUE(executable) << executable.error().message;
    EXPECT_TRUE(is_intact(object)) << damaged.size();
  }
}

TEST_F(Compile, SealedFilesAreReadBackWholeOrNotAtAll) {
  const fs::path file = options_.cache_dir + "/folder/file";
  EXPECT_FALSE(read_sealed(file));
  const std::string text("code\0more", 9);
  ASSERT_TRUE(publish_sealed(file, text));
  EXPECT_EQ(read_sealed(file), text);
  EXPECT_TRUE(is_intact(file));
  const std::string whole = *read_file(file);
  for (size_t size : {size_t{0}, size_t{20}, whole.size() - 1}) {
    ASSERT_TRUE(write_file(file, whole.substr(0, size)));
    EXPECT_FALSE(read_sealed(file)) << size;
  }
  ASSERT_TRUE(write_file(file, "C" + whole.substr(1)));
  EXPECT_FALSE(read_sealed(file));
}

TEST_F(Compile, ADamagedHeaderIsWrittenAgain) {
  ASSERT_TRUE(compile(adder("1"), options_));
  const fs::path header = device_folder(options_.cache_dir)->folder / "mirage/cpu/storage.h";
  const std::string whole = *read_file(header);
  for (const std::string& damaged :
       {std::string(), whole.substr(0, 100), std::string(whole.size(), '\0')}) {
    ASSERT_TRUE(write_file(header, damaged));
    options_.use_cache = false;
    const auto executable = compile(adder("1"), options_);
    EXPECT_TRUE(executable) << executable.error().message;
    EXPECT_EQ(read_file(header), whole);
  }
}

TEST_F(Compile, AFullDiskIsSaidAndNothingIsLeftThere) {
  const fs::path full = options_.cache_dir + "/full";
  fs::create_symlink("/dev/full", full);
  const auto written = write_file(full, "text");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, Code::Io);
  EXPECT_NE(written.error().message.find("No space left on device"), std::string::npos)
      << written.error().message;
  EXPECT_FALSE(fs::is_symlink(full));
}

TEST_F(Compile, TheReasonIsThatOfTheFolder) {
  const auto written = write_file("/proc/nowhere/file", "text");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, Code::Io);
  EXPECT_TRUE(written.error().message.starts_with("cannot make the folder /proc/nowhere: "));
}

TEST_F(Compile, ACacheRemovedMeanwhileIsMadeAgain) {
  const auto compiler = find_compiler();
  ASSERT_TRUE(compiler);
  const fs::path cache = options_.cache_dir + "/cache", once = options_.cache_dir + "/once";
  const fs::path script = options_.cache_dir + "/compiler";
  std::ofstream(script) << "#!/bin/sh\n[ $1 = --version ] || [ -e " << once.string()
                        << " ] || { touch " << once.string() << "; rm -r " << cache.string()
                        << "; }\nexec " << compiler->name() << " \"$@\"\n";
  fs::permissions(script, fs::perms::owner_all);
  CompileOptions options = options_;
  options.cache_dir = cache;
  options.compiler = script;
  const auto executable = compile(adder("1"), options);
  EXPECT_TRUE(executable) << executable.error().message;
  EXPECT_TRUE(fs::exists(once));
  EXPECT_TRUE(fs::is_empty(drafts_folder(cache)));
}

TEST_F(Compile, TemporaryFilesOfAStoppedCompilerGo) {
  const fs::path script = options_.cache_dir + "/compiler";
  std::ofstream(script) << "#!/bin/sh\n[ $1 = --version ] && exec echo compiler\n"
                           "touch $TMPDIR/draft.o; exec sleep 60\n";
  fs::permissions(script, fs::perms::owner_all);
  options_.compiler = script;
  options_.time_limit = std::chrono::milliseconds(300);
  const auto executable = compile(adder("1"), options_);
  ASSERT_FALSE(executable);
  EXPECT_EQ(executable.error().code, Code::Timeout);
  EXPECT_TRUE(fs::is_empty(drafts_folder(options_.cache_dir)));
}

TEST_F(Compile, ACompilerThatWritesNothingIsAnError) {
  const fs::path script = options_.cache_dir + "/compiler";
  std::ofstream(script) << "#!/bin/sh\necho compiler\n";
  fs::permissions(script, fs::perms::owner_all);
  options_.compiler = script;
  const auto executable = compile(adder("1"), options_);
  ASSERT_FALSE(executable);
  EXPECT_EQ(executable.error().code, Code::Unsupported);
  EXPECT_EQ(objects(), 0u);
}

TEST_F(Compile, ACompilerThatAlwaysFailsIsNotTheTextsFault) {
  const fs::path script = options_.cache_dir + "/compiler";
  std::ofstream(script) << "#!/bin/sh\n[ $1 = --version ] && exec echo broken\n"
                           "echo out of order >&2\nexit 1\n";
  fs::permissions(script, fs::perms::owner_all);
  options_.compiler = script;
  const auto executable = compile(adder("1"), options_);
  ASSERT_FALSE(executable);
  EXPECT_EQ(executable.error().code, Code::Unsupported);
  EXPECT_NE(executable.error().message.find("out of order"), std::string::npos)
      << executable.error().message;
}

TEST_F(Compile, WordsAfterTheCompilerReachIt) {
  options_.compiler = find_compiler()->name() + " '-DOFFSET=1 + 1'";
  const auto executable = compile(adder("OFFSET"), options_);
  ASSERT_TRUE(executable) << executable.error().message;
  float x[8] = {}, y[8] = {};
  const TensorView in{x, ir::DType::F32, {8}, {1}}, out{y, ir::DType::F32, {8}, {1}};
  ASSERT_TRUE((*executable)->run({&in, 1}, {&out, 1}, 1));
  EXPECT_EQ(y[7], 2);
}

TEST_F(Compile, AKernelWithoutMemoryIsAnError) {
  auto unit = adder("1");
  const size_t at = unit.text.find("  for (");
  unit.text.insert(at,
                   "  if (static_cast<const float*>(buffers[0])[0] < 0) throw std::bad_alloc();\n");
  unit.text.insert(0, "#include <new>\n");
  const auto executable = compile(unit, options_);
  ASSERT_TRUE(executable) << executable.error().message;
  for (const bool fails : {true, false, true}) {
    float x[8] = {fails ? -1.0f : 1.0f}, y[8] = {};
    const TensorView in{x, ir::DType::F32, {8}, {1}}, out{y, ir::DType::F32, {8}, {1}};
    const auto done = (*executable)->run({&in, 1}, {&out, 1}, 3);
    ASSERT_EQ(done.has_value(), !fails);
    if (fails) {
      EXPECT_EQ(done.error().code, Code::LimitExceeded);
    }
  }
}

TEST_F(Compile, RefusedTextCarriesTheLog) {
  const auto executable = compile(adder("nonsense"), options_);
  ASSERT_FALSE(executable);
  EXPECT_EQ(executable.error().code, Code::CompileFailed);
  ASSERT_EQ(executable.error().notes.size(), 1u);
  EXPECT_NE(executable.error().notes[0].find("nonsense"), std::string::npos);
  EXPECT_EQ(objects(), 0u);
}

/// A compiler that writes down its words.
class Precompile : public Compile {
 protected:
  void SetUp() override {
    Compile::SetUp();
    const fs::path script = options_.cache_dir + "/compiler";
    std::ofstream(script) << "#!/bin/sh\necho \"$@\" >> " << log() << "\nexec "
                          << find_compiler()->name() << " \"$@\"\n";
    fs::permissions(script, fs::perms::owner_all);
    options_.compiler = script;
    unit_.prelude = "#include \"mirage/cpu/storage.h\"\n";
  }
  std::string log() const { return options_.cache_dir + "/log"; }
  std::string words() const {
    std::ifstream file(log());
    return {std::istreambuf_iterator<char>(file), {}};
  }
  fs::path precompiled() const {
    for (const auto& entry : fs::directory_iterator(options_.cache_dir + "/precompiled"))
      if (entry.path().extension() == ".gch") return entry.path();
    return {};
  }
  codegen::SourceUnit unit_ = adder("1");
};

TEST_F(Precompile, UnitsWithThePreludeUseIt) {
  ASSERT_TRUE(compile(unit_, options_));
  EXPECT_EQ(words().find("-include"), std::string::npos);
  ASSERT_TRUE(precompile(unit_, options_));
  ASSERT_FALSE(precompiled().empty());
  unit_ = adder("2");
  unit_.prelude = "#include \"mirage/cpu/storage.h\"\n";
  ASSERT_TRUE(compile(unit_, options_));
  EXPECT_NE(words().find("-include " + precompiled().replace_extension("").string()),
            std::string::npos);
}

TEST_F(Precompile, OtherOptionsHaveAnother) {
  ASSERT_TRUE(precompile(unit_, options_));
  unit_.options.emplace_back("-ffp-contract=off");
  ASSERT_TRUE(compile(unit_, options_));
  EXPECT_EQ(words().find("-include"), std::string::npos);
}

TEST_F(Precompile, ADamagedOneIsDoneWithoutAndRemoved) {
  ASSERT_TRUE(precompile(unit_, options_));
  std::ofstream(precompiled(), std::ios::trunc) << "CPCH no header";
  const auto executable = compile(unit_, options_);
  EXPECT_TRUE(executable) << executable.error().message;
  // g++ ignores what it cannot read; clang refuses it.
  const bool is_clang = find_compiler()->version.find("clang") != std::string::npos;
  EXPECT_TRUE(!is_clang || precompiled().empty());
}

TEST_F(Precompile, ARefusedPreludeIsAnErrorAndLeavesNothing) {
  unit_.prelude = "nonsense";
  const auto made = precompile(unit_, options_);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, Code::CompileFailed);
  EXPECT_TRUE(precompiled().empty());
}

TEST_F(Precompile, SeveralMayMakeItAtOnce) {
  std::vector<std::thread> makers;
  for (int maker = 0; maker < 4; ++maker)
    makers.emplace_back([&, maker] {
      EXPECT_TRUE(precompile(unit_, options_));
      codegen::SourceUnit own = adder(std::to_string(maker + 5));
      own.prelude = unit_.prelude;
      EXPECT_TRUE(compile(own, options_));
    });
  for (std::thread& maker : makers) maker.join();
}

TEST_F(Compile, AMissingCompilerIsUnsupported) {
  options_.compiler = "/no/such/compiler";
  const auto executable = compile(adder("1"), options_);
  ASSERT_FALSE(executable);
  EXPECT_EQ(executable.error().code, Code::Unsupported);
}

TEST_F(Compile, ArgumentsAreChecked) {
  const auto executable = compile(adder("1"), options_);
  ASSERT_TRUE(executable);
  float x[8] = {}, y[8] = {};
  const TensorView in{x, ir::DType::F32, {8}, {1}}, out{y, ir::DType::F32, {8}, {1}};
  const auto message = [&](const TensorView& a, const TensorView& b) {
    const auto result = (*executable)->run({&a, 1}, {&b, 1}, 1);
    return result ? std::string() : result.error().message;
  };
  EXPECT_EQ(message({x, ir::DType::F16, {8}, {1}}, out),
            "input x: expected f32 elements, found f16");
  EXPECT_EQ(message({x, ir::DType::F32, {4}, {1}}, out), "input x: expected shape [8], found [4]");
  EXPECT_EQ(message(in, {y, ir::DType::F32, {8}, {2}}),
            "output 0: expected strides [1], found [2]");
  EXPECT_EQ(message({nullptr, ir::DType::F32, {8}, {1}}, out), "input x: no memory");
  EXPECT_EQ((*executable)->run({}, {&out, 1}, 1).error().message,
            "expected 1 inputs and 1 outputs, found 0 and 1");
}

TEST_F(Compile, SeveralCallersMayRunAtOnce) {
  const auto executable = compile(adder("1"), options_);
  ASSERT_TRUE(executable);
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&, caller] {
      for (int round = 0; round < 100; ++round) {
        float x[8], y[8] = {};
        for (int i = 0; i < 8; ++i) x[i] = static_cast<float>(caller + i);
        const TensorView in{x, ir::DType::F32, {8}, {1}}, out{y, ir::DType::F32, {8}, {1}};
        EXPECT_TRUE((*executable)->run({&in, 1}, {&out, 1}, 2));
        for (int i = 0; i < 8; ++i) EXPECT_EQ(y[i], static_cast<float>(caller + i + 1));
      }
    });
  for (std::thread& caller : callers) caller.join();
}

}  // namespace
}  // namespace mirage::runtime
