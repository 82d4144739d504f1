// Kernels of every form that the generator knows, of all types, at ragged extents and odd strides,
// against the interpreter; and every function of the device headers that the generator can name.

#include <regex>
#include <set>

#include "device/host/edit.h"
#include "device/host/programs.h"
#include "device/host/support.h"
#include "lower/pipeline.h"

namespace mirage::host_kit {
namespace {

constexpr int kRagged[] = {1, 3, 7, 15, 17, 33, 65, 127};
constexpr const char* kHalves[] = {"f16", "bf16"};
constexpr const char* kTypes[] = {"f16", "bf16", "f32"};

struct Case {
  std::string form;
  std::string text;
  lower::Target target = gpu(132);
};

/// Loops of linear layers: all swizzles, with and without a cluster.
void add_linear(std::vector<Case>& cases) {
  int i = 0;
  for (const int rows : kRagged) {
    // More rows and columns are more sums than registers.
    const int width = rows > 65 ? 16 : 8 << i % 4, depth = 16 << i % 3;
    const char* const type = kHalves[i++ % 2];
    cases.push_back({"loop", linear(type, rows, 2 * width, 2, 6 * depth, 6), gpu(1, 56 << 10)});
    if (i % 2 == 0)
      cases.push_back(
          {"loop of a cluster", linear(type, rows, 2 * width, 2, 8 * depth, 8), gpu(8)});
  }
  // Several turns of a warp in a step, and many columns.
  cases.push_back({"loop", linear("f16", 3, 96, 3, 512, 2), gpu(1)});
  cases.push_back({"loop", linear("bf16", 65, 64, 1, 192, 4), gpu(1)});
}

void add_attention(std::vector<Case>& cases) {
  int i = 0;
  for (const int rows : kRagged) {
    const int width = 16 << i % 4, step = 16 << i % 3;
    const auto first = i % 2 == 0 ? First::Rows : First::Products;
    const char* const type = kHalves[i / 2 % 2];
    cases.push_back({"loop", attention(type, rows, 4 * step, width, 4, first), gpu(1)});
    if (i % 2 == 0)
      cases.push_back({"loop of a cluster", attention(type, rows, 8 * step, width, 8, first),
                       gpu(4 << i / 2 % 3)});
    ++i;
  }
}

void add_computed_operands(std::vector<Case>& cases) {
  for (const char* const type : kHalves) {
    cases.push_back({"loop", weighted(type, 17, 16, 128, 4), gpu(1)});
    cases.push_back({"loop", weighted(type, 1, 32, 64, 2), gpu(1)});
    cases.push_back({"loop", unit_attention(type, 7, 128, 32, 4), gpu(1)});
    cases.push_back({"loop of a cluster", unit_attention(type, 33, 256, 64, 8), gpu(8)});
  }
}

void add_elementwise(std::vector<Case>& cases) {
  for (const char* const type : kTypes)
    for (const bool is_binary : {false, true})
      cases.push_back({"rows", elementwise(type, 3, 33, is_binary)});
  for (const bool is_binary : {false, true})
    cases.push_back({"steps", elementwise("f64", 3, 33, is_binary)});
}

void add_rows(std::vector<Case>& cases) {
  for (const char* const type : kTypes)
    for (const int columns : kRagged) {
      cases.push_back({"rows", softmax(type, 3, columns)});
      cases.push_back({"rows", norm(type, 5, columns)});
    }
  cases.push_back({"rows", softmax("f16", 2, 2048)});
  cases.push_back({"rows", softmax("f32", 1, 1021)});
  cases.push_back({"rows", scores("f32", 7, 33)});
  cases.push_back({"rows", scores("bf16", 2, 640)});
  cases.push_back({"rows of a cluster", softmax("bf16", 1, 50001)});
  cases.push_back({"rows of a cluster", softmax("f32", 2, 25000)});
}

void add_steps(std::vector<Case>& cases) {
  int i = 0;
  for (const int extent : kRagged) {
    const int other = kRagged[(i + 3) % 8];
    const char* const type = kTypes[i++ % 3];
    cases.push_back({"steps", attention("f32", extent, 65, other, 3)});
    cases.push_back({"steps", attention(type, other, 33, extent, 2), gpu(132)});
    cases.push_back({"steps", columns(type, extent, other)});
    cases.push_back({"steps", sums(type, other, std::max(extent, 2), 2)});
    cases.push_back({"steps", pasted(type, extent, other)});
  }
  cases.push_back({"steps", columns("f32", 5, 300)});
  cases.push_back({"steps", attention("f64", 7, 17, 15, 2)});
}

std::string spread_out(std::string_view type, int rows, int columns) {
  return fmt::format(R"(
kernel(%x: {0}[{1},{2}] strides({3},1), %t: {0}[{1},{2}] strides(1,{4})) -> {0}[{1},{2}] {{
  %y = block(%x, %t) axes(m: grid {1}) {{
    %e = exp (sub (load %x [m, .]), (load %t [m, .]))
    store (div %e, (sum %e axis=1)) [m, .]
  }}
  return %y
}})",
                     type, rows, columns, columns + 3, rows + 2);
}

void add_strides(std::vector<Case>& cases) {
  for (const char* const type : kTypes) {
    cases.push_back({"steps", spread_out(type, 7, 33)});
    cases.push_back({"steps", spread_out(type, 17, 3)});
  }
}

/// Functions of device/cuda that texts of the generator call.
std::set<std::string> functions_of_the_generator() {
  const std::regex kDeclared("__device__ [^;={()]*?(\\w+)\\("), kCalled("\\w+(?=[(<\"])"),
      kLiteral("\"(\\\\.|[^\"\\\\])*\"");
  const auto each = [](const std::string& text, const std::regex& what, const auto& f) {
    for (std::sregex_iterator it(text.begin(), text.end(), what), end; it != end; ++it) f(*it);
  };
  std::set<std::string> words;
  for (const char* folder : {"/src/codegen", "/src/codegen/cuda"})
    for (const auto& entry :
         std::filesystem::directory_iterator(MIRAGE_SOURCE_DIR + std::string(folder)))
      if (entry.path().extension() == ".cc")
        each(read(entry.path()), kLiteral, [&](const std::smatch& literal) {
          each(literal.str(), kCalled, [&](const std::smatch& word) { words.insert(word.str()); });
        });
  std::set<std::string> names;
  for (const DeviceHeader& known : device_headers())
    if (known.name.starts_with("mirage/cuda/"))
      each(std::string(known.text), kDeclared, [&](const std::smatch& declared) {
        if (words.contains(declared.str(1))) names.insert(declared.str(1));
      });
  names.erase("erf");  // of the body of gelu, which is a function of its own
  return names;
}

std::string why_no_loop(const lower::KernelPlan& plan, const lower::Target& target) {
  const auto planned = lower::plan_pipeline(plan, target);
  return planned ? "" : planned.error().message;
}

class Forms : public testing::Test {
 protected:
  void SetUp() override { std::printf("seed %llu\n", static_cast<unsigned long long>(seed())); }

  void expect_right(const std::vector<Case>& cases) {
    std::vector<codegen::SourceUnit> units;
    std::vector<tune::Suite> suites;
    for (const Case& one : cases) {
      SCOPED_TRACE(one.text);
      const ir::GraphPtr graph = parsed(one.text);
      ASSERT_NE(graph, nullptr);
      auto suite = suite_of(graph);
      ASSERT_TRUE(suite) << suite.error().message;
      const auto program = lower::lower(graph, one.target);
      ASSERT_TRUE(program) << program.error().message;
      const lower::KernelPlan& plan = program->launches.at(0);
      EXPECT_EQ(form_of(plan), one.form) << why_no_loop(plan, one.target);
      auto unit = codegen::emit(*program);
      ASSERT_TRUE(unit) << unit.error().message;
      units.push_back(std::move(*unit));
      suites.push_back(std::move(*suite));
    }
    const std::vector<Loaded> loaded = load(units, cache_.options());
    for (size_t i = 0; i < cases.size(); ++i) {
      ASSERT_TRUE(loaded[i]) << cases[i].text << words_of(loaded[i].error());
      const auto done = run(**loaded[i], suites[i], 1);
      EXPECT_TRUE(done) << cases[i].text << done.error().message << '\n' << units[i].text;
    }
  }

 private:
  Cache cache_;
};

using Cases = std::vector<Case>;
constexpr void (*kGroups[])(Cases&) = {add_linear, add_attention, add_computed_operands, add_rows,
                                       add_steps,  add_strides,   add_elementwise};

class FormsOf : public Forms, public testing::WithParamInterface<void (*)(Cases&)> {};

TEST_P(FormsOf, AreRight) {
  Cases cases;
  GetParam()(cases);
  expect_right(cases);
}

INSTANTIATE_TEST_SUITE_P(Groups, FormsOf, testing::ValuesIn(kGroups));

TEST_F(Forms, HaveEveryFunctionThatTheGeneratorNames) {
  std::string texts;
  for (const auto& group : kGroups) {
    Cases cases;
    group(cases);
    for (const Case& one : cases) {
      const auto program = lower::lower(parsed(one.text), one.target);
      ASSERT_TRUE(program) << program.error().message;
      const auto unit = codegen::emit(*program);
      ASSERT_TRUE(unit) << unit.error().message;
      texts += unit->text;
    }
  }
  const std::set<std::string> names = functions_of_the_generator();
  EXPECT_GE(names.size(), 30u);
  for (const std::string& name : names)
    EXPECT_TRUE(std::regex_search(texts, std::regex("\\b" + name + "\\b"))) << name;
}

}  // namespace
}  // namespace mirage::host_kit
