#include <nlohmann/json.hpp>

#include "report/report.h"

namespace mirage::report {
namespace {

using nlohmann::ordered_json;

ordered_json timing(const optimize::CandidateReport& row) {
  return {{"round", row.round},
          {"of_fastest", row.of_fastest},
          {"time_us", row.timing.median_us},
          {"low_us", row.timing.low_us},
          {"high_us", row.timing.high_us},
          {"median_low_us", row.timing.median_low_us},
          {"median_high_us", row.timing.median_high_us},
          {"samples", row.timing.samples}};
}

ordered_json verdict(const verify::Verdict& verdict) {
  return {{"answer", verify::name_of(verdict.answer)},
          {"method", verify::name_of(verdict.method)},
          {"log2_error_bound", verdict.log2_error_bound},
          {"trials", verdict.trials},
          {"all_sizes", verdict.all_sizes},
          {"uninterpreted", verdict.uninterpreted},
          {"reason", verdict.reason}};
}

ordered_json candidate(const optimize::CandidateReport& row) {
  ordered_json out = {{"number", row.number},
                      {"plan", row.plan},
                      {"schedule", row.schedule},
                      {"graph", to_hex(row.graph)},
                      {"verdict", verdict(row.verdict)},
                      {"predicted_us", row.predicted_us},
                      {"is_timed", row.is_timed},
                      {"lost", row.lost}};
  if (row.is_timed) {
    out["timing"] = timing(row);
    out["check"] = {{"cases", row.checked_cases},
                    {"entries", row.deviation.compared},
                    {"entries_sharp", row.deviation.sharp},
                    {"entries_without_bound", row.deviation.without_bound},
                    {"max_abs_error", row.deviation.max_abs},
                    {"relative_error", row.deviation.relative},
                    {"max_error_of_bound", row.deviation.max_of_bound}};
  }
  return out;
}

}  // namespace

std::string to_json(const optimize::Report& report) {
  ordered_json out = {{"schema", "mirage/optimize/1"},
                      {"program", report.program},
                      {"program_hash", to_hex(report.program_hash)},
                      {"target", report.target},
                      {"machine", report.machine},
                      {"compiler", report.compiler},
                      {"version", report.version},
                      {"threads", report.threads},
                      {"seed", report.seed}};
  out["funnel"] = {{"values", report.values},       {"structures", report.structures},
                   {"schedules", report.schedules}, {"verified", report.verified},
                   {"built", report.built},         {"checked", report.checked},
                   {"timed", report.timed}};
  out["rejected"] = ordered_json::array();
  for (const optimize::Rejected& rejected : report.rejected)
    out["rejected"].push_back({{"stage", optimize::name_of(rejected.stage)},
                               {"reason", rejected.reason},
                               {"count", rejected.count},
                               {"example", rejected.example}});
  out["skipped"] = ordered_json::array();
  for (const optimize::Skipped& skipped : report.skipped)
    out["skipped"].push_back(
        {{"stage", optimize::name_of(skipped.stage)}, {"reason", skipped.reason}});
  out["candidates"] = ordered_json::array();
  for (const optimize::CandidateReport& row : report.candidates)
    out["candidates"].push_back(candidate(row));
  out["ranking"] = optimize::ranking(report);
  out["rounds"] = ordered_json::array();
  for (const optimize::Round& round : report.rounds)
    out["rounds"].push_back({{"candidates", round.candidates},
                             {"samples", round.samples},
                             {"fastest_us", round.fastest_us}});
  out["winner"] = report.winner;
  out["is_checked"] = report.is_checked();
  out["baseline_us"] = report.baseline_us();  // NaN is written as null
  out["winner_us"] = report.best_us();
  out["speed_up"] = report.speed_up();
  out["check_families"] = report.check_families;
  out["spot_checks"] = report.spot_checks;
  out["is_from_store"] = report.is_from_store;
  out["stop"] = optimize::name_of(report.stop);
  out["search_seconds"] = report.search.seconds;
  out["stage_seconds"] = ordered_json::object();
  for (const auto& [stage, seconds] : report.stage_seconds) out["stage_seconds"][stage] = seconds;
  out["total_seconds"] = report.total_seconds;
  out["notes"] = report.notes;
  return out.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace mirage::report
