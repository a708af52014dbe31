#include "tests/replication/store/model.h"

#include <algorithm>
#include <memory>

namespace ingot::kv {
namespace {

bool in_range(const std::string& key, const std::string& begin, const std::string& end) {
  if (end.empty()) return key == begin;
  if (end == std::string(1, '\0')) return key >= begin;
  return key >= begin && key < end;
}

// ---- Input checks ----

Code check_shape(const PutRequest& r) {
  if (r.key.empty()) return Code::kEmptyKey;
  if (r.ignore_value && !r.value.empty()) return Code::kValueProvided;
  if (r.ignore_lease && r.lease != 0) return Code::kLeaseProvided;
  return Code::kOk;
}

Code check_shape(const TxnRequest& r, std::size_t budget) {
  const std::size_t longest = std::max(r.compare.size(), std::max(r.success.size(), r.failure.size()));
  if (longest > budget) return Code::kTooManyOps;
  for (const Compare& compare : r.compare) {
    if (compare.key.empty()) return Code::kEmptyKey;
  }
  for (const auto* operations : {&r.success, &r.failure}) {
    for (const Operation& operation : *operations) {
      Code code = Code::kOk;
      if (operation.index() == 0 && std::get<0>(operation).key.empty()) code = Code::kEmptyKey;
      if (operation.index() == 1) code = check_shape(std::get<1>(operation));
      if (operation.index() == 2 && std::get<2>(operation).key.empty()) code = Code::kEmptyKey;
      if (operation.index() == 3) code = check_shape(*std::get<3>(operation), budget - longest);
      if (code != Code::kOk) return code;
    }
  }
  return Code::kOk;
}

struct Touched {
  std::vector<std::string> puts;
  std::vector<DeleteRangeRequest> deletes;

  bool puts_key(const std::string& key) const { return std::count(puts.begin(), puts.end(), key) > 0; }
  bool deletes_key(const std::string& key) const {
    return std::any_of(deletes.begin(), deletes.end(), [&](const DeleteRangeRequest& d) {
      const bool from_key_on = d.range_end == std::string(1, '\0');  // etcd 3.4 takes it for an empty range here
      return !from_key_on && in_range(key, d.key, d.range_end);
    });
  }
};

// Deletes of this level first, then nested transactions in order, then puts of this level.
bool touch(const std::vector<Operation>& operations, Touched& all) {
  for (const Operation& operation : operations) {
    if (operation.index() == 2) all.deletes.push_back(std::get<2>(operation));
  }
  for (const Operation& operation : operations) {
    if (operation.index() != 3) continue;
    Touched then, otherwise;
    if (!touch(std::get<3>(operation)->success, then) || !touch(std::get<3>(operation)->failure, otherwise)) {
      return false;
    }
    const Touched before = all;
    for (const auto* branch : {&then, &otherwise}) {
      for (const std::string& key : branch->puts) {
        if (before.puts_key(key) || before.deletes_key(key)) return false;
        all.puts.push_back(key);
      }
      all.deletes.insert(all.deletes.end(), branch->deletes.begin(), branch->deletes.end());
    }
  }
  for (const Operation& operation : operations) {
    if (operation.index() != 1) continue;
    const std::string& key = std::get<1>(operation).key;
    if (all.puts_key(key) || all.deletes_key(key)) return false;
    all.puts.push_back(key);
  }
  return true;
}

// No range is empty, and each ends before the next one begins.
Code check_shape(const EventsRequest& r) {
  if (r.from.revision < 0) return Code::kMalformed;
  std::string last_end;
  bool open = false;
  for (const EventRange& range : r.ranges) {
    if (open || range.key < last_end) return Code::kMalformed;
    if (range.key.empty()) return Code::kEmptyKey;
    open = range.range_end == std::string(1, '\0');
    last_end = range.range_end.empty() ? range.key + '\0' : range.range_end;
    if (!open && last_end <= range.key) return Code::kMalformed;
  }
  return Code::kOk;
}

Code check_shape(const Request& request) {
  if (const auto* r = std::get_if<RangeRequest>(&request)) return r->key.empty() ? Code::kEmptyKey : Code::kOk;
  if (const auto* r = std::get_if<PutRequest>(&request)) return check_shape(*r);
  if (const auto* r = std::get_if<DeleteRangeRequest>(&request)) return r->key.empty() ? Code::kEmptyKey : Code::kOk;
  if (const auto* r = std::get_if<TxnRequest>(&request)) {
    const Code code = check_shape(*r, 128);
    if (code != Code::kOk) return code;
    Touched success, failure;
    if (!touch(r->success, success) || !touch(r->failure, failure)) return Code::kDuplicateKey;
  }
  if (const auto* r = std::get_if<EventsRequest>(&request)) return check_shape(*r);
  if (const auto* r = std::get_if<LeaseKeepAliveRequest>(&request)) {
    return r->ids.empty() ? Code::kMalformed : Code::kOk;
  }
  if (const auto* r = std::get_if<Tick>(&request)) {
    return r->number == 0 || r->ms > 500 ? Code::kMalformed : Code::kOk;
  }
  return Code::kOk;
}

template <typename T>
bool holds_for(CompareResult result, const T& actual, const T& wanted) {
  if (result == CompareResult::kEqual) return actual == wanted;
  if (result == CompareResult::kNotEqual) return actual != wanted;
  return result == CompareResult::kGreater ? actual > wanted : actual < wanted;
}

bool holds_for(const Compare& c, const KeyValue& kv) {
  if (c.target == CompareTarget::kValue) return holds_for(c.result, kv.value, c.value);
  const std::int64_t fields[] = {kv.version, kv.create_revision, kv.mod_revision, 0, kv.lease};
  return holds_for(c.result, fields[static_cast<int>(c.target)], c.number);
}

}  // namespace

// ---- The quota ----

Model::Counted Model::counted() const {
  std::map<std::string, std::vector<const Change*>> by_key;
  for (const Change& change : changes_) by_key[change.key].push_back(&change);
  Counted counted;
  counted.live = 256 * static_cast<std::int64_t>(leases_.size());
  for (const auto& [key, changes] : by_key) {
    for (std::size_t i = 0; i < changes.size(); ++i) {
      const Change& change = *changes[i];
      const bool newest = i + 1 == changes.size();
      const auto bytes = static_cast<std::int64_t>(128 + change.value_bytes);
      const auto key_bytes = static_cast<std::int64_t>(128 + key.size());
      if (newest && !change.tombstone) {
        counted.live += key_bytes + bytes + (change.lease != 0 ? 192 : 0);
        continue;
      }
      const Revision over = change.tombstone ? change.revision : changes[i + 1]->revision;
      if (over > compacted_) counted.history += bytes + (change.tombstone ? key_bytes : 0);
    }
  }
  return counted;
}

// Makes the change unless it goes beyond the quota, or a delete beyond a sixteenth more.
Code Model::change(const std::string& key, bool tombstone, std::size_t value_bytes, std::int64_t lease) {
  changes_.push_back({revision() + 1, key, tombstone, value_bytes, lease});
  if (quota_bytes_ == 0) return Code::kOk;
  const Counted now = counted();
  const std::int64_t most = quota_bytes_ + (tombstone ? quota_bytes_ / 16 : 0);
  return now.live + now.history > most ? Code::kNoSpace : Code::kOk;
}

// ---- Single operations ----

Code Model::put(Keys& keys, const PutRequest& r, PutResult& result) {
  if (r.lease != 0 && !leases_.contains(r.lease)) return Code::kLeaseNotFound;
  const bool exists = keys.contains(r.key);
  if (!exists && (r.ignore_value || r.ignore_lease)) return Code::kKeyNotFound;
  const std::int64_t lease = r.ignore_lease ? keys[r.key].lease : r.lease;
  const Code code = change(r.key, false, r.ignore_value ? keys[r.key].value.size() : r.value.size(), lease);
  if (code != Code::kOk) return code;
  KeyValue& kv = keys[r.key];
  if (exists && r.prev_kv) {
    result.has_prev = true;
    result.prev = kv;
  }
  kv.key = r.key;
  kv.lease = lease;
  if (!r.ignore_value) kv.value = r.value;
  kv.mod_revision = revision() + 1;
  if (!exists) kv.create_revision = revision() + 1;
  ++kv.version;
  changes_.back().kv = kv;
  changed_ = true;
  result.revision = revision() + 1;
  return Code::kOk;
}

Code Model::remove(Keys& keys, const DeleteRangeRequest& r, DeleteRangeResult& result) {
  for (auto it = keys.begin(); it != keys.end();) {
    if (!in_range(it->first, r.key, r.range_end)) {
      ++it;
      continue;
    }
    if (const Code code = change(it->first, true, 0, 0); code != Code::kOk) return code;
    changes_.back().kv.key = it->first;
    changes_.back().kv.mod_revision = revision() + 1;
    if (r.prev_kv) result.prev.push_back(it->second);
    ++result.deleted;
    changed_ = true;
    it = keys.erase(it);
  }
  result.revision = revision() + (changed_ ? 1 : 0);
  return Code::kOk;
}

// ---- Events ----

Event Model::event_of(const Change& change, bool prev_kv) const {
  Event event;
  event.deleted = change.tombstone;
  event.kv = change.kv;
  for (const Change& each : changes_) {
    if (&each == &change) break;
    event.place += each.revision == change.revision ? 1 : 0;
  }
  if (!prev_kv || change.revision <= compacted_ || event.kv.version == 1) return event;
  const Keys& before = copies_[static_cast<std::size_t>(change.revision - 1)];
  const auto found = before.find(change.key);
  event.has_prev = found != before.end();
  if (event.has_prev) event.prev = found->second;
  return event;
}

// Collects everything from the position on, and then cuts it.
EventsResult Model::events(const EventsRequest& r) const {
  EventsResult result;
  result.compact_revision = compacted_;
  result.next = r.from;
  if (r.from.revision < compacted_ || r.from.revision > revision()) return result;
  result.next = {r.from.place > 0 ? r.from.revision + 1 : revision() + 1, 0};
  result.part = r.from.place > 0;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < changes_.size(); ++i) {
    const Change& change = changes_[i];
    const bool left = change.revision > compacted_ || std::none_of(changes_.begin() + i + 1, changes_.end(),
                                                                    [&](const Change& later) {
                                                                      return later.key == change.key &&
                                                                             later.revision <= compacted_;
                                                                    });
    const bool wanted = std::any_of(r.ranges.begin(), r.ranges.end(), [&](const EventRange& range) {
      return in_range(change.key, range.key, range.range_end);
    });
    if (!left || !wanted) continue;
    const Event event = event_of(change, r.prev_kv);
    const EventPosition at{change.revision, event.place};
    if (at < r.from || at >= result.next) continue;
    const auto kv_bytes = [](const KeyValue& kv) { return 40 + kv.key.size() + kv.value.size(); };
    bytes += 5 + kv_bytes(event.kv) + (event.has_prev ? kv_bytes(event.prev) : 0);
    if (bytes > r.bytes_max && !result.events.empty()) {
      result.part = at.revision == r.from.revision;
      result.next = result.part ? at : EventPosition{at.revision, 0};
      std::erase_if(result.events, [&](const Event& e) { return !result.part && e.kv.mod_revision == at.revision; });
      return result;
    }
    result.events.push_back(event);
  }
  return result;
}

Code Model::check_range(const RangeRequest& r) const {
  if (r.revision > revision()) return Code::kFutureRevision;
  const Revision read_at = r.revision <= 0 ? revision() : r.revision;
  return read_at < compacted_ ? Code::kCompacted : Code::kOk;
}

RangeResult Model::range(const Keys& newest, const RangeRequest& r) const {
  RangeResult result;
  result.revision = revision() + (changed_ ? 1 : 0);
  std::vector<KeyValue> kvs;
  for (const auto& [key, kv] : r.revision > 0 ? copies_[r.revision] : newest) {
    if (in_range(key, r.key, r.range_end)) kvs.push_back(kv);
  }
  result.count = static_cast<std::int64_t>(kvs.size());
  if (r.count_only) return result;
  const bool filters =
      r.min_mod_revision != 0 || r.max_mod_revision != 0 || r.min_create_revision != 0 || r.max_create_revision != 0;
  const auto limit = static_cast<std::size_t>(std::max<std::int64_t>(r.limit, 0));
  const bool early_limit = limit > 0 && r.sort_order == SortOrder::kNone && !filters;
  if (early_limit && kvs.size() > limit + 1) kvs.resize(limit + 1);
  std::vector<KeyValue> passed;
  for (const KeyValue& kv : kvs) {
    if (r.min_mod_revision != 0 && kv.mod_revision < r.min_mod_revision) continue;
    if (r.max_mod_revision != 0 && kv.mod_revision > r.max_mod_revision) continue;
    if (r.min_create_revision != 0 && kv.create_revision < r.min_create_revision) continue;
    if (r.max_create_revision != 0 && kv.create_revision > r.max_create_revision) continue;
    passed.push_back(kv);
  }
  const auto ascending = [&](const KeyValue& a, const KeyValue& b) {
    const std::int64_t numbers_a[] = {0, a.version, a.create_revision, a.mod_revision};
    const std::int64_t numbers_b[] = {0, b.version, b.create_revision, b.mod_revision};
    if (r.sort_target == SortTarget::kKey) return a.key < b.key;
    if (r.sort_target == SortTarget::kValue) return a.value < b.value;
    return numbers_a[static_cast<int>(r.sort_target)] < numbers_b[static_cast<int>(r.sort_target)];
  };
  if (r.sort_order == SortOrder::kDescend) {
    std::stable_sort(passed.begin(), passed.end(), [&](const auto& a, const auto& b) { return ascending(b, a); });
  } else {
    std::stable_sort(passed.begin(), passed.end(), ascending);
  }
  result.more = limit > 0 && passed.size() > limit;
  if (result.more) passed.resize(limit);
  for (KeyValue& kv : passed) {
    if (r.keys_only) kv.value.clear();
  }
  result.kvs = std::move(passed);
  return result;
}

// ---- Transactions ----

bool Model::holds(const Compare& compare) const {
  bool found = false;
  for (const auto& [key, kv] : copies_.back()) {
    if (!in_range(key, compare.key, compare.range_end)) continue;
    found = true;
    if (!holds_for(compare, kv)) return false;
  }
  return found || (compare.target != CompareTarget::kValue && holds_for(compare, KeyValue{}));
}

const std::vector<Operation>& Model::branch(const TxnRequest& r) const {
  const bool all = std::all_of(r.compare.begin(), r.compare.end(), [&](const Compare& c) { return holds(c); });
  return all ? r.success : r.failure;
}

Code Model::check_puts(const std::vector<Operation>& operations) const {
  for (const Operation& operation : operations) {
    if (operation.index() == 1) {
      const auto& r = std::get<1>(operation);
      if ((r.ignore_value || r.ignore_lease) && !copies_.back().contains(r.key)) return Code::kKeyNotFound;
      if (r.lease != 0 && !leases_.contains(r.lease)) return Code::kLeaseNotFound;
    } else if (operation.index() == 3) {
      const Code code = check_puts(branch(*std::get<3>(operation)));
      if (code != Code::kOk) return code;
    }
  }
  return Code::kOk;
}

Code Model::check_ranges(const std::vector<Operation>& operations) const {
  for (const Operation& operation : operations) {
    if (operation.index() == 0) {
      const Revision wanted = std::get<0>(operation).revision;
      if (wanted > revision()) return Code::kFutureRevision;
      if (wanted != 0 && wanted < compacted_) return Code::kCompacted;
    } else if (operation.index() == 3) {
      const Code code = check_ranges(branch(*std::get<3>(operation)));
      if (code != Code::kOk) return code;
    }
  }
  return Code::kOk;
}

Code Model::execute(Keys& keys, const Operation& operation, OperationResult& result) {
  switch (operation.index()) {
    case 0:
      result = range(keys, std::get<0>(operation));
      return Code::kOk;
    case 1:
      return put(keys, std::get<1>(operation), result.emplace<PutResult>());
    case 2:
      return remove(keys, std::get<2>(operation), result.emplace<DeleteRangeResult>());
    default: {
      auto nested = std::make_shared<TxnResult>();
      const Code code = execute(keys, *std::get<3>(operation), *nested);
      result = nested;
      return code;
    }
  }
}

Code Model::execute(Keys& keys, const TxnRequest& r, TxnResult& result) {
  const std::vector<Operation>& operations = branch(r);  // decided on the last copy, not on `keys`
  result.succeeded = std::all_of(r.compare.begin(), r.compare.end(), [&](const Compare& c) { return holds(c); });
  for (const Operation& operation : operations) {
    const Code code = execute(keys, operation, result.responses.emplace_back());
    if (code != Code::kOk) return code;
  }
  return Code::kOk;
}

Code Model::txn(const TxnRequest& r, TxnResult& result) {
  Code code = check_puts(branch(r));
  if (code == Code::kOk) code = check_ranges(branch(r));
  if (code != Code::kOk) return code;
  Keys keys = copies_.back();
  code = execute(keys, r, result);
  if (code == Code::kOk && changed_) copies_.push_back(std::move(keys));
  result.revision = revision();
  return code;
}

// ---- Requests ----

namespace {

bool has_put(const std::vector<Operation>& operations) {
  return std::any_of(operations.begin(), operations.end(), [](const Operation& operation) {
    if (operation.index() != 3) return operation.index() == 1;
    return has_put(std::get<3>(operation)->success) || has_put(std::get<3>(operation)->failure);
  });
}

bool has_put(const Request& request) {
  const auto* r = std::get_if<TxnRequest>(&request);
  if (r != nullptr) return has_put(r->success) || has_put(r->failure);
  return std::holds_alternative<PutRequest>(request) || std::holds_alternative<LeaseGrantRequest>(request);
}

}  // namespace

Code Model::run_checked(const Request& request, Result& result) {
  Code code = Code::kOk;
  if (const auto* r = std::get_if<RangeRequest>(&request)) {
    code = check_range(*r);
    if (code == Code::kOk) result.body = range(copies_.back(), *r);
  } else if (const auto* r = std::get_if<PutRequest>(&request)) {
    Keys keys = copies_.back();
    code = put(keys, *r, result.body.emplace<PutResult>());
    if (code == Code::kOk) copies_.push_back(std::move(keys));
  } else if (const auto* r = std::get_if<DeleteRangeRequest>(&request)) {
    Keys keys = copies_.back();
    code = remove(keys, *r, result.body.emplace<DeleteRangeResult>());
    if (code == Code::kOk && changed_) copies_.push_back(std::move(keys));
  } else if (const auto* r = std::get_if<TxnRequest>(&request)) {
    code = txn(*r, result.body.emplace<TxnResult>());
  } else if (const auto* r = std::get_if<AlarmRequest>(&request)) {
    const bool stood = no_space_;
    if (r->action != AlarmRequest::Action::kGet) no_space_ = r->action == AlarmRequest::Action::kActivate;
    result.body = AlarmResult{stood || no_space_};
  } else if (const auto* r = std::get_if<EventsRequest>(&request)) {
    result.body = events(*r);
  } else if (!std::holds_alternative<CompactRequest>(request)) {
    code = run_lease(request, result);
  } else {
    const Revision wanted = std::get<CompactRequest>(request).revision;
    code = wanted <= compacted_ ? Code::kCompacted : wanted > revision() ? Code::kFutureRevision : Code::kOk;
    if (code == Code::kOk) compacted_ = wanted;
    result.body = CompactResult{};
  }
  return code;
}

Result Model::run(const Request& request) {
  Result result;
  changed_ = false;
  const std::size_t changes = changes_.size();
  result.code = check_shape(request);
  if (result.code == Code::kOk && no_space_ && has_put(request)) result.code = Code::kNoSpace;
  if (result.code == Code::kOk) result.code = run_checked(request, result);
  if (result.code != Code::kOk) changes_.resize(changes);
  if (result.code == Code::kNoSpace) no_space_ = true;
  result.revision = revision();
  return result;
}

}  // namespace ingot::kv
