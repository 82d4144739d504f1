#include "explain.h"

#include <algorithm>
#include <cmath>

#include "ir/text.h"
#include "lower/lower.h"
#include "lower/work.h"
#include "report/report.h"

namespace mirage::cli {
namespace {

/// "12.3 k", "4.56 M": three digits and a factor.
std::string amount(double value) {
  constexpr std::string_view kFactors[] = {" ", " k", " M", " G", " T", " P"};
  size_t factor = 0;
  for (; value >= 999.5 && factor + 1 < std::size(kFactors); ++factor) value /= 1000;
  const int digits = factor == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f}{}", value, digits, kFactors[factor]);
}

lower::KernelWork total_of(const std::vector<lower::KernelWork>& kernels) {
  lower::KernelWork total;
  total.name = "all";
  for (const lower::KernelWork& kernel : kernels) {
    total.flops += kernel.flops;
    total.read_bytes += kernel.read_bytes;
    total.written_bytes += kernel.written_bytes;
    total.accessed_bytes += kernel.accessed_bytes;
  }
  return total;
}

/// Without the blanks at its end.
std::string row(std::string text) {
  text.resize(text.find_last_not_of(' ') + 1);
  return text + "\n";
}

std::string line(const lower::KernelWork& work, const std::string& launch) {
  return row(fmt::format(
      "  {:<18.18} {:>13} {:>8} {:>8} {:>8} {:>8} {:>8}", work.name, launch,
      amount(work.read_bytes) + "B", amount(work.written_bytes) + "B",
      amount(work.accessed_bytes) + "B", amount(work.flops),
      work.scratch_bytes > 0 ? amount(static_cast<double>(work.scratch_bytes)) + "B" : ""));
}

/// A table of kernels, and what they reach together if it was measured.
std::string table(const std::string& title, const lower::Program& program, double us) {
  const std::vector<lower::KernelWork> kernels = lower::work_of(program);
  std::string out = fmt::format("  {}: {} launch{}, {}B of memory between\n", title, kernels.size(),
                                kernels.size() == 1 ? "" : "es",
                                amount(static_cast<double>(program.workspace_bytes)));
  out += fmt::format("  {:<18} {:>13} {:>8} {:>8} {:>8} {:>8} {:>8}\n", "kernel", "items x steps",
                     "read", "written", "accessed", "flops", "scratch");
  for (const lower::KernelWork& work : kernels)
    out += line(work, fmt::format("{} x {}", work.items, work.loop_steps));
  const lower::KernelWork total = total_of(kernels);
  if (kernels.size() > 1) out += line(total, "");
  if (!std::isnan(us))
    out += fmt::format("  in {}: {}flop/s, {}B/s read and written\n", report::time_text(us),
                       amount(total.flops / us * 1e6),
                       amount((total.read_bytes + total.written_bytes) / us * 1e6));
  return out + "\n";
}

/// Where the model's guess stands beside the time.
std::string others(const optimize::Report& report) {
  std::string out;
  for (const optimize::CandidateReport& row : report.candidates) {
    const std::string measured = row.is_timed ? report::time_text(row.timing.median_us) : "";
    const std::string predicted = row.predicted_us > 0 ? report::time_text(row.predicted_us) : "";
    out += fmt::format("  {:>3}  {:>7}  {:>9}  {:.54}\n", row.number, measured, predicted,
                       row.lost.empty() ? "the winner" : row.lost);
  }
  return fmt::format("  {:>3}  {:>7}  {:>9}\n", "no.", "time", "predicted") + out + "\n";
}

/// From the plan: a record of an earlier run has no words for it.
std::string schedule_of(const lower::KernelPlan& plan) {
  std::string text = plan.name + ":";
  for (const ir::Axis& axis : plan.launch.axes)
    text += fmt::format(" {} {} {}{}", ir::name_of(axis.role), axis.name, axis.trips,
                        &axis == &plan.launch.axes.back() ? "" : ",");
  return text;
}

Json json_of(const lower::Program& program) {
  Json kernels = Json::array();
  for (const lower::KernelWork& work : lower::work_of(program))
    kernels.push_back({{"name", work.name},
                       {"items", work.items},
                       {"loop_steps", work.loop_steps},
                       {"flops", work.flops},
                       {"read_bytes", work.read_bytes},
                       {"written_bytes", work.written_bytes},
                       {"accessed_bytes", work.accessed_bytes},
                       {"scratch_bytes", work.scratch_bytes}});
  return {{"launches", program.launches.size()},
          {"workspace_bytes", program.workspace_bytes},
          {"kernels", kernels}};
}

}  // namespace

Result<Explanation> explain(const optimize::Optimized& result) {
  const optimize::Report& report = result.report;
  const optimize::CandidateReport& best = report.best();
  MIRAGE_TRY(const lower::Target target, lower::target_named(report.target));
  MIRAGE_TRY(const lower::Program written, lower::lower(result.program, target));

  Explanation explanation;
  std::string& text = explanation.text;
  text = report.is_checked()
             ? fmt::format("{}: candidate {} won, {:.2f} times as fast as written\n",
                           report.program, best.number, report.speed_up())
             : fmt::format("{}: there was no time to check anything\n", report.program);
  if (report.winner != 0)
    for (const lower::KernelPlan& plan : result.lowered.launches)
      text += report::wrapped("schedule  " + schedule_of(plan), 2, 10);
  text += report::wrapped("verdict   " + verify::to_string(best.verdict), 2, 10) + "\n";
  text += table("winner", result.lowered, report.best_us());
  if (report.winner != 0) text += table("as written", written, report.baseline_us());
  text += others(report);
  text += ir::print(*result.winner);

  explanation.document = Json::parse(report::to_json(report), nullptr, false);
  explanation.document["schema"] = "mirage/explain/1";
  explanation.document["winner_work"] = json_of(result.lowered);
  explanation.document["written_work"] = json_of(written);
  explanation.document["winner_text"] = ir::print(*result.winner);
  return explanation;
}

}  // namespace mirage::cli
