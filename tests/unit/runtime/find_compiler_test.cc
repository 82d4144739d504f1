#include "runtime/cpu/find_compiler.h"

#include <gmock/gmock.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace mirage::runtime {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using Words = std::vector<std::string>;

TEST(SplitWords, AsAShellDoes) {
  EXPECT_EQ(*split_words(""), Words{});
  EXPECT_EQ(*split_words("  ccache \t g++ "), (Words{"ccache", "g++"}));
  EXPECT_EQ(*split_words("clang++ -stdlib=libc++"), (Words{"clang++", "-stdlib=libc++"}));
  EXPECT_EQ(*split_words("'/my tools/c++' -DX=\"a b\"c"), (Words{"/my tools/c++", "-DX=a bc"}));
  EXPECT_EQ(*split_words("/my\\ tools/c++ ''"), (Words{"/my tools/c++", ""}));
  EXPECT_EQ(*split_words(R"("a\"b\\c\d" 'e\f' $HOME)"), (Words{R"(a"b\c\d)", R"(e\f)", "$HOME"}));
  for (const char* text : {"'a", "a \"b", "a'"}) {
    const auto words = split_words(text);
    ASSERT_FALSE(words) << text;
    EXPECT_EQ(words.error().code, Code::BadInput);
  }
}

class FindCompiler : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "mirage compiler XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string script(const std::string& text) const {
    const fs::path path = folder_ / "c++";
    std::ofstream(path) << "#!/bin/sh\n" << text << "\n";
    fs::permissions(path, fs::perms::owner_all);
    return path;
  }
  static std::string refusal(const std::string& wanted) {
    const auto found = find_compiler(wanted);
    EXPECT_FALSE(found);
    if (found) return "";
    EXPECT_EQ(found.error().code, Code::Unsupported);
    return found.error().message;
  }

  fs::path folder_;
};

TEST_F(FindCompiler, WordsFollowTheProgram) {
  const std::string path = script("echo \"$1 $#\"");
  const auto found = find_compiler("'" + path + "' '-D A'");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->command, (Words{path, "-D A"}));
  EXPECT_EQ(found->version, "-D A 2");  // and --version
  EXPECT_EQ(find_compiler(path)->command, Words{path}) << "a file's name may have blanks";
}

TEST_F(FindCompiler, SaysWhyThereIsNone) {
  EXPECT_THAT(refusal("/nowhere/c++ -O1"), HasSubstr("compiler /nowhere/c++ -O1: cannot run"));
  EXPECT_THAT(refusal("'c++"), HasSubstr("a quote ' without its end"));
  EXPECT_THAT(refusal(" "), HasSubstr("no words"));
  EXPECT_THAT(refusal(script("echo; echo no licence >&2; echo more; exit 3")),
              HasSubstr("--version has status 3: no licence"));
}

TEST_F(FindCompiler, OneThatHangsIsNamed) {
  const std::string path = script("exec sleep 60");
  EXPECT_EQ(refusal(path), "compiler " + path + ": no answer to --version within 2 s");
}

TEST_F(FindCompiler, WhetherItWorks) {
  EXPECT_TRUE(check_that_it_works(*find_compiler(), {"-std=c++20"}));
  const auto found = find_compiler(
      script("[ \"$1\" = --version ] && exec echo broken 1.0\necho no space for me >&2; exit 1"));
  ASSERT_TRUE(found);
  const auto works = check_that_it_works(*found, {});
  ASSERT_FALSE(works);
  EXPECT_EQ(works.error().code, Code::Unsupported);
  EXPECT_THAT(works.error().message, HasSubstr("status 1 for a file of nothing: no space for me"));
}

}  // namespace
}  // namespace mirage::runtime
