#include "property/random_cpu_graph.h"

#include <algorithm>

#include "ir/builder.h"
#include "util/check.h"

namespace mirage::testing {
namespace {

using ir::Attrs;
using ir::GraphBuilder;
using ir::OpKind;
using ir::ValueId;

template <class T>
const T& pick(Rng& rng, const std::vector<T>& from) {
  return from[rng.below(from.size())];
}

// Bounded, so that depth does not drown the comparison.
const std::vector<OpKind> kUnary = {OpKind::Tanh, OpKind::Sigmoid, OpKind::Silu, OpKind::Gelu,
                                    OpKind::Relu, OpKind::Neg,     OpKind::Clamp};
const std::vector<OpKind> kBinary = {OpKind::Add, OpKind::Sub, OpKind::Mul, OpKind::Maximum,
                                     OpKind::Minimum};

/// A legal random elementwise operator on values of the pool, if the attempt is legal.
Result<ValueId> random_map(Rng& rng, GraphBuilder& builder, const std::vector<ValueId>& pool) {
  if (rng.below(2)) {
    Attrs attrs;
    const OpKind kind = pick(rng, kUnary);
    if (kind == OpKind::Clamp) attrs.scalars = {-0.75, 1.5};
    return builder.add(kind, {pick(rng, pool)}, attrs);
  }
  if (rng.below(6) == 0) {
    MIRAGE_TRY(const ValueId scalar, builder.constant(rng.uniform() * 2 - 1));
    return builder.add(pick(rng, kBinary), {scalar, pick(rng, pool)});
  }
  return builder.add(pick(rng, kBinary), {pick(rng, pool), pick(rng, pool)});
}

ir::Strides random_strides(Rng& rng, const ir::Shape& shape) {
  if (shape.empty() || rng.below(2)) return {};
  std::vector<size_t> order(shape.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
  ir::Strides strides(shape.size());
  int64_t stride = 1;
  for (size_t axis : order) {
    strides[axis] = stride;
    stride *= std::max<int64_t>(shape[axis], 1);
    if (rng.below(3) == 0) stride += 3;  // a hole
  }
  return strides;
}

Result<ValueId> random_kernel_op(Rng& rng, GraphBuilder& builder,
                                 const std::vector<ValueId>& pool) {
  const ValueId x = pick(rng, pool);
  const ir::Shape& shape = builder.type(x).shape;
  const auto axis = [&] {
    return static_cast<int64_t>(rng.below(std::max<size_t>(shape.size(), 1)));
  };
  Attrs attrs;
  switch (rng.below(10)) {
    case 0:
    case 1: {
      const OpKind kinds[] = {OpKind::Sum, OpKind::Mean, OpKind::Max};
      attrs.axis = axis();
      return builder.add(kinds[rng.below(3)], {x}, attrs);
    }
    case 2:
    case 3:
      return builder.add(OpKind::MatMul, {x, pick(rng, pool)});
    case 4: {
      for (size_t i = 0; i < shape.size(); ++i) attrs.ints.push_back(static_cast<int64_t>(i));
      for (size_t i = shape.size(); i > 1; --i)
        std::swap(attrs.ints[i - 1], attrs.ints[rng.below(i)]);
      return builder.add(OpKind::Transpose, {x}, attrs);
    }
    case 5: {
      attrs.ints = shape;
      if (shape.size() >= 2 && rng.below(2)) {
        const size_t at = rng.below(shape.size() - 1);
        attrs.ints[at] *= attrs.ints[at + 1];
        attrs.ints.erase(attrs.ints.begin() + static_cast<std::ptrdiff_t>(at) + 1);
      } else {
        attrs.ints.insert(
            attrs.ints.begin() + static_cast<std::ptrdiff_t>(rng.below(shape.size() + 1)), 1);
      }
      return builder.add(OpKind::Reshape, {x}, attrs);
    }
    case 6:
      attrs.axis = axis();
      return builder.add(OpKind::Concat, {x, pick(rng, pool)}, attrs);
    case 7: {
      attrs.axis = axis();
      const int64_t extent = shape.empty() ? 0 : shape[static_cast<size_t>(attrs.axis)];
      const int64_t start = static_cast<int64_t>(rng.below(static_cast<uint64_t>(extent) + 1));
      attrs.ints = {start,
                    static_cast<int64_t>(rng.below(static_cast<uint64_t>(extent - start) + 1))};
      return builder.add(OpKind::Narrow, {x}, attrs);
    }
    default:
      return random_map(rng, builder, pool);
  }
}

int64_t legal_trips(Rng& rng, int64_t extent) {
  for (;;) {
    const int64_t trips = 1 + static_cast<int64_t>(rng.below(4));
    if ((trips - 1) * ((extent + trips - 1) / trips) < extent) return trips;
  }
}

Result<ValueId> load(GraphBuilder& builder, const ir::TensorType& type, ir::Bind bind) {
  MIRAGE_TRY(const ValueId input, builder.input(type));
  Attrs attrs;
  attrs.bind = std::move(bind);
  return builder.add(OpKind::Load, {input}, attrs);
}

}  // namespace

ir::GraphPtr random_kernel_graph(Rng& rng, ir::DType dtype) {
  GraphBuilder builder;
  std::vector<ValueId> pool;
  const std::vector<int64_t> extents = {1, 2, 3, 5, 7, 17, 33};
  // Few extents a graph, so that operands fit each other.
  std::vector<int64_t> mine;
  for (int i = 0; i < 3; ++i) mine.push_back(pick(rng, extents));
  if (rng.below(8) == 0) mine.push_back(0);
  const size_t inputs = 2 + rng.below(3);
  for (size_t i = 0; i < inputs; ++i) {
    ir::Shape shape(1 + rng.below(3));
    for (int64_t& extent : shape) extent = rng.below(6) ? pick(rng, mine) : 1;
    const ir::Strides strides = random_strides(rng, shape);
    pool.push_back(*builder.input({dtype, shape}, {}, strides));
  }
  const size_t wanted = 3 + rng.below(8);
  size_t count = 0;
  for (int attempt = 0; attempt < 400 && count < wanted; ++attempt) {
    const auto value = random_kernel_op(rng, builder, pool);
    if (!value) continue;
    if (ir::element_count(builder.type(*value).shape) > 20000) continue;
    pool.push_back(*value);
    ++count;
  }
  std::vector<ValueId> outputs = {pool.back()};
  while (rng.below(2)) outputs.push_back(pick(rng, pool));  // repeats, inputs, intermediates
  std::vector<ir::Strides> strides;
  for (ValueId output : outputs) strides.push_back(random_strides(rng, builder.type(output).shape));
  auto graph = builder.finish(outputs, strides);
  MIRAGE_CHECK(graph.has_value(), "a random graph of legal operators finishes");
  return *graph;
}

ir::GraphPtr random_block_graph(Rng& rng, ir::DType dtype) {
  const std::vector<int64_t> extents = {1, 2, 5, 7, 16, 19, 33, 40};
  const int64_t m = pick(rng, extents), n = pick(rng, extents), k = pick(rng, extents);
  ir::Launch launch;
  launch.axes = {{"m", ir::Role::Grid, legal_trips(rng, m)},
                 {"n", ir::Role::Grid, legal_trips(rng, n)},
                 {"k", ir::Role::Loop, legal_trips(rng, k)}};
  // A second loop splits the tiles of the first.
  const int64_t tile = (k + launch.axes[2].trips - 1) / launch.axes[2].trips;
  const bool has_inner = rng.below(2) && k % launch.axes[2].trips == 0;
  if (has_inner) launch.axes.push_back({"l", ir::Role::Loop, legal_trips(rng, tile)});
  const std::vector<uint8_t> bm = {0}, bn = {1};
  const std::vector<uint8_t> bk = has_inner ? std::vector<uint8_t>{2, 3} : std::vector<uint8_t>{2};

  GraphBuilder block = *GraphBuilder::block(launch);
  const ValueId a = *load(block, {dtype, {m, k}}, {bm, bk});
  const ValueId b = *load(block, {dtype, {k, n}}, {bk, bn});
  const ValueId c = *load(block, {dtype, {1, n}}, {{}, bn});
  const ValueId d = *load(block, {dtype, {m, 1}}, {bm, {}});
  std::vector<ir::TensorType> types = {
      {dtype, {m, k}}, {dtype, {k, n}}, {dtype, {1, n}}, {dtype, {m, 1}}};
  std::vector<ValueId> pool = {a, b, c, d};
  const size_t wanted = 4 + rng.below(10);
  size_t count = 0;
  for (int attempt = 0; attempt < 300 && count < wanted; ++attempt) {
    const ValueId x = pick(rng, pool);
    Attrs attrs;
    Result<ValueId> value = ValueId{};
    switch (rng.below(9)) {
      case 0:
        value = block.add(OpKind::MatMul, {x, pick(rng, pool)});
        break;
      case 1: {
        const OpKind kinds[] = {OpKind::Sum, OpKind::Mean, OpKind::Max};
        attrs.axis = static_cast<int64_t>(rng.below(2));
        value = block.add(kinds[rng.below(3)], {x}, attrs);
        break;
      }
      case 2:
      case 3: {
        const ir::Combine ways[] = {ir::Combine::Sum, ir::Combine::Mean, ir::Combine::Max};
        attrs.combine = ways[rng.below(3)];
        value = block.add(OpKind::Accum, {x}, attrs);
        break;
      }
      case 4:
        if (rng.below(3)) continue;
        attrs.axis = 1;
        if (const auto pair = block.add_all(OpKind::RunningMax, std::vector<ValueId>{x}, attrs)) {
          // exp(d) rescales; m itself is read as well.
          if (const auto factor = block.add(OpKind::Exp, {(*pair)[1]}))
            value = block.add(OpKind::AccumRescale, {pick(rng, pool), *factor});
          pool.push_back((*pair)[0]);
        } else {
          continue;
        }
        break;
      case 5:
        attrs.ints = {1, 0};
        value = block.add(OpKind::Transpose, {x}, attrs);
        break;
      default:
        value = random_map(rng, block, pool);
    }
    if (!value || !value->is_valid()) continue;
    pool.push_back(*value);
    ++count;
  }
  // Always something to store: the product, with what else fits.
  Attrs sum;
  sum.combine = ir::Combine::Sum;
  ValueId result = *block.add(OpKind::Accum, {*block.add(OpKind::MatMul, {a, b})}, sum);
  const ir::Shape tile_shape = block.type(result).shape;
  for (size_t i = pool.size(); i-- > 4;) {
    const auto more = block.add(OpKind::Add, {result, pool[i]});
    if (more && block.type(*more).shape == tile_shape) result = *more;
  }
  Attrs store;
  store.bind = {bm, bn};
  store.ints = {m, n};
  const auto stored = block.add(OpKind::Store, {result}, store);
  if (!stored) return nullptr;
  const auto body = block.finish();
  if (!body) return nullptr;

  GraphBuilder builder;
  std::vector<ValueId> operands;
  for (const ir::TensorType& type : types) {
    const ir::Strides strides = random_strides(rng, type.shape);
    operands.push_back(*builder.input(type, {}, strides));
  }
  auto results = builder.add_block(*body, operands);
  if (!results) return nullptr;
  const auto graph = builder.finish();
  return graph ? *graph : nullptr;
}

}  // namespace mirage::testing
