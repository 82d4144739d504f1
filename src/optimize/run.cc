#include "optimize/run.h"

#include <algorithm>

namespace mirage::optimize {

Run::Run(ir::GraphPtr program_asked, const OptimizeOptions& options_asked, Session& session_used)
    : program(std::move(program_asked)),
      options(options_asked),
      session(session_used),
      deadline(Deadline::after(start, options.time_limit_seconds), options.cancel) {}

double Run::elapsed() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Deadline Run::end_of(double share) const {
  return deadline.no_later_than(Deadline::after(start, share * options.time_limit_seconds));
}

bool Run::may_begin(double share, double end_share, double seconds) const {
  return !end_of(share).is_over() && end_of(end_share).seconds_left() > seconds;
}

void Run::skip(Stage stage, std::string reason, bool is_cut_short) {
  report.skipped.push_back({stage, std::move(reason)});
  if (is_cut_short) report.stop = is_cancelled() ? Stop::Cancelled : Stop::TimeLimit;
}

void Run::tell(std::string_view stage, int64_t done, int64_t total) const {
  if (!options.progress) return;
  Progress progress{stage, done, total};
  for (const Track& track : tracks)
    if (track.measured) {
      const double us = track.measured->timing().median_us;
      if (&track == &tracks[0]) progress.baseline_us = us;
      if (progress.best_us == 0 || us < progress.best_us) progress.best_us = us;
    }
  progress.seconds_left = std::max(0.0, options.time_limit_seconds - elapsed());
  options.progress(progress);
}

void Run::reject(Stage stage, std::string_view reason, const std::string& example, int64_t count) {
  for (Rejected& rejected : report.rejected)
    if (rejected.stage == stage && rejected.reason == reason) {
      rejected.count += count;
      return;
    }
  report.rejected.push_back({stage, std::string(reason), count, example});
}

void Run::add(std::vector<Proposal> proposals) {
  for (Proposal& proposal : proposals) {
    Track track;
    track.proposal = std::move(proposal);
    tracks.push_back(std::move(track));
  }
}

std::vector<size_t> Run::by_time() const {
  std::vector<size_t> order;
  for (size_t i = 0; i < tracks.size(); ++i)
    if (tracks[i].measured) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return tracks[a].measured->timing().median_us < tracks[b].measured->timing().median_us;
  });
  return order;
}

}  // namespace mirage::optimize
