#include "services/ingot_load/write_ledger.h"

#include "core/check.h"

namespace ingot::load {

const char* describe(Verdict verdict) {
  switch (verdict) {
    case Verdict::kHeld:
      return "is as it must be";
    case Verdict::kLost:
      return "lost an acknowledged write";
    case Verdict::kWrongValue:
      return "has another value than was acknowledged at its revision";
    case Verdict::kUnexplained:
      return "has a value that no acknowledged or unknown write explains";
    case Verdict::kSameRevision:
      return "had two writes acknowledged at one revision";
  }
  return "?";
}

void WriteLedger::acknowledged(std::uint32_t key, Revision revision, WriteId id) {
  ++acknowledged_count_;
  note(keys_[key], revision, id);
}

void WriteLedger::note(Last& last, Revision revision, WriteId id) {
  if (revision == last.revision && id != last.id) last.same_revision = true;
  if (revision <= last.revision) return;
  last.revision = revision;
  last.id = id;
}

void WriteLedger::merge(const WriteLedger& other) {
  INGOT_CHECK(run_ == other.run_ && keys_.size() == other.keys_.size());
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    keys_[i].same_revision |= other.keys_[i].same_revision;
    if (other.keys_[i].revision > 0) note(keys_[i], other.keys_[i].revision, other.keys_[i].id);
  }
  unknown_.insert(other.unknown_.begin(), other.unknown_.end());
  acknowledged_count_ += other.acknowledged_count_;
}

Verdict WriteLedger::verify(std::uint32_t key, std::string_view name, const std::optional<Observed>& observed) const {
  const Last& last = keys_[key];
  if (last.same_revision) return Verdict::kSameRevision;
  if (!observed) return last.revision == 0 ? Verdict::kHeld : Verdict::kLost;
  if (observed->mod_revision < last.revision) return Verdict::kLost;
  const std::optional<Stamp> stamp = read_stamp(name, observed->value);
  if (last.revision != 0 && observed->mod_revision == last.revision) {
    return stamp == Stamp{run_, last.id} ? Verdict::kHeld : Verdict::kWrongValue;
  }
  if (!stamp) return Verdict::kUnexplained;
  if (stamp->run != run_) return Verdict::kHeld;
  return unknown_.contains(stamp->id) ? Verdict::kHeld : Verdict::kUnexplained;
}

}  // namespace ingot::load
