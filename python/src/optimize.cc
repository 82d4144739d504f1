// The whole pipeline. It runs in a thread of its own, so that the calling one can serve Ctrl-C and
// tell the progress.

#include "optimize/optimize.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <condition_variable>
#include <exception>
#include <thread>

#include "codegen/emit.h"
#include "errors.h"
#include "graph.h"
#include "lower/lower.h"
#include "optimize/candidates.h"
#include "program.h"
#include "report/report.h"
#include "tune/gpu_worker.h"

namespace nb = nanobind;

namespace mirage::python {
namespace {

using optimize::Optimized;
using optimize::OptimizeOptions;
using optimize::Report;

/// What the worker tells the caller.
struct Mailbox {
  std::mutex mutex;
  std::condition_variable changed;
  bool has_news = false;
  bool is_done = false;
  std::string stage;  // Progress refers to memory of the worker
  optimize::Progress progress;
};

void tell(nb::object& listener, const std::string& stage, const optimize::Progress& progress) {
  nb::dict news;
  news["stage"] = stage;
  news["done"] = progress.done;
  news["total"] = progress.total;
  news["best_us"] = progress.best_us;
  news["baseline_us"] = progress.baseline_us;
  news["seconds_left"] = progress.seconds_left;
  listener(news);
}

/// Waits for the worker. A signal or a listener that raises cancels it; the first such exception is
/// returned.
std::exception_ptr attend(Mailbox& mailbox, std::atomic<bool>& cancel, nb::object& listener) {
  std::exception_ptr failure;
  for (bool is_done = false; !is_done;) {
    std::string stage;
    optimize::Progress progress;
    bool has_news = false;
    {
      nb::gil_scoped_release release;
      std::unique_lock lock(mailbox.mutex);
      mailbox.changed.wait_for(lock, std::chrono::milliseconds(50),
                               [&] { return mailbox.is_done || mailbox.has_news; });
      is_done = mailbox.is_done;
      has_news = std::exchange(mailbox.has_news, false);
      if (has_news) {
        stage = mailbox.stage;
        progress = mailbox.progress;
      }
    }
    if (failure) continue;
    try {
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      if (has_news && !listener.is_none()) tell(listener, stage, progress);
    } catch (...) {
      failure = std::current_exception();
      cancel = true;
    }
  }
  return failure;
}

Result<Optimized> run(const ir::GraphPtr& graph, OptimizeOptions options,
                      optimize::Session& session, nb::object& listener) {
  Mailbox mailbox;
  std::atomic<bool> cancel = false;
  options.cancel = &cancel;
  options.progress = [&](const optimize::Progress& progress) {
    const std::lock_guard lock(mailbox.mutex);
    mailbox.stage = progress.stage;
    mailbox.progress = progress;
    mailbox.has_news = true;
    mailbox.changed.notify_one();
  };
  Result<Optimized> result = fail(Code::Internal, "optimize did not run");
  std::thread worker([&] {
    result = optimize::optimize(graph, options, session);
    const std::lock_guard lock(mailbox.mutex);
    mailbox.is_done = true;
    mailbox.changed.notify_one();
  });
  const std::exception_ptr failure = attend(mailbox, cancel, listener);
  worker.join();
  if (failure) std::rethrow_exception(failure);
  return result;
}

struct PyOptimized {
  Optimized value;
  Program program;
};

PyOptimized optimize_graph(optimize::Session& session, const KernelHandle& graph,
                           const std::string& target, double time_limit, int64_t max_states,
                           int top, int threads, uint64_t seed, bool use_records,
                           nb::object listener) {
  if (!(time_limit >= 0)) refuse("optimize: expected a time limit >= 0, found {}", time_limit);
  if (max_states < 0) refuse("optimize: expected max_states >= 0, found {}", max_states);
  if (top < 0) refuse("optimize: expected top >= 0, found {}", top);
  if (threads < 0) refuse("optimize: expected threads >= 0, found {}", threads);
  OptimizeOptions options;
  options.target = target;
  options.time_limit_seconds = time_limit;
  options.max_states = max_states;
  options.top = top;
  options.threads = threads;
  options.seed = seed;
  options.use_records = use_records;
  const ir::GraphPtr program = finished(*graph.state);
  Optimized result = unwrap(run(program, std::move(options), session, listener));
  Program compiled{program, result.executable, input_arguments(*program),
                   output_arguments(*program)};
  return {std::move(result), std::move(compiled)};
}

std::string emit_graph(const KernelHandle& graph, const std::string& target_name) {
  const ir::GraphPtr program = finished(*graph.state);
  const nb::gil_scoped_release release;
  const lower::Target target = unwrap(lower::target_named(target_name));
  return unwrap(codegen::emit(unwrap(lower::lower(program, target)))).text;
}

nb::tuple candidates_of(const KernelHandle& graph, const std::string& target, double time_limit,
                        int top, int threads, uint64_t seed) {
  if (!(time_limit >= 0)) refuse("candidates: expected a time limit >= 0, found {}", time_limit);
  if (top < 0) refuse("candidates: expected top >= 0, found {}", top);
  if (threads < 0) refuse("candidates: expected threads >= 0, found {}", threads);
  const ir::GraphPtr program = finished(*graph.state);
  optimize::Candidates found;
  {
    const nb::gil_scoped_release release;
    found = unwrap(optimize::candidates(program, {target, time_limit, top, threads, seed}));
  }
  nb::list built, lost;
  for (const optimize::Built& one : found.built)
    built.append(nb::make_tuple(handle_of(one.verified.graph()), one.source.text));
  for (const std::string& one : found.lost) lost.append(one);
  return nb::make_tuple(built, lost);
}

void bind_report(nb::module_& module) {
  nb::class_<Report>(module, "Report", "What a run of optimize did.")
      .def_prop_ro(
          "funnel",
          [](const Report& self) {
            nb::dict funnel;
            funnel["values"] = self.values;
            funnel["structures"] = self.structures;
            funnel["schedules"] = self.schedules;
            funnel["verified"] = self.verified;
            funnel["built"] = self.built;
            funnel["checked"] = self.checked;
            funnel["timed"] = self.timed;
            return funnel;
          },
          nb::sig("def funnel(self) -> dict[str, int]"),
          "How many candidates came how far, in order.")
      .def_prop_ro(
          "rejected",
          [](const Report& self) {
            nb::list losses;
            for (const auto& loss : self.rejected)
              losses.append(nb::make_tuple(std::string(name_of(loss.stage)), loss.reason,
                                           loss.count, loss.example));
            return losses;
          },
          nb::sig("def rejected(self) -> list[tuple[str, str, int, str]]"),
          "Losses: stage, reason, count, the first one's message.")
      .def_prop_ro(
          "skipped",
          [](const Report& self) {
            nb::list skipped;
            for (const auto& left_out : self.skipped)
              skipped.append(nb::make_tuple(std::string(name_of(left_out.stage)), left_out.reason));
            return skipped;
          },
          nb::sig("def skipped(self) -> list[tuple[str, str]]"),
          "What was left out for lack of time: stage and reason.")
      .def_prop_ro("is_checked", &Report::is_checked,
                   "Whether the winner agreed with float64; false only for a program as written "
                   "that there was no time to check.")
      .def_prop_ro("baseline_us", &Report::baseline_us,
                   "Median time of the program as written, in microseconds; NaN if not measured.")
      .def_prop_ro("best_us", &Report::best_us,
                   "Median time of the winner, in microseconds; NaN if not measured.")
      .def_prop_ro("speed_up", &Report::speed_up, "baseline_us / best_us.")
      .def_prop_ro(
          "verdict", [](const Report& self) { return self.best().verdict; },
          "Why the winner is the same function as the program.")
      .def_prop_ro(
          "plan", [](const Report& self) { return self.best().plan; },
          "What the winner does, in words.")
      .def_ro("total_seconds", &Report::total_seconds, "Wall time of the run.")
      .def_ro("stage_seconds", &Report::stage_seconds, "Wall time of each stage.")
      .def_ro("is_from_store", &Report::is_from_store,
              "The winner was known from an earlier run and only checked and timed again.")
      .def_ro("notes", &Report::notes, "What is worth knowing, a line each.")
      .def(
          "json", [](const Report& self) { return report::to_json(self); },
          "One document: docs/schemas/optimize.schema.json.")
      .def("__str__", [](const Report& self) { return report::to_text(self); });
}

}  // namespace

void bind_optimize(nb::module_& module) {
  bind_report(module);
  nb::class_<PyOptimized>(module, "Optimized", "The winner of a run of optimize.")
      .def_prop_ro(
          "program", [](const PyOptimized& self) { return self.program; }, "Compiled.")
      .def_prop_ro(
          "graph", [](const PyOptimized& self) { return handle_of(self.value.winner); },
          "As a graph.")
      .def_prop_ro(
          "report", [](const PyOptimized& self) { return self.value.report; }, "What the run did.");
  nb::class_<optimize::Session>(module, "Session",
                                "Compiled code, records and threads that runs share.")
      .def(
          "__init__",
          [](optimize::Session* self, std::vector<std::string> worker) {
            optimize::SessionOptions options;
            options.worker_command = std::move(worker);
            new (self) optimize::Session(std::move(options));
          },
          nb::arg("worker"), "worker: the command of a program that calls serve_gpu_worker().")
      .def("optimize", optimize_graph, nb::arg("graph"), nb::arg("target"), nb::arg("time_limit"),
           nb::arg("max_states"), nb::arg("top"), nb::arg("threads"), nb::arg("seed"),
           nb::arg("use_records"), nb::arg("progress").none(),
           "The fastest proven equal of a graph.");
  module.def("emit", emit_graph, nb::arg("graph"), nb::arg("target"),
             "The source text of a graph as it is, for a row of `mirage targets`.");
  module.def("candidates", candidates_of, nb::arg("graph"), nb::arg("target"),
             nb::arg("time_limit"), nb::arg("top"), nb::arg("threads"), nb::arg("seed"),
             nb::sig("def candidates(graph: Graph, target: str, time_limit: float, top: int, "
                     "threads: int, seed: int) -> tuple[list[tuple[Graph, str]], list[str]]"),
             "Proven equals of a graph with their source text, the graph itself first, and why "
             "others are not there.");
  module.def(
      "serve_gpu_worker", tune::serve_gpu_worker,
      "What the process that measures on a GPU does, until its parent has no more use for it.");
}

}  // namespace mirage::python
