#include "search/problem.h"

#include <algorithm>
#include <numeric>

#include "search/views.h"

namespace mirage::search {
namespace {

using ir::Form;
using ir::Op;
using ir::OpKind;
using ir::Shape;
using ir::ValueId;

/// Union-find over (value, axis).
class AxisUnion {
 public:
  explicit AxisUnion(const ir::Graph& graph) {
    size_t count = 0;
    for (const ir::Value& value : graph.values) {
      first_.push_back(count);
      count += value.type.shape.size();
    }
    parent_.resize(count);
    std::iota(parent_.begin(), parent_.end(), size_t{0});
  }
  size_t find(ValueId id, size_t axis) { return root(first_[id.index] + axis); }
  void unite(ValueId a, size_t axis_a, ValueId b, size_t axis_b) {
    const size_t x = find(a, axis_a), y = find(b, axis_b);
    parent_[std::max(x, y)] = std::min(x, y);
  }

 private:
  size_t root(size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  std::vector<size_t> first_;
  std::vector<size_t> parent_;
};

Result<void> unite_operator(const ir::Graph& graph, const Op& op, AxisUnion& axes) {
  const ir::OpDef& row = def(op.kind);
  const ValueId result = op.results[0];
  const size_t rank = graph.type(result).shape.size();
  const auto shape = [&](ValueId id) -> const Shape& { return graph.type(id).shape; };
  const auto unite_real = [&](ValueId a, size_t i, ValueId b, size_t j) {
    if (shape(a)[i] != 1 && shape(b)[j] != 1) axes.unite(a, i, b, j);
  };
  switch (row.form) {
    case Form::Leaf:
      return {};
    case Form::Map:
      for (ValueId operand : op.operands) {
        const size_t offset = rank - shape(operand).size();
        for (size_t i = 0; i < shape(operand).size(); ++i)
          unite_real(operand, i, result, i + offset);
      }
      return {};
    case Form::Contract: {
      const ValueId a = op.operands[0], b = op.operands[1];
      for (size_t i = 0; i + 2 < rank; ++i) {
        unite_real(a, i, result, i);
        unite_real(b, i, result, i);
      }
      unite_real(a, rank - 2, result, rank - 2);
      unite_real(b, rank - 1, result, rank - 1);
      unite_real(a, rank - 1, b, rank - 2);
      return {};
    }
    case Form::Reduce:
      for (size_t i = 0; i < rank; ++i)
        if (static_cast<int64_t>(i) != op.attrs.axis) unite_real(op.operands[0], i, result, i);
      return {};
    case Form::Move:
      if (op.kind == OpKind::Transpose) {
        for (size_t i = 0; i < rank; ++i)
          unite_real(op.operands[0], static_cast<size_t>(op.attrs.ints[i]), result, i);
        return {};
      }
      break;
    case Form::Accum:
    case Form::Block:
      break;
  }
  return unsupported("search: {} moves elements between axes, which index classes do not describe",
                     row.name);
}

/// Letters for people: the first target's axes are (b, c, ...) m, n; contracted classes k, r, s ...
void name_classes(Problem& problem) {
  const auto give = [&](ClassId id, std::string name) {
    if (id == kNoClass || !problem.classes[id].name.empty()) return;
    for (const IndexClass& other : problem.classes)
      if (other.name == name) name += std::to_string(id);
    problem.classes[id].name = std::move(name);
  };
  constexpr std::string_view kBatch = "bcdefg", kContracted = "krstuvwxyz";
  for (ValueId target : problem.targets) {
    const Dims& dims = problem.dims_of(target);
    for (size_t i = 0; i < dims.size(); ++i) {
      const size_t from_end = dims.size() - i;
      give(dims[i], from_end == 1   ? "n"
                    : from_end == 2 ? "m"
                                    : std::string(1, kBatch[std::min(i, kBatch.size() - 1)]));
    }
  }
  size_t next = 0;
  for (size_t id = 0; id < problem.classes.size(); ++id)
    if (problem.classes[id].name.empty())
      give(static_cast<ClassId>(id),
           std::string(1, kContracted[std::min(next++, kContracted.size() - 1)]));
}

}  // namespace

bool contains_class(const Dims& dims, ClassId id) {
  return std::find(dims.begin(), dims.end(), id) != dims.end();
}

ClassId reduced_class(OpKind kind, const ir::Attrs& attrs, const Dims& first) {
  const Form form = def(kind).form;
  if (form == Form::Contract) return first.back();
  return form == Form::Reduce ? first[static_cast<size_t>(attrs.axis)] : kNoClass;
}

Result<ProblemPtr> problem_of(const ir::Graph& original) {
  if (original.level != ir::Level::Kernel)
    return bad_input("search: expected a kernel-level graph, found {} level",
                     name_of(original.level));
  for (const Op& op : original.ops)
    if (op.body) return unsupported("search: the program has blocks");
  auto problem = std::make_shared<Problem>();
  problem->original = original;
  MIRAGE_TRY(ViewedProgram viewed, with_views_as_inputs(original));
  problem->program = std::move(viewed.program);
  problem->sources = std::move(viewed.sources);
  problem->views = std::move(viewed.views);
  const ir::Graph& program = problem->program;
  for (const ir::Value& value : program.values)
    for (int64_t extent : value.type.shape)
      if (extent == 0)
        return unsupported("search: a value of type {} has no elements", to_string(value.type));

  AxisUnion axes(program);
  for (const Op& op : program.ops) MIRAGE_TRY_VOID(unite_operator(program, op, axes));

  std::vector<std::pair<size_t, ClassId>> class_of_root;
  for (size_t v = 0; v < program.values.size(); ++v) {
    const Shape& shape = program.values[v].type.shape;
    Dims dims;
    for (size_t i = 0; i < shape.size(); ++i) {
      if (shape[i] == 1) {
        dims.push_back(kNoClass);
        continue;
      }
      const size_t root = axes.find(ValueId{v}, i);
      auto it = std::find_if(class_of_root.begin(), class_of_root.end(),
                             [&](const auto& entry) { return entry.first == root; });
      if (it == class_of_root.end()) {
        if (class_of_root.size() >= 32) return unsupported("search: more than 32 index classes");
        class_of_root.emplace_back(root, static_cast<ClassId>(problem->classes.size()));
        problem->classes.push_back({"", shape[i]});
        it = class_of_root.end() - 1;
      }
      if (contains_class(dims, it->second))
        return unsupported("search: one index class is two axes of value %{}", v);
      dims.push_back(it->second);
    }
    problem->dims.push_back(std::move(dims));
  }

  for (ValueId output : program.outputs)
    if (!program.is_input(output) && std::find(problem->targets.begin(), problem->targets.end(),
                                               output) == problem->targets.end())
      problem->targets.push_back(output);
  if (problem->targets.empty())
    return unsupported("search: every output is an input or a view of one");
  name_classes(*problem);
  return problem;
}

}  // namespace mirage::search
