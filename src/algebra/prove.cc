#include "algebra/prove.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "algebra/arena_state.h"
#include "algebra/meaning.h"

namespace mirage::algebra {
namespace {

/// The form with every SIZE replaced by its extent.
Nf with_sizes(Arena& arena, Nf a) {
  Arena::State& s = arena.state();
  std::unordered_map<uint32_t, Nf> known;
  const auto fixed = [&](auto&& self, Nf form) -> Nf {
    if (const auto at = known.find(form.index); at != known.end()) return at->second;
    Sum sum;
    for (const Monomial& m : s.form(form).monomials) {
      if (s.failed) return form;
      Raw open, raw;
      s.append_monomial(open, m);
      raw.coefficient = open.coefficient;
      raw.bound = open.bound;
      for (const Factor& f : open.factors) {
        const Atom& atom = s.atoms[f.atom];
        if (atom.kind == AtomKind::Size && s.index.info(atom.symbol).extent > 0) {
          s.append_root(raw, Rational(s.index.info(atom.symbol).extent), f.power);
        } else if (atom.kind == AtomKind::Exp) {
          s.append_exp(raw, self(self, atom.args[0]), f.power);
        } else if (atom.kind == AtomKind::Poly) {
          s.append_power(raw, self(self, atom.args[0]), f.power);
        } else if (atom.kind == AtomKind::Fn) {
          SmallVector<Nf, 4> args;
          for (Nf arg : atom.args) args.push_back(self(self, arg));
          s.append(raw, s.intern(AtomKind::Fn, atom.symbol, args), f.power);
        } else {
          s.append(raw, f.atom, f.power);
        }
      }
      s.emit(std::move(raw), sum);
    }
    const Nf result = s.failed ? form : s.finish(sum);
    known.emplace(form.index, result);
    return result;
  };
  const uint32_t temps = s.next_temp;
  Nf result = fixed(fixed, a);
  s.next_temp = temps;
  if (s.failed) result = a;
  s.failed = false;
  return result;
}

bool same_shape(const Dims& a, const Dims& b) {
  return flattened(a) == flattened(b) && a.size() == b.size();
}

/// Whether the candidate makes two dimensions of the inputs equal that the reference keeps apart.
bool ties_dimensions(const ir::Graph& reference, const Unified& alone, const Unified& joint) {
  std::vector<AtomList> before, after;
  for (ir::ValueId input : reference.inputs)
    for (size_t axis = 0; axis < reference.type(input).shape.size(); ++axis) {
      before.push_back(alone.graphs[0].values[input.index][axis]);
      after.push_back(joint.graphs[0].values[input.index][axis]);
    }
  for (size_t i = 0; i < before.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (!after[i].empty() && after[i] == after[j] && before[i] != before[j]) return true;
  return false;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

}  // namespace

Proof prove_equal(const ir::Graph& reference, const ir::Graph& candidate,
                  const ProveOptions& options) {
  Proof proof;
  Arena arena(options.limits);
  const ir::Graph* const graphs[] = {&reference, &candidate};
  auto meanings = meanings_of(arena, graphs);
  if (!meanings) {
    proof.reason = meanings.error().message;
    return proof;
  }
  const Meaning &left = (*meanings)[0], &right = (*meanings)[1];
  std::set<std::string> names(left.uninterpreted.begin(), left.uninterpreted.end());
  names.insert(right.uninterpreted.begin(), right.uninterpreted.end());
  proof.uninterpreted.assign(names.begin(), names.end());

  PrintNames print_names;
  for (ir::ValueId input : reference.inputs)
    print_names.inputs.push_back(reference.value(input).name);
  if (options.certificate) {
    const auto write = [&](const char* who, const Meaning& meaning) {
      for (size_t i = 0; i < meaning.outputs.size(); ++i)
        proof.certificate += fmt::format("{} output {} = {}\n", who, i,
                                         to_string(arena, meaning.outputs[i].form, print_names));
    };
    write("reference", left);
    write("candidate", right);
    if (!names.empty()) proof.certificate += "uninterpreted: " + joined(proof.uninterpreted) + "\n";
  }
  if (left.outputs.size() != right.outputs.size()) {
    proof.reason = fmt::format("{} outputs against {}", left.outputs.size(), right.outputs.size());
    return proof;
  }

  bool is_sized = false, is_crossed = false;
  const auto equal = [&](const ValueMeaning& a, const ValueMeaning& b, int effort) {
    if (!same_shape(a.dims, b.dims)) return false;
    if (effort == 0) return a.form == b.form;
    if (effort == 1) return equal_after_cross_multiplication(arena, a.form, b.form);
    const Nf x = with_sizes(arena, a.form), y = with_sizes(arena, b.form);
    return x == y || equal_after_cross_multiplication(arena, x, y);
  };
  std::vector<bool> used(right.outputs.size(), false);
  for (size_t i = 0; i < left.outputs.size(); ++i) {
    size_t match = right.outputs.size();
    for (int effort = 0; effort < 3 && match == right.outputs.size(); ++effort)
      for (size_t k = 0; k < right.outputs.size(); ++k) {
        const size_t j = (i + k) % right.outputs.size();  // the same place first
        if (used[j] || !equal(left.outputs[i], right.outputs[j], effort)) continue;
        match = j;
        is_crossed = is_crossed || effort == 1;
        is_sized = is_sized || effort == 2;
        break;
      }
    if (match == right.outputs.size()) {
      proof.reason = fmt::format("output {}: normal forms differ", i);
      proof.output_order.clear();
      return proof;
    }
    used[match] = true;
    proof.output_order.push_back(match);
  }
  Arena scratch;
  const auto alone = unify(scratch.index(), {graphs, 1});
  Arena scratch2;
  const auto joint = unify(scratch2.index(), graphs);
  const bool is_tied = !alone || !joint || ties_dimensions(reference, *alone, *joint);
  proof.scope = is_sized || is_tied ? Scope::TheseSizes : Scope::AllSizes;
  proof.reason = is_sized     ? "equal normal forms with the extents put in"
                 : is_crossed ? "equal after cross multiplication"
                              : "equal normal forms";
  if (is_tied) proof.reason += "; the candidate needs two of the dimensions to be equal";
  return proof;
}

}  // namespace mirage::algebra
