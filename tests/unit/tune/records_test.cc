#include "tune/records.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "util/rng.h"

namespace mirage::tune {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class Records : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / fmt::format("mirage-records-{}", ::getpid());
    fs::remove_all(folder_);
    file_ = folder_ / "deep" / "records.sqlite";
  }
  void TearDown() override { fs::remove_all(folder_); }

  static RecordKey key(uint64_t n) {
    return {{n, 1}, "cpu-avx2", "", "g++ 12", {2, 3}, "0.1", "m"};
  }
  static Record record(double us) {
    return {"kernel @x", {4, 5}, "one kernel", "equivalent", us, 2 * us, 17};
  }

  fs::path folder_, file_;
};

TEST_F(Records, FindsWhatWasSaved) {
  RecordStore store = *RecordStore::open(file_);
  EXPECT_FALSE(*store.find(key(1)));
  ASSERT_TRUE(store.save(key(1), "x", record(10)));
  RecordStore other = *RecordStore::open(file_);
  const auto found = *other.find(key(1));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->program, "kernel @x");
  EXPECT_EQ(found->program_hash, (Hash128{4, 5}));
  EXPECT_EQ(found->plan, "one kernel");
  EXPECT_EQ(found->verdict, "equivalent");
  EXPECT_EQ(found->baseline_us, 20);
  EXPECT_EQ(found->created_seconds, 17);
  EXPECT_TRUE(store.notes().empty());
}

TEST_F(Records, EveryFieldOfTheKeyCounts) {
  RecordStore store = *RecordStore::open(file_);
  ASSERT_TRUE(store.save(key(1), "x", record(10)));
  std::vector<RecordKey> others(8, key(1));
  others[0].graph.low = 9;
  others[1].target = "cpu-avx512";
  others[2].options = "top=3";
  others[3].compiler = "g++ 13";
  others[4].device_headers.high = 9;
  others[5].version = "0.2";
  others[6].machine = "n";
  others[7].target = "cpu-avx", others[7].options = "2";  // fields must not run into each other
  for (const RecordKey& other : others) EXPECT_FALSE(*store.find(other)) << other.text();
}

TEST_F(Records, KeepsTheFasterOne) {
  RecordStore store = *RecordStore::open(file_);
  for (double us : {10.0, 12.0, 8.0}) ASSERT_TRUE(store.save(key(1), "x", record(us)));
  EXPECT_EQ((*store.find(key(1)))->time_us, 8);
}

TEST_F(Records, ListsAndClears) {
  RecordStore store = *RecordStore::open(file_);
  ASSERT_TRUE(store.save(key(1), "b", record(10)));
  ASSERT_TRUE(store.save(key(2), "a", record(10)));
  const auto rows = *store.list();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].name, "a");
  EXPECT_EQ(*store.clear(), 2);
  EXPECT_TRUE(store.list()->empty());
}

TEST_F(Records, DamagedFilesAreMovedAside) {
  fs::create_directories(file_.parent_path());
  for (const char* text : {"", "not a database at all, but long enough to have a header of one"}) {
    std::ofstream(file_) << text;
    Result<RecordStore> store = RecordStore::open(file_);
    ASSERT_TRUE(store) << store.error().message;
    ASSERT_TRUE(store->save(key(1), "x", record(10)));
    if (*text == '\0') continue;
    ASSERT_EQ(store->notes().size(), 1u);
    EXPECT_THAT(store->notes()[0], HasSubstr("damaged-1"));
    EXPECT_TRUE(fs::exists(file_.string() + ".damaged-1"));
  }
}

TEST_F(Records, HalfOfAFileIsMovedAside) {
  {
    RecordStore store = *RecordStore::open(file_);
    for (uint64_t n = 0; n < 200; ++n)
      ASSERT_TRUE(store.save(key(n), std::string(200, 'x'), record(10)));
  }
  fs::resize_file(file_, fs::file_size(file_) / 2 + 100);
  Result<RecordStore> store = RecordStore::open(file_);
  ASSERT_TRUE(store) << store.error().message;
  EXPECT_EQ(store->notes().size(), 1u);
  EXPECT_TRUE(store->save(key(1), "x", record(10)));
}

TEST_F(Records, PlaceThatCannotBeWritten) {
  const Result<RecordStore> store = RecordStore::open("/proc/nowhere/records.sqlite");
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, Code::Io);
}

/// Saves `count` records of its own, one after another.
pid_t start_writer(const std::string& file, uint64_t writer, uint64_t count) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  Result<RecordStore> store = RecordStore::open(file);
  if (!store) ::_exit(2);
  for (uint64_t n = 0; n < count; ++n) {
    RecordKey key;
    key.graph = {writer, n};
    if (!store->save(key, "x", Record{"p", {1, 2}, "plan", "v", 1, 2, 0})) ::_exit(3);
  }
  ::_exit(0);
}

TEST_F(Records, ProcessesWriteAtOnce) {
  std::vector<pid_t> writers;
  for (uint64_t w = 0; w < 4; ++w) writers.push_back(start_writer(file_, w, 50));
  for (pid_t writer : writers) {
    int status = 0;
    ::waitpid(writer, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(RecordStore::open(file_)->list()->size(), 200u);
}

TEST_F(Records, SurvivesKillAtRandomMoments) {
  constexpr uint64_t kSeed = 20;
  Rng rng(kSeed);
  size_t before = 0;
  for (uint64_t round = 0; round < 20; ++round) {
    const pid_t writer = start_writer(file_, round, 1000000);
    ::usleep(static_cast<useconds_t>(500 + rng.below(20000)));
    ::kill(writer, SIGKILL);
    int status = 0;
    ::waitpid(writer, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "seed " << kSeed << " round " << round;
    Result<RecordStore> store = RecordStore::open(file_);
    ASSERT_TRUE(store) << store.error().message;
    EXPECT_TRUE(store->notes().empty()) << store->notes()[0];
    const auto rows = store->list();
    ASSERT_TRUE(rows);
    EXPECT_GE(rows->size(), before) << "a committed record was lost, seed " << kSeed;
    before = rows->size();
    ASSERT_TRUE(store->save(key(1000 + round), "mine", record(1)));
    ++before;
  }
}

}  // namespace
}  // namespace mirage::tune
