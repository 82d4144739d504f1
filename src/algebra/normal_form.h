#pragma once
// Indexed normal forms: the meaning of a value, as a sum of monomials
//
//     coefficient * Sum over bound variables * product of atom^power
//
// over atoms IN(tensor, index lists), SIZE(node), EXP(monomial), POLY(normal form), FN(name, normal
// forms), named constants and square roots of primes. Sums are prenex: a product of sums unites
// their bound variables, so moving a factor across a sum, reordering and re-associating change
// nothing. Equal normal forms have the same id: they are hash-consed by a 128-bit hash and a
// structural comparison. Source of the rules: the canonical form of SPORES (sum-product programs)
// extended by reciprocals, roots, exp and opaque functions; docs/algebra.md lists them with what
// they do not see.
//
// Everything lives in an Arena; one thread uses an arena at a time. Ids are comparable only inside
// their arena, hashes between arenas whose roots were made in the same order. An operation that
// passes a limit, or has no meaning (0 to a negative power, an infinite literal), gives the invalid
// form, and any operation on that gives it again.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "algebra/index.h"
#include "algebra/rational.h"
#include "util/hash.h"

namespace mirage::algebra {

struct Nf {
  uint32_t index = UINT32_MAX;
  bool is_valid() const { return index != UINT32_MAX; }
  auto operator<=>(const Nf&) const = default;
};

using AtomId = uint32_t;

enum class AtomKind : uint8_t {
  In,     // tensor `symbol` at `vars`, one list per axis
  Size,   // number of elements of node `symbol`
  Unit,   // the positive literal with this bit pattern
  Prime,  // the prime number `bits`, only under fractional powers
  Exp,    // e to the power of args[0], one monomial with coefficient 1
  Poly,   // args[0], content removed: under any power but 1
  Fn,     // function `symbol` of args
};

struct Atom {
  AtomKind kind;
  bool is_positive;  // for every input of real numbers
  uint16_t height;   // of the deepest binder inside
  uint32_t symbol;
  uint64_t bits;
  std::span<const Var> vars;
  std::span<const uint8_t> ends;  // list i of an input is vars[ends[i-1] .. ends[i])
  std::span<const Nf> args;
  std::span<const Var> open;  // variables that nothing inside binds, sorted
  Hash128 hash;

  std::span<const Var> list(size_t axis) const {
    const size_t begin = axis == 0 ? 0 : ends[axis - 1];
    return vars.subspan(begin, ends[axis] - begin);
  }
};

struct Factor {
  AtomId atom = 0;
  Rational power = 1;
  bool operator==(const Factor&) const = default;
};

/// Its bound variables are Var{binders[i], bound_id(height, i)}.
struct Monomial {
  Rational coefficient;
  std::span<const Factor> factors;  // ordered by hash of atom
  std::span<const Node> binders;
  std::span<const Var> open;  // variables that it does not bind, sorted
  uint16_t height;            // of its own binders; without any, of its atoms
  Hash128 key;                // of everything but the coefficient
  uint32_t id;                // the same, exact, inside its arena
  Var bound(size_t i) const { return {binders[i], bound_id(height, i)}; }

  static uint32_t bound_id(uint16_t height, size_t i) {
    return Var::kBoundBit | (uint32_t{height} << 8) | static_cast<uint32_t>(i);
  }
};

struct Limits {
  size_t monomials = 400;         // of one normal form
  size_t factors = 64;            // of one monomial
  size_t binders = 24;            // of one monomial
  size_t renamings = 24;          // tried to name bound variables that look alike
  size_t depth = 64;              // of nested operations
  size_t work = size_t{1} << 24;  // monomials canonicalised in the life of an arena
  bool lazy_powers = true;        // keep powers of sums of more than two terms unexpanded
};

/// `variable` becomes `list`: a load replaces k by its parts, a transposition renames.
struct Substitution {
  Var variable;
  std::vector<Var> list;
};

class Arena {
 public:
  struct State;  // arena_state.h

  explicit Arena(Limits limits = {});
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  IndexTree& index();
  const IndexTree& index() const;
  const Limits& limits() const;

  // --- leaves
  /// Element of tensor number `tensor` at one list of variables per axis (most significant first;
  /// empty for an axis of one element).
  Nf input(uint32_t tensor, std::span<const std::vector<Var>> lists);
  Nf number(Rational value);
  /// A dyadic literal of at most 20 bits is a number; any other one is a unit keyed by its bits, so
  /// that nothing depends on its rounding. Invalid for an infinity or NaN.
  Nf literal(double value);
  /// The number of elements of a node.
  Nf size(Node node);

  // --- arithmetic
  Nf add(Nf a, Nf b);
  Nf sub(Nf a, Nf b);
  Nf neg(Nf a);
  Nf mul(Nf a, Nf b);
  Nf div(Nf a, Nf b);
  /// a to a rational power; a fractional one means the nonnegative real root.
  Nf power(Nf a, Rational exponent);
  Nf square(Nf a) { return mul(a, a); }
  Nf sqrt(Nf a) { return power(a, Rational(1, 2)); }
  Nf reciprocal(Nf a) { return power(a, -1); }
  Nf exp(Nf a);
  Nf log(Nf a);
  Nf maximum(Nf a, Nf b);
  Nf minimum(Nf a, Nf b) { return neg(maximum(neg(a), neg(b))); }
  /// A function about which nothing is known but its name.
  Nf function(std::string_view name, std::span<const Nf> args);
  /// A function of the family of `args` over `variables` (order does not matter to it), such as a
  /// maximum; the variables are bound inside.
  Nf family(std::string_view name, std::span<const Nf> args, std::span<const Var> variables);

  // --- variables
  /// Sum over free variables. One that does not occur in a monomial multiplies it by the size.
  Nf sum(Nf a, std::span<const Var> variables);
  Nf maximum_over(Nf a, std::span<const Var> variables);
  /// All at once. Every occurrence of a variable in an index list is replaced by its list.
  Nf substitute(Nf a, std::span<const Substitution> substitutions);
  /// Complete runs of free parts (one split, one tag) become the free parent wherever they occur
  /// only as such runs: what storing does.
  Nf merge_free(Nf a);

  // --- looking inside
  std::span<const Monomial> monomials(Nf a) const;
  const Atom& atom(AtomId id) const;
  std::string_view function_name(const Atom& fn) const;
  Hash128 hash(Nf a) const;
  /// Free variables, sorted.
  std::span<const Var> free_variables(Nf a) const;
  bool is_zero(Nf a) const { return monomials(a).empty(); }
  bool is_positive(Nf a) const;

  // --- building from pieces (usefulness test of the search)
  /// A variable to bind in monomial(); numbering restarts when `fresh_temps` is called.
  Var temp(Node node);
  void fresh_temps();
  /// coefficient * Sum over `bound` temps * product of factors, normalised.
  Nf monomial(Rational coefficient, std::span<const Factor> factors, std::span<const Var> bound);
  /// A factor with variables replaced, as a normal form.
  Nf substitute(Factor factor, std::span<const Substitution> substitutions);
  /// Sum of many, cancelled once.
  Nf add_all(std::span<const Nf> terms);

  size_t form_count() const;
  size_t atom_count() const;
  State& state() { return *state_; }  // for the files of this layer

 private:
  std::unique_ptr<State> state_;
};

}  // namespace mirage::algebra
