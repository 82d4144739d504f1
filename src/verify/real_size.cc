#include "verify/real_size.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "interp/interp.h"
#include "util/rng.h"
#include "verify/witness.h"

namespace mirage::verify {
namespace {

constexpr double kScale = 0.3;  // as published graphs are checked: sums of products stay moderate
constexpr double kRelative = 1e-8, kAbsolute = 1e-10;  // differences that rounding may explain
constexpr uint64_t kFirstFactor = 4;                   // what one entry may cost, in budgets
constexpr size_t kRandom = 16;

struct Source {
  uint64_t seed;
};

double element(const void* context, size_t input, int64_t index) {
  return witness_element(static_cast<const Source*>(context)->seed, kScale, input, index);
}

/// Along one axis, most telling first: both ends, both sides of the borders of the last and the
/// first tile, the middle, and random places.
std::vector<int64_t> positions(int64_t extent, int64_t tile, Rng& rng) {
  const int64_t last_tile = (extent - 1) / tile * tile;
  std::vector<int64_t> kept;
  const auto keep = [&](int64_t at) {
    if (at >= 0 && at < extent && std::find(kept.begin(), kept.end(), at) == kept.end())
      kept.push_back(at);
  };
  for (int64_t at : {extent - 1, int64_t{0}, last_tile, last_tile - 1, tile, tile - 1, extent / 2})
    keep(at);
  for (size_t k = 0; k < kRandom; ++k)
    keep(static_cast<int64_t>(rng.below(static_cast<uint64_t>(extent))));
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

/// An entry to compare. Entries of one line (all axes but the last) share most of their work.
struct Entry {
  int64_t line;
  int64_t index;
};

std::vector<Entry> entries_of(const ir::Graph& graph, ir::ValueId output, Rng& rng) {
  const ir::Shape& shape = graph.type(output).shape;
  if (shape.empty()) return {{0, 0}};
  const ir::Shape tiles = tiles_of(graph, output);
  const ir::Strides strides = ir::row_major_strides(shape);
  std::vector<std::vector<int64_t>> choices;
  size_t most = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    choices.push_back(positions(shape[i], tiles[i], rng));
    most = std::max(most, choices.back().size());
  }
  // The diagonal through the choices of every axis, each line with two columns; then mixtures.
  std::vector<Entry> entries;
  const std::vector<int64_t>& columns = choices.back();
  const auto insert = [&](int64_t line, int64_t column) {
    const int64_t index = line + column;
    const auto is_same = [&](const Entry& entry) { return entry.index == index; };
    if (std::none_of(entries.begin(), entries.end(), is_same)) entries.push_back({line, index});
  };
  std::vector<int64_t> lines;
  for (size_t k = 0; k < most; ++k) {
    int64_t line = 0;
    for (size_t i = 0; i + 1 < shape.size(); ++i)
      line += choices[i][k % choices[i].size()] * strides[i];
    insert(line, columns[k % columns.size()]);
    insert(line, columns[(k + 1) % columns.size()]);
    if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
  }
  for (size_t k = 0; k < 2 * kRandom; ++k) {
    int64_t line = 0;
    for (size_t i = 0; i + 1 < shape.size(); ++i)
      line += choices[i][rng.below(choices[i].size())] * strides[i];
    insert(line, columns[rng.below(columns.size())]);
  }
  for (int64_t column : columns)
    for (int64_t line : lines) insert(line, column);
  return entries;
}

/// What entries cost: in a line that was not met before, and in one that was.
class Costs {
 public:
  bool is_affordable(int64_t line, uint64_t left) const {
    return known_[is_new(line)] == 0 || known_[is_new(line)] <= left;
  }
  void add(int64_t line, uint64_t cost) {
    known_[is_new(line)] = cost;
    lines_.insert(line);
  }

 private:
  size_t is_new(int64_t line) const { return lines_.count(line) == 0 ? 1 : 0; }
  std::set<int64_t> lines_;
  std::array<uint64_t, 2> known_ = {0, 0};
};

}  // namespace

Result<RealSizeCheck> check_real_size(const ir::Graph& reference, const ir::Graph& candidate,
                                      const std::vector<size_t>& order, uint64_t seed,
                                      uint64_t work) {
  RealSizeCheck check;
  const Source source{seed};
  const auto shared = [](const ir::Graph& graph) {
    return ir::GraphPtr(std::shared_ptr<void>(), &graph);  // outlives the evaluators
  };
  interp::LazyEvaluator a(shared(reference), element, &source);
  interp::LazyEvaluator b(shared(candidate), element, &source);
  a.set_work_limit(kFirstFactor * work);
  b.set_work_limit(kFirstFactor * work);
  Rng rng(seed);
  std::vector<std::vector<Entry>> entries;  // by output
  std::vector<Costs> costs(reference.outputs.size());
  size_t most = 0;
  for (size_t i = 0; i < reference.outputs.size(); ++i) {
    const ir::ValueId output = candidate.outputs[order[i]];
    const bool is_empty = ir::element_count(candidate.type(output).shape) == 0;
    entries.push_back(is_empty ? std::vector<Entry>{} : entries_of(candidate, output, rng));
    most = std::max(most, entries.back().size());
  }
  uint64_t budget = work;
  const auto spent = [&] { return std::max(a.work(), b.work()); };
  for (size_t k = 0; k < most; ++k) {
    // Dear first entries leave some cheap ones affordable.
    if (k == 1) budget = std::max(work, spent() + spent() / 8);
    for (size_t i = 0; i < entries.size(); ++i) {
      if (k >= entries[i].size()) continue;
      const auto [line, entry] = entries[i][k];
      const uint64_t before = spent();
      if (before >= budget ? k > 0 : !costs[i].is_affordable(line, budget - before)) {
        check.is_complete = false;
        continue;
      }
      const Result<double> x = a.output(i, entry);
      const Result<double> y = x ? b.output(order[i], entry) : x;
      if (!y) {
        check.is_complete = false;
        if (y.error().code == Code::LimitExceeded) return check;
        return tl::unexpected(y.error());
      }
      costs[i].add(line, spent() - before);
      if (std::isnan(*x)) continue;
      ++check.compared;
      const double size = std::max(std::fabs(*x), std::fabs(*y));
      const double bound = kRelative * size + kAbsolute;
      if (*x == *y || std::fabs(*x - *y) <= bound) continue;
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
