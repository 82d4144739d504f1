#include "tune/records.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <thread>

#include "util/deadline.h"

namespace mirage::tune {
namespace {

constexpr const char* kSchema =
    "CREATE TABLE IF NOT EXISTS winner ("
    " key TEXT PRIMARY KEY, name TEXT NOT NULL, target TEXT NOT NULL, program TEXT NOT NULL,"
    " program_hash TEXT NOT NULL, plan TEXT NOT NULL, verdict TEXT NOT NULL, time_us REAL NOT NULL,"
    " baseline_us REAL NOT NULL, created INTEGER NOT NULL) WITHOUT ROWID";
// Raised when the table changes; another number is another file format and is moved aside.
constexpr int kFormat = 1;
constexpr int kBusyMilliseconds = 20000;

struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

tl::unexpected<Error> sql_error(sqlite3* handle, const std::string& file) {
  return fail(Code::Io, "record store {}: {}", file, sqlite3_errmsg(handle));
}

bool is_damage(int status) {
  return (status & 0xff) == SQLITE_CORRUPT || (status & 0xff) == SQLITE_NOTADB;
}

std::string text_of(sqlite3_stmt* row, int column) {
  const auto* text = sqlite3_column_text(row, column);
  return text == nullptr ? std::string()
                         : std::string(reinterpret_cast<const char*>(text),
                                       static_cast<size_t>(sqlite3_column_bytes(row, column)));
}

void bind_text(sqlite3_stmt* statement, int at, std::string_view text) {
  sqlite3_bind_text(statement, at, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
}

std::optional<Hash128> hash_of(const std::string& hex) {
  if (hex.size() != 32 || hex.find_first_not_of("0123456789abcdef") != std::string::npos)
    return std::nullopt;
  return Hash128{std::strtoull(hex.substr(0, 16).c_str(), nullptr, 16),
                 std::strtoull(hex.substr(16).c_str(), nullptr, 16)};
}

/// Held while a damaged file is replaced, so that two processes do not move each other's new one.
class FolderLock {
 public:
  explicit FolderLock(const std::string& file)
      : descriptor_(::open((file + ".lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644)) {
    if (descriptor_ >= 0) ::flock(descriptor_, LOCK_EX);
  }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  ~FolderLock() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

 private:
  int descriptor_;
};

}  // namespace

void RecordStore::Close::operator()(sqlite3* handle) const { sqlite3_close(handle); }

std::string RecordKey::text() const {
  Hasher hasher;
  hasher.add(graph).add(target).add(options).add(compiler).add(device_headers);
  hasher.add(version).add(machine);
  return to_hex(hasher.finish());
}

std::string record_file(const std::string& cache_directory) {
  if (const char* file = std::getenv("MIRAGE_RECORDS"); file != nullptr && *file != '\0')
    return file;
  return cache_directory + "/records.sqlite";
}

/// Damage shows as Mismatch, everything else as Io.
Result<void> RecordStore::connect() {
  sqlite3* raw = nullptr;
  const int opened =
      sqlite3_open_v2(file_.c_str(), &raw,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX, nullptr);
  handle_.reset(raw);
  if (opened != SQLITE_OK) return sql_error(raw, file_);
  sqlite3_busy_timeout(raw, kBusyMilliseconds);
  const std::string statements[] = {"PRAGMA journal_mode=WAL", "PRAGMA synchronous=NORMAL",
                                    "PRAGMA quick_check(1)", kSchema};
  const Deadline patience = Deadline::in_seconds(kBusyMilliseconds * 1e-3);
  for (const std::string& sql : statements) {
    std::string answer;
    const auto keep = [](void* out, int columns, char** values, char**) {
      if (columns > 0 && values[0] != nullptr) *static_cast<std::string*>(out) = values[0];
      return 0;
    };
    // Where several processes make the file, the change to WAL is refused without any waiting.
    int status = sqlite3_exec(raw, sql.c_str(), keep, &answer, nullptr);
    while ((status & 0xff) == SQLITE_BUSY && !patience.is_over()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      status = sqlite3_exec(raw, sql.c_str(), keep, &answer, nullptr);
    }
    const bool failed_check = sql.starts_with("PRAGMA quick_check") && answer != "ok";
    if (is_damage(status) || (status == SQLITE_OK && failed_check))
      return fail(Code::Mismatch, "record store {} is damaged: {}", file_,
                  status == SQLITE_OK ? answer : sqlite3_errmsg(raw));
    if (status != SQLITE_OK) return sql_error(raw, file_);
  }
  int format = 0;
  const auto number = [](void* out, int, char** values, char**) {
    *static_cast<int*>(out) = values[0] == nullptr ? 0 : std::atoi(values[0]);
    return 0;
  };
  if (sqlite3_exec(raw, "PRAGMA user_version", number, &format, nullptr) != SQLITE_OK)
    return sql_error(raw, file_);
  if (format == 0) {
    const std::string mark = fmt::format("PRAGMA user_version={}", kFormat);
    if (sqlite3_exec(raw, mark.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
      return sql_error(raw, file_);
  } else if (format != kFormat) {
    return fail(Code::Mismatch, "record store {} has format {}, expected {}", file_, format,
                kFormat);
  }
  // The table may be of somebody else's making.
  sqlite3_stmt* probe = nullptr;
  const int status = sqlite3_prepare_v2(
      raw,
      "SELECT key,name,target,program,program_hash,plan,verdict,time_us,baseline_us,created FROM "
      "winner",
      -1, &probe, nullptr);
  sqlite3_finalize(probe);
  if (status != SQLITE_OK)
    return fail(Code::Mismatch, "record store {} is not one: {}", file_, sqlite3_errmsg(raw));
  return {};
}

Result<RecordStore> RecordStore::open(const std::string& file) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (const fs::path folder = fs::path(file).parent_path(); !folder.empty())
    fs::create_directories(folder, error);
  RecordStore store;
  store.file_ = file;
  Result<void> connected = store.connect();
  if (connected) return store;
  if (connected.error().code != Code::Mismatch) return tl::unexpected(connected.error());

  const FolderLock lock(file);
  store.handle_.reset();
  connected = store.connect();  // another process may have replaced it meanwhile
  if (connected) return store;
  if (connected.error().code != Code::Mismatch) return tl::unexpected(connected.error());
  store.handle_.reset();
  int number = 1;
  while (fs::exists(fmt::format("{}.damaged-{}", file, number))) ++number;
  const std::string aside = fmt::format("{}.damaged-{}", file, number);
  fs::rename(file, aside, error);
  if (error) return fail(Code::Io, "record store {}: cannot be moved: {}", file, error.message());
  for (const char* suffix : {"-wal", "-shm"}) fs::remove(file + suffix, error);
  store.notes_.push_back(fmt::format("{}; moved to {}", connected.error().message, aside));
  MIRAGE_TRY_VOID(store.connect());
  return store;
}

Result<std::optional<Record>> RecordStore::find(const RecordKey& key) {
  sqlite3_stmt* raw = nullptr;
  const int prepared =
      sqlite3_prepare_v2(handle_.get(),
                         "SELECT program, program_hash, plan, verdict, time_us, baseline_us,"
                         " created FROM winner WHERE key=?1",
                         -1, &raw, nullptr);
  const Statement statement(raw);
  if (prepared != SQLITE_OK) return sql_error(handle_.get(), file_);
  bind_text(raw, 1, key.text());
  const int status = sqlite3_step(raw);
  if (status == SQLITE_DONE) return std::optional<Record>();
  if (status != SQLITE_ROW) return sql_error(handle_.get(), file_);
  const std::optional<Hash128> hash = hash_of(text_of(raw, 1));
  if (!hash) return std::optional<Record>();
  return std::optional<Record>(Record{text_of(raw, 0), *hash, text_of(raw, 2), text_of(raw, 3),
                                      sqlite3_column_double(raw, 4), sqlite3_column_double(raw, 5),
                                      sqlite3_column_int64(raw, 6)});
}

Result<void> RecordStore::save(const RecordKey& key, std::string_view name, const Record& record) {
  sqlite3_stmt* raw = nullptr;
  const int prepared = sqlite3_prepare_v2(
      handle_.get(),
      "INSERT INTO winner "
      "(key,name,target,program,program_hash,plan,verdict,time_us,baseline_us,created)"
      " VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10)"
      " ON CONFLICT(key) DO UPDATE SET name=?2, program=?4, program_hash=?5, plan=?6, "
      "verdict=?7, time_us=?8,"
      " baseline_us=?9, created=?10 WHERE ?8 <= time_us",
      -1, &raw, nullptr);
  const Statement statement(raw);
  if (prepared != SQLITE_OK) return sql_error(handle_.get(), file_);
  bind_text(raw, 1, key.text());
  bind_text(raw, 2, name);
  bind_text(raw, 3, key.target);
  bind_text(raw, 4, record.program);
  bind_text(raw, 5, to_hex(record.program_hash));
  bind_text(raw, 6, record.plan);
  bind_text(raw, 7, record.verdict);
  sqlite3_bind_double(raw, 8, record.time_us);
  sqlite3_bind_double(raw, 9, record.baseline_us);
  sqlite3_bind_int64(raw, 10,
                     record.created_seconds != 0 ? record.created_seconds
                                                 : static_cast<int64_t>(std::time(nullptr)));
  if (sqlite3_step(raw) != SQLITE_DONE) return sql_error(handle_.get(), file_);
  return {};
}

Result<std::vector<RecordSummary>> RecordStore::list() {
  sqlite3_stmt* raw = nullptr;
  const int prepared = sqlite3_prepare_v2(handle_.get(),
                                          "SELECT key, name, target, time_us, baseline_us, created "
                                          "FROM winner ORDER BY name, target, key",
                                          -1, &raw, nullptr);
  const Statement statement(raw);
  if (prepared != SQLITE_OK) return sql_error(handle_.get(), file_);
  std::vector<RecordSummary> rows;
  int status = sqlite3_step(raw);
  for (; status == SQLITE_ROW; status = sqlite3_step(raw))
    rows.push_back({text_of(raw, 0), text_of(raw, 1), text_of(raw, 2),
                    sqlite3_column_double(raw, 3), sqlite3_column_double(raw, 4),
                    sqlite3_column_int64(raw, 5)});
  if (status != SQLITE_DONE) return sql_error(handle_.get(), file_);
  return rows;
}

Result<int64_t> RecordStore::clear() {
  if (sqlite3_exec(handle_.get(), "DELETE FROM winner", nullptr, nullptr, nullptr) != SQLITE_OK)
    return sql_error(handle_.get(), file_);
  return static_cast<int64_t>(sqlite3_changes(handle_.get()));
}

}  // namespace mirage::tune
