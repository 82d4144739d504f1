#include <algorithm>
#include <cmath>
#include <string_view>

#include "report/report.h"

namespace mirage::report {
namespace {

using optimize::CandidateReport;
using optimize::Rejected;
using optimize::Report;

constexpr size_t kWidth = 80;

std::string shortened(std::string_view text, size_t width) {
  if (text.size() <= width) return std::string(text);
  return std::string(text.substr(0, width - 3)) + "...";
}

std::string bar(double part, size_t width) {
  const auto filled =
      static_cast<size_t>(std::lround(std::clamp(part, 0.0, 1.0) * static_cast<double>(width)));
  return std::string(filled, '#') + std::string(width - filled, '.');
}

std::string funnel(const Report& report) {
  std::string out = "  funnel\n";
  const auto line = [&](std::string_view what, int64_t count, std::string_view meaning) {
    out += fmt::format("    {:>7}  {:<10} {}\n", count, what, meaning);
  };
  if (report.is_from_store) {
    out += "    the winner of an earlier run came from the record store\n";
  } else {
    line("values", report.values, "from which the outputs can be computed");
    line("structures", report.structures, "fused kernels, before tile sizes");
    line("schedules", report.schedules, "with tile sizes, ranked by the cost model");
  }
  line("verified", report.verified, "proven equivalent to the program");
  line("built", report.built, "lowered and compiled");
  line("checked", report.checked, "agree with float64");
  line("timed", report.timed, "in the rounds below");
  return out;
}

std::string round_heading(const Report& report, int number) {
  const optimize::Round& round = report.rounds[static_cast<size_t>(number) - 1];
  const bool is_last = number == static_cast<int>(report.rounds.size());
  return fmt::format("    round {}{}: {} {}, {} sample{} or more, the fastest {}\n", number,
                     is_last && number > 1 ? ", the final" : "", round.candidates,
                     number > 1 ? "in turns" : "one by one", round.samples,
                     round.samples == 1 ? "" : "s", time_text(round.fastest_us));
}

constexpr size_t kScheduleWidth = 34;  // in the table

/// What a row of the table says of the candidate.
std::string short_text(const CandidateReport& row) {
  return shortened(row.schedule.empty() ? row.plan : row.schedule, kScheduleWidth);
}
std::string full_text(const CandidateReport& row) {
  return (row.schedule.empty() ? "" : row.schedule + "; ") + row.plan;
}

/// A line more for rows that look the same: from where their schedules or plans differ.
std::string told_apart(const Report& report, const std::vector<size_t>& shown, size_t index) {
  const CandidateReport& row = report.candidates[index];
  const std::string own = full_text(row);
  size_t common = own.size();
  bool is_alone = true, is_unlike = true;
  for (const size_t other : shown) {
    const CandidateReport& candidate = report.candidates[other];
    if (other == index || short_text(candidate) != short_text(row)) continue;
    is_alone = false;
    const std::string text = full_text(candidate);
    is_unlike &= text != own;
    const auto end = std::mismatch(own.begin(), own.end(), text.begin(), text.end()).first;
    common = std::min(common, static_cast<size_t>(end - own.begin()));
  }
  if (is_alone) return "";
  const size_t word = common == 0 ? 0 : own.rfind(' ', common - 1) + 1;  // npos + 1 is 0
  std::string detail = (word > 0 ? "... " : "") + own.substr(word);
  if (!is_unlike) detail = "graph " + to_hex(row.graph).substr(0, 12);
  constexpr size_t kIndent = 9;
  return std::string(kIndent, ' ') + shortened(detail, kWidth - kIndent) + "\n";
}

/// Times of different rounds are not comparable, so rows stand under their last round.
std::string candidates(const Report& report) {
  std::string out = "  candidates under their last round; x: times the fastest of that round\n";
  double slowest = 1;
  for (const CandidateReport& row : report.candidates) slowest = std::max(slowest, row.of_fastest);
  int round = 0;
  const std::vector<size_t> shown = optimize::ranking(report);
  for (const size_t index : shown) {
    const CandidateReport& row = report.candidates[index];
    if (row.round != round) out += round_heading(report, round = row.round);
    out += fmt::format("  {} {:>3}  {:>7}  {:>6.2f}x {}  {}\n", index == report.winner ? '*' : ' ',
                       row.number, time_text(row.timing.median_us), row.of_fastest,
                       bar(row.of_fastest / slowest, 16), short_text(row));
    out += told_apart(report, shown, index);
  }
  return out;
}

std::string why_nothing_won(const Report& report) {
  const CandidateReport& fastest = report.candidates[optimize::ranking(report)[0]];
  if (fastest.number == report.best().number)
    return "nothing was faster than the program as written";
  return fmt::format("candidate {} was {}: too little to replace it", fastest.number, fastest.lost);
}

/// A bound above the usual size of the values lets anything small pass: that is no agreement.
std::string weakness(const tune::Deviation& deviation) {
  const int64_t all = deviation.compared + deviation.without_bound;
  if (2 * deviation.sharp >= all) return "";
  return wrapped(
      fmt::format("WEAK     on ordinary inputs only {} of {} entries have an error bound below the "
                  "mean size of the output",
                  deviation.sharp, all),
      4, 9);
}

std::string winner(const Report& report) {
  const CandidateReport& best = report.best();
  std::string out = "  winner\n";
  out += wrapped(best.plan, 4);
  if (!best.schedule.empty()) out += wrapped(best.schedule, 4);
  if (!report.is_checked()) {
    out += wrapped("time     not measured", 4);
    out += wrapped("verdict  " + verify::to_string(best.verdict), 4, 9);
    return out + wrapped("check    NOT CHECKED against float64: see what was skipped", 4, 9);
  }
  out += fmt::format("    time     {} (10 % to 90 %: {} to {}, {} samples)\n",
                     time_text(best.timing.median_us), time_text(best.timing.low_us),
                     time_text(best.timing.high_us), best.timing.samples);
  if (best.predicted_us > 0)
    out += fmt::format("    model    predicted {}, {:.2f} of the time measured\n",
                       time_text(best.predicted_us), best.predicted_us / best.timing.median_us);
  if (report.winner != 0)
    out += fmt::format("    speed    {:.2f} times as fast as the program as written ({})\n",
                       report.speed_up(), time_text(report.baseline().timing.median_us));
  else
    out += wrapped(why_nothing_won(report), 4);
  out += wrapped("verdict  " + verify::to_string(best.verdict), 4, 9);
  std::string families;
  for (const std::string& family : report.check_families)
    families += (families.empty() ? "" : ", ") + family;
  out += wrapped(
      fmt::format(
          "check    within {:.2g} of the float64 error bound, largest difference {:.2g}, on "
          "inputs: {}",
          best.deviation.max_of_bound, best.deviation.max_abs, families),
      4, 9);
  return out + weakness(best.deviation);
}

std::string skipped(const Report& report) {
  if (report.skipped.empty()) return "";
  std::string out = "  skipped for lack of time\n";
  if (report.stop == optimize::Stop::Cancelled) out = "  skipped: the run was cancelled\n";
  for (const optimize::Skipped& skipped : report.skipped)
    out += wrapped(fmt::format("{:<8} {}", optimize::name_of(skipped.stage), skipped.reason), 4, 9);
  return out;
}

std::string losses(const Report& report) {
  if (report.rejected.empty()) return "";
  std::string out = "  rejected\n";
  for (const Rejected& rejected : report.rejected) {
    out += fmt::format("    {:>7}  {:<8} {}\n", rejected.count, optimize::name_of(rejected.stage),
                       rejected.reason);
    if (!rejected.example.empty())
      out += fmt::format("             {}\n", shortened(rejected.example, kWidth - 13));
  }
  return out;
}

}  // namespace

std::string wrapped(std::string_view text, size_t indent, size_t hanging) {
  std::string out, line(indent, ' ');
  size_t start = 0;
  while (start < text.size()) {
    size_t end = std::min(text.find(' ', start), text.size());
    const std::string_view word = text.substr(start, end - start);
    if (line.size() > indent && line.size() + 1 + word.size() > kWidth) {
      out += line + "\n";
      if (out.find('\n') == out.size() - 1) indent += hanging;
      line.assign(indent, ' ');
    }
    if (line.size() > indent) line += ' ';
    line += word;
    start = end + 1;
  }
  return out + line + "\n";
}

std::string time_text(double microseconds) {
  const auto digits = [](double value) { return value < 10 ? 2 : value < 100 ? 1 : 0; };
  if (microseconds < 1000) return fmt::format("{:.{}f} us", microseconds, digits(microseconds));
  const double ms = microseconds / 1000;
  if (ms < 1000) return fmt::format("{:.{}f} ms", ms, digits(ms));
  return fmt::format("{:.{}f} s", ms / 1000, digits(ms / 1000));
}

std::string to_text(const Report& report) {
  std::string out = fmt::format("{}  {}\n", report.program.empty() ? "program" : report.program,
                                to_hex(report.program_hash).substr(0, 12));
  out += shortened(fmt::format("  {} on {}, {} thread{}", report.target, report.machine,
                               report.threads, report.threads == 1 ? "" : "s"),
                   kWidth) +
         "\n\n";
  out += funnel(report) + "\n";
  if (!report.rounds.empty()) out += candidates(report) + "\n";
  out += winner(report) + "\n" + skipped(report) + losses(report);
  if (!report.notes.empty()) out += "  notes\n";
  for (const std::string& note : report.notes) out += wrapped(note, 4);
  std::string seconds = "seconds  ";
  for (const auto& [stage, spent] : report.stage_seconds)
    if (spent >= 0.005) seconds += fmt::format("{} {:.2f}, ", stage, spent);
  seconds += fmt::format("all {:.2f}", report.total_seconds);
  if (report.stop != optimize::Stop::Complete)
    seconds += fmt::format(" (stopped: {})", optimize::name_of(report.stop));
  out += wrapped(seconds, 2, 9);
  return out;
}

}  // namespace mirage::report
