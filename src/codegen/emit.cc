#include "codegen/emit.h"

#include "codegen/cpu/emit.h"
#include "codegen/cuda/emit.h"
#include "codegen/triton/emit.h"

namespace mirage::codegen {

Result<SourceUnit> emit(const lower::Program& program) {
  switch (program.target.backend) {
    case lower::Backend::Cpu:
      return emit_cpu(program);
    case lower::Backend::Cuda:
      return emit_cuda(program);
    case lower::Backend::Triton:
      return emit_triton(program);
  }
  return unsupported("target {}: no back end writes for it", program.target.name);
}

}  // namespace mirage::codegen
