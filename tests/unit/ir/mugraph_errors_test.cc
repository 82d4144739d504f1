#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "ir/load_file.h"

namespace mirage::ir {
namespace {

using Json = nlohmann::json;

struct Row {
  const char* at;     // a JSON pointer into a good file, or nothing
  const char* value;  // what stands there instead; nothing removes it; without `at`, the whole text
  const char* message;
};

// Operators of the file: input, input, customized (inputs, inputs, matmul, accumulators, ...),
// output.
const Row kRows[] = {
    {nullptr, "", "not JSON: stopped at byte 0 of 0"},
    {nullptr, "[", "not JSON: stopped at byte 1 of 1"},
    {nullptr, "[[]", "not JSON: stopped at byte 3 of 3"},
    {nullptr, "[1e999]", "not JSON: stopped at byte 6 of 7"},
    {nullptr, "\"text\"", "expected a list of graphs or of operators, found string"},
    {nullptr, "{}", "expected a list of graphs or of operators, found object"},
    {nullptr, "[]", "the file has no graphs"},
    {nullptr, "[[]]", "graph 0: graph: has no operators"},
    {nullptr, "[[], 1]", "graph 0: graph: has no operators"},
    {nullptr, "[1]", "graph 0: expected a list of operators, found number"},
    {nullptr, "[[1]]", "graph 0, operator 0: expected an object with \"op_type\", found number"},
    {nullptr, "[{}]", "graph 0, operator 0: \"op_type\" is missing"},
    {nullptr, "[{\"op_type\": 3}]",
     "graph 0, operator 0: \"op_type\" should be a string, found number"},
    {nullptr, "[{\"op_type\": \"kn_exp_op\"}]",
     "graph 0, operator 0 (kn_exp_op): \"input_tensors\" is missing"},
    {nullptr, "[{\"op_type\": \"kn_exp_op\", \"input_tensors\": {}, \"output_tensors\": []}]",
     "graph 0, operator 0 (kn_exp_op): \"input_tensors\" should be a list, found object"},
    {nullptr, "[{\"op_type\": \"kn_exp_op\", \"input_tensors\": [], \"output_tensors\": []}]",
     "graph 0, operator 0 (kn_exp_op): exp %0: expected 1 operand, found 0"},
    {nullptr, "[{\"op_type\": \"kn_unkown\", \"input_tensors\": [], \"output_tensors\": []}]",
     "graph 0, operator 0: unknown operator \"kn_unkown\", expected kn_..._op"},
    {"/0/0/op_type", "\"kn_magic_op\"", "graph 0, operator 0 (kn_magic_op): unknown operator"},
    {"/0/0/op_type", "\"tb_input_op\"",
     "graph 0, operator 0: unknown operator \"tb_input_op\", expected kn_..._op"},
    {"/0/0/output_tensors", "[]",
     "graph 0, operator 0 (kn_input_op): expected one result, found 0"},
    {"/0/0/output_tensors/0/data_type", "123",
     "graph 0, operator 0 (kn_input_op), output_tensors 0: unknown data_type 123"},
    {"/0/0/output_tensors/0/data_type", "\"f16\"",
     "graph 0, operator 0 (kn_input_op), output_tensors 0: \"data_type\" should be a 64-bit "
     "integer, found string"},
    {"/0/0/output_tensors/0/num_dims", "5",
     "graph 0, operator 0 (kn_input_op), output_tensors 0: \"num_dims\" is 5, but \"dim\" has 4 "
     "entries"},
    {"/0/0/output_tensors/0/num_dims", "-1",
     "graph 0, operator 0 (kn_input_op), output_tensors 0: \"num_dims\" is -1, but \"dim\" has 4 "
     "entries"},
    {"/0/0/output_tensors/0/dim", "[2, -64, 0, 0]",
     "graph 0, operator 0 (kn_input_op): input %0: negative extent in shape [2,-64]"},
    {"/0/0/output_tensors/0/dim", "[2, 1.5, 0, 0]",
     "graph 0, operator 0 (kn_input_op), output_tensors 0: \"dim\" should be a list of 64-bit "
     "integers, found number"},
    {"/0/0/output_tensors/0/dim", "[2, 18446744073709551615, 0, 0]",
     "graph 0, operator 0 (kn_input_op), output_tensors 0: \"dim\" should be a list of 64-bit "
     "integers, found number"},
    {"/0/0/output_tensors/0/dim", "[4611686018427387904, 4, 0, 0]",
     "graph 0, operator 0 (kn_input_op): input %0: shape [4611686018427387904,4] is too large"},
    {"/0/0/output_tensors/0/dim", "[1,1,1,1,1,1,1,1,1]",
     "graph 0, operator 0 (kn_input_op), output_tensors 0: \"dim\" has 9 entries, at most 8 are "
     "possible"},
    {"/0/0/output_tensors/0/guid", nullptr,
     "graph 0, operator 0 (kn_input_op), output_tensors 0: \"guid\" is missing"},
    {"/0/0/input_strides", "[1]",
     "graph 0, operator 0 (kn_input_op): input %0: expected 2 strides, found 1"},
    {"/0/0/input_strides", "[9223372036854775807, 1]",
     "graph 0, operator 0 (kn_input_op): input %0: strides [9223372036854775807, 1] are too large"},
    {"/0/1/output_tensors/0/guid", "10000000",
     "graph 0, operator 1 (kn_input_op): guid 10000000 is made twice"},
    {"/0/2/input_tensors/0/guid", "77",
     "graph 0, operator 2 (kn_customized_op): guid 77 is not made by an earlier operator"},
    {"/0/2/input_tensors/0/dim", "[2, 65, 0, 0]",
     "graph 0, operator 2 (kn_customized_op): guid 10000000 is stored as f16[2,65], but is "
     "f16[2,64]"},
    {"/0/2/input_tensors", "[]",
     "graph 0, operator 2 (kn_customized_op), block operator 0 (tb_input_op): dtensor guid "
     "10000000 is not input 0 of the kernel"},
    {"/0/2/output_tensors", "[]",
     "graph 0, operator 2 (kn_customized_op), block operator 6 (tb_output_op): the kernel has only "
     "0 output tensors"},
    {"/0/2/output_tensors/0/dim", "[2, 47, 0, 0]",
     "graph 0, operator 2 (kn_customized_op): result 10000002 is stored as f16[2,47], but is "
     "f16[2,48]"},
    {"/0/2/bgraph", nullptr, "graph 0, operator 2 (kn_customized_op): \"bgraph\" is missing"},
    {"/0/2/bgraph", "[]",
     "graph 0, operator 2 (kn_customized_op): expected an object with \"grid_dim\", found array"},
    {"/0/2/bgraph/operators", "[]",
     "graph 0, operator 2 (kn_customized_op): 2 input tensors, but 0 tb_input operators"},
    {"/0/2/bgraph/grid_dim/x", "0",
     "graph 0, operator 2 (kn_customized_op): \"grid_dim\" x is 0, expected at least 1"},
    {"/0/2/bgraph/grid_dim/x", "7",
     "graph 0, operator 2 (kn_customized_op), block operator 1 (tb_input_op): axis 1 of extent 48 "
     "does not divide by grid_dim x 7"},
    {"/0/2/bgraph/grid_dim/x", "9223372036854775807",
     "graph 0, operator 2 (kn_customized_op): block: the product of its axes is too large"},
    {"/0/2/bgraph/grid_dim", "{\"x\": 1}",
     "graph 0, operator 2 (kn_customized_op), \"grid_dim\": \"y\" is missing"},
    {"/0/2/bgraph/grid_dim/y", "2",
     "graph 0, operator 2 (kn_customized_op), block operator 6 (tb_output_op): store %11: grid "
     "axis y (2 blocks) is not bound: blocks would overlap in the output"},
    {"/0/2/bgraph/block_dim/x", "100000",
     "graph 0, operator 2 (kn_customized_op): \"block_dim\" x is 100000, expected 1 to 1024"},
    {"/0/2/bgraph/forloop_range", "0",
     "graph 0, operator 2 (kn_customized_op): \"forloop_range\" is 0, expected at least 1"},
    {"/0/2/bgraph/forloop_range", "5",
     "graph 0, operator 2 (kn_customized_op), block operator 0 (tb_input_op): axis 1 of extent 64 "
     "does not divide by forloop_range of 5"},
    {"/0/2/bgraph/operators/0/input_map/x", "2",
     "graph 0, operator 2 (kn_customized_op), block operator 0 (tb_input_op): \"input_map\" x is "
     "2, expected -1 to 1"},
    {"/0/2/bgraph/operators/0/forloop_dim", "-2",
     "graph 0, operator 2 (kn_customized_op), block operator 0 (tb_input_op): \"forloop_dim\" is "
     "-2, expected -1 to 1"},
    {"/0/2/bgraph/operators/0/forloop_dim", nullptr,
     "graph 0, operator 2 (kn_customized_op), block operator 0 (tb_input_op): \"forloop_dim\" is "
     "missing"},
    {"/0/2/bgraph/operators/0/dtensor/guid", "10000001",
     "graph 0, operator 2 (kn_customized_op), block operator 0 (tb_input_op): dtensor guid "
     "10000001 is not input 0 of the kernel"},
    {"/0/2/bgraph/operators/2/op_type", "\"tb_matmul\"",
     "graph 0, operator 2 (kn_customized_op), block operator 2: unknown operator \"tb_matmul\", "
     "expected tb_..._op"},
    {"/0/2/bgraph/operators/2/op_type", "\"tb_magic_op\"",
     "graph 0, operator 2 (kn_customized_op), block operator 2 (tb_magic_op): unknown operator"},
    {"/0/2/bgraph/operators/2/op_type", "\"tb_accum_magic_op\"",
     "graph 0, operator 2 (kn_customized_op), block operator 2 (tb_accum_magic_op): expected 1 "
     "operand, found 2"},
    {"/0/2/bgraph/operators/2/op_type", "\"tb_concat_7_op\"",
     "graph 0, operator 2 (kn_customized_op), block operator 2 (tb_concat_7_op): concat %4: axis 7 "
     "is out of range for rank 2"},
    {"/0/2/bgraph/operators/2/op_type", "\"tb_mul_op\"",
     "graph 0, operator 2 (kn_customized_op), block operator 2 (tb_mul_op): mul %4: operands "
     "cannot be broadcast together: axis 0 has 2 and 16 elements ([2,16] and [16,8])"},
    {"/0/2/bgraph/operators/2/op_type", "\"tb_exp_op\"",
     "graph 0, operator 2 (kn_customized_op), block operator 2 (tb_exp_op): exp %4: expected 1 "
     "operand, found 2"},
    {"/0/2/bgraph/operators/2/input_tensors/0/guid", "20000002",
     "graph 0, operator 2 (kn_customized_op), block operator 2 (tb_matmul_op): guid 20000002 is "
     "not made by an earlier operator"},
    {"/0/2/bgraph/operators/2/output_tensors", "[]",
     "graph 0, operator 2 (kn_customized_op), block operator 2 (tb_matmul_op): expected 1 result, "
     "found 0"},
    {"/0/2/bgraph/operators/3/op_type", "\"tb_exp_op\"",
     "graph 0, operator 2 (kn_customized_op), block operator 5 (tb_div_op): div %10: mixes a value "
     "of the loop with one that exists only after it"},
    {"/0/2/bgraph/operators/3/op_type", "\"tb_mul_scalar_op\"",
     "graph 0, operator 2 (kn_customized_op), block operator 3 (tb_mul_scalar_op): the file lost "
     "its scalar: expected \"scalar\""},
    {"/0/2/bgraph/operators/3/op_type", "\"tb_clamp_op\"",
     "graph 0, operator 2 (kn_customized_op), block operator 3 (tb_clamp_op): the file lost its "
     "scalar: expected \"min_val\""},
    {"/0/2/bgraph/operators/3/op_type", "\"tb_reduction_d_op\"",
     "graph 0, operator 2 (kn_customized_op), block operator 3 (tb_reduction_d_op): \"reduce_dim\" "
     "is missing"},
    {"/0/2/bgraph/operators/3/op_type", "\"tb_reduction_1_to_dimx_op\"",
     "graph 0, operator 2 (kn_customized_op), block operator 3 (tb_reduction_1_to_dimx_op): axis 1 "
     "of extent 8 does not divide by reduction_dimx 64"},
    {"/0/2/bgraph/operators/6/output_map/x", "-1",
     "graph 0, operator 2 (kn_customized_op), block operator 6 (tb_output_op): store %11: grid "
     "axis x (6 blocks) is not bound: blocks would overlap in the output"},
    {"/0/2/bgraph/operators/6/output_map/x", "0",
     "graph 0, operator 2 (kn_customized_op): result 10000002 is stored as f16[2,48], but is "
     "f16[12,8]"},
    {"/0/2/bgraph/operators/6/dtensor/guid", "1",
     "graph 0, operator 2 (kn_customized_op), block operator 6 (tb_output_op): dtensor guid 1 is "
     "not output 0 of the kernel"},
    {"/0/2/bgraph/operators/6/input_tensors/0/guid", "20000002",
     "graph 0, operator 2 (kn_customized_op), block operator 6 (tb_output_op): store %11: stores a "
     "value that changes with the loop; accumulate it first"},
    {"/0/3/input_tensors/0/guid", "5",
     "graph 0, operator 3 (kn_output_op): guid 5 is not made by an earlier operator"},
    {"/0/3/output_strides", "[1, 1]",
     "graph 0: graph: output 0: strides [1, 1] make elements of shape [2,48] overlap"},
    {"/0/3/output_strides", "[48]", "graph 0: graph: output 0: expected 2 strides, found 1"},
    {"/0/3/op_type", "\"kn_allreduce_op\"",
     "graph 0, operator 3 (kn_allreduce_op): there is no reduction over devices here"},
};

Json good_file() {
  return Json::parse(
      *read_text_file(MIRAGE_SOURCE_DIR "/tests/data/mugraphs/rmsnorm_linear.old.json"));
}

TEST(MugraphErrors, ExactMessages) {
  const Json good = good_file();
  for (const Row& row : kRows) {
    std::string text;
    if (row.at) {
      Json patch = {{"op", row.value ? "replace" : "remove"}, {"path", row.at}};
      if (row.value) patch["value"] = Json::parse(row.value);
      text = good.patch(Json::array({patch})).dump();
    } else {
      text = row.value;
    }
    const std::string what = fmt::format("{} {}", row.at ? row.at : "", row.value ? row.value : "");
    const auto graphs = import_mugraphs(text, Epoch::Old);
    ASSERT_FALSE(graphs) << what;
    const std::string& message = graphs.error().message;
    EXPECT_EQ(message, row.message) << what;
    const bool is_lost =
        message.find("lost") != std::string::npos || message.find("devices") != std::string::npos;
    EXPECT_EQ(graphs.error().code, is_lost ? Code::Unsupported : Code::BadInput) << what;
  }
}

TEST(MugraphErrors, EveryPrefixIsRefused) {
  const std::string text = good_file().dump();
  ASSERT_TRUE(import_mugraphs(text, Epoch::Old));
  for (size_t length = 0; length < text.size(); ++length)
    EXPECT_FALSE(import_mugraphs(text.substr(0, length), Epoch::Old)) << length;
}

TEST(MugraphErrors, DeepJsonIsRefused) {
  const std::string deep = std::string(1000000, '['),
                    balanced = std::string(33, '[') + std::string(33, ']');
  for (const std::string& text : {deep, balanced}) {
    const auto graphs = import_mugraphs(text, Epoch::New);
    ASSERT_FALSE(graphs);
    EXPECT_EQ(graphs.error().message, "JSON is nested more than 32 deep");
  }
  EXPECT_EQ(
      import_mugraphs(std::string(32, '[') + std::string(32, ']'), Epoch::New).error().message,
      "graph 0, operator 0: expected an object with \"op_type\", found array");
}

}  // namespace
}  // namespace mirage::ir
