#include "runtime/cuda/nvrtc.h"

#include <algorithm>
#include <filesystem>
#include <memory>

#include "device_headers.h"
#include "runtime/cache_folder.h"
#include "runtime/library.h"

namespace mirage::runtime {
namespace {

namespace fs = std::filesystem;

using Program = void*;

/// The functions of NVRTC that are called; 0 is success everywhere.
struct Api {
  int (*version)(int*, int*);
  int (*create)(Program*, const char* text, const char* name, int headers, const char* const* texts,
                const char* const* names);
  int (*compile)(Program, int options, const char* const* texts);
  int (*log_size)(Program, size_t*);
  int (*log)(Program, char*);
  int (*cubin_size)(Program, size_t*);
  int (*cubin)(Program, char*);
  int (*destroy)(Program*);
  const char* (*error_text)(int);
};

/// Where Python packages put the library: site-packages/nvidia/*/lib.
void add_packaged(const fs::path& environment, std::vector<std::string>& names) {
  std::error_code error;
  for (const auto& python : fs::directory_iterator(environment / "lib", error))
    for (const auto& package :
         fs::directory_iterator(python.path() / "site-packages" / "nvidia", error))
      for (const auto& file : fs::directory_iterator(package.path() / "lib", error))
        if (file.path().filename().string().starts_with("libnvrtc.so."))
          names.push_back(file.path().string());
}

std::vector<std::string> places() {
  std::vector<std::string> names;
  if (const std::string own = environment("MIRAGE_NVRTC"); !own.empty()) return {own};
  if (const std::string active = environment("VIRTUAL_ENV"); !active.empty())
    add_packaged(active, names);
  for (const char* version : {"13", "12"}) {
    names.push_back(std::string("libnvrtc.so.") + version);
    names.push_back(std::string("/usr/local/cuda/lib64/libnvrtc.so.") + version);
  }
  return names;
}

Result<Api> load() {
  MIRAGE_TRY(const Library library, Library::open("CUDA run-time compiler", places()));
  Api api{};
  const bool is_complete = library.find("nvrtcVersion", api.version) &&
                           library.find("nvrtcCreateProgram", api.create) &&
                           library.find("nvrtcCompileProgram", api.compile) &&
                           library.find("nvrtcGetProgramLogSize", api.log_size) &&
                           library.find("nvrtcGetProgramLog", api.log) &&
                           library.find("nvrtcGetCUBINSize", api.cubin_size) &&
                           library.find("nvrtcGetCUBIN", api.cubin) &&
                           library.find("nvrtcDestroyProgram", api.destroy) &&
                           library.find("nvrtcGetErrorString", api.error_text);
  if (!is_complete) return unsupported("the CUDA run-time compiler lacks functions");
  return api;
}

const Result<Api>& api() {
  static const Result<Api> kLoaded = load();
  return kLoaded;
}

std::string log_of(const Api& nvrtc, Program program) {
  size_t size = 0;
  if (nvrtc.log_size(program, &size) != 0 || size < 2) return {};
  std::string log(size, '\0');
  nvrtc.log(program, log.data());
  log.resize(size - 1);
  return log;
}

}  // namespace

Result<std::string> nvrtc_version() {
  if (!api()) return tl::unexpected(api().error());
  int major = 0, minor = 0;
  api()->version(&major, &minor);
  return fmt::format("{}.{}", major, minor);
}

Result<std::string> compile_cubin(std::string_view text, const std::vector<std::string>& options) {
  if (!api()) return tl::unexpected(api().error());
  const Api& nvrtc = *api();
  std::vector<std::string> names, texts;
  for (const DeviceHeader& header : device_headers()) {
    names.emplace_back(header.name);
    texts.emplace_back(header.text);
  }
  const auto pointers = [](const std::vector<std::string>& strings) {
    std::vector<const char*> result;
    for (const std::string& string : strings) result.push_back(string.c_str());
    return result;
  };
  const std::vector<const char*> header_names = pointers(names), header_texts = pointers(texts),
                                 words = pointers(options);
  const auto failed = [&](std::string_view what, int status, std::string log) {
    return tl::unexpected(Error{Code::CompileFailed,
                                fmt::format("{}: {}", what, nvrtc.error_text(status)),
                                {std::move(log)}});
  };
  Program made = nullptr;
  const std::string source(text);
  int status = nvrtc.create(&made, source.c_str(), "program.cu", static_cast<int>(names.size()),
                            header_texts.data(), header_names.data());
  if (status != 0) return failed("no compiler", status, {});
  const auto destroy = [&](void* program) { nvrtc.destroy(&program); };
  const std::unique_ptr<void, decltype(destroy)> program(made, destroy);
  status = nvrtc.compile(program.get(), static_cast<int>(words.size()), words.data());
  if (status != 0)
    return failed("the run-time compiler refused generated code", status,
                  log_of(nvrtc, program.get()));
  size_t size = 0;
  status = nvrtc.cubin_size(program.get(), &size);
  std::string cubin(size, '\0');
  if (status == 0) status = nvrtc.cubin(program.get(), cubin.data());
  if (status != 0) return failed("no machine code", status, log_of(nvrtc, program.get()));
  return cubin;
}

}  // namespace mirage::runtime
