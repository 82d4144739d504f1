#pragma once
// Could a value be part of a way to compute a target? Normal forms over whole index classes answer
// it: a value is relevant if it, its inverse or its root divides a target or a form nested in one,
// under side conditions (docs/search.md). Everything else never reaches the value graph.

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "search/problem.h"

namespace mirage::search {

/// Normal forms of values, and the test. Not thread-safe: it owns the arena of its forms.
class Relevance {
 public:
  using Form = uint32_t;

  explicit Relevance(const Problem& problem);
  ~Relevance();
  Relevance(Relevance&&) noexcept;

  Form input(size_t index);
  std::optional<Form> constant(double value);
  Form extent(ClassId id);
  /// The form of an operator's result; nullopt where the algebra has none or it grows too large.
  std::optional<Form> apply(ir::OpKind kind, const ir::Attrs& attrs, std::span<const Form> args,
                            std::span<const Dims* const> arg_dims);

  void add_target(Form form);
  bool is_relevant(Form form);
  /// Atoms in the form, nested ones counted too: operators that lower it undo others.
  uint32_t mass(Form form) const;
  bool has_negative_term() const;  // some target needs a subtraction
  std::string to_string(Form form) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mirage::search
