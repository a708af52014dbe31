#include "tests/replication/store/text.h"

#include <array>
#include <stdexcept>

namespace ingot::kv {
namespace {

constexpr std::array<const char*, 3> kOrders{"NONE", "ASCEND", "DESCEND"};
constexpr std::array<const char*, 5> kSortTargets{"KEY", "VERSION", "CREATE", "MOD", "VALUE"};
constexpr std::array<const char*, 4> kCompareResults{"EQUAL", "GREATER", "LESS", "NOT_EQUAL"};
constexpr std::array<const char*, 5> kCompareTargets{"VERSION", "CREATE", "MOD", "VALUE", "LEASE"};
constexpr std::array<const char*, 5> kCompareFields{"version", "create_revision", "mod_revision", "value", "lease"};

constexpr std::array<const char*, 3> kAlarmActions{"GET", "ACTIVATE", "DEACTIVATE"};

const char* text_of(Code code) {
  switch (code) {
    case Code::kOk:
      return "";
    case Code::kEmptyKey:
      return "etcdserver: key is not provided";
    case Code::kKeyNotFound:
      return "etcdserver: key not found";
    case Code::kValueProvided:
      return "etcdserver: value is provided";
    case Code::kLeaseProvided:
      return "etcdserver: lease is provided";
    case Code::kLeaseNotFound:
      return "etcdserver: requested lease not found";
    case Code::kTooManyOps:
      return "etcdserver: too many operations in txn request";
    case Code::kDuplicateKey:
      return "etcdserver: duplicate key given in txn request";
    case Code::kCompacted:
      return "etcdserver: mvcc: required revision has been compacted";
    case Code::kFutureRevision:
      return "etcdserver: mvcc: required revision is a future revision";
    case Code::kMalformed:
      return "malformed";
    case Code::kTooDeep:
      return "too deep";
    case Code::kResultTooLarge:
      return "result too large";
    case Code::kNoSpace:
      return "etcdserver: mvcc: database space exceeded";
    case Code::kLeaseExists:
      return "etcdserver: lease already exists";
    case Code::kLeaseTtlTooLarge:
      return "etcdserver: too large lease TTL";
    case Code::kTooManyLeases:
      return "too many leases";
  }
  return "unknown code";
}

// Sets a field unless its value is zero, false or empty.
template <typename T>
void set(Json& json, const char* name, const T& value) {
  if (value != T{}) json[name] = value;
}

template <typename T>
void get(const Json& json, const char* name, T& value) {
  if (json.contains(name)) value = json.at(name).get<T>();
}

template <typename Enum, std::size_t N>
void get(const Json& json, const char* name, const std::array<const char*, N>& names, Enum& value) {
  if (!json.contains(name)) return;
  const auto text = json.at(name).get<std::string>();
  for (std::size_t i = 0; i < N; ++i) {
    if (text == names[i]) return void(value = static_cast<Enum>(i));
  }
  throw std::runtime_error("unknown " + std::string(name) + ": " + text);
}

template <typename Enum, std::size_t N>
void set(Json& json, const char* name, const std::array<const char*, N>& names, Enum value) {
  if (value != Enum{}) json[name] = names[static_cast<std::size_t>(value)];
}

// ---- Requests to JSON ----

Json body(const RangeRequest& r) {
  Json json = {{"key", r.key}};
  set(json, "range_end", r.range_end);
  set(json, "limit", r.limit);
  set(json, "revision", r.revision);
  set(json, "sort_order", kOrders, r.sort_order);
  set(json, "sort_target", kSortTargets, r.sort_target);
  set(json, "keys_only", r.keys_only);
  set(json, "count_only", r.count_only);
  set(json, "min_mod_revision", r.min_mod_revision);
  set(json, "max_mod_revision", r.max_mod_revision);
  set(json, "min_create_revision", r.min_create_revision);
  set(json, "max_create_revision", r.max_create_revision);
  set(json, "step_entries", r.step_entries);
  set(json, "taken", r.taken);
  return json;
}

Json body(const PutRequest& r) {
  Json json = {{"key", r.key}};
  set(json, "value", r.value);
  set(json, "lease", r.lease);
  set(json, "prev_kv", r.prev_kv);
  set(json, "ignore_value", r.ignore_value);
  set(json, "ignore_lease", r.ignore_lease);
  return json;
}

Json body(const DeleteRangeRequest& r) {
  Json json = {{"key", r.key}};
  set(json, "range_end", r.range_end);
  set(json, "prev_kv", r.prev_kv);
  return json;
}

Json body(const Compare& c) {
  Json json = {{"key", c.key}};
  set(json, "range_end", c.range_end);
  set(json, "result", kCompareResults, c.result);
  set(json, "target", kCompareTargets, c.target);
  const char* field = kCompareFields[static_cast<std::size_t>(c.target)];
  if (c.target == CompareTarget::kValue) {
    json[field] = c.value;
  } else {
    json[field] = c.number;
  }
  return json;
}

Json body(const TxnRequest& r);
Json body(const std::shared_ptr<TxnRequest>& r) { return body(*r); }

Json body(const std::vector<Operation>& operations) {
  constexpr std::array<const char*, 4> kNames{"request_range", "request_put", "request_delete_range", "request_txn"};
  Json list = Json::array();
  for (const Operation& operation : operations) {
    list.push_back({{kNames[operation.index()], std::visit([](const auto& r) { return body(r); }, operation)}});
  }
  return list;
}

Json body(const TxnRequest& r) {
  Json json = Json::object();
  for (const Compare& compare : r.compare) json["compare"].push_back(body(compare));
  if (!r.success.empty()) json["success"] = body(r.success);
  if (!r.failure.empty()) json["failure"] = body(r.failure);
  return json;
}

Json body(const CompactRequest& r) { return {{"revision", r.revision}}; }
Json body(const HashRequest& r) { return {{"revision", r.revision}}; }

Json body(const AlarmRequest& r) {
  Json json = Json::object();
  set(json, "action", kAlarmActions, r.action);
  return json;
}

Json body(const EventsRequest& r) {
  Json json = {{"from", {{"revision", r.from.revision}, {"place", r.from.place}}}};
  set(json, "at_least", r.at_least);
  json["known_compacted"] = r.known_compacted;
  set(json, "bytes_max", r.bytes_max);
  set(json, "prev_kv", r.prev_kv);
  for (const EventRange& range : r.ranges) {
    json["ranges"].push_back({{"key", range.key}, {"range_end", range.range_end}});
  }
  return json;
}

Json body(const LeaseGrantRequest& r) { return {{"ID", r.id}, {"TTL", r.ttl_s}}; }
Json body(const LeaseRevokeRequest& r) { return {{"ID", r.id}}; }
Json body(const LeaseKeepAliveRequest& r) { return {{"IDs", r.ids}}; }
Json body(const Tick& r) { return {{"leadership", r.leadership}, {"number", r.number}, {"ms", r.ms}}; }
Json body(const LeaseTimeToLiveRequest& r) { return {{"ID", r.id}, {"keys", r.keys}}; }
Json body(const LeasesRequest&) { return Json::object(); }

// ---- Requests from JSON ----

void read(const Json& json, RangeRequest& r) {
  get(json, "key", r.key);
  get(json, "range_end", r.range_end);
  get(json, "limit", r.limit);
  get(json, "revision", r.revision);
  get(json, "sort_order", kOrders, r.sort_order);
  get(json, "sort_target", kSortTargets, r.sort_target);
  get(json, "keys_only", r.keys_only);
  get(json, "count_only", r.count_only);
  get(json, "min_mod_revision", r.min_mod_revision);
  get(json, "max_mod_revision", r.max_mod_revision);
  get(json, "min_create_revision", r.min_create_revision);
  get(json, "max_create_revision", r.max_create_revision);
  get(json, "step_entries", r.step_entries);
  get(json, "taken", r.taken);
}

void read(const Json& json, PutRequest& r) {
  get(json, "key", r.key);
  get(json, "value", r.value);
  get(json, "lease", r.lease);
  get(json, "prev_kv", r.prev_kv);
  get(json, "ignore_value", r.ignore_value);
  get(json, "ignore_lease", r.ignore_lease);
}

void read(const Json& json, DeleteRangeRequest& r) {
  get(json, "key", r.key);
  get(json, "range_end", r.range_end);
  get(json, "prev_kv", r.prev_kv);
}

void read(const Json& json, Compare& c) {
  get(json, "key", c.key);
  get(json, "range_end", c.range_end);
  get(json, "result", kCompareResults, c.result);
  get(json, "target", kCompareTargets, c.target);
  const char* field = kCompareFields[static_cast<std::size_t>(c.target)];
  if (c.target == CompareTarget::kValue) {
    get(json, field, c.value);
  } else {
    get(json, field, c.number);
  }
}

void read(const Json& json, TxnRequest& r);

Operation operation_from(const Json& json) {
  const auto parse = [](const Json& fields, auto request) -> Operation {
    read(fields, request);
    return request;
  };
  if (json.contains("request_range")) return parse(json["request_range"], RangeRequest{});
  if (json.contains("request_put")) return parse(json["request_put"], PutRequest{});
  if (json.contains("request_delete_range")) return parse(json["request_delete_range"], DeleteRangeRequest{});
  auto txn = std::make_shared<TxnRequest>();
  read(json.at("request_txn"), *txn);
  return txn;
}

void read(const Json& json, TxnRequest& r) {
  for (const Json& compare : json.value("compare", Json::array())) read(compare, r.compare.emplace_back());
  for (const Json& operation : json.value("success", Json::array())) r.success.push_back(operation_from(operation));
  for (const Json& operation : json.value("failure", Json::array())) r.failure.push_back(operation_from(operation));
}

void read(const Json& json, CompactRequest& r) { get(json, "revision", r.revision); }
void read(const Json& json, HashRequest& r) { get(json, "revision", r.revision); }
void read(const Json& json, AlarmRequest& r) { get(json, "action", kAlarmActions, r.action); }

void read(const Json& json, EventsRequest& r) {
  get(json.at("from"), "revision", r.from.revision);
  get(json.at("from"), "place", r.from.place);
  get(json, "at_least", r.at_least);
  get(json, "known_compacted", r.known_compacted);
  get(json, "bytes_max", r.bytes_max);
  get(json, "prev_kv", r.prev_kv);
  for (const Json& range : json.value("ranges", Json::array())) {
    r.ranges.push_back({range.at("key").get<std::string>(), range.at("range_end").get<std::string>()});
  }
}

void read(const Json& json, LeaseGrantRequest& r) {
  get(json, "ID", r.id);
  get(json, "TTL", r.ttl_s);
}
void read(const Json& json, LeaseRevokeRequest& r) { get(json, "ID", r.id); }
void read(const Json& json, LeaseKeepAliveRequest& r) { get(json, "IDs", r.ids); }
void read(const Json& json, Tick& r) {
  get(json, "leadership", r.leadership);
  get(json, "number", r.number);
  get(json, "ms", r.ms);
}
void read(const Json& json, LeaseTimeToLiveRequest& r) {
  get(json, "ID", r.id);
  get(json, "keys", r.keys);
}
void read(const Json&, LeasesRequest&) {}

// ---- Results to JSON ----

Json body(const KeyValue& kv) {
  Json json = {{"key", kv.key}};
  set(json, "value", kv.value);
  set(json, "create_revision", kv.create_revision);
  set(json, "mod_revision", kv.mod_revision);
  set(json, "version", kv.version);
  set(json, "lease", kv.lease);
  return json;
}

Json body(const RangeResult& r) {
  Json json = Json::object();
  set(json, "revision", r.revision);
  for (const KeyValue& kv : r.kvs) json["kvs"].push_back(body(kv));
  set(json, "more", r.more);
  set(json, "count", r.count);
  set(json, "next_key", r.next_key);
  return json;
}

Json body(const PutResult& r) {
  Json json = Json::object();
  set(json, "revision", r.revision);
  if (r.has_prev) json["prev_kv"] = body(r.prev);
  return json;
}

Json body(const DeleteRangeResult& r) {
  Json json = Json::object();
  set(json, "revision", r.revision);
  set(json, "deleted", r.deleted);
  for (const KeyValue& kv : r.prev) json["prev_kvs"].push_back(body(kv));
  return json;
}

Json body(const TxnResult& r);
Json body(const std::shared_ptr<TxnResult>& r) { return body(*r); }

Json body(const TxnResult& r) {
  constexpr std::array<const char*, 4> kNames{"response_range", "response_put", "response_delete_range",
                                              "response_txn"};
  Json json = Json::object();
  set(json, "revision", r.revision);
  set(json, "succeeded", r.succeeded);
  for (const OperationResult& response : r.responses) {
    Json fields = std::visit([](const auto& result) { return body(result); }, response);
    json["responses"].push_back({{kNames[response.index()], std::move(fields)}});
  }
  return json;
}

Json body(const CompactResult&) { return Json::object(); }
Json body(const HashResult& r) { return {{"hash", fold_hash(r.sum)}, {"compact_revision", r.compact_revision}}; }
Json body(const AlarmResult& r) {
  Json json = Json::object();
  if (r.no_space) json["alarms"] = {{{"alarm", "NOSPACE"}}};
  return json;
}
Json body(const std::monostate&) { return Json::object(); }
Json body(const LeaseGrantResult& r) { return {{"ID", r.id}, {"TTL", r.ttl_s}}; }
Json body(const LeaseRevokeResult&) { return Json::object(); }
Json body(const LeaseKeepAliveResult& r) { return {{"TTLs", r.ttls_s}}; }
Json body(const TickResult&) { return Json::object(); }
Json body(const LeaseTimeToLiveResult& r) {
  return {{"TTL", r.ttl_s}, {"grantedTTL", r.granted_ttl_s}, {"keys", r.keys}};
}
Json body(const LeasesResult& r) { return {{"leases", r.ids}}; }

Json body(const EventsResult& r) {
  Json json = {{"compact_revision", r.compact_revision}, {"next", {{"revision", r.next.revision}}}};
  set(json["next"], "place", r.next.place);
  set(json, "part", r.part);
  for (const Event& event : r.events) {
    Json fields = {{"type", event.deleted ? "DELETE" : "PUT"}, {"place", event.place}, {"kv", body(event.kv)}};
    if (event.has_prev) fields["prev_kv"] = body(event.prev);
    json["events"].push_back(std::move(fields));
  }
  return json;
}

}  // namespace

Json to_json(const Request& request) {
  constexpr std::array<const char*, 14> kNames{
      "range",       "put",          "delete_range",     "txn",  "compact",            "hash",  "alarm", "events",
      "lease_grant", "lease_revoke", "lease_keep_alive", "tick", "lease_time_to_live", "leases"};
  return {{kNames[request.index()], std::visit([](const auto& r) { return body(r); }, request)}};
}

Json to_json(const Result& result) {
  if (result.code != Code::kOk) return {{"error", text_of(result.code)}};
  Json json = {{"revision", result.revision}};
  json.update(std::visit([](const auto& r) { return body(r); }, result.body));
  return json;
}

Request request_from_json(const Json& json) {
  const auto parse = [](const Json& fields, auto request) -> Request {
    read(fields, request);
    return request;
  };
  if (json.contains("range")) return parse(json["range"], RangeRequest{});
  if (json.contains("put")) return parse(json["put"], PutRequest{});
  if (json.contains("delete_range")) return parse(json["delete_range"], DeleteRangeRequest{});
  if (json.contains("txn")) return parse(json["txn"], TxnRequest{});
  if (json.contains("compact")) return parse(json["compact"], CompactRequest{});
  if (json.contains("alarm")) return parse(json["alarm"], AlarmRequest{});
  if (json.contains("events")) return parse(json["events"], EventsRequest{});
  if (json.contains("lease_grant")) return parse(json["lease_grant"], LeaseGrantRequest{});
  if (json.contains("lease_revoke")) return parse(json["lease_revoke"], LeaseRevokeRequest{});
  if (json.contains("lease_keep_alive")) return parse(json["lease_keep_alive"], LeaseKeepAliveRequest{});
  if (json.contains("tick")) return parse(json["tick"], Tick{});
  if (json.contains("lease_time_to_live")) return parse(json["lease_time_to_live"], LeaseTimeToLiveRequest{});
  if (json.contains("leases")) return parse(json["leases"], LeasesRequest{});
  return parse(json.at("hash"), HashRequest{});
}

}  // namespace ingot::kv
