#include <mutex>
#include <optional>

#include "runtime/load.h"

namespace mirage::runtime {
namespace {

class Deferred final : public Executable {
 public:
  Deferred(const codegen::SourceUnit& unit, const CompileOptions& options)
      : unit_(unit), options_(options) {
    options_.deadline = {};  // of whoever had no time to compile it
  }

  const codegen::SourceUnit& source() const override { return unit_; }

  Result<void> run(std::span<const TensorView> inputs, std::span<const TensorView> outputs,
                   int threads) const override {
    std::call_once(once_, [&] { compiled_ = load(unit_, options_); });
    if (!*compiled_) return tl::unexpected(compiled_->error());
    return (**compiled_)->run(inputs, outputs, threads);
  }

 private:
  codegen::SourceUnit unit_;
  CompileOptions options_;
  mutable std::once_flag once_;
  mutable std::optional<Result<std::shared_ptr<const Executable>>> compiled_;
};

}  // namespace

std::shared_ptr<const Executable> compile_when_run(const codegen::SourceUnit& unit,
                                                   const CompileOptions& options) {
  return std::make_shared<Deferred>(unit, options);
}

}  // namespace mirage::runtime
