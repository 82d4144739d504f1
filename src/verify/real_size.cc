#include "verify/real_size.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "interp/interp.h"
#include "util/rng.h"
#include "verify/witness.h"

namespace mirage::verify {
namespace {

constexpr double kScale = 0.3;  // as published graphs are checked: sums of products stay moderate

struct Source {
  uint64_t seed;
};

double element(const void* context, size_t input, int64_t index) {
  return witness_element(static_cast<const Source*>(context)->seed, kScale, input, index);
}

/// Along one axis: both ends, both sides of every tile border near them, and the middle.
std::vector<int64_t> positions(int64_t extent, int64_t tile) {
  std::set<int64_t> result = {0, extent - 1, extent / 2};
  for (int64_t at : {tile - 1, tile, extent - tile}) result.insert(at);
  std::vector<int64_t> kept;
  for (int64_t at : result)
    if (at >= 0 && at < extent) kept.push_back(at);
  return kept;
}

/// Tile extents of the kernel that makes this output, or the output itself.
ir::Shape tiles_of(const ir::Graph& graph, ir::ValueId output) {
  ir::Shape shape = graph.type(output).shape;
  const ir::Op* op = graph.def_of(output);
  if (!op || !op->body) return shape;
  const ir::Op& store = *op->body->def_of(op->body->outputs[graph.value(output).result]);
  for (size_t i = 0; i < shape.size(); ++i)
    shape[i] = ir::tile_extent(shape[i], store.attrs.bind[i], op->body->launch);
  return shape;
}

std::vector<int64_t> entries_of(const ir::Graph& graph, ir::ValueId output, Rng& rng) {
  const ir::Shape& shape = graph.type(output).shape;
  const ir::Shape tiles = tiles_of(graph, output);
  const ir::Strides strides = ir::row_major_strides(shape);
  // The diagonal through the interesting positions of every axis, then random mixtures of them.
  std::vector<std::vector<int64_t>> choices;
  size_t most = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    choices.push_back(positions(shape[i], tiles[i]));
    most = std::max(most, choices.back().size());
  }
  std::vector<int64_t> entries;
  const auto insert = [&](int64_t entry) {
    if (std::find(entries.begin(), entries.end(), entry) == entries.end()) entries.push_back(entry);
  };
  for (size_t k = 0; k < most; ++k) {
    int64_t entry = 0;
    for (size_t i = 0; i < shape.size(); ++i)
      entry += choices[i][std::min(k, choices[i].size() - 1)] * strides[i];
    insert(entry);
  }
  for (size_t k = 0; k < 16; ++k) {
    int64_t entry = 0;
    for (size_t i = 0; i < shape.size(); ++i)
      entry += choices[i][rng.below(choices[i].size())] * strides[i];
    insert(entry);
  }
  const int64_t count = ir::element_count(shape);
  for (size_t k = 0; k < 32; ++k)
    insert(static_cast<int64_t>(rng.below(static_cast<uint64_t>(count))));
  return entries;
}

}  // namespace

Result<RealSizeCheck> check_real_size(const ir::Graph& reference, const ir::Graph& candidate,
                                      const std::vector<size_t>& order, uint64_t seed,
                                      uint64_t work_limit) {
  RealSizeCheck check;
  const Source source{seed};
  interp::LazyEvaluator a(std::make_shared<const ir::Graph>(reference), element, &source);
  interp::LazyEvaluator b(std::make_shared<const ir::Graph>(candidate), element, &source);
  a.set_work_limit(work_limit);
  b.set_work_limit(work_limit);
  Rng rng(seed);
  for (size_t i = 0; i < reference.outputs.size(); ++i) {
    const ir::ValueId output = candidate.outputs[order[i]];
    if (ir::element_count(candidate.type(output).shape) == 0) continue;
    for (int64_t entry : entries_of(candidate, output, rng)) {
      if (a.work() > work_limit || b.work() > work_limit) {
        check.is_complete = false;
        return check;
      }
      const Result<double> x = a.output(i, entry);
      const Result<double> y = x ? b.output(order[i], entry) : x;
      if (!y) {
        check.is_complete = false;
        if (y.error().code == Code::LimitExceeded) return check;
        return tl::unexpected(y.error());
      }
      ++check.compared;
      const double size = std::max(std::fabs(*x), std::fabs(*y));
      const double bound = 1e-8 * size + 1e-10;
      if (!(std::fabs(*x - *y) > bound) && std::isnan(*x) == std::isnan(*y)) continue;
      if (std::isnan(*x) || *x == *y) continue;
      Witness witness;
      for (ir::ValueId input : reference.inputs)
        witness.input_shapes.push_back(reference.type(input).shape);
      witness.seed = seed;
      witness.scale = kScale;
      witness.output = i;
      witness.entry = entry;
      witness.reference = *x;
      witness.candidate = *y;
      witness.bound = bound;
      check.difference = std::move(witness);
      return check;
    }
  }
  return check;
}

}  // namespace mirage::verify
