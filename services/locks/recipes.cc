#include "services/locks/recipes.h"

#include <memory>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"

namespace ingot::locks {
namespace {

// All keys that begin with the prefix, which ends with '/'.
kv::RangeRequest all_of(const std::string& prefix) {
  kv::RangeRequest all;
  all.key = all.range_end = prefix;
  ++all.range_end.back();
  return all;
}

kv::RangeRequest only(const std::string& key) {
  kv::RangeRequest one;
  one.key = key;
  return one;
}

kv::RangeRequest without_value(kv::RangeRequest request) {
  request.keys_only = true;
  return request;
}

kv::PutRequest put(const std::string& key, const std::string& value, std::int64_t lease) {
  kv::PutRequest made;
  made.key = key;
  made.value = value;
  made.lease = lease;
  return made;
}

kv::TxnRequest if_created_at(const std::string& key, kv::Revision revision) {
  kv::Compare compare;
  compare.target = kv::CompareTarget::kCreate;
  compare.key = key;
  compare.number = revision;
  kv::TxnRequest txn;
  txn.compare.push_back(std::move(compare));
  return txn;
}

}  // namespace

std::string prefix_of(const std::string& name) { return absl::StrCat(name, "/"); }

std::string key_of(const std::string& name, std::int64_t lease) {
  const auto bits = static_cast<std::uint64_t>(lease);
  return absl::StrCat(name, lease < 0 ? "/-" : "/", absl::Hex(lease < 0 ? 0 - bits : bits));
}

kv::RangeRequest first_of(const std::string& prefix) {
  kv::RangeRequest first = all_of(prefix);
  first.sort_order = kv::SortOrder::kAscend;
  first.sort_target = kv::SortTarget::kCreate;
  first.limit = 1;
  return first;
}

kv::TxnRequest read_first(const std::string& prefix) {
  kv::TxnRequest txn;
  txn.success = {first_of(prefix)};
  return txn;
}

std::vector<kv::KeyValue>& read_by(kv::TxnResult& result, std::size_t operation) {
  return std::get<kv::RangeResult>(result.responses.at(operation)).kvs;
}

kv::TxnRequest enter(const std::string& prefix, const std::string& key, const std::string& value, std::int64_t lease) {
  kv::TxnRequest txn = if_created_at(key, 0);
  txn.success = {put(key, value, lease), without_value(first_of(prefix))};
  txn.failure = {only(key), without_value(first_of(prefix))};
  return txn;
}

// No key was created at revision 1, so the bound is not 0, which would be none.
kv::TxnRequest look(const std::string& prefix, const std::string& key, kv::Revision created) {
  kv::RangeRequest last = without_value(all_of(prefix));
  last.sort_order = kv::SortOrder::kDescend;
  last.sort_target = kv::SortTarget::kCreate;
  last.max_create_revision = created - 1;
  last.limit = 1;
  kv::TxnRequest txn;
  txn.success = {std::move(last), without_value(only(key))};
  return txn;
}

kv::TxnRequest proclaim(const std::string& key, kv::Revision created, const std::string& value, std::int64_t lease) {
  kv::TxnRequest txn = if_created_at(key, created);
  txn.success = {put(key, value, lease)};
  return txn;
}

kv::TxnRequest leave(const std::string& key, kv::Revision created) {
  kv::DeleteRangeRequest gone;
  gone.key = key;
  kv::TxnRequest txn = if_created_at(key, created);
  txn.success = {std::move(gone)};
  return txn;
}

// A comparison of a range holds if it holds for each key.
kv::TxnRequest leave_unless_first(const std::string& prefix, const std::string& key, kv::Revision created) {
  kv::RangeRequest all = all_of(prefix);
  kv::Compare none_before;
  none_before.result = kv::CompareResult::kGreater;
  none_before.target = kv::CompareTarget::kCreate;
  none_before.key = std::move(all.key);
  none_before.range_end = std::move(all.range_end);
  none_before.number = created - 1;
  kv::TxnRequest txn;
  txn.compare = {std::move(none_before)};
  txn.failure = {std::make_shared<kv::TxnRequest>(leave(key, created))};
  return txn;
}

}  // namespace ingot::locks
