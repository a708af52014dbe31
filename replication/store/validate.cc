#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "replication/store/api.h"
#include "replication/store/codec.h"
#include "replication/store/limits.h"

namespace ingot::kv {
namespace {

// ---- Fields: order of checks as in etcd 3.4, since the first failure names the error. ----

Code check_fields(const RangeRequest& r) {
  if (r.key.empty()) return Code::kEmptyKey;
  if (r.step_entries > kStepEntriesMax || r.taken < 0) return Code::kMalformed;
  return r.taken > 0 && r.step_entries == 0 ? Code::kMalformed : Code::kOk;
}

Code check_fields(const PutView& r) {
  if (r.key.empty()) return Code::kEmptyKey;
  if (r.ignore_value && !r.value.empty()) return Code::kValueProvided;
  if (r.ignore_lease && r.lease != 0) return Code::kLeaseProvided;
  return Code::kOk;
}

Code check_fields(const DeleteRangeRequest& r) { return r.key.empty() ? Code::kEmptyKey : Code::kOk; }

Code check_txn(const TxnRequest& txn, int operations_max, int depth);

Code check_operations(const std::vector<Operation>& operations, int operations_max, int depth) {
  for (const Operation& operation : operations) {
    Code code = Code::kOk;
    if (const auto* range = std::get_if<RangeRequest>(&operation)) {
      code = range->step_entries != 0 ? Code::kMalformed : check_fields(*range);  // a page cannot be continued later
    } else if (const auto* put = std::get_if<PutRequest>(&operation)) {
      code = check_fields(view_of(*put));
    } else if (const auto* del = std::get_if<DeleteRangeRequest>(&operation)) {
      code = check_fields(*del);
    } else {
      code = check_txn(*std::get<std::shared_ptr<TxnRequest>>(operation), operations_max, depth + 1);
    }
    if (code != Code::kOk) return code;
  }
  return Code::kOk;
}

// etcd's count: the longest of the three lists; nested transactions share what their parent's longest list leaves.
Code check_txn(const TxnRequest& txn, int operations_max, int depth) {
  if (depth > kTxnDepthMax) return Code::kTooDeep;
  const std::size_t longest = std::max({txn.compare.size(), txn.success.size(), txn.failure.size()});
  if (longest > static_cast<std::size_t>(operations_max)) return Code::kTooManyOps;
  for (const Compare& compare : txn.compare) {
    if (compare.key.empty()) return Code::kEmptyKey;
  }
  const int left = operations_max - static_cast<int>(longest);
  const Code code = check_operations(txn.success, left, depth);
  return code != Code::kOk ? code : check_operations(txn.failure, left, depth);
}

// ---- Duplicate keys: no transaction may put a key twice, or put and delete it, if both could be carried out. ----

// A union of half-open intervals of keys, kept disjoint.
class KeyIntervals {
 public:
  // An end of "\0" is taken literally, as in this check of etcd 3.4: such an interval is empty.
  void add(std::string begin, std::string end) {
    if (end <= begin) return;
    auto it = intervals_.upper_bound(begin);
    if (it != intervals_.begin() && std::prev(it)->second >= begin) --it;
    while (it != intervals_.end() && it->first <= end) {
      begin = std::min(begin, it->first);
      end = std::max(end, it->second);
      it = intervals_.erase(it);
    }
    intervals_.emplace(std::move(begin), std::move(end));
  }

  void add(const DeleteRangeRequest& r) { add(r.key, r.range_end.empty() ? r.key + '\0' : r.range_end); }

  void add(const KeyIntervals& other) {
    for (const auto& [begin, end] : other.intervals_) add(begin, end);
  }

  bool contain(std::string_view key) const {
    auto it = intervals_.upper_bound(key);
    return it != intervals_.begin() && std::prev(it)->second > key;
  }

 private:
  std::map<std::string, std::string, std::less<>> intervals_;  // begin -> end
};

// The keys that one branch may put and delete, nested transactions included.
struct Touched {
  std::set<std::string_view> puts;
  KeyIntervals deletes;
};

bool collect_branch(const std::vector<Operation>& operations, Touched& touched);

// Adds a nested transaction's branches. They exclude each other, so both may put the same key. A put is checked against
// the deletes of this level and of the nested transactions before it, not of those after it: etcd's order.
bool collect_nested(const TxnRequest& txn, Touched& touched) {
  Touched then, otherwise;
  if (!collect_branch(txn.success, then) || !collect_branch(txn.failure, otherwise)) return false;
  for (const std::string_view key : then.puts) {
    if (touched.deletes.contain(key) || !touched.puts.insert(key).second) return false;
  }
  for (const std::string_view key : otherwise.puts) {
    const bool new_key = touched.puts.insert(key).second;
    if (touched.deletes.contain(key) || (!new_key && !then.puts.contains(key))) return false;
  }
  touched.deletes.add(then.deletes);
  touched.deletes.add(otherwise.deletes);
  return true;
}

// Returns false for a duplicate.
bool collect_branch(const std::vector<Operation>& operations, Touched& touched) {
  for (const Operation& operation : operations) {
    if (const auto* del = std::get_if<DeleteRangeRequest>(&operation)) touched.deletes.add(*del);
  }
  for (const Operation& operation : operations) {
    const auto* nested = std::get_if<std::shared_ptr<TxnRequest>>(&operation);
    if (nested && !collect_nested(**nested, touched)) return false;
  }
  for (const Operation& operation : operations) {
    const auto* put = std::get_if<PutRequest>(&operation);
    if (put && (touched.deletes.contain(put->key) || !touched.puts.insert(put->key).second)) return false;
  }
  return true;
}

bool has_duplicates(const std::vector<Operation>& operations) {
  Touched touched;
  return !collect_branch(operations, touched);
}

// ---- Events ----

// The end of a range, where a longer string with zeros stands for "behind this key" and nullopt for "no end".
std::optional<std::string> end_of(const EventRange& range) {
  if (range.range_end.empty()) return range.key + '\0';
  if (range.range_end == std::string_view("\0", 1)) return std::nullopt;
  return range.range_end;
}

Code check_events(const EventsRequest& r) {
  if (r.from.revision < 0 || r.ranges.size() > kEventRangesMax) return Code::kMalformed;
  for (std::size_t i = 0; i < r.ranges.size(); ++i) {
    if (r.ranges[i].key.empty()) return Code::kEmptyKey;
    const std::optional<std::string> end = end_of(r.ranges[i]);
    if (end && *end <= r.ranges[i].key) return Code::kMalformed;
    const bool last = i + 1 == r.ranges.size();
    if (!last && (!end || *end > r.ranges[i + 1].key)) return Code::kMalformed;
  }
  return Code::kOk;
}

bool writes(const std::vector<Operation>& operations) {
  for (const Operation& operation : operations) {
    if (std::holds_alternative<RangeRequest>(operation)) continue;
    const auto* nested = std::get_if<std::shared_ptr<TxnRequest>>(&operation);
    if (!nested || writes((*nested)->success) || writes((*nested)->failure)) return true;
  }
  return false;
}

bool puts(const std::vector<Operation>& operations) {
  for (const Operation& operation : operations) {
    if (std::holds_alternative<PutRequest>(operation)) return true;
    const auto* nested = std::get_if<std::shared_ptr<TxnRequest>>(&operation);
    if (nested && (puts((*nested)->success) || puts((*nested)->failure))) return true;
  }
  return false;
}

bool has_ranges(const Operation& operation) {
  if (const auto* range = std::get_if<RangeRequest>(&operation)) return !range->range_end.empty();
  if (const auto* del = std::get_if<DeleteRangeRequest>(&operation)) return !del->range_end.empty();
  const auto* nested = std::get_if<std::shared_ptr<TxnRequest>>(&operation);
  return nested != nullptr && kv::has_ranges(**nested);
}

Code check_hash(const HashRequest& r) {
  const bool position = !r.from.empty() || r.below != 0;
  if (r.step_entries > kStepEntriesMax || r.below < 0) return Code::kMalformed;
  return position && r.step_entries == 0 ? Code::kMalformed : Code::kOk;
}

Code check_keep_alive(const LeaseKeepAliveRequest& r) {
  return r.ids.empty() || r.ids.size() > kKeepAlivesMax ? Code::kMalformed : Code::kOk;
}

Code check_tick(const Tick& tick) { return tick.number == 0 || tick.ms > kTickMaxMs ? Code::kMalformed : Code::kOk; }

}  // namespace

bool is_mutating(const Request& request) {
  if (const auto* txn = std::get_if<TxnRequest>(&request)) return writes(txn->success) || writes(txn->failure);
  if (const auto* alarm = std::get_if<AlarmRequest>(&request)) return alarm->action != AlarmRequest::Action::kGet;
  return !std::holds_alternative<RangeRequest>(request) && !std::holds_alternative<HashRequest>(request) &&
         !std::holds_alternative<EventsRequest>(request) && !std::holds_alternative<LeasesRequest>(request) &&
         !std::holds_alternative<LeaseTimeToLiveRequest>(request);
}

bool changes_leases(const Request& request) {
  return std::holds_alternative<LeaseGrantRequest>(request) || std::holds_alternative<LeaseRevokeRequest>(request) ||
         std::holds_alternative<LeaseKeepAliveRequest>(request) || std::holds_alternative<Tick>(request);
}

bool has_ranges(const TxnRequest& request) {
  const auto compares = [](const Compare& compare) { return !compare.range_end.empty(); };
  const auto operates = [](const Operation& operation) { return has_ranges(operation); };
  return std::any_of(request.compare.begin(), request.compare.end(), compares) ||
         std::any_of(request.success.begin(), request.success.end(), operates) ||
         std::any_of(request.failure.begin(), request.failure.end(), operates);
}

bool has_puts(const Request& request) {
  if (const auto* txn = std::get_if<TxnRequest>(&request)) return puts(txn->success) || puts(txn->failure);
  return std::holds_alternative<PutRequest>(request) || std::holds_alternative<LeaseGrantRequest>(request);
}

Code validate(const PutView& put) { return check_fields(put); }

Code validate(const Request& request) {
  if (const auto* range = std::get_if<RangeRequest>(&request)) return check_fields(*range);
  if (const auto* put = std::get_if<PutRequest>(&request)) return check_fields(view_of(*put));
  if (const auto* del = std::get_if<DeleteRangeRequest>(&request)) return check_fields(*del);
  if (const auto* events = std::get_if<EventsRequest>(&request)) return check_events(*events);
  if (const auto* hash = std::get_if<HashRequest>(&request)) return check_hash(*hash);
  if (const auto* alive = std::get_if<LeaseKeepAliveRequest>(&request)) return check_keep_alive(*alive);
  if (const auto* tick = std::get_if<Tick>(&request)) return check_tick(*tick);
  if (const auto* txn = std::get_if<TxnRequest>(&request)) {
    const Code code = check_txn(*txn, kTxnOperationsMax, 1);
    if (code != Code::kOk) return code;
    if (has_duplicates(txn->success) || has_duplicates(txn->failure)) return Code::kDuplicateKey;
  }
  return Code::kOk;
}

}  // namespace ingot::kv
