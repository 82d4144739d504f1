#include "runtime/load.h"

#include "runtime/cuda/compile.h"
#include "runtime/cuda/executable.h"

namespace mirage::runtime {

Result<std::shared_ptr<const Executable>> load(const codegen::SourceUnit& unit,
                                               const CompileOptions& options) {
  if (unit.language != codegen::Language::Cuda) return compile(unit, options);
  MIRAGE_TRY(const std::string cubin, cubin_of(unit, options));
  return cuda::load_cubin(cubin, unit);
}

Result<std::shared_ptr<const Executable>> load_when_run(const codegen::SourceUnit& unit,
                                                        const CompileOptions& options) {
  if (unit.language != codegen::Language::Cuda) return compile(unit, options);
  if (auto cubin = cubin_of(unit, options); !cubin) return tl::unexpected(std::move(cubin).error());
  return compile_when_run(unit, options);
}

}  // namespace mirage::runtime
