#include "tests/simulation/history/linearizability.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"

namespace ingot::simulation {
namespace {

constexpr std::size_t kNone = ~std::size_t{0};

// What a register with value `before` holds after the operation; nothing if the answer contradicts that value.
std::optional<Value> carry_out(const Operation& operation, Value before) {
  const bool told = operation.answered != kUnanswered;
  switch (operation.kind) {
    case Operation::Kind::kRead:
      return told && operation.found != before ? std::nullopt : std::optional(before);
    case Operation::Kind::kWrite:
      return operation.written;
    case Operation::Kind::kCompareAndWrite: {
      const bool succeeds = operation.expected == before;
      if (told && succeeds != operation.succeeded) return std::nullopt;
      if (told && !succeeds && operation.found != before) return std::nullopt;
      return succeeds ? operation.written : before;
    }
    case Operation::Kind::kChurn:
    case Operation::Kind::kCompact:
    case Operation::Kind::kDisarm:
      return before;
  }
  return std::nullopt;
}

// A guess at the order: the answered operations by the store's revisions, with an unanswered write wherever an answer
// shows its value. The guess is checked like any other order, so the store is not trusted. It is nearly always right,
// and saves a search that is long when many writes are unanswered.
class RevisionOrder {
 public:
  explicit RevisionOrder(const std::vector<const Operation*>& operations) {
    for (const Operation* operation : operations) {
      (operation->answered == kUnanswered ? unanswered_ : answered_).push_back(operation);
    }
    const auto writes = [](const Operation& operation) {
      return operation.kind == Operation::Kind::kWrite || operation.succeeded;
    };
    std::sort(answered_.begin(), answered_.end(), [&](const Operation* a, const Operation* b) {
      return std::tuple(a->revision, !writes(*a), a->invoked) < std::tuple(b->revision, !writes(*b), b->invoked);
    });
  }

  bool fits() {
    for (const Operation* operation : answered_) {
      if (const auto seen = value_seen(*operation); seen && !bring_about(*seen)) return false;
      if (!append(*operation)) return false;
    }
    return true;
  }

 private:
  // The value that the register held before, according to the answer; nothing if the answer does not tell.
  static std::optional<Value> value_seen(const Operation& operation) {
    if (operation.kind == Operation::Kind::kWrite) return std::nullopt;
    return operation.succeeded ? operation.expected : operation.found;
  }

  // Brings the value about by an unanswered write, and by the value that this write expects. Each write is used once,
  // so the recursion ends.
  bool bring_about(Value value) {
    if (value == value_) return true;
    const auto cause = std::find_if(unanswered_.begin(), unanswered_.end(),
                                    [&](const Operation* operation) { return operation->written == value; });
    if (cause == unanswered_.end()) return false;
    const Operation& operation = **cause;
    unanswered_.erase(cause);
    if (operation.kind == Operation::Kind::kCompareAndWrite && !bring_about(operation.expected)) return false;
    return append(operation);
  }

  bool append(const Operation& operation) {
    const auto after = carry_out(operation, value_);
    if (!after || operation.answered < latest_call_) return false;
    value_ = *after;
    latest_call_ = std::max(latest_call_, operation.invoked);
    return true;
  }

  std::vector<const Operation*> answered_;    // by revision
  std::vector<const Operation*> unanswered_;  // not in the order so far
  Value value_ = 0;
  Moment latest_call_ = 0;
};

// The search over the operations of one key.
class Search {
 public:
  explicit Search(std::vector<const Operation*> operations) : operations_(std::move(operations)) {
    std::sort(operations_.begin(), operations_.end(),
              [](const Operation* a, const Operation* b) { return a->invoked < b->invoked; });
    taken_.resize((operations_.size() + 63) / 64);
    for (const Operation* operation : operations_) must_ += operation->answered != kUnanswered ? 1 : 0;
  }

  bool succeeds() {
    std::size_t from = 0;
    while (must_ > 0) {
      if (const std::size_t next = find_next(from); next != kNone) {
        take(next);
        from = 0;
      } else if (path_.empty()) {
        return false;
      } else {
        from = undo() + 1;
      }
    }
    return true;
  }

  // The first operation that was never placed on the deepest path.
  const Operation* culprit() const { return deepest_culprit_; }

 private:
  struct Step {
    std::size_t operation;
    Value before;
    std::size_t first_open;
  };

  bool taken(std::size_t i) const { return (taken_[i / 64] >> (i % 64) & 1) != 0; }
  void flip(std::size_t i) { taken_[i / 64] ^= std::uint64_t{1} << (i % 64); }

  // The first operation from `from` on that may come next and leads to a state not seen before. One may come next if no
  // open operation was answered before it was called.
  std::size_t find_next(std::size_t from) {
    Moment deadline = kUnanswered;
    for (std::size_t i = first_open_; i < operations_.size(); ++i) {
      if (taken(i)) continue;
      const Operation& operation = *operations_[i];
      if (operation.invoked > deadline) return kNone;
      deadline = std::min(deadline, operation.answered);
      if (i < from) continue;
      const auto after = carry_out(operation, value_);
      if (!after) continue;
      flip(i);
      const bool fresh = remember(*after);
      flip(i);
      if (fresh) return i;
    }
    return kNone;
  }

  // A path without a step back visits no state twice, so nothing is stored before the first step back.
  bool remember(Value value) {
    if (!went_back_) return true;
    key_.assign(taken_.begin(), taken_.end());
    key_.push_back(value);
    return seen_.insert(key_).second;
  }

  void take(std::size_t i) {
    path_.push_back({i, value_, first_open_});
    value_ = *carry_out(*operations_[i], value_);
    flip(i);
    if (operations_[i]->answered != kUnanswered) --must_;
    while (first_open_ < operations_.size() && taken(first_open_)) ++first_open_;
    if (path_.size() > deepest_) {
      deepest_ = path_.size();
      deepest_culprit_ = first_open_ < operations_.size() ? operations_[first_open_] : nullptr;
    }
  }

  std::size_t undo() {
    went_back_ = true;
    const Step step = path_.back();
    path_.pop_back();
    flip(step.operation);
    if (operations_[step.operation]->answered != kUnanswered) ++must_;
    value_ = step.before;
    first_open_ = step.first_open;
    return step.operation;
  }

  std::vector<const Operation*> operations_;  // by call
  std::vector<std::uint64_t> taken_;          // bit n: operation n is on the path
  std::vector<Step> path_;
  Value value_ = 0;
  std::size_t first_open_ = 0;  // operations before it are on the path
  std::size_t must_ = 0;        // answered operations that are not on the path
  bool went_back_ = false;
  std::vector<std::uint64_t> key_;
  absl::flat_hash_set<std::vector<std::uint64_t>> seen_;
  std::size_t deepest_ = 0;
  const Operation* deepest_culprit_ = operations_.empty() ? nullptr : operations_.front();
};

std::string describe(const Operation& operation) {
  const std::string key = " of key " + std::to_string(operation.key);
  const std::string client = " by client " + std::to_string(operation.client);
  switch (operation.kind) {
    case Operation::Kind::kRead:
      return "the read" + key + client + " that found " + std::to_string(operation.found);
    case Operation::Kind::kWrite:
      return "the write" + key + client + " of " + std::to_string(operation.written);
    case Operation::Kind::kCompareAndWrite:
      return "the write" + key + client + " of " + std::to_string(operation.written) + " if it was " +
             std::to_string(operation.expected) +
             (operation.succeeded ? ", done," : ", not done since it was " + std::to_string(operation.found) + ",");
    case Operation::Kind::kChurn:
    case Operation::Kind::kCompact:
    case Operation::Kind::kDisarm:
      break;
  }
  return "an operation";
}

}  // namespace

std::string find_linearizability_violation(const History& history) {
  std::map<std::uint32_t, std::vector<const Operation*>> keys;
  for (const Operation& operation : history) {
    // An unanswered read constrains nothing.
    if (operation.answered == kUnanswered && operation.kind == Operation::Kind::kRead) continue;
    // A refused write changes no key: a read that finds its value has no place in the history without it.
    if (operation.no_space || !of_register(operation)) continue;
    keys[operation.key].push_back(&operation);
  }
  for (auto& [key, operations] : keys) {
    if (RevisionOrder(operations).fits()) continue;
    Search search(std::move(operations));
    if (search.succeeds()) continue;
    const Operation* culprit = search.culprit();
    return "linearizability: no place in the clients' history for " +
           (culprit ? describe(*culprit) : "an operation of key " + std::to_string(key)) + " (called at event " +
           std::to_string(culprit ? culprit->invoked : 0) + ")";
  }
  return "";
}

}  // namespace ingot::simulation
