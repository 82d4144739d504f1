#include "ir/mugraph_read.h"

#include <algorithm>

#include "ir/mugraph_format.h"

namespace mirage::ir::mugraph {
namespace {

// Far above what a muGraph needs (its depth is 7, the largest published file has 60 thousand
// values), far below what a hostile text can ask for.
constexpr size_t kMaxDepth = 32;
constexpr size_t kMaxValues = 4'000'000;

/// Builds the document; refuses what would make it large or ambiguous.
class Reader : public nlohmann::json_sax<Json> {
 public:
  Json root;
  std::string error;    // empty where the text is not JSON
  size_t position = 0;  // of what is not JSON

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return refuse("JSON has no binary values"); }
  bool start_object(size_t) override { return open(Json::object()); }
  bool start_array(size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    Json& object = *open_.back();
    if (object.contains(name))
      return refuse(fmt::format("\"{}\" is given twice in one object", shown(name)));
    member_ = &object[name];
    return true;
  }
  bool parse_error(size_t at, const std::string&, const nlohmann::detail::exception&) override {
    position = at;
    return false;
  }

 private:
  bool refuse(std::string message) {
    error = std::move(message);
    return false;
  }
  bool add(Json value) { return place(std::move(value)) != nullptr; }
  bool open(Json container) {
    if (open_.size() == kMaxDepth)
      return refuse(fmt::format("JSON is nested more than {} deep", kMaxDepth));
    Json* placed = place(std::move(container));
    if (placed) open_.push_back(placed);
    return placed;
  }
  bool close() {
    open_.pop_back();
    return true;
  }
  /// Into the open array or the named member of the open object. Pointers to what is open stay
  /// valid: an array grows only at its end, after what was open in it has been closed.
  Json* place(Json value) {
    if (++values_ > kMaxValues) {
      refuse(fmt::format("JSON has more than {} values", kMaxValues));
      return nullptr;
    }
    if (open_.empty()) {
      root = std::move(value);
      return &root;
    }
    if (open_.back()->is_object()) {
      *member_ = std::move(value);
      return member_;
    }
    open_.back()->push_back(std::move(value));
    return &open_.back()->back();
  }

  std::vector<Json*> open_;
  Json* member_ = nullptr;
  size_t values_ = 0;
};

tl::unexpected<Error> wrong_type(const Json& value, const char* key, const char* wanted,
                                 const std::string& where) {
  return bad_input("{}: \"{}\" should be {}, found {}", where, key, wanted, value.type_name());
}

std::optional<int64_t> as_integer(const Json& value) {
  if (value.is_number_unsigned()) {
    const uint64_t number = *value.get_ptr<const Json::number_unsigned_t*>();
    if (number > static_cast<uint64_t>(INT64_MAX)) return std::nullopt;
    return static_cast<int64_t>(number);
  }
  if (value.is_number_integer()) return *value.get_ptr<const Json::number_integer_t*>();
  return std::nullopt;
}

}  // namespace

std::string shown(std::string_view text) {
  constexpr size_t kShown = 64;
  std::string out;
  for (const char c : text.substr(0, kShown)) {
    const bool is_plain = c >= ' ' && c <= '~' && c != '"' && c != '\\';
    out += is_plain ? std::string(1, c) : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return text.size() > kShown ? out + "..." : out;
}

Result<Json> parse_json(std::string_view text) {
  Reader reader;
  if (Json::sax_parse(text, &reader)) return std::move(reader.root);
  if (!reader.error.empty()) return bad_input("{}", reader.error);
  return bad_input("not JSON: stopped at byte {} of {}", std::min(reader.position, text.size()),
                   text.size());
}

Result<const Json*> member(const Json& object, const char* key, const std::string& where) {
  if (!object.is_object())
    return bad_input("{}: expected an object with \"{}\", found {}", where, key,
                     object.type_name());
  const auto at = object.find(key);
  if (at == object.end()) return bad_input("{}: \"{}\" is missing", where, key);
  return &*at;
}

Result<int64_t> integer(const Json& object, const char* key, const std::string& where) {
  MIRAGE_TRY(const Json* value, member(object, key, where));
  if (const auto number = as_integer(*value)) return *number;
  return wrong_type(*value, key, "a 64-bit integer", where);
}

Result<double> number(const Json& object, const char* key, const std::string& where) {
  MIRAGE_TRY(const Json* value, member(object, key, where));
  if (!value->is_number()) return wrong_type(*value, key, "a number", where);
  return value->get<double>();
}

Result<std::string> string(const Json& object, const char* key, const std::string& where) {
  MIRAGE_TRY(const Json* value, member(object, key, where));
  if (!value->is_string()) return wrong_type(*value, key, "a string", where);
  return *value->get_ptr<const std::string*>();
}

Result<const Json*> array(const Json& object, const char* key, const std::string& where) {
  MIRAGE_TRY(const Json* value, member(object, key, where));
  if (!value->is_array()) return wrong_type(*value, key, "a list", where);
  return value;
}

Result<std::vector<int64_t>> integers(const Json& object, const char* key,
                                      const std::string& where) {
  MIRAGE_TRY(const Json* list, array(object, key, where));
  if (list->size() > kMaxRank)
    return bad_input("{}: \"{}\" has {} entries, at most {} are possible", where, key, list->size(),
                     kMaxRank);
  std::vector<int64_t> values;
  for (const Json& value : *list) {
    const auto number = as_integer(value);
    if (!number) return wrong_type(value, key, "a list of 64-bit integers", where);
    values.push_back(*number);
  }
  return values;
}

Result<std::array<int64_t, 3>> int3(const Json& object, const char* key, const std::string& where) {
  MIRAGE_TRY(const Json* value, member(object, key, where));
  std::array<int64_t, 3> result{};
  for (size_t i = 0; i < 3; ++i) {
    constexpr std::array kNames = {"x", "y", "z"};
    MIRAGE_TRY(result[i], integer(*value, kNames[i], fmt::format("{}, \"{}\"", where, key)));
  }
  return result;
}

Result<Tensor> tensor(const Json& json, Epoch epoch, const std::string& where) {
  Tensor result;
  MIRAGE_TRY(result.guid, integer(json, "guid", where));
  MIRAGE_TRY(const int64_t rank, integer(json, "num_dims", where));
  MIRAGE_TRY(result.type.shape, integers(json, "dim", where));
  if (rank < 0 || rank > static_cast<int64_t>(result.type.shape.size()))
    return bad_input("{}: \"num_dims\" is {}, but \"dim\" has {} entries", where, rank,
                     result.type.shape.size());
  result.type.shape.resize(static_cast<size_t>(rank));
  MIRAGE_TRY(const int64_t code, integer(json, "data_type", where));
  const auto dtype = dtype_of(code, epoch);
  if (!dtype) return bad_input("{}: unknown data_type {}", where, code);
  result.type.dtype = *dtype;
  return result;
}

Result<std::vector<Tensor>> tensors(const Json& object, const char* key, Epoch epoch,
                                    const std::string& where) {
  MIRAGE_TRY(const Json* list, array(object, key, where));
  std::vector<Tensor> result;
  for (const Json& json : *list) {
    MIRAGE_TRY(Tensor read,
               tensor(json, epoch, fmt::format("{}, {} {}", where, key, result.size())));
    result.push_back(std::move(read));
  }
  return result;
}

}  // namespace mirage::ir::mugraph
