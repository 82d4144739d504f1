// Every operator name of the published format, both spellings, and what it becomes.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "ir/mugraph_json.h"
#include "ir/text.h"

namespace mirage::ir {
namespace {

using Json = nlohmann::json;

struct Row {
  const char* name;
  std::vector<Shape> inputs;
  std::vector<Shape> outputs;
  const char* extra;     // further members
  const char* expected;  // operators, without type comments
};

Json tensor(int guid, const Shape& shape) {
  Shape dim = shape;
  dim.resize(4, 0);
  return {{"data_type", 950}, {"dim", dim}, {"guid", guid}, {"num_dims", shape.size()}};
}

Json op_json(const std::string& name, Json inputs, Json outputs, Json extra = Json::object()) {
  extra["op_type"] = name;
  extra["input_tensors"] = std::move(inputs);
  extra["output_tensors"] = std::move(outputs);
  return extra;
}

const Json kNoMap = {{"x", -1}, {"y", -1}, {"z", -1}};
const Json kOnes = {{"x", 1}, {"y", 1}, {"z", 1}};

Json tensors(const std::vector<Shape>& shapes, int first_guid) {
  Json list = Json::array();
  for (const Shape& shape : shapes) list.push_back(tensor(first_guid + int(list.size()), shape));
  return list;
}

/// Statements between the braces, one a line, without indent and comments.
std::string statements(const std::string& text) {
  std::string out;
  for (size_t at = text.find('\n') + 1; at < text.size();) {
    const size_t end = text.find('\n', at);
    std::string line = text.substr(at, end - at);
    at = end + 1;
    line = line.substr(0, line.find("  //"));
    line = line.substr(std::min(line.size(), line.find_first_not_of(' ')));
    if (line != "}") out += line + "\n";
  }
  return out;
}

std::string imported(const Json& graph) {
  const auto graphs = import_mugraphs(Json::array({graph}).dump(), Epoch::New);
  if (!graphs) return graphs.error().message;
  return statements(print(*(*graphs)[0]));
}

const Row kKernelRows[] = {
    {"kn_matmul_op", {{2, 3}, {3, 4}}, {{2, 4}}, "{}", "%2 = matmul %0, %1\n"},
    {"kn_exp_op", {{2, 3}}, {{2, 3}}, "{}", "%1 = exp %0\n"},
    {"kn_square_op", {{2, 3}}, {{2, 3}}, "{}", "%1 = square %0\n"},
    {"kn_sqrt_op", {{2, 3}}, {{2, 3}}, "{}", "%1 = sqrt %0\n"},
    {"kn_mul_scalar_op", {{2, 3}}, {{2, 3}}, R"({"scalar": 0.125})", "%2 = mul %0, 0x1p-3\n"},
    {"kn_silu_op", {{2, 3}}, {{2, 3}}, "{}", "%1 = silu %0\n"},
    {"kn_sigmoid_op", {{2, 3}}, {{2, 3}}, "{}", "%1 = sigmoid %0\n"},
    {"kn_gelu_op", {{2, 3}}, {{2, 3}}, "{}", "%1 = gelu %0\n"},
    {"kn_relu_op", {{2, 3}}, {{2, 3}}, "{}", "%1 = relu %0\n"},
    {"kn_log_op", {{2, 3}}, {{2, 3}}, "{}", "%1 = log %0\n"},
    {"kn_clamp_op",
     {{2, 3}},
     {{2, 3}},
     R"({"min_val": 0, "max_val": 6})",
     "%1 = clamp %0 lo=0 hi=6\n"},
    {"kn_add_op", {{2, 3}, {1, 3}}, {{2, 3}}, "{}", "%2 = add %0, %1\n"},
    {"kn_mul_op", {{2, 3}, {2, 1}}, {{2, 3}}, "{}", "%2 = mul %0, %1\n"},
    {"kn_div_op", {{2, 3}, {2, 3}}, {{2, 3}}, "{}", "%2 = div %0, %1\n"},
    {"kn_pow_op", {{2, 3}, {2, 3}}, {{2, 3}}, "{}", "%2 = pow %0, %1\n"},
    {"kn_reduction_0_op", {{2, 3}}, {{1, 3}}, "{}", "%1 = sum %0 axis=0\n"},
    {"kn_reduction_2_op", {{2, 3, 4}}, {{2, 3, 1}}, "{}", "%1 = sum %0 axis=2\n"},
    {"kn_rms_norm_op",
     {{2, 3}},
     {{2, 3}},
     "{}",
     "%1 = square %0\n%2 = mean %1 axis=1\n%3 = sqrt %2\n%4 = div %0, %3\n"},
    {"kn_rms_norm_op",
     {{2, 3}},
     {{2, 3}},
     R"({"normalized_shape": [2, 3]})",
     "%1 = square %0\n%2 = mean %1 axis=1\n%3 = mean %2 axis=0\n%4 = sqrt %3\n%5 = div %0, %4\n"},
    {"kn_concat_1_op", {{2, 3}, {2, 1}}, {{2, 4}}, "{}", "%2 = concat %0, %1 axis=1\n"},
    {"kn_split_1_op",
     {{2, 3}},
     {{2, 1}, {2, 2}},
     "{}",
     "%1 = narrow %0 axis=1 start=0 length=1\n%2 = narrow %0 axis=1 start=1 length=2\n"},
    {"kn_chunk_0_op",
     {{6, 3}},
     {{2, 3}, {2, 3}, {2, 3}},
     R"({"chunk_size": 3, "chunk_dim": 0})",
     "%1 = narrow %0 axis=0 start=0 length=2\n%2 = narrow %0 axis=0 start=2 length=2\n"
     "%3 = narrow %0 axis=0 start=4 length=2\n"},
    {"kn_chunk_0_op",
     {{6, 3}},
     {{3, 3}, {3, 3}},
     R"({"chunk_size": 4, "chunk_dim": 0})",
     "graph 0, operator 1 (kn_chunk_0_op): \"chunk_size\" 4 is neither the 2 results nor their "
     "extent 3"},
    {"kn_allreduce_op",
     {{2, 3}},
     {{2, 3}},
     R"({"inplace": true})",
     "graph 0, operator 1 (kn_allreduce_op): there is no reduction over devices here"},
};

TEST(MugraphOps, Kernel) {
  for (const Row& row : kKernelRows) {
    Json graph = Json::array();
    for (size_t i = 0; i < row.inputs.size(); ++i)
      graph.push_back(op_json("kn_input_op", Json::array(),
                              Json::array({tensor(100 + int(i), row.inputs[i])})));
    graph.push_back(op_json(row.name, tensors(row.inputs, 100), tensors(row.outputs, 200),
                            Json::parse(row.extra)));
    EXPECT_EQ(imported(graph), row.expected) << row.name;
  }
}

const Row kBlockRows[] = {
    {"tb_matmul_op", {{2, 3}, {3, 4}}, {{2, 4}}, "{}", "matmul"},
    {"tb_exp_op", {{2, 3}}, {{2, 3}}, "{}", "%2 = exp %1\n"},
    {"tb_sub_op", {{2, 3}, {2, 1}}, {{2, 3}}, "{}", "sub"},
    {"tb_pow_op", {{2, 3}, {2, 1}}, {{2, 3}}, "{}", "pow"},
    {"tb_clamp_op",
     {{2, 3}},
     {{2, 3}},
     R"({"min_val": -1, "max_val": 1})",
     "%2 = clamp %1 lo=-1 hi=1\n"},
    {"tb_mul_scalar_op", {{2, 3}}, {{2, 3}}, R"({"scalar": 2})", "%3 = mul %1, 2\n"},
    {"tb_reduction_1_op",
     {{2, 3}},
     {{2, 1}},
     R"({"reduce_dim": 1, "reduce_size": 1})",
     "%2 = sum %1 axis=1\n"},
    {"tb_reduction_d_op", {{2, 3}}, {{1, 3}}, R"({"reduce_dim": 0})", "%2 = sum %1 axis=0\n"},
    {"tb_reduction_0_to_dimx_op",
     {{6, 5}},
     {{2, 5}},
     "{}",
     "%2 = reshape %1 shape=[3,2,5]\n%3 = sum %2 axis=0\n%4 = reshape %3 shape=[2,5]\n"},
    {"tb_reduction_1_max_op", {{2, 3}}, {{2, 1}, {2, 1}}, "{}", "%2, %3 = running_max %1 axis=1\n"},
    {"tb_rms_norm_op",
     {{2, 3}},
     {{2, 3}},
     "{}",
     "%2 = square %1\n%3 = mean %2 axis=1\n%4 = sqrt %3\n%5 = div %1, %4\n"},
    {"tb_concat_0_op", {{2, 3}, {1, 3}}, {{3, 3}}, R"({"concat_dim": 0})", "concat"},
    {"tb_concat_then_matmul_op", {{2, 3}, {2, 1}, {3, 5}, {1, 5}}, {{2, 5}}, "{}", "matmul"},
    {"tb_split_1_op",
     {{2, 3}},
     {{2, 1}, {2, 2}},
     "{}",
     "%2 = narrow %1 axis=1 start=0 length=1\n%3 = narrow %1 axis=1 start=1 length=2\n"},
    {"tb_accum_nored_op", {{2, 6}}, {{2, 6}}, "{}", "%2 = accum sum %1\n"},
    {"tb_forloop_accum_nored_op", {{2, 6}}, {{2, 6}}, "{}", "%2 = accum sum %1\n"},
    {"tb_accum_red_ld_sum_op", {{2, 6}}, {{2, 1}}, "{}", "%2 = sum %1 axis=1\n%3 = accum sum %2\n"},
    {"tb_forloop_accum_red_ld_mean_op",
     {{2, 6}},
     {{2, 1}},
     "{}",
     "%2 = mean %1 axis=1\n%3 = accum mean %2\n"},
    {"tb_forloop_accum_red_ld_rms_op",
     {{2, 6}},
     {{2, 1}},
     "{}",
     "%2 = square %1\n%3 = mean %2 axis=1\n%4 = accum mean %3\n%5 = sqrt %4\n"},
    {"tb_forloop_accum_redtox_ld_sum_op",
     {{3, 6}},
     {{3, 2}},
     "{}",
     "%2 = reshape %1 shape=[3,3,2]\n%3 = sum %2 axis=1\n%4 = reshape %3 shape=[3,2]\n"
     "%5 = accum sum %4\n"},
    {"tb_forloop_accum_max_op", {{2, 6}}, {{2, 6}}, "{}", "%2 = accum max %1\n"},
    {"tb_forloop_accum_nored_rescale_op", {{2, 6}, {2, 1}}, {{2, 6}}, "{}", "accum_rescale"},
    {"tb_forloop_accum_red_ld_sum_rescale_op", {{2, 6}, {2, 1}}, {{2, 1}}, "{}", "accum_rescale"},
};

TEST(MugraphOps, Block) {
  for (const Row& row : kBlockRows) {
    Json graph = Json::array(), operators = Json::array();
    for (size_t i = 0; i < row.inputs.size(); ++i) {
      const Json source = tensor(100 + int(i), row.inputs[i]);
      graph.push_back(op_json("kn_input_op", Json::array(), Json::array({source})));
      operators.push_back(
          op_json("tb_input_op", Json::array(), Json::array({tensor(200 + int(i), row.inputs[i])}),
                  {{"dtensor", source}, {"input_map", kNoMap}, {"forloop_dim", -1}}));
    }
    operators.push_back(op_json(row.name, tensors(row.inputs, 200), tensors(row.outputs, 300),
                                Json::parse(row.extra)));
    const bool is_accumulator = std::string(row.name).find("accum") != std::string::npos;
    const Json result = tensor(is_accumulator ? 300 : 400, row.outputs[0]);
    if (!is_accumulator)
      operators.push_back(op_json("tb_accum_nored_op", Json::array({tensor(300, row.outputs[0])}),
                                  Json::array({result})));
    operators.push_back(
        op_json("tb_output_op", Json::array({result}), Json::array(),
                {{"dtensor", tensor(500, row.outputs[0])}, {"output_map", kNoMap}}));
    const Json bgraph = {{"grid_dim", kOnes},
                         {"block_dim", kOnes},
                         {"forloop_range", 1},
                         {"reduction_dimx", 2},
                         {"operators", operators}};
    graph.push_back(op_json("kn_customized_op", tensors(row.inputs, 100),
                            tensors({row.outputs[0]}, 500), {{"bgraph", bgraph}}));
    EXPECT_NE(imported(graph).find(row.expected), std::string::npos) << row.name << "\n"
                                                                     << imported(graph);
  }
}

}  // namespace
}  // namespace mirage::ir
