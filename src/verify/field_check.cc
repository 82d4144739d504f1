#include "verify/field_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>

#include "interp/domain_field.h"
#include "interp/domain_support.h"
#include "interp/evaluator.h"
#include "util/rng.h"
#include "verify/domain_degree.h"
#include "verify/domain_obligations.h"
#include "verify/group_ring.h"

namespace mirage::verify {
namespace {

using interp::BitSet;
using interp::Evaluator;
using interp::FieldDomain;
using interp::FieldRecord;
using interp::PrimeChain;
using interp::Support;
using interp::SupportDomain;

constexpr int kMaxResamples = 400;

/// What both programs depend on; inputs are numbered alike in both.
struct Dependence {
  std::vector<Support> exps, roots, denominators;  // arguments, by call
  std::vector<Support> outputs;                    // all entries of all outputs
};

Result<Dependence> dependence_of(const ir::Graph& graph) {
  Evaluator<SupportDomain> evaluator(graph);
  size_t next = 0;
  evaluator.fill_inputs([&](size_t) {
    Support entry;
    entry.inputs.insert(next++);
    return entry;
  });
  SupportDomain domain;
  MIRAGE_TRY_VOID(evaluator.run(domain));
  Dependence result{domain.exps(), domain.roots(), domain.denominators(), {}};
  for (size_t i = 0; i < graph.outputs.size(); ++i)
    for (const Support& entry : evaluator.output(i).data) result.outputs.push_back(entry);
  return result;
}

struct Degrees {
  double top = 0, bottom = 0, exponent = 0;  // largest of any output entry
};

Result<Degrees> degrees_of(const ir::Graph& graph) {
  Evaluator<DegreeDomain> evaluator(graph);
  evaluator.fill_inputs([](size_t) { return DegreeDomain::variable(); });
  DegreeDomain domain;
  MIRAGE_TRY_VOID(evaluator.run(domain));
  Degrees result;
  result.exponent = domain.largest_exponent();
  for (size_t i = 0; i < graph.outputs.size(); ++i)
    for (const Degree& entry : evaluator.output(i).data) {
      result.top = std::max(result.top, entry.top);
      result.bottom = std::max(result.bottom, entry.bottom);
    }
  return result;
}

template <int L>
class Check final : public FieldCheck {
 public:
  using Field = FieldDomain<L>;

  Check(const ir::Graph& reference, const ir::Graph& candidate)
      : reference_(reference), candidate_(candidate) {
    for (size_t i = 0; i < reference.inputs.size(); ++i)
      levels_.push_back(std::max(reference_.input_levels(i), candidate_.input_levels(i)));
  }

  Result<FieldTrial> trial(uint64_t seed, bool with_bound) override {
    FieldTrial result;
    const PrimeChain* chain = nullptr;
    uint64_t key = 0;
    // A few chains: whether a constant is a square depends on the prime.
    for (uint64_t attempt = 0; attempt < 6 && !result.is_defined; ++attempt) {
      Rng rng(interp::mix(seed, attempt));
      chain = &interp::prime_chain(rng.below(interp::chain_count()));
      key = rng.next();
      Field d(*chain, key), e(*chain, key);
      MIRAGE_TRY(result.is_defined, run(rng, d, e));
      note(d, e);
    }
    if (!result.is_defined) return result;
    bool may_be_equal = true;
    for (size_t i = 0; i < graph(0).outputs.size(); ++i) {
      result.equal.emplace_back();
      for (size_t j = 0; j < graph(1).outputs.size(); ++j)
        result.equal.back().push_back(same(reference_.output(i), candidate_.output(j)));
      const std::vector<bool>& row = result.equal.back();
      may_be_equal = may_be_equal && std::find(row.begin(), row.end(), true) != row.end();
    }
    if (!with_bound || !may_be_equal) return result;
    std::vector<Tensor> inputs;
    for (size_t i = 0; i < levels_.size(); ++i) inputs.push_back(reference_.input(i));
    MIRAGE_TRY_VOID(examine());
    if (!bound_reason_.empty()) return result;
    if (is_independent_) {
      result.log2_error = log2_error(exponent_degree_);
    } else {
      MIRAGE_TRY(result.log2_error, ring_error(*chain, key, inputs, result.equal));
    }
    return result;
  }

  /// Error bound and domain obligations: two runs over one chain with gauges at zero.
  Result<void> examine() override {
    if (is_examined_) return {};
    is_examined_ = true;
    MIRAGE_TRY_VOID(know_dependence());
    FieldRecord records[2][2];  // run, side
    const PrimeChain* chain = nullptr;
    bool is_defined = false;
    // A few chains, as for trials.
    for (size_t attempt = 0; attempt < 6 && !is_defined; ++attempt) {
      chain = &interp::prime_chain((7 + attempt) % interp::chain_count());
      is_defined = true;
      for (size_t run_number = 0; run_number < 2 && is_defined; ++run_number) {
        Rng rng(interp::mix(0x6578616d, run_number));
        Field d(*chain, 11), e(*chain, 11);
        d.set_zero_gauges(true);
        e.set_zero_gauges(true);
        MIRAGE_TRY(is_defined, run(rng, d, e));
        if (!is_defined) break;
        d.restart();
        e.restart();
        records[run_number][0] = records[run_number][1] = {};
        d.set_record(&records[run_number][0]);
        e.set_record(&records[run_number][1]);
        MIRAGE_TRY_VOID(reference_.run(d));
        MIRAGE_TRY_VOID(candidate_.run(e));
        note(d, e);
      }
    }
    if (!is_defined) {
      bound_reason_ = "no bound: no inputs were found on which both are defined";
      objection_ = "domain: no inputs were found on which denominators could be compared";
      return {};
    }
    MIRAGE_TRY_VOID(bound(records[0], chain->level[1]));
    // Exponents that are independent for every output entry (the bound), and roots and denominators
    // that are the same function up to a unit or have different inputs.
    const interp::Prime& p = chain->level[0];
    disjoint_ = bound_reason_.empty() && is_independent_;
    for (const int side : {0, 1}) {
      const Dependence& calls = side == 0 ? first_ : second_;
      disjoint_ =
          disjoint_ &&
          own_inputs(calls.roots, records[0][side].radicands, records[1][side].radicands, p) &&
          own_inputs(calls.denominators, records[0][side].denominators,
                     records[1][side].denominators, p);
    }
    MIRAGE_TRY(objection_, unmet_obligation(graph(0), graph(1), records, p));
    return {};
  }

  const std::string& bound_reason() const override { return bound_reason_; }
  const std::string& domain_objection() const override { return objection_; }
  bool families_are_disjoint() const override { return disjoint_; }
  std::vector<std::string> uninterpreted() const override { return opaque_.names(); }

 private:
  using Tensor = interp::Tensor<typename Field::Value>;

  const ir::Graph& graph(int side) const {
    return side == 0 ? reference_.graph() : candidate_.graph();
  }

  void note(const Field& d, const Field& e) {
    for (const interp::OpaqueUse& use : {d.opaque_use(), e.opaque_use()}) {
      opaque_.erf |= use.erf;
      opaque_.log |= use.log;
      opaque_.pow |= use.pow;
      opaque_.maximum |= use.maximum;
      opaque_.nested_exp |= use.nested_exp;
    }
  }

  static bool same(const Tensor& a, const Tensor& b) {
    if (a.shape != b.shape) return false;
    for (size_t i = 0; i < a.data.size(); ++i)
      if (a.data[i].levels == 0 || b.data[i].levels == 0 || a.data[i].r[0] != b.data[i].r[0])
        return false;
    return true;
  }

  static bool all_defined(const Evaluator<Field>& evaluator) {
    for (size_t i = 0; i < evaluator.graph().outputs.size(); ++i)
      for (const auto& value : evaluator.output(i).data)
        if (value.levels == 0) return false;
    return true;
  }

  /// Inputs on which both are defined, or false. Rows whose radicand is not a square are drawn
  /// again.
  Result<bool> run(Rng& rng, Field& d, Field& e) {
    reference_.fill_inputs([&](size_t i) { return d.random(rng, levels_[i]); });
    for (int attempt = 0; attempt < kMaxResamples; ++attempt) {
      d.restart();
      MIRAGE_TRY_VOID(reference_.run(d));
      BitSet again;
      if (!d.failed_roots().empty()) {
        MIRAGE_TRY_VOID(know_dependence());
        again = wanted(d.failed_roots(), first_.roots);
      } else {
        for (size_t i = 0; i < levels_.size(); ++i) candidate_.input(i) = reference_.input(i);
        e.restart();
        MIRAGE_TRY_VOID(candidate_.run(e));
        if (all_defined(reference_) && all_defined(candidate_)) return true;
        if (!e.failed_roots().empty()) {
          MIRAGE_TRY_VOID(know_dependence());
          again = wanted(e.failed_roots(), second_.roots);
        }
      }
      const bool all = again.is_empty();
      size_t number = 0;
      for (size_t i = 0; i < levels_.size(); ++i)
        for (auto& entry : reference_.input(i).data)
          if (const size_t own = number++; all || again.contains(own))
            entry = d.random(rng, levels_[i]);
    }
    return false;
  }

  Result<void> know_dependence() {
    if (knows_dependence_) return {};
    knows_dependence_ = true;
    MIRAGE_TRY(first_, dependence_of(graph(0)));
    MIRAGE_TRY(second_, dependence_of(graph(1)));
    return {};
  }

  /// Inputs to draw again: those of failed radicands that no good radicand shares, or all of them.
  static BitSet wanted(const std::vector<size_t>& failed, const std::vector<Support>& roots) {
    BitSet bad, good;
    size_t next = 0;
    for (size_t call = 0; call < roots.size(); ++call) {
      const bool is_failed = next < failed.size() && failed[next] == call;
      if (is_failed) ++next;
      (is_failed ? bad : good).insert_all(roots[call].inputs);
    }
    BitSet own = bad;
    own.remove_all(good);
    return own.is_empty() ? bad : own;
  }

  /// Calls with the same inputs are the same function up to a unit.
  static bool own_inputs(const std::vector<Support>& calls, const std::vector<uint64_t>& first,
                         const std::vector<uint64_t>& second, const interp::Prime& p) {
    std::map<std::vector<uint64_t>, std::pair<uint64_t, uint64_t>> families;
    for (size_t i = 0; i < calls.size(); ++i) {
      if (calls[i].inputs.is_empty()) continue;
      const auto [at, is_new] =
          families.emplace(calls[i].inputs.words(), std::pair(first[i], second[i]));
      if (!is_new && p.mul(first[i], at->second.second) != p.mul(second[i], at->second.first))
        return false;
    }
    return true;
  }

  Result<void> bound(const FieldRecord (&records)[2], const interp::Prime& q) {
    MIRAGE_TRY(const Degrees a, degrees_of(graph(0)));
    MIRAGE_TRY(const Degrees b, degrees_of(graph(1)));
    // Exponents that are the same function up to sign are one variable.
    std::vector<uint64_t> exponents = records[0].exponents;
    exponents.insert(exponents.end(), records[1].exponents.begin(), records[1].exponents.end());
    std::vector<const Support*> arguments;
    for (const Support& call : first_.exps) arguments.push_back(&call);
    for (const Support& call : second_.exps) arguments.push_back(&call);
    std::vector<const BitSet*> families;
    std::unordered_map<uint64_t, size_t> known;
    std::vector<size_t> family_of(exponents.size(), SIZE_MAX);
    for (size_t i = 0; i < exponents.size(); ++i) {
      const uint64_t canonical = std::min(exponents[i], q.neg(exponents[i]));
      if (canonical == 0) continue;
      const auto [at, is_new] = known.emplace(canonical, families.size());
      family_of[i] = at->second;
      if (is_new) families.push_back(&arguments[i]->inputs);
    }
    is_independent_ = true;
    const size_t outputs = first_.outputs.size();
    std::set<std::vector<size_t>> examined;
    for (size_t entry = 0; entry < std::max(outputs, second_.outputs.size()); ++entry) {
      std::set<size_t> used;
      std::set<std::vector<size_t>> roots;
      const auto add = [&](const Dependence& side, size_t offset) {
        if (entry >= side.outputs.size()) return;
        side.outputs[entry].exps.for_each([&](size_t call) {
          if (family_of[offset + call] != SIZE_MAX) used.insert(family_of[offset + call]);
        });
        side.outputs[entry].roots.for_each([&](size_t call) {
          std::vector<size_t> inputs;
          side.roots[call].inputs.for_each([&](size_t i) { inputs.push_back(i); });
          roots.insert(std::move(inputs));
        });
      };
      add(first_, 0);
      add(second_, first_.exps.size());
      most_roots_ = std::max(most_roots_, roots.size());
      if (!is_independent_ || !examined.insert({used.begin(), used.end()}).second) continue;
      is_independent_ = have_own_inputs(used, families);
    }
    degree_ = std::max(a.top + b.bottom, b.top + a.bottom) + 1;
    exponent_degree_ = 1 + std::max(a.exponent, b.exponent);
    if (log2_error(exponent_degree_) == 0) bound_reason_ = "no bound: degrees are too large";
    return {};
  }

  /// Each of these exponents has an input that none of the others has. Inputs of several are
  /// counted first, so that many exponents are no trouble.
  static bool have_own_inputs(const std::set<size_t>& used,
                              const std::vector<const BitSet*>& families) {
    BitSet once, twice;
    for (size_t family : used) {
      BitSet both = once;
      both.keep_all(*families[family]);
      twice.insert_all(both);
      once.insert_all(*families[family]);
    }
    return std::all_of(used.begin(), used.end(),
                       [&](size_t family) { return families[family]->exceeds(twice); });
  }

  /// Theorems A and C with the smallest prime in use: `exponents` is what exponentials add to the
  /// degree.
  double log2_error(double exponents) const {
    const double bits = L == 2 ? 59 : 57;
    return std::min(0.0, std::log2(degree_) + std::log2(exponents) +
                             2 * static_cast<double>(most_roots_) - bits);
  }

  /// Theorem B: both are evaluated again on these inputs in the group ring. A bound if all entries
  /// that were equal are equal there too.
  Result<double> ring_error(const PrimeChain& chain, uint64_t key,
                            const std::vector<Tensor>& inputs,
                            const std::vector<std::vector<bool>>& equal) {
    using Ring = RingDomain<L>;
    Ring d(chain, key), e(chain, key);
    Evaluator<Ring> a(graph(0)), b(graph(1));
    for (size_t i = 0; i < inputs.size(); ++i)
      for (Evaluator<Ring>* side : {&a, &b}) {
        interp::reset(side->input(i), inputs[i].shape);
        for (size_t k = 0; k < inputs[i].data.size(); ++k)
          side->input(i).data[k] = d.plain(inputs[i].data[k]);
      }
    MIRAGE_TRY_VOID(a.run(d));
    MIRAGE_TRY_VOID(b.run(e));
    double count = 1, height = 0;
    for (size_t i = 0; i < equal.size(); ++i)
      for (size_t j = 0; j < equal[i].size(); ++j) {
        if (!equal[i][j]) continue;
        for (size_t k = 0; k < a.output(i).data.size(); ++k) {
          const auto found = d.compare(a.output(i).data[k], b.output(j).data[k]);
          if (!found.is_equal && d.obstacle().empty() && e.obstacle().empty())
            bound_reason_ = "no bound: equality needs a law of exponents";
          count = std::max(count, found.count);
          height = std::max(height, found.height);
        }
      }
    for (const std::string& obstacle : {d.obstacle(), e.obstacle()})
      if (!obstacle.empty()) bound_reason_ = "no bound: " + obstacle;
    if (!bound_reason_.empty()) return 0.0;
    // The difference of two exponents is one of sums of `height` exponents.
    const double error = log2_error(1 + count * 2 * height * exponent_degree_);
    if (error == 0) bound_reason_ = "no bound: degrees are too large";
    return error;
  }

  Evaluator<Field> reference_, candidate_;
  Dependence first_, second_;
  std::vector<int> levels_;
  interp::OpaqueUse opaque_;
  bool knows_dependence_ = false, is_examined_ = false;
  bool disjoint_ = false, is_independent_ = false;
  double degree_ = 1, exponent_degree_ = 1;
  size_t most_roots_ = 0;
  std::string bound_reason_, objection_;
};

template <int L>
std::unique_ptr<FieldCheck> make(const ir::Graph& reference, const ir::Graph& candidate) {
  return std::make_unique<Check<L>>(reference, candidate);
}

}  // namespace

std::unique_ptr<FieldCheck> make_field_check(const ir::Graph& reference,
                                             const ir::Graph& candidate) {
  const int length = std::max(interp::chain_length(reference), interp::chain_length(candidate));
  return length <= 2 ? make<2>(reference, candidate) : make<4>(reference, candidate);
}

}  // namespace mirage::verify
