#include "ir/text.h"
#include "optimize/stages.h"

namespace mirage::optimize {

std::optional<Proposal> recall(Run& run) {
  if (!run.options.use_records) return {};
  tune::RecordStore* store = run.session.records();
  if (store == nullptr) return {};
  const Result<std::optional<tune::Record>> record = store->find(run.key);
  if (!record) {
    run.report.notes.push_back(record.error().message);
    return {};
  }
  if (!*record) return {};
  const Result<std::vector<ir::GraphPtr>> graphs = ir::parse((*record)->program);
  if (!graphs || graphs->size() != 1 || (*graphs)[0]->hash != (*record)->program_hash) {
    run.report.notes.push_back("a record of this program is unreadable: searching again");
    return {};
  }
  Proposal proposal;
  proposal.graph = (*graphs)[0];
  proposal.plan = (*record)->plan;
  return proposal;
}

void remember(Run& run, const Track& winner) {
  if (!run.options.use_records || run.report.is_from_store || run.report.stop != Stop::Complete ||
      !winner.measured)
    return;
  tune::RecordStore* store = run.session.records();
  if (store == nullptr) return;
  tune::Record record;
  record.program = ir::print(*winner.graph());
  record.program_hash = winner.graph()->hash;
  record.plan = winner.proposal.plan;
  record.verdict = verify::to_string(winner.report.verdict);
  record.time_us = winner.measured->timing().median_us;
  record.baseline_us = run.tracks[0].measured->timing().median_us;
  const Result<void> saved = store->save(run.key, run.program->name, record);
  if (!saved) run.report.notes.push_back(saved.error().message);
}

}  // namespace mirage::optimize
