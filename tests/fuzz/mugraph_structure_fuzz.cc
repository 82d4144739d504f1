// muGraph JSON that stays JSON: values change type and size, keys vanish, operators are doubled,
// exchanged and renamed. Finds what lies behind the checks that random bytes do not pass.

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <random>

#include "mugraph_input.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace {

using Json = nlohmann::json;

constexpr std::array kNumbers = {"0",
                                 "1",
                                 "-1",
                                 "2",
                                 "3",
                                 "7",
                                 "8",
                                 "16",
                                 "64",
                                 "1024",
                                 "-2",
                                 "4096",
                                 "2147483647",
                                 "2147483648",
                                 "4294967296",
                                 "921",
                                 "940",
                                 "941",
                                 "950",
                                 "1099511627776",
                                 "0.5",
                                 "1e300",
                                 "-0.0",
                                 "5e-324",
                                 "9223372036854775807",
                                 "1e18",
                                 "1000000000",
                                 "65536",
                                 "65537",
                                 "-9223372036854775808",
                                 "123",
                                 "10000000",
                                 "20000000",
                                 "281474976710656",
                                 "18446744073709551615"};
constexpr std::array kOperators = {"input",
                                   "output",
                                   "customized",
                                   "matmul",
                                   "exp",
                                   "square",
                                   "sqrt",
                                   "silu",
                                   "gelu",
                                   "relu",
                                   "add",
                                   "sub",
                                   "mul",
                                   "div",
                                   "pow",
                                   "mul_scalar",
                                   "clamp",
                                   "rms_norm",
                                   "reduction_0",
                                   "reduction_1",
                                   "reduction_d",
                                   "concat_0",
                                   "concat_1",
                                   "split_0",
                                   "split_1",
                                   "chunk_0",
                                   "chunk_1",
                                   "allreduce",
                                   "forloop_accum_nored",
                                   "forloop_accum_max",
                                   "forloop_accum_red_ld_sum",
                                   "forloop_accum_red_ld_mean",
                                   "forloop_accum_red_ld_rms",
                                   "forloop_accum_redtox_ld_sum",
                                   "forloop_accum_nored_rescale",
                                   "forloop_accum_red_ld_sum_rescale",
                                   "reduction_0_max",
                                   "reduction_1_max",
                                   "reduction_1_to_dimx",
                                   "concat_then_matmul"};
constexpr std::array kKeys = {
    "scalar",         "min_val",        "max_val",     "reduce_dim",    "split_dim",
    "chunk_dim",      "chunk_size",     "concat_dim",  "input_strides", "normalized_shape",
    "output_strides", "reduction_dimx", "forloop_dim", "dtensor"};

class Mutator {
 public:
  explicit Mutator(unsigned seed) : random_(seed) {}

  void mutate(Json& document) {
    for (size_t i = 1 + below(3); i > 0; --i) {
      nodes_.clear();
      collect(document);
      change(*nodes_[below(nodes_.size())]);
    }
  }

 private:
  size_t below(size_t limit) { return random_() % std::max<size_t>(limit, 1); }
  template <class List>
  auto one_of(const List& list) {
    return list[below(list.size())];
  }
  void collect(Json& node) {
    nodes_.push_back(&node);
    if (node.is_structured())
      for (Json& child : node) collect(child);
  }
  Json number() { return Json::parse(one_of(kNumbers)); }

  void change(Json& node) {
    const size_t way = below(8);
    if (way == 0) {
      node = Json(*nodes_[below(nodes_.size())]);  // another part of the document, by value
    } else if (way == 1) {
      node = other_type();
    } else if (node.is_number()) {
      change_number(node, way);
    } else if (node.is_string()) {
      node = std::string(way < 5 ? "tb_" : "kn_") + one_of(kOperators) + "_op";
    } else if (node.is_array()) {
      change_array(node, way);
    } else if (node.is_object()) {
      change_object(node, way);
    }
  }

  Json other_type() {
    switch (below(7)) {
      case 0:
        return nullptr;
      case 1:
        return true;
      case 2:
        return "text\n\xc3\xa9";
      case 3:
        return Json::array();
      case 4:
        return Json::object();
      case 5:
        return Json::array({number(), number()});
      default:
        return number();
    }
  }

  void change_number(Json& node, size_t way) {
    const Json before = node;
    if (way == 2) {
      node = number();
    } else if (way < 6) {  // everywhere, so that types go on agreeing
      const Json after = way == 3 ? number() : Json(1 + below(100));
      for (Json* other : nodes_)
        if (*other == before) *other = after;
    } else if (before.is_number_integer() && std::abs(before.get<double>()) < 1e15) {
      node = before.get<int64_t>() * (way == 6 ? 2 : 1) + (way == 7 ? 1 : 0);
    }
  }

  void change_array(Json& node, size_t way) {
    if (node.empty() || way == 2) {
      node.push_back(Json(*nodes_[below(nodes_.size())]));
    } else if (way < 5) {
      const Json copy = node[below(node.size())];
      node.insert(node.begin() + static_cast<std::ptrdiff_t>(below(node.size() + 1)), copy);
    } else if (way == 5) {
      std::swap(node[below(node.size())], node[below(node.size())]);
    } else {
      node.erase(below(node.size()));
    }
  }

  void change_object(Json& node, size_t way) {
    if (node.empty() || way < 5) {
      node[one_of(kKeys)] = way < 4 ? number() : Json(*nodes_[below(nodes_.size())]);
    } else {
      node.erase(std::next(node.begin(), static_cast<std::ptrdiff_t>(below(node.size()))));
    }
  }

  std::minstd_rand random_;
  std::vector<Json*> nodes_;
};

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  const char* text = reinterpret_cast<const char*>(data) + 1;
  Json document = size > 1 ? Json::parse(text, text + size - 1, nullptr, false) : Json();
  if (document.is_discarded() || document.is_null()) return LLVMFuzzerMutate(data, size, max_size);
  Mutator(seed).mutate(document);
  const std::string changed = document.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (changed.size() + 1 > max_size) return size;
  std::copy(changed.begin(), changed.end(), data + 1);
  return changed.size() + 1;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  mirage::fuzz::check_mugraph(data, size);
  return 0;
}
