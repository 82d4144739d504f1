#include "runtime/emulate/executable.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <mutex>

#include "runtime/cpu/compile.h"
#include "runtime/cpu/find_compiler.h"
#include "runtime/emulate/machine.h"
#include "runtime/emulate/mirror.h"
#include "runtime/process.h"
#include "util/check.h"

namespace mirage::runtime {
namespace {

using emulate::Machine;
using emulate::Mirror;
using emulate::Region;
using emulate::Span;

struct Closer {
  void operator()(void* handle) const { dlclose(handle); }
};
using Handle = std::unique_ptr<void, Closer>;

/// The text between what the CUDA compiler has built in and how its kernels are called.
codegen::SourceUnit as_host_text(const codegen::SourceUnit& unit, const Compiler& compiler) {
  codegen::SourceUnit host;
  host.target = unit.target;
  // Accesses are calls of functions that the text brings along: the sanitizer's library stays out.
  host.options = {"-std=c++20",
                  "-O1",
                  "-g1",
                  "-fsanitize=thread",
                  "-ftrivial-auto-var-init=pattern",
                  "-fstack-clash-protection",  // no frame reaches past the page below a stack
                  "-nodefaultlibs",
                  "-fno-strict-aliasing",
                  "-ffp-contract=off"};
  // Clang leaves reads out where the same place is written next.
  if (compiler.version.find("clang") != std::string::npos)
    host.options.insert(host.options.end(), {"-mllvm", "-tsan-instrument-read-before-write=1"});
  host.prelude =
      "#define MIRAGE_HOST_KIT\n"
      "#include \"mirage/host/language.h\"\n"
      "#include \"mirage/host/kit.h\"\n";
  host.text =
      host.prelude + "#line 1 \"program.cu\"\n" + unit.text + "#include \"mirage/host/entry.h\"\n";
  for (const codegen::Entry& entry : unit.entries)
    host.text += fmt::format("MIRAGE_HOST_KERNEL({})\n", entry.name);
  return host;
}

/// The memory of the object with this function.
Span span_of(const void* function) {
  struct Search {
    const void* function;
    Span found;
  } search{function, {}};
  const auto visit = [](dl_phdr_info* info, size_t, void* data) {
    auto& wanted = *static_cast<Search*>(data);
    Span span{UINTPTR_MAX, 0};
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      const auto& part = info->dlpi_phdr[i];
      if (part.p_type != PT_LOAD) continue;
      const uintptr_t begin = info->dlpi_addr + part.p_vaddr;
      span = {std::min(span.begin, begin), std::max(span.end, begin + part.p_memsz)};
    }
    if (!span.contains(wanted.function)) return 0;
    wanted.found = span;
    return 1;
  };
  dl_iterate_phdr(visit, &search);
  return search.found;
}

/// Lines of the text that an instruction came from, the innermost function first; empty if there is
/// no program that knows.
std::string lines_of(const std::string& object, uintptr_t offset) {
  constexpr std::chrono::seconds kLimit{5};
  const auto found =
      run_process({"addr2line", "-i", "-s", "-e", object, fmt::format("{:#x}", offset)}, kLimit);
  if (!found || found->status != 0 || found->output.find('?') != std::string::npos) return {};
  std::string lines = found->output.substr(0, found->output.find_last_not_of('\n') + 1);
  for (size_t at = 0; (at = lines.find('\n', at)) != std::string::npos;)
    lines.replace(at, 1, ", called by ");
  return "at " + lines;
}

class Emulated final : public Executable {
 public:
  using Kernel = void (*)(const emulate::TensorMap*, void* const*);

  Emulated(std::string object, Handle handle, codegen::SourceUnit unit, std::vector<Kernel> kernels,
           host::Kit** kit, const EmulateOptions& options)
      : object_(std::move(object)),
        handle_(std::move(handle)),
        unit_(std::move(unit)),
        kernels_(std::move(kernels)),
        kit_(kit),
        options_(options) {
    if (!kernels_.empty()) text_ = span_of(reinterpret_cast<void*>(kernels_[0]));
  }

  const codegen::SourceUnit& source() const override { return unit_; }

  Result<void> run(std::span<const TensorView> inputs, std::span<const TensorView> outputs,
                   int /*threads*/) const override {
    MIRAGE_TRY_VOID(check_arguments(unit_, inputs, outputs));
    static std::mutex one_at_a_time;
    const std::lock_guard lock(one_at_a_time);
    *kit_ = &Machine::kit();
    Machine machine(options_.seed, text_);
    std::vector<Mirror> in, out;
    for (size_t i = 0; i < inputs.size(); ++i)
      in.emplace_back(machine.memory(), inputs[i], name_of("input", unit_.inputs[i], i), true);
    for (size_t i = 0; i < outputs.size(); ++i)
      out.emplace_back(machine.memory(), outputs[i], name_of("output", unit_.outputs[i], i), false);
    Region& workspace =
        machine.memory().add("workspace", static_cast<size_t>(unit_.workspace_bytes), false);
    const auto buffers = buffer_addresses<void*>(
        unit_, [&](size_t i) { return in[i].origin(); }, [&](size_t i) { return out[i].origin(); },
        [&](int64_t offset) { return workspace.begin + offset; });
    for (size_t i = 0; i < unit_.entries.size(); ++i) MIRAGE_TRY_VOID(launch(machine, i, buffers));
    for (const Mirror& mirror : out) MIRAGE_TRY_VOID(mirror.fetch());
    return {};
  }

 private:
  static std::string name_of(std::string_view what, const codegen::Argument& argument, size_t i) {
    return argument.name.empty() ? fmt::format("{} {}", what, i)
                                 : fmt::format("{} {}", what, argument.name);
  }

  Result<void> launch(Machine& machine, size_t index, const std::vector<void*>& buffers) const {
    const codegen::Entry& entry = unit_.entries[index];
    if (entry.items == 0) return {};
    std::vector<emulate::TensorMap> maps;
    for (const codegen::TensorMap& map : entry.maps) {
      const auto* const buffer = static_cast<const std::byte*>(buffers[map.buffer]);
      const Region* const region = machine.memory().find(buffer);
      MIRAGE_CHECK(region != nullptr, "a buffer outside the machine's memory");
      auto encoded = emulate::encode(map, buffer, *region);
      if (!encoded)
        return fail(Code::RunFailed, "kernel {}, {}", entry.name, encoded.error().message);
      maps.push_back(*encoded);
    }
    std::vector<void*> arguments;
    for (size_t buffer : entry.buffers) {
      const auto address = reinterpret_cast<uintptr_t>(buffers[buffer]);
      if (address % static_cast<uintptr_t>(unit_.buffers[buffer].alignment) != 0)
        return bad_input("buffer {}: expected an address that is a multiple of {}", buffer,
                         unit_.buffers[buffer].alignment);
      arguments.push_back(buffers[buffer]);
    }
    emulate::Launch launch;
    launch.name = entry.name;
    launch.kernel = kernels_[index];
    launch.maps = maps.data();
    launch.buffers = arguments.data();
    launch.blocks = entry.items;
    launch.cluster = entry.cluster;
    launch.threads = entry.threads;
    launch.shared_bytes = static_cast<uint32_t>(entry.scratch_bytes);
    auto done = machine.launch(launch);
    if (done || machine.code_of_fault() == nullptr) return done;
    const auto code = reinterpret_cast<uintptr_t>(machine.code_of_fault());
    // The address is that of the next instruction.
    const std::string lines = lines_of(object_, code - 1 - text_.begin);
    if (!lines.empty()) done.error().notes.push_back(lines);
    return done;
  }

  std::string object_;  // file
  Handle handle_;
  codegen::SourceUnit unit_;
  std::vector<Kernel> kernels_;
  host::Kit** kit_;
  EmulateOptions options_;
  Span text_;  // in memory
};

}  // namespace

Result<std::shared_ptr<const Executable>> load_emulated(const codegen::SourceUnit& unit,
                                                        const CompileOptions& options,
                                                        const EmulateOptions& emulation) {
  if (unit.language != codegen::Language::Cuda)
    return unsupported("target {}: not CUDA", unit.target);
  CompileOptions found = options;
  MIRAGE_TRY(found.found, compiler_of(options));
  const codegen::SourceUnit text = as_host_text(unit, *found.found);
  MIRAGE_TRY_VOID(precompile(text, found));
  MIRAGE_TRY(const std::string path, shared_object_of(text, found));
  Handle handle(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (!handle) return fail(Code::Io, "cannot load {}: {}", path, dlerror());
  auto** const kit = static_cast<host::Kit**>(dlsym(handle.get(), "mirage_host_kit"));
  if (kit == nullptr) return fail(Code::Io, "{} lacks the table of the host kit", path);
  std::vector<Emulated::Kernel> kernels;
  for (const codegen::Entry& entry : unit.entries) {
    void* const kernel = dlsym(handle.get(), ("mirage_host_call_" + entry.name).c_str());
    if (kernel == nullptr) return fail(Code::Io, "{} lacks kernel {}", path, entry.name);
    kernels.push_back(reinterpret_cast<Emulated::Kernel>(kernel));
  }
  return std::make_shared<Emulated>(path, std::move(handle), unit, std::move(kernels), kit,
                                    emulation);
}

}  // namespace mirage::runtime
