#include "property/random_graph.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>

namespace mirage::testing {
namespace {

using namespace ir;

class Generator {
 public:
  Generator(Rng& rng, const RandomGraphOptions& options) : rng_(rng), options_(options) {}

  GraphPtr kernel() {
    for (;;) {
      GraphBuilder builder;
      std::vector<ValueId> values;
      if (chance(2)) builder.set_name(name());
      const DType dtype = pick<DType>({DType::F32, DType::F16, DType::BF16, DType::F64});
      for (uint64_t i = 0, count = 1 + below(3); i < count; ++i)
        add_input(builder, values, {dtype, shape()});
      for (int i = 0; i < options_.operators; ++i) {
        if (chance(12)) add_input(builder, values, {dtype, shape()});
        if (options_.blocks && chance(6)) {
          add_block(builder, values);
        } else {
          add_op(builder, values);
        }
      }
      std::vector<ValueId> outputs;
      std::vector<Strides> strides;
      if (!chance(3))
        for (uint64_t i = 0, count = 1 + below(3); i < count; ++i) {
          outputs.push_back(values[below(values.size())]);
          strides.emplace_back();
          if (chance(3)) strides.back() = permuted_strides(builder.type(outputs.back()).shape);
        }
      if (auto graph = builder.finish(outputs, strides)) return *graph;
    }
  }

 private:
  uint64_t below(uint64_t bound) { return rng_.below(bound); }
  bool chance(uint64_t n) { return below(n) == 0; }
  template <class T>
  T pick(std::initializer_list<T> items) {
    return items.begin()[below(items.size())];
  }

  std::string name() {
    constexpr const char* kNames[] = {"x", "y", "x_2", "a.b", "long_name", "sum", "return", "_1"};
    constexpr const char* kOdd[] = {"", "not a name", "7", "%x", "\n", "x y", "store"};
    return options_.odd_names && chance(4) ? kOdd[below(std::size(kOdd))]
                                           : kNames[below(std::size(kNames))];
  }

  Shape shape() {
    Shape result;
    for (uint64_t i = 0, rank = below(chance(8) ? 9 : 4); i < rank; ++i)
      result.push_back(chance(20) ? 0 : pick<int64_t>({1, 2, 3, 4, 6, 7, 8}));
    return result;
  }

  /// The axes in another order, sometimes with gaps: never overlapping.
  Strides permuted_strides(const Shape& shape) {
    std::vector<size_t> order(shape.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[below(i)]);
    Strides strides(shape.size(), 1);
    int64_t step = chance(2) ? 1 : 3;
    for (size_t axis : order) {
      strides[axis] = chance(10) ? -step : step;
      step *= std::max<int64_t>(shape[axis], 1);
    }
    return strides;
  }

  double scalar() {
    return pick<double>({0.0, -0.0, 1.0, -3.0, 0.1, 1e-5, 0x1.fffffffffffffp+1023, 5e-324,
                         std::numeric_limits<double>::infinity(),
                         -std::numeric_limits<double>::infinity(), 123456789.0});
  }

  void add_input(GraphBuilder& builder, std::vector<ValueId>& values, TensorType type) {
    Strides strides;
    if (chance(4)) strides = permuted_strides(type.shape);
    values.push_back(*builder.input(std::move(type), name(), std::move(strides)));
  }

  Attrs random_attrs(const OpDef& row, const Shape& shape, const Launch& launch) {
    Attrs attrs;
    const int64_t rank = static_cast<int64_t>(shape.size());
    if (row.has(AttrKey::Axis) && rank > 0)
      attrs.axis = static_cast<int64_t>(below(static_cast<uint64_t>(2 * rank))) - rank;
    if (row.has(AttrKey::Perm)) {
      for (int64_t i = 0; i < rank; ++i) attrs.ints.push_back(i);
      for (size_t i = attrs.ints.size(); i > 1; --i)
        std::swap(attrs.ints[i - 1], attrs.ints[below(i)]);
    }
    if (row.has(AttrKey::Shape) && row.kind == OpKind::Reshape) {
      attrs.ints = shape;
      if (rank > 0 && chance(2)) attrs.ints.insert(attrs.ints.begin(), 1);
      if (attrs.ints.size() > 1) std::swap(attrs.ints[0], attrs.ints[attrs.ints.size() - 1]);
    }
    if (row.has(AttrKey::Start)) attrs.ints = {0, static_cast<int64_t>(below(4))};
    if (row.has(AttrKey::Value)) attrs.scalars = {scalar()};
    if (row.has(AttrKey::Lo)) attrs.scalars = {scalar(), scalar()};
    if (row.has(AttrKey::Combine))
      attrs.combine = pick<Combine>({Combine::Sum, Combine::Mean, Combine::Max});
    if (row.has(AttrKey::Bind)) {
      attrs.bind.resize(shape.size());
      for (size_t axis = 0; axis < launch.axes.size() && rank > 0; ++axis)
        if (row.kind == OpKind::Load ? !chance(3) : launch.axes[axis].role == Role::Grid)
          attrs.bind[below(static_cast<uint64_t>(rank))].push_back(static_cast<uint8_t>(axis));
    }
    return attrs;
  }

  void add_op(GraphBuilder& builder, std::vector<ValueId>& values) {
    const auto table = op_table();
    const OpDef& row = table[below(table.size())];
    if (row.kind == OpKind::Block || !row.exists_at(builder.draft().level)) return;
    std::vector<ValueId> operands;
    const uint64_t arity = row.arity < 0 ? 1 + below(3) : static_cast<uint64_t>(row.arity);
    for (uint64_t i = 0; i < arity; ++i) operands.push_back(values[below(values.size())]);
    const Shape shape = operands.empty() ? Shape{} : builder.type(operands[0]).shape;
    const auto results =
        builder.add_all(row.kind, operands, random_attrs(row, shape, builder.draft().launch));
    if (!results) return;
    for (ValueId result : *results) {
      if (!chance(3)) builder.name_value(result, name());
      if (row.kind != OpKind::Store) values.push_back(result);
    }
  }

  void add_block(GraphBuilder& outer, std::vector<ValueId>& outer_values) {
    Launch launch;
    for (uint64_t i = 0, count = below(4); i < count; ++i)
      launch.axes.push_back({chance(5) ? "odd name" : pick<std::string>({"n", "m", "k", "x"}),
                             chance(3) ? Role::Loop : Role::Grid, pick<int64_t>({1, 2, 3, 4})});
    launch.threads = pick<int64_t>({0, 0, 128});
    GraphBuilder body = *GraphBuilder::block(std::move(launch));
    std::vector<ValueId> operands, values;
    for (uint64_t i = 0, count = 1 + below(3); i < count; ++i) {
      operands.push_back(outer_values[below(outer_values.size())]);
      values.push_back(*body.input(outer.type(operands.back()), chance(2) ? name() : ""));
      const Attrs attrs =
          random_attrs(def(OpKind::Load), outer.type(operands.back()).shape, body.draft().launch);
      if (auto tile = body.add(OpKind::Load, {values.back()}, attrs)) values.push_back(*tile);
    }
    for (int i = 0; i < options_.operators; ++i) add_op(body, values);
    for (int i = 0; i < 4; ++i) {
      const ValueId value = values[below(values.size())];
      const Attrs attrs =
          random_attrs(def(OpKind::Store), body.type(value).shape, body.draft().launch);
      (void)body.add(OpKind::Store, {value}, attrs);
    }
    auto graph = body.finish();
    if (!graph) return;
    const auto results = outer.add_block(*graph, operands);
    if (!results) return;
    for (ValueId result : *results) {
      if (chance(2)) outer.name_value(result, name());
      outer_values.push_back(result);
    }
  }

  Rng& rng_;
  RandomGraphOptions options_;
};

}  // namespace

GraphPtr random_graph(Rng& rng, const RandomGraphOptions& options) {
  return Generator(rng, options).kernel();
}

uint64_t announced_seed() {
  const char* text = std::getenv("MIRAGE_SEED");
  const uint64_t seed = text ? std::strtoull(text, nullptr, 10) : 20250501;
  std::printf("MIRAGE_SEED=%llu\n", static_cast<unsigned long long>(seed));
  return seed;
}

}  // namespace mirage::testing
