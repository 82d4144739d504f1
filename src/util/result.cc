#include "util/result.h"

namespace mirage {

std::string_view name_of(Code code) {
  switch (code) {
    case Code::BadInput:
      return "bad input";
    case Code::Unsupported:
      return "unsupported";
    case Code::LimitExceeded:
      return "limit exceeded";
    case Code::CompileFailed:
      return "compile failed";
    case Code::RunFailed:
      return "run failed";
    case Code::Mismatch:
      return "mismatch";
    case Code::Timeout:
      return "timeout";
    case Code::Io:
      return "i/o";
    case Code::Internal:
      return "internal";
  }
  return "internal";
}

}  // namespace mirage
