// Faults planted in kernels and device headers: each is an edit of the text, and must be named by
// the host kit or make the result wrong. The same text without the edit is clean.

#include <gmock/gmock.h>

#include <functional>
#include <set>
#include <sstream>

#include "device/host/edit.h"
#include "device/host/programs.h"
#include "device/host/support.h"

namespace mirage::host_kit {
namespace {

using codegen::SourceUnit;

/// A lowered program that faults are planted in.
struct Base {
  SourceUnit unit;
  std::shared_ptr<const tune::Suite> suite;
};

Base made(const std::string& text, const lower::Target& target) {
  const ir::GraphPtr graph = parsed(text);
  auto suite = suite_of(graph);
  EXPECT_TRUE(suite) << suite.error().message;
  const auto program = lower::lower(graph, target);
  EXPECT_TRUE(program) << program.error().message;
  auto unit = codegen::emit(*program);
  EXPECT_TRUE(unit) << unit.error().message;
  return {std::move(*unit), std::make_shared<tune::Suite>(std::move(*suite))};
}

/// A kernel of each form, with fewer stages than steps and more steps than blocks of a cluster.
const std::map<std::string, Base>& bases() {
  static const std::map<std::string, Base> all{
      {"ring", made(linear("f16", 17, 64, 2, 512, 8), gpu(1, 32 << 10))},
      {"narrow ring", made(linear("f16", 3, 32, 2, 256, 8), gpu(1, 22 << 10))},
      {"attention", made(attention("f16", 17, 256, 64, 8), gpu(1, 60 << 10))},
      {"products first", made(attention("f16", 17, 256, 64, 8, First::Products), gpu(1))},
      {"cluster", made(attention("f16", 17, 256, 64, 8), gpu(132))},
      {"rows", made(softmax("f32", 3, 1000), gpu(132))},
      {"rows of a cluster", made(softmax("f16", 1, 50000), gpu(132))},
      {"steps", made(attention("f32", 7, 65, 33, 3), gpu(132))},
      {"columns", made(columns("f32", 3, 65), gpu(132))},
      {"copies", made(pasted("f32", 17, 9), gpu(132))},
      {"sums", made(sums("f32", 7, 65, 3), gpu(132))},
  };
  return all;
}

struct Edit {
  std::string file;  // a header's name, or kText
  std::string from, to;
};

/// The program with its headers in its text, changed.
SourceUnit edited(const Base& base, const std::vector<Edit>& edits) {
  SourceUnit unit = base.unit;
  std::map<std::string, std::string> headers;
  for (const Edit& edit : edits) {
    if (edit.file == kText) {
      unit.text = replaced(unit.text, edit.from, edit.to);
      continue;
    }
    std::string& text = headers[edit.file];
    text = replaced(text.empty() ? header(edit.file) : text, edit.from, edit.to);
  }
  unit.text = Flat(headers).flatten(unit.text);
  return unit;
}

struct Mutant {
  std::string what;
  std::string base;
  SourceUnit unit;
};

class Faults : public testing::Test {
 protected:
  void SetUp() override { std::printf("seed %llu\n", static_cast<unsigned long long>(seed())); }

  std::vector<Loaded> load(const std::vector<Mutant>& mutants) {
    std::vector<SourceUnit> units;
    for (const Mutant& mutant : mutants) units.push_back(mutant.unit);
    std::vector<Loaded> loaded = host_kit::load(units, cache_.options());
    for (size_t i = 0; i < mutants.size(); ++i)
      EXPECT_TRUE(loaded[i]) << mutants[i].what << ": " << words_of(loaded[i].error());
    return loaded;
  }

  static Result<void> run(const Mutant& mutant, const Loaded& loaded) {
    if (!loaded) return tl::unexpected(loaded.error());
    const auto done = host_kit::run(**loaded, *bases().at(mutant.base).suite, 1);
    std::printf("%s (%s): %s\n", mutant.what.c_str(), mutant.base.c_str(),
                done ? "-" : done.error().message.c_str());
    return done;
  }

  static bool is_caught(const Result<void>& done) {
    return !done && (done.error().code == Code::RunFailed || done.error().code == Code::Mismatch);
  }

 private:
  Cache cache_;
};

TEST_F(Faults, NothingIsFoundWhereThereIsNone) {
  std::vector<Mutant> all;
  for (const auto& [name, base] : bases()) all.push_back({"clean", name, edited(base, {})});
  const auto loaded = load(all);
  for (size_t i = 0; i < all.size(); ++i) {
    const auto done = run(all[i], loaded[i]);
    EXPECT_TRUE(done) << all[i].base << ": " << done.error().message;
  }
}

const char* const kAsync = "cuda/async.h";
const char* const kFragment = "cuda/fragment.h";
const char* const kRows = "cuda/rows.h";
const char* const kSteps = "cuda/steps.h";
const std::string kIn(kText);

// ---- every barrier ----

const std::set<std::string_view> kBarriers{"sync();", "cluster_sync();", "__syncwarp();",
                                           "if (members > 1) sync();"};

/// A line of a file that is a barrier and nothing else.
struct BarrierLine {
  std::string file;
  size_t number;
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::vector<BarrierLine> barriers_of(const std::string& file, const std::string& text) {
  std::vector<BarrierLine> found;
  const auto lines = lines_of(text);
  for (size_t i = 0; i < lines.size(); ++i) {
    std::string_view line = lines[i];
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    line = line.substr(0, line.find("  //"));
    if (kBarriers.contains(line)) found.push_back({file, i});
  }
  return found;
}

std::string without(const std::string& text, size_t number) {
  std::string result;
  const auto lines = lines_of(text);
  for (size_t i = 0; i < lines.size(); ++i) result += (i == number ? "{}" : lines[i]) + "\n";
  return result;
}

SourceUnit without(const Base& base, const BarrierLine& line) {
  SourceUnit unit = base.unit;
  std::map<std::string, std::string> headers;
  if (line.file == kText)
    unit.text = without(unit.text, line.number);
  else
    headers[line.file] = without(header(line.file), line.number);
  unit.text = Flat(headers).flatten(unit.text);
  return unit;
}

TEST_F(Faults, EveryBarrierOfAKernelIsMissed) {
  std::vector<Mutant> all;
  for (const auto& [name, base] : bases())
    for (const BarrierLine& line : barriers_of(std::string(kText), base.unit.text))
      all.push_back({fmt::format("without the barrier in line {}", line.number + 1), name,
                     without(base, line)});
  EXPECT_GE(all.size(), 7u);
  const auto loaded = load(all);
  for (size_t i = 0; i < all.size(); ++i)
    EXPECT_TRUE(is_caught(run(all[i], loaded[i]))) << all[i].what;
}

TEST_F(Faults, EveryBarrierOfAHeaderIsMissed) {
  // Bases in the order in which they are tried.
  const std::map<std::string, std::vector<std::string>> users{
      {"cuda/async.h", {"ring"}},
      {"cuda/gemm.h", {"steps"}},
      {"cuda/merge.h", {"attention", "cluster", "ring", "products first"}},
      {"cuda/rows.h", {"rows", "rows of a cluster"}},
      {"cuda/steps.h", {"steps", "columns", "copies", "sums"}},
  };
  std::vector<BarrierLine> open;
  for (const DeviceHeader& known : device_headers()) {
    const std::string name(known.name.substr(std::string_view("mirage/").size()));
    const auto lines = barriers_of(name, std::string(known.text));
    if (!name.starts_with("cuda/") || name.starts_with("cuda/ptx") || lines.empty()) continue;
    EXPECT_TRUE(users.contains(name)) << name;
    open.insert(open.end(), lines.begin(), lines.end());
  }
  EXPECT_GE(open.size(), 20u);
  for (size_t round = 0; round < 4; ++round) {
    std::vector<Mutant> all;
    std::vector<BarrierLine> tried, left;
    for (const BarrierLine& line : open) {
      const auto& order = users.at(line.file);
      if (round >= order.size()) {
        left.push_back(line);
        continue;
      }
      tried.push_back(line);
      all.push_back({fmt::format("{} without line {}", line.file, line.number + 1), order[round],
                     without(bases().at(order[round]), line)});
    }
    const auto loaded = load(all);
    for (size_t i = 0; i < all.size(); ++i)
      if (!is_caught(run(all[i], loaded[i]))) left.push_back(tried[i]);
    open = left;
  }
  // It holds a warp together where the hardware wants it to be; no memory depends on it.
  const auto is_spare = [](const BarrierLine& line) {
    return line.file == kAsync && lines_of(header(line.file))[line.number] == "    __syncwarp();" &&
           lines_of(header(line.file))[line.number + 1] == "  }";
  };
  for (const BarrierLine& line : open)
    if (!is_spare(line))
      ADD_FAILURE() << line.file << ", line " << line.number + 1 << ": nobody misses "
                    << lines_of(header(line.file))[line.number];
}

// ---- others ----

/// Empty: the result is wrong. Otherwise what the error says.
constexpr const char* kWrong = "";
/// Who is too early depends on the order of threads and copies.
constexpr const char* kEarly =
    "a copy to them has not been waited for|race with a copy|copies .* race with block|deadlock";

struct Fault {
  const char* what;
  const char* base;
  std::vector<Edit> edits;
  const char* says;  // a regular expression
  std::function<void(codegen::Entry&)> change{};
};

std::vector<Fault> ring_faults() {
  const std::string full = "barrier_wait(full_ + 8 * stage_, parity_);";
  const std::string empty = "barrier_wait(empty_ + 8 * stage, parity);";
  return {
      {"a stage is not waited for", "ring", {{kAsync, full, ""}}, kEarly},
      {"a stage is waited for with the other parity",
       "ring",
       {{kAsync, full, "barrier_wait(full_ + 8 * stage_, parity_ ^ 1);"}},
       kEarly},
      {"parities do not change",
       "ring",
       {{kAsync, "stage_ = 0, parity_ ^= 1", "stage_ = 0"}},
       kEarly},
      {"the wrong stage is waited for",
       "ring",
       {{kAsync, full, "barrier_wait(full_ + 8 * ((stage_ + 1) % kStages), parity_);"}},
       kEarly},
      {"stages are filled before they are free",
       "ring",
       {{kAsync, empty, ""}},
       "copies .* (race with|has not been waited for)|more than 1 arrivals"},
      {"stages are free with the other parity",
       "ring",
       {{kAsync, empty, "barrier_wait(empty_ + 8 * stage, parity ^ 1);"}},
       "copies .* (race with|has not been waited for)|more than 1 arrivals"},
      {"a stage is released before it is read",
       "ring",
       {{kIn, "const uint32_t stage = ring.wait();",
         "const uint32_t stage = ring.wait(); ring.release();"},
        {kIn, "      }\n      ring.release();", "      }"}},
       kEarly},
      {"one reader too few is counted",
       "ring",
       {{kAsync, "empty_ + 8 * i, kReaders", "empty_ + 8 * i, kReaders - 1"}},
       "copies .* race with block|more than 3 arrivals"},
      {"one reader too many is counted",
       "ring",
       {{kAsync, "empty_ + 8 * i, kReaders", "empty_ + 8 * i, kReaders + 1"}},
       "deadlock.*lacks 1 of 5 arrivals"},
      {"all lanes release",
       "ring",
       {{kAsync, "if (lane() == 0) barrier_arrive", "barrier_arrive"}},
       "more than 4 arrivals|copies .* race"},
      {"barriers are not ready for copies",
       "ring",
       {{kAsync, "barriers_ready();", ""}},
       "may not see yet"},
      {"too few bytes are announced",
       "ring",
       {{kIn, "barrier_expect(barrier, 6272)", "barrier_expect(barrier, 6256)"}},
       "deadlock.* and -16 bytes"},
      {"too many bytes are announced",
       "ring",
       {{kIn, "barrier_expect(barrier, 6272)", "barrier_expect(barrier, 6288)"}},
       "deadlock.* and 16 bytes"},
      {"the bytes of one copy are announced",
       "ring",
       {{kIn, "barrier_expect(barrier, 6272)", "barrier_expect(barrier, 4096)"}},
       kEarly},
      {"no bytes are announced",
       "ring",
       {{kIn, "barrier_expect(barrier, 6272)", "barrier_arrive(barrier)"}},
       kEarly},
      {"copies overlap",
       "ring",
       {{kIn, "copy_box(stage + 4096", "copy_box(stage + 3072"}},
       "copies .* has not been waited for"},
      {"a copy is not aligned",
       "ring",
       {{kIn, "copy_box(stage + 4096", "copy_box(stage + 4224"}},
       "not a multiple of 1024"},
      {"the ring is not aligned",
       "ring",
       {{kIn, "align_shared<1024>", "align_shared<128>"}},
       "not a multiple of"},
      {"a copy of the column next to it",
       "ring",
       {{kIn, "(first_step + step) * 64, 0)", "(first_step + step) * 64 + 1, 0)"}},
       kWrong},
      {"a copy of the next step",
       "ring",
       {{kIn, "static_cast<int>(first_step + step) * 64)",
         "static_cast<int>(first_step + step + 1) * 64)"}},
       kWrong},
      {"one step too many", "ring", {{kIn, "step < 8", "step < 9"}}, "deadlock.*wait for parity"},
      {"one step too few",
       "ring",
       {{kIn, "step < 8", "step < 7"}},
       "race with a copy|has not been waited for|before a copy"},
      {"a box has a row too many",
       "ring",
       {},
       "deadlock.*bytes",
       [](codegen::Entry& entry) { ++entry.maps[1].box[1]; }},
      {"a box has a row too few",
       "ring",
       {},
       "deadlock.*bytes",
       [](codegen::Entry& entry) { --entry.maps[1].box[1]; }},
      {"a tensor has a row too few",
       "ring",
       {},
       kWrong,
       [](codegen::Entry& entry) { --entry.maps[1].extents[1]; }},
      {"a tensor has a row too many",
       "ring",
       {},
       "reaches beyond",
       [](codegen::Entry& entry) { ++entry.maps[1].extents[1]; }},
      {"a tensor begins an element later",
       "ring",
       {},
       "not aligned|reaches beyond",
       [](codegen::Entry& entry) { entry.maps[1].offset += 2; }},
      {"copies permute nothing",
       "ring",
       {},
       kWrong,
       [](codegen::Entry& entry) { entry.maps[0].swizzle_bytes = 0; }},
      {"copies permute more",
       "ring",
       {},
       kWrong,
       [](codegen::Entry& entry) { entry.maps[0].swizzle_bytes = 128; }},
      {"the launch has too little memory",
       "ring",
       {},
       "out of bounds",
       [](codegen::Entry& entry) { entry.scratch_bytes -= 256; }},
      {"rows of 128 bytes are read in another order",
       "ring",
       {{kFragment, "swap = row & 7", "swap = row & 3"}},
       kWrong},
      {"rows of 64 bytes are read in another order",
       "ring",
       {{kFragment, "swap = row >> 1 & 3", "swap = row & 3"}},
       kWrong},
      {"rows of 32 bytes are read in another order",
       "narrow ring",
       {{kFragment, "swap = row >> 2 & 1", "swap = row >> 1 & 1"}},
       kWrong},
      {"matrices that overlap",
       "ring",
       {{kFragment, "along_k = lane() / 8 % 2 * 8", "along_k = lane() / 8 % 2 * 4"}},
       kWrong},
      {"an output begins an element later",
       "ring",
       {{kIn, "Contiguous{p2_y + a0_n * 32, 64}", "Contiguous{p2_y + a0_n * 32 + 1, 64}"}},
       "out of bounds|race with a block"},
      {"an output has a row too many",
       "ring",
       {{kIn, "map_rows<V>(17, 32", "map_rows<V>(18, 32"}},
       "out of bounds|nobody wrote"},
      {"an output has a row too few",
       "ring",
       {{kIn, "map_rows<V>(17, 32", "map_rows<V>(16, 32"}},
       "output 0 .*nobody wrote it"},
  };
}

std::vector<Fault> cluster_faults() {
  const std::string one_merges =
      "if (cluster_rank() == 0) for (int i = thread(); i < count; i += threads()) {";
  const std::string all_merge =
      "for (int i = cluster_rank() * threads() + thread(); i < count; i += kBlocks * threads()) {";
  const std::string ends = "  cluster_sync();\n  if (cluster_rank() != 0) return;";
  return {
      {"memory of a block that has ended",
       "cluster",
       {{"cuda/cluster.h", all_merge, one_merges},
        {kIn, ends, "  if (cluster_rank() != 0) return;"}},
       "ended|ends, while"},
      {"blocks end before the others are done",
       "cluster",
       {{kIn, ends, "  if (cluster_rank() != 0) return;\n  cluster_sync();"}},
       "deadlock.*wait for their cluster|ended|ends, while"},
      {"a block that does not exist",
       "cluster",
       {{"cuda/cluster.h", "load_remote(remote_address(data + i, rank))",
         "load_remote(remote_address(data + i, rank + 1))"}},
       "beyond the cluster"},
      {"a block is left out",
       "cluster",
       {{kIn, "merge_blocks<ChainSum, 4>(s8_o", "merge_blocks<ChainSum, 3>(s8_o"}},
       "race with block"},
      {"blocks walk the same steps",
       "cluster",
       {{kIn, "first_step = cluster_rank() * 2", "first_step = 0"}},
       kWrong},
      {"results for a block too many",
       "rows of a cluster",
       {{kRows, "if (lane() < kBlocks)", "if (lane() <= kBlocks)"}},
       "beyond the cluster"},
      {"results of blocks in one place",
       "rows of a cluster",
       {{kRows, "pad + cluster_rank() * (kThreads / kWarp) + warp()", "pad + warp()"}},
       "race with block"},
  };
}

std::vector<Fault> rows_faults() {
  return {
      {"two reductions share a pad",
       "rows",
       {{kIn, "(pads + 4, r2)", "(pads + 0, r2)"}},
       "race with block"},
      {"a pad is too small",
       "rows",
       {{kIn, "shared_array<float, 8,", "shared_array<float, 7,"}},
       "out of bounds"},
      {"a row begins an element later",
       "rows",
       {{kIn, "row.load<4>(p0_x + a0_m * 1000)", "row.load<4>(p0_x + a0_m * 1000 + 1)"}},
       "not aligned"},
      {"a row begins a chunk later",
       "rows",
       {{kIn, "row.load<4>(p0_x + a0_m * 1000)", "row.load<4>(p0_x + a0_m * 1000 + 4)"}},
       "out of bounds"},
      {"a row has a chunk too many",
       "rows",
       {{kIn, "row{thread(), 1000}", "row{thread(), 1004}"}},
       "out of bounds|race with a block"},
      {"a tail is not asked for",
       "rows",
       {{kIn, "Tail::Chunks", "Tail::None"}},
       "out of bounds|race with a block"},
      {"stores of half the width",
       "rows",
       {{kIn, "row.store<4>", "row.store<2>"},
        {kRows, "if (has(chunk, e)) store_words<kBytes>(to + column(chunk) + e, words);",
         "if (has(chunk, e) && e == 0) store_words<kBytes>(to + column(chunk) + e, words);"}},
       "output 0 .*nobody wrote it"},
  };
}

std::vector<Fault> steps_faults() {
  return {
      {"a tile is one too long",
       "steps",
       {{kIn, "tile_length(65, a1_r, 22)", "tile_length(66, a1_r, 22)"}},
       "out of bounds|^output"},
      {"a state is not filled",
       "steps",
       {{kIn, "fill_tile<V>(1, 231,", "fill_tile<V>(1, 230,"}},
       "nobody wrote them"},
      {"one element too many",
       "steps",
       {{"cuda/block.h", "i < end;", "i <= end;"}},
       "out of bounds|nobody wrote|race with"},
      {"rows beyond the product",
       "steps",
       {{"cuda/gemm.h", "m - row < kRows ? m - row : kRows", "kRows"}},
       "out of bounds|nobody wrote|race with"},
      {"a barrier of one warp",
       "steps",
       {{kSteps, "put(to.at(row, col), value); });\n  sync();",
         "put(to.at(row, col), value); });\n  if (thread() < 32) sync();"}},
       "deadlock.*wait for their block|race with|nobody wrote"},
      {"a warp that ends early",
       "steps",
       {{kIn, "const int64_t item = block_index();",
         "if (thread() >= 224) return;\n  const int64_t item = block_index();"}},
       "deadlock.*224 of 256 threads have arrived.*have ended"},
      {"a shuffle of half a warp",
       "columns",
       {{"cuda/block.h", "template <class Op, class T>\n__device__ T combine_warp(T value) {\n",
         "template <class Op, class T>\n__device__ T combine_warp(T value) {\n  if (lane() < 16) "
         "return value;\n"}},
       "deadlock.*lanes of their warp|while other lanes"},
      {"a reduction of half a warp",
       "columns",
       {{"cuda/block.h", "mask = kWarp / 2", "mask = kWarp / 4"}},
       kWrong},
      {"warps share a place",
       "columns",
       {{kSteps, "partial[warp()] = value", "partial[0] = value"}},
       "race with block|nobody wrote"},
      {"an element of another block",
       "steps",
       {{kIn, "p3_y + a0_b * 231, 33", "p3_y + a0_b * 230, 33"}},
       "race with a block"},
      {"writes to an input",
       "columns",
       {{kIn, "Contiguous{p1_y, 65}", "Contiguous{const_cast<float*>(p0_x), 65}"}},
       "not an output"},
  };
}

std::vector<Fault> wild_faults() {
  const std::string begin = "const int64_t item = block_index();";
  const auto with = [&](const std::string& line) {
    return std::vector<Edit>{{kIn, begin, begin + "\n  " + line}};
  };
  return {
      {"an address that is no one's", "steps",
       with("if (item == 1 && thread() == 3) *reinterpret_cast<float*>(64) = 1;"),
       "block 1, thread 3: writes 4 bytes at 0x40"},
      {"an address that nobody checks", "steps",
       with("if (item == 1 && thread() == 3) __builtin_memset(reinterpret_cast<void*>(64 + item), "
            "1, 4096);"),
       "block 1, thread 3: touches 0x"},
      {"no end of calls",
       "steps",
       {{kIn, "extern \"C\" __global__",
         "__device__ __attribute__((noinline)) int deeper(volatile int* n) { volatile int m = *n + "
         "1; return deeper(&m) + m; }\nextern \"C\" __global__"},
        {kIn, begin,
         begin + "\n  volatile int depth = 0; if (item == 1 && thread() == 3) p3_y[0] = "
                 "deeper(&depth);"}},
       "block 1, thread 3: needs more than 131072 bytes of stack"},
      {"a large frame", "steps",
       with("volatile char frame[1 << 20]; if (item == 1 && thread() == 3) frame[thread()] = 1;"),
       "block [01], thread .*: needs more than 131072 bytes of stack"},
      {"a division by zero", "steps",
       with("volatile int zero = 0; if (item == 1 && thread() == 3) zero = thread() / zero;"),
       "block 1, thread 3: an integer divided by zero"},
      {"a trap", "steps", with("if (item == 1 && thread() == 3) __builtin_trap();"),
       "block 1, thread 3: an instruction that must not be reached"},
  };
}

class Planted : public Faults {
 protected:
  void expect_caught(const std::vector<Fault>& faults) {
    std::vector<Mutant> all;
    for (const Fault& fault : faults) {
      all.push_back({fault.what, fault.base, edited(bases().at(fault.base), fault.edits)});
      if (fault.change) fault.change(all.back().unit.entries[0]);
    }
    const auto loaded = load(all);
    for (size_t i = 0; i < all.size(); ++i) {
      const auto done = run(all[i], loaded[i]);
      EXPECT_TRUE(is_caught(done)) << all[i].what;
      if (done) continue;
      const std::string says = faults[i].says;
      EXPECT_EQ(done.error().code, says.empty() ? Code::Mismatch : Code::RunFailed)
          << all[i].what << ": " << done.error().message;
      EXPECT_THAT(done.error().message, testing::ContainsRegex(says)) << all[i].what;
    }
  }
};

TEST_F(Planted, InRings) { expect_caught(ring_faults()); }
TEST_F(Planted, InClusters) { expect_caught(cluster_faults()); }
TEST_F(Planted, InRows) { expect_caught(rows_faults()); }
/// Each is followed by a run of the clean kernel in the same process.
TEST_F(Planted, NothingEndsTheProcess) {
  expect_caught(wild_faults());
  const Mutant clean{"clean", "steps", edited(bases().at("steps"), {})};
  const auto loaded = load({clean});
  const auto done = run(clean, loaded[0]);
  EXPECT_TRUE(done) << done.error().message;
}

TEST_F(Planted, LinesOfTheTextAreNamed) {
  Mutant mutant{"a tile that is too long", "steps", bases().at("steps").unit};
  mutant.unit.text =
      replaced(mutant.unit.text, "tile_length(65, a1_r, 22)", "tile_length(67, a1_r, 22)");
  const auto loaded = load({mutant});
  const auto done = run(mutant, loaded[0]);
  ASSERT_FALSE(done);
  ASSERT_EQ(done.error().notes.size(), 1u) << "addr2line found nothing";
  EXPECT_THAT(done.error().notes[0], testing::MatchesRegex("at gemm.h:[0-9]+.*"));
}

TEST_F(Planted, InSteps) { expect_caught(steps_faults()); }

}  // namespace
}  // namespace mirage::host_kit
