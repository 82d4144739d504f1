#include "search/relevance.h"

#include <algorithm>
#include <map>
#include <set>

#include "algebra/domain.h"
#include "algebra/normal_form.h"
#include "algebra/prove.h"

namespace mirage::search {
namespace {

using algebra::Arena;
using algebra::AtomKind;
using algebra::Factor;
using algebra::Monomial;
using algebra::Nf;
using algebra::Node;
using algebra::Rational;
using algebra::Substitution;
using algebra::Var;
using ir::OpKind;

/// A monomial without its sum: bound variables are free ones with tags of their own.
struct Opened {
  Rational coefficient;
  std::vector<Factor> factors;
  std::vector<Var> bound;
};

using VarMap = std::vector<std::pair<Var, Var>>;

bool contains(std::span<const Var> vars, Var var) {
  return std::find(vars.begin(), vars.end(), var) != vars.end();
}

const Var* image(const VarMap& map, Var var) {
  for (const auto& [from, to] : map)
    if (from == var) return &to;
  return nullptr;
}

bool is_zero(Rational r) { return r.num == 0; }
bool is_negative(Rational r) { return r.num < 0; }
bool reaches(Rational have, Rational want) {  // same sign, at least as large
  return is_negative(have) == is_negative(want) && !(algebra::abs(have) < algebra::abs(want));
}

}  // namespace

struct Relevance::Impl {
  explicit Impl(const Problem& p) : problem(p) {
    for (const IndexClass& entry : p.classes) nodes.push_back(arena.index().root(entry.name));
  }

  /// A context: forms that E may divide, with the monomials opened once.
  struct Context {
    Nf form;
    std::vector<Opened> monomials;
  };

  // --- forms
  bool has_input(Nf form) {
    const auto [at, is_new] = input_memo.try_emplace(form.index, false);
    if (!is_new) return at->second;
    bool found = false;
    for (const Monomial& m : arena.monomials(form))
      for (const Factor& f : m.factors) {
        const algebra::Atom& atom = arena.atom(f.atom);
        found |= atom.kind == AtomKind::In;
        const std::vector<Nf> args(atom.args.begin(), atom.args.end());
        for (Nf arg : args) found |= has_input(arg);
        if (found) break;
      }
    return input_memo[form.index] = found;
  }

  uint32_t mass(Nf form) {
    if (const auto at = mass_memo.find(form.index); at != mass_memo.end()) return at->second;
    uint32_t total = 0;
    for (const Monomial& m : arena.monomials(form))
      for (const Factor& f : m.factors) {
        const algebra::Atom& atom = arena.atom(f.atom);
        uint32_t own = 1;
        for (Nf arg : atom.args) own += mass(arg);
        const Rational p = algebra::abs(f.power);
        const int64_t times =
            std::clamp<int64_t>((p.num + p.den - 1) / std::max<int64_t>(p.den, 1), 1, 8);
        total += own * static_cast<uint32_t>(times);
      }
    return mass_memo[form.index] = total;
  }

  Opened open(Nf form, size_t index) {
    const Monomial m = arena.monomials(form)[index];
    Opened opened;
    opened.coefficient = m.coefficient;
    std::vector<Substitution> to_free;
    for (size_t i = 0; i < m.binders.size(); ++i) {
      opened.bound.push_back(new_variable(m.binders[i]));
      to_free.push_back({m.bound(i), {opened.bound.back()}});
    }
    const std::vector<Factor> factors(m.factors.begin(), m.factors.end());
    for (const Factor& factor : factors) {
      const auto renamed = rename(factor, to_free);
      opened.factors.push_back(renamed ? *renamed : factor);
    }
    return opened;
  }

  /// The factor with variables replaced, if it is a single factor again.
  std::optional<Factor> rename(Factor factor, const std::vector<Substitution>& substitutions) {
    const auto open = arena.atom(factor.atom).open;
    std::vector<Substitution> needed;
    for (const Substitution& s : substitutions)
      if (contains(open, s.variable) && !(s.list.size() == 1 && s.list[0] == s.variable))
        needed.push_back(s);
    if (needed.empty()) return factor;
    const Nf result = arena.substitute(factor, needed);
    if (!result.is_valid()) return std::nullopt;
    const auto terms = arena.monomials(result);
    if (terms.size() != 1 || terms[0].factors.size() != 1 || !(terms[0].coefficient == Rational(1)))
      return std::nullopt;
    return terms[0].factors[0];
  }

  // --- contexts
  void add_context(Nf form) {
    if (!form.is_valid() || arena.is_zero(form)) return;
    // Variables bound outside become free ones with their own tags.
    std::vector<Substitution> loose;
    for (Var var : arena.free_variables(form))
      if (!var.is_free()) loose.push_back({var, {outer_variable(var.node, loose.size())}});
    if (!loose.empty()) form = arena.substitute(form, loose);
    if (!form.is_valid()) return;
    for (const Context& known : contexts)
      if (known.form == form) return;
    Context context{form, {}};
    const size_t count = arena.monomials(form).size();
    for (size_t i = 0; i < count; ++i) context.monomials.push_back(open(form, i));
    contexts.push_back(std::move(context));

    for (size_t i = 0; i < count; ++i) {
      const Monomial m = arena.monomials(form)[i];
      has_negative |= is_negative(m.coefficient);
      const std::vector<Factor> factors(m.factors.begin(), m.factors.end());
      Nf exponents = arena.number(0);
      for (const Factor& factor : factors) {
        const algebra::Atom& atom = arena.atom(factor.atom);
        const bool is_exp = atom.kind == AtomKind::Exp;
        const std::vector<Nf> args(atom.args.begin(), atom.args.end());
        for (Nf arg : args) add_context(arg);
        if (is_exp)
          exponents = arena.add(exponents, arena.mul(arena.number(factor.power), args[0]));
      }
      add_context(exponents);
    }
  }

  // --- embedding
  /// Finds injections of `source` factors into the target's; calls found(map, remaining powers)
  /// until it returns true.
  template <class Found>
  struct Embedding {
    Impl& impl;
    std::span<const Factor> source;
    const Opened& target;
    const std::vector<Var>& source_bound;
    Found found;
    std::vector<Rational> remaining;
    VarMap map;
    size_t budget = 2000;

    bool run() {
      for (const Factor& factor : target.factors) remaining.push_back(factor.power);
      return place(0);
    }

    bool place(size_t i) {
      if (budget-- == 0) {
        budget = 1;
        return false;
      }
      if (i == source.size()) return found(map, remaining);
      const Factor factor = source[i];
      for (size_t j = 0; j < target.factors.size(); ++j) {
        if (is_zero(remaining[j]) || !reaches(remaining[j], factor.power)) continue;
        // A root is completed by the same root, not by two of them.
        if (!(remaining[j] - factor.power).is_integer()) continue;
        const Rational before = remaining[j];
        const size_t mapped = map.size();
        const bool done =
            impl.match(factor, target.factors[j].atom, source_bound, target.bound, map, [&] {
              remaining[j] = before - factor.power;
              return place(i + 1);
            });
        remaining[j] = before;
        map.resize(mapped);
        if (done) return true;
      }
      return false;
    }
  };

  /// Extends `map` so that the atom of a becomes b, in every possible way; calls next for each. The
  /// factor's own power matters: an inverse or root of a sum is an atom, its first power is not.
  template <class Next>
  bool match(Factor a, algebra::AtomId b, const std::vector<Var>& bound_a,
             const std::vector<Var>& bound_b, VarMap& map, Next next) {
    const algebra::Atom& x = arena.atom(a.atom);
    const algebra::Atom& y = arena.atom(b);
    if (x.kind != y.kind || x.open.size() != y.open.size() || x.symbol != y.symbol) return false;
    if (x.open.empty()) return a.atom == b && next();
    const std::vector<Var> from(x.open.begin(), x.open.end()), to(y.open.begin(), y.open.end());
    return assign(a, b, from, to, 0, bound_a, bound_b, map, next);
  }

  template <class Next>
  bool assign(Factor a, algebra::AtomId b, const std::vector<Var>& from, const std::vector<Var>& to,
              size_t i, const std::vector<Var>& bound_a, const std::vector<Var>& bound_b,
              VarMap& map, Next& next) {
    if (i == from.size()) {
      std::vector<Substitution> substitutions;
      substitutions.reserve(from.size());
      for (Var var : from) substitutions.push_back({var, {*image(map, var)}});
      const auto renamed = rename(a, substitutions);
      return renamed && renamed->atom == b && next();
    }
    const auto allowed = [&](Var target) {
      if (target.node != from[i].node || !contains(to, target)) return false;
      return !contains(bound_a, from[i]) || contains(bound_b, target);
    };
    if (const Var* known = image(map, from[i]))
      return allowed(*known) && assign(a, b, from, to, i + 1, bound_a, bound_b, map, next);
    for (Var target : to) {
      const bool taken = std::any_of(map.begin(), map.end(),
                                     [&](const auto& entry) { return entry.second == target; });
      if (taken || !allowed(target)) continue;
      map.emplace_back(from[i], target);
      const size_t size = map.size();
      if (assign(a, b, from, to, i + 1, bound_a, bound_b, map, next)) return true;
      map.resize(size - 1);
    }
    return false;
  }

  std::vector<Var> bound_of(const Monomial& m) const {
    std::vector<Var> bound;
    for (size_t i = 0; i < m.binders.size(); ++i) bound.push_back(m.bound(i));
    return bound;
  }

  /// What is left of the target's factors; empty optional if a variable bound by the source is left
  /// in it.
  std::optional<std::vector<Factor>> quotient(const Opened& target,
                                              const std::vector<Rational>& remaining,
                                              const std::vector<Var>& source_bound,
                                              const VarMap& map) {
    std::vector<Factor> rest;
    for (size_t j = 0; j < remaining.size(); ++j)
      if (!is_zero(remaining[j])) rest.push_back({target.factors[j].atom, remaining[j]});
    for (const Factor& factor : rest)
      for (Var var : source_bound) {
        const Var* to = image(map, var);
        if (to && contains(arena.atom(factor.atom).open, *to)) return std::nullopt;
      }
    return rest;
  }

  /// Whether these factors of `target` are a factor of this monomial too.
  bool divides_monomial(const std::vector<Factor>& factors, const std::vector<Var>& bound,
                        const Opened& monomial) {
    auto found = [&](const VarMap& map, const std::vector<Rational>&) {
      // Free variables stay themselves.
      return std::all_of(map.begin(), map.end(), [&](const auto& entry) {
        return entry.first == entry.second || contains(bound, entry.first);
      });
    };
    Embedding<decltype(found)> embedding{*this, factors, monomial, bound, found, {}, {}};
    return embedding.run();
  }

  // --- the test
  bool single_divides(Nf form, bool must_be_inverse) {
    const Monomial m = arena.monomials(form)[0];
    const std::vector<Factor> factors(m.factors.begin(), m.factors.end());
    const std::vector<Var> bound = bound_of(m);
    const Rational coefficient = m.coefficient;
    if (must_be_inverse)
      for (const Factor& factor : factors) {
        const AtomKind kind = arena.atom(factor.atom).kind;
        const bool is_number =
            kind == AtomKind::Size || kind == AtomKind::Unit || kind == AtomKind::Prime;
        if (!is_number && !is_negative(factor.power)) return false;
      }
    else if (is_negative(coefficient))
      return false;
    for (const Context& context : contexts)
      for (const Opened& target : context.monomials) {
        if (!(coefficient == Rational(1)) && !(coefficient == target.coefficient) &&
            !(coefficient == algebra::abs(target.coefficient)))
          continue;
        auto found = [&](const VarMap& map, const std::vector<Rational>& remaining) {
          return quotient(target, remaining, bound, map).has_value();
        };
        Embedding<decltype(found)> embedding{*this, factors, target, bound, found, {}, {}};
        if (embedding.run()) return true;
      }
    return false;
  }

  /// Common factors of all monomials that touch nothing bound.
  std::vector<Factor> content_of(Nf form) {
    std::vector<Factor> content;
    bool first = true;
    for (const Monomial& m : arena.monomials(form)) {
      std::vector<Factor> next;
      for (const Factor& factor : m.factors) {
        const auto open = arena.atom(factor.atom).open;
        bool touches = false;
        for (size_t i = 0; i < m.binders.size(); ++i) touches |= contains(open, m.bound(i));
        if (touches) continue;
        if (first) {
          next.push_back(factor);
          continue;
        }
        for (const Factor& known : content)
          if (known.atom == factor.atom && is_negative(known.power) == is_negative(factor.power))
            next.push_back(algebra::abs(known.power) < algebra::abs(factor.power) ? known : factor);
      }
      content = std::move(next);
      first = false;
    }
    return content;
  }

  bool sum_divides(Nf form) {
    const auto terms = arena.monomials(form);
    size_t longest = 0;
    for (size_t i = 0; i < terms.size(); ++i)
      if (terms[i].factors.size() > terms[longest].factors.size()) longest = i;
    const Monomial e = terms[longest];
    const std::vector<Factor> factors(e.factors.begin(), e.factors.end());
    const std::vector<Var> bound = bound_of(e);
    const Rational lead = e.coefficient;
    const size_t count = terms.size();
    const std::vector<Factor> content = content_of(form);
    for (const Context& context : contexts) {
      if (context.monomials.size() < count) continue;
      for (const Opened& target : context.monomials) {
        auto found = [&](const VarMap& map, const std::vector<Rational>& remaining) {
          const auto rest = quotient(target, remaining, bound, map);
          if (!rest) return false;
          const Rational ratio = target.coefficient / lead;
          if (is_negative(ratio)) return false;
          if (!(ratio == Rational(1)) && !(algebra::abs(lead) == Rational(1))) return false;
          return others_present(form, longest, context, target, *rest, ratio, map) &&
                 is_maximal(content, *rest, context, target, count, map);
        };
        Embedding<decltype(found)> embedding{*this, factors, target, bound, found, {}, {}};
        if (embedding.run()) return true;
      }
    }
    return false;
  }

  /// Every other monomial of the sum, times the quotient, is in the context with the same ratio.
  bool others_present(Nf form, size_t skipped, const Context& context, const Opened& target,
                      const std::vector<Factor>& rest, Rational ratio, const VarMap& map) {
    const size_t count = arena.monomials(form).size();
    for (size_t i = 0; i < count; ++i) {
      if (i == skipped) continue;
      const Monomial m = arena.monomials(form)[i];
      const Rational coefficient = m.coefficient;
      std::vector<Substitution> substitutions;
      std::vector<Var> bound;
      for (size_t b = 0; b < m.binders.size(); ++b) {
        bound.push_back(spare_variable(m.binders[b], b));
        substitutions.push_back({m.bound(b), {bound.back()}});
      }
      for (Var var : m.open) {
        const Var* to = image(map, var);
        // A variable that the longest monomial lacks stays free.
        substitutions.push_back({var, {to ? *to : var}});
      }
      std::vector<Factor> product = rest;
      const std::vector<Factor> factors(m.factors.begin(), m.factors.end());
      for (const Factor& factor : factors) {
        const auto renamed = rename(factor, substitutions);
        if (!renamed) return false;
        product.push_back(*renamed);
      }
      for (Var var : target.bound) bound.push_back(var);
      std::vector<Var> used;
      for (Var var : bound)
        for (const Factor& factor : product)
          if (contains(arena.atom(factor.atom).open, var)) {
            used.push_back(var);
            break;
          }
      const Nf made = arena.sum(arena.monomial(coefficient * ratio, product, {}), used);
      if (!made.is_valid() || arena.monomials(made).size() != 1) return false;
      const Monomial expected = arena.monomials(made)[0];
      const auto present = arena.monomials(context.form);
      if (std::none_of(present.begin(), present.end(), [&](const Monomial& p) {
            return p.key == expected.key && p.coefficient == expected.coefficient;
          }))
        return false;
    }
    return true;
  }

  /// After removing its content, the sum has all monomials of the context that the quotient
  /// divides: otherwise every subset of a sum would be relevant.
  bool is_maximal(const std::vector<Factor>& content, std::vector<Factor> rest,
                  const Context& context, const Opened& target, size_t count, const VarMap& map) {
    std::vector<Substitution> substitutions;
    for (const auto& [from, to] : map) substitutions.push_back({from, {to}});
    for (const Factor& factor : content) {
      const auto renamed = rename(factor, substitutions);
      if (!renamed) return false;
      const auto same = std::find_if(rest.begin(), rest.end(),
                                     [&](const Factor& f) { return f.atom == renamed->atom; });
      if (same == rest.end())
        rest.push_back(*renamed);
      else
        same->power = same->power + renamed->power;
    }
    size_t divisible = 0;
    for (const Opened& monomial : context.monomials)
      divisible += divides_monomial(rest, target.bound, monomial) ? 1 : 0;
    return divisible == count;
  }

  // Free variables of the search have tag 0. Variables bound outside a context get small tags, so
  // that equal contexts are found equal; opened ones are all different.
  static Var outer_variable(Node node, size_t i) {
    return algebra::free_var(node, 1 + static_cast<uint32_t>(i));
  }
  Var new_variable(Node node) { return algebra::free_var(node, next_tag++); }
  /// The same variables again and again, for products that are looked up and forgotten.
  Var spare_variable(Node node, size_t i) {
    auto& pool = spare[node];
    while (pool.size() <= i) pool.push_back(new_variable(node));
    return pool[i];
  }

  bool has_root(Nf form) {
    const auto factors = arena.monomials(form)[0].factors;
    return std::any_of(factors.begin(), factors.end(),
                       [](const Factor& factor) { return !factor.power.is_integer(); });
  }

  bool divides(Nf form) {
    const size_t count = arena.monomials(form).size();
    if (count == 0) return false;
    if (count == 1 ? single_divides(form, false) : sum_divides(form)) return true;
    for (const auto& [power, inverse] :
         {std::pair(Rational(-1), true), std::pair(Rational(1, 2), false),
          std::pair(Rational(-1, 2), true)}) {
      const Nf changed = arena.power(form, power);
      if (!changed.is_valid() || arena.monomials(changed).size() != 1) continue;
      if (!power.is_integer() && !has_root(changed)) continue;
      if (single_divides(changed, inverse)) return true;
    }
    return false;
  }

  const Problem& problem;
  Arena arena;
  std::vector<Node> nodes;  // by class
  std::vector<Context> contexts;
  bool has_negative = false;
  std::map<uint32_t, bool> input_memo, relevant_memo;
  std::map<uint32_t, uint32_t> mass_memo;
  std::map<Node, std::vector<Var>> spare;
  uint32_t next_tag = 1000;
};

Relevance::Relevance(const Problem& problem) : impl_(std::make_unique<Impl>(problem)) {}
Relevance::~Relevance() = default;
Relevance::Relevance(Relevance&&) noexcept = default;

Relevance::Form Relevance::input(size_t index) {
  std::vector<std::vector<Var>> lists;
  for (ClassId id : impl_->problem.dims_of(impl_->problem.program.inputs[index])) {
    lists.emplace_back();
    if (id != kNoClass) lists.back().push_back(algebra::free_var(impl_->nodes[id]));
  }
  return impl_->arena.input(static_cast<uint32_t>(index), lists).index;
}

std::optional<Relevance::Form> Relevance::constant(double value) {
  const Nf form = impl_->arena.literal(value);
  return form.is_valid() ? std::optional(form.index) : std::nullopt;
}

Relevance::Form Relevance::extent(ClassId id) { return impl_->arena.size(impl_->nodes[id]).index; }

std::optional<Relevance::Form> Relevance::apply(OpKind kind, const ir::Attrs& attrs,
                                                std::span<const Form> args,
                                                std::span<const Dims* const> arg_dims) {
  Arena& arena = impl_->arena;
  std::vector<Nf> forms;
  for (Form arg : args) forms.push_back({arg});
  const ir::OpDef& row = def(kind);
  Nf result;
  const auto bound = [&](ClassId id) {
    std::vector<Var> vars;
    if (id != kNoClass) vars.push_back(algebra::free_var(impl_->nodes[id]));
    return vars;
  };
  if (row.form == ir::Form::Map) {
    algebra::FormDomain domain(arena);
    result = ir::eval_map<algebra::FormDomain, Nf>(kind, domain, attrs, forms);
  } else if (row.form == ir::Form::Contract) {
    result = arena.sum(arena.mul(forms[0], forms[1]), bound(arg_dims[0]->back()));
  } else if (row.form == ir::Form::Reduce) {
    const ClassId over = (*arg_dims[0])[static_cast<size_t>(attrs.axis)];
    const auto vars = bound(over);
    result = row.combine == ir::Combine::Max ? arena.maximum_over(forms[0], vars)
                                             : arena.sum(forms[0], vars);
    if (row.combine == ir::Combine::Mean && over != kNoClass)
      result = arena.div(result, arena.size(impl_->nodes[over]));
  } else if (kind == OpKind::Transpose) {
    result = forms[0];
  }
  return result.is_valid() ? std::optional(result.index) : std::nullopt;
}

void Relevance::add_target(Form form) { impl_->add_context({form}); }

bool Relevance::is_relevant(Form form) {
  const auto at = impl_->relevant_memo.find(form);
  if (at != impl_->relevant_memo.end()) return at->second;
  const bool relevant = impl_->has_input({form}) && impl_->divides({form});
  return impl_->relevant_memo[form] = relevant;
}

uint32_t Relevance::mass(Form form) const { return impl_->mass({form}); }
std::string Relevance::to_string(Form form) const {
  algebra::PrintNames names;
  for (ir::ValueId input : impl_->problem.program.inputs)
    names.inputs.push_back(impl_->problem.program.value(input).name);
  return algebra::to_string(impl_->arena, {form}, names);
}

bool Relevance::has_negative_term() const { return impl_->has_negative; }

}  // namespace mirage::search
