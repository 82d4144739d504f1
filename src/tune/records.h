#pragma once
// The record store: winners of earlier runs in one SQLite file that any number of processes may use
// at once and that survives a kill at any moment. A record is data to start from, never to be
// trusted: whoever loads one parses, verifies and checks it again.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "util/hash.h"
#include "util/result.h"

struct sqlite3;

namespace mirage::tune {

/// Everything that changes the answer. A field forgotten here returns wrong programs.
struct RecordKey {
  Hash128 graph;           // structural hash of the user's program
  std::string target;      // row of the target table
  std::string options;     // of optimize, in a fixed order
  std::string compiler;    // path and version
  Hash128 device_headers;  // hash of the headers that generated code includes
  std::string version;     // of Mirage
  std::string machine;     // processor model and cores: times do not travel
  std::string text() const;
};

struct Record {
  std::string program;          // the winner as .mu text
  Hash128 program_hash;         // its structural hash, compared after parsing
  std::string plan;             // of the winner, in words
  std::string verdict;          // one line for people
  double time_us = 0;           // median of the winner
  double baseline_us = 0;       // median of candidate 0 in the same run
  int64_t created_seconds = 0;  // since 1970
};

struct RecordSummary {
  std::string key;
  std::string name;  // of the program
  std::string target;
  double time_us = 0;
  double baseline_us = 0;
  int64_t created_seconds = 0;
};

class RecordStore {
 public:
  /// Opens or creates the file, folders included. A file that is not a usable database is moved
  /// aside to FILE.damaged-N, told in notes(). Io if the place cannot be written.
  static Result<RecordStore> open(const std::string& file);
  RecordStore(RecordStore&&) noexcept = default;
  RecordStore& operator=(RecordStore&&) noexcept = default;

  Result<std::optional<Record>> find(const RecordKey& key);
  /// Keeps the faster one if there is a record already.
  Result<void> save(const RecordKey& key, std::string_view name, const Record& record);
  Result<std::vector<RecordSummary>> list();
  /// Number of records removed.
  Result<int64_t> clear();

  const std::string& file() const { return file_; }
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  RecordStore() = default;
  Result<void> connect();

  std::string file_;
  std::unique_ptr<sqlite3, Close> handle_;
  std::vector<std::string> notes_;
};

/// $MIRAGE_RECORDS, else records.sqlite in this cache folder.
std::string record_file(const std::string& cache_directory);

}  // namespace mirage::tune
