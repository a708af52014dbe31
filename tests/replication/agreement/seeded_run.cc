#include "tests/replication/agreement/seeded_run.h"

namespace ingot::testing {

SeededRun::SeededRun(const Prng& prng, const GroupOptions& options)
    : prng_(prng),
      group_(options),
      order_(options.replicas),
      paused_steps_(index(options.replicas)),
      ready_(index(options.replicas)),
      one_answers_(options.kind == "2pc") {}

void SeededRun::pauses_go_on() {
  for (int& steps : paused_steps_) steps = steps > 0 ? steps - 1 : 0;
}

void SeededRun::watch(int replica, const Effects& effects) {
  for (const Decision& decision : effects.decided) order_.decided(replica, decision);
  for (const ReadReady& read : effects.reads_ready) ready_[index(replica)][read.read_id] = read.applied_needed;
  for (const Rejection& rejection : effects.rejected) {
    if (rejection.kind == Rejection::Kind::kRead) reads_.rejected(rejection.id);
  }
}

void SeededRun::tick(int replica) {
  if (runs(replica) && group_.at(replica).wants_tick()) group_.tick(replica);
  answer_reads(replica);
}

void SeededRun::grant_room(int replica) {
  if (!group_.alive(replica)) return;
  const bool enough = calm_ || prng_.chance(0.5);
  group_.at(replica).room(enough ? SIZE_MAX : prng_.below(2) * prng_.below(2000));
}

void SeededRun::deliver(int from, int to) {
  if (!runs(to) || group_.link(from, to).empty()) return;
  group_.deliver(from, to);
  answer_reads(to);
}

void SeededRun::apply(int replica) {
  if (!runs(replica)) return;
  const Slot from = group_.applied(replica);
  const std::uint64_t behind = order_.next(replica).value() - from.value();
  if (behind == 0) return;
  group_.apply(replica, from.plus(calm_ ? behind : 1 + prng_.below(behind)));
  if (!one_answers_ || replica == 0) reads_.acknowledged(visible(replica));  // its clients may have the answer
  answer_reads(replica);
}

Slot SeededRun::visible(int replica) const {
  Slot applied = group_.applied(replica);
  while (applied > Slot(0) && order_.log().at(Slot(applied.value() - 1)).empty()) applied = Slot(applied.value() - 1);
  return applied;
}

void SeededRun::answer_reads(int replica) {
  auto& ready = ready_[index(replica)];
  for (auto read = ready.begin(); read != ready.end();) {
    if (read->second > group_.applied(replica)) {
      ++read;
      continue;
    }
    reads_.answered(read->first, visible(replica));
    ++answered_reads_;
    read = ready.erase(read);
  }
}

void SeededRun::forget_reads(int replica) {
  for (const auto& [id, slot] : ready_[index(replica)]) reads_.rejected(id);
  ready_[index(replica)].clear();
}

bool SeededRun::install(int replica, Slot first_undecided) {
  if (first_undecided <= order_.next(replica)) return false;
  order_.installed(replica, first_undecided);
  group_.install(replica, first_undecided);
  answer_reads(replica);
  return true;
}

}  // namespace ingot::testing
