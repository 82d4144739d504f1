#include "ir/mugraph_read.h"

#include <algorithm>

#include "ir/mugraph_format.h"

namespace mirage::ir::mugraph {
namespace {

/// Only finds out where a text that does not parse goes wrong.
struct ErrorPosition : nlohmann::json_sax<Json> {
  size_t position = 0;

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(size_t) override { return true; }
  bool key(string_t&) override { return true; }
  bool end_object() override { return true; }
  bool start_array(size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(size_t at, const std::string&, const nlohmann::detail::exception&) override {
    position = at;
    return false;
  }
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

Result<Json> parse_json(std::string_view text) {
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_discarded()) return json;
  ErrorPosition finder;
  Json::sax_parse(text, &finder);
  return bad_input("not JSON: stopped at byte {} of {}", std::min(finder.position, text.size()),
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
