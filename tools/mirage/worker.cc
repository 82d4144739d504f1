// mirage worker: what `optimize` starts to measure on a GPU. Nobody calls it by hand.

#include <memory>

#include "command.h"
#include "tune/gpu_worker.h"

namespace mirage::cli {

std::vector<std::string> worker_command() { return {"/proc/self/exe", "worker"}; }

void add_worker(Commands& commands) {
  auto json = std::make_shared<bool>(false);
  commands
      .add("worker", "measures for another process", *json,
           [json]() -> Result<int> { return tune::serve_gpu_worker(); })
      .group("");  // not in the list of --help
}

}  // namespace mirage::cli
