#include <iostream>
#include <iterator>
#include <memory>

#include "absl/strings/str_cat.h"
#include "proto/etcd/rpc.grpc.pb.h"
#include "services/cli/table.h"
#include "services/ingotctl/verbs/verbs.h"
#include "services/ingotctl/connection.h"
#include "services/ingotctl/render/kv.h"

namespace ingot {
namespace {

using nlohmann::ordered_json;

// As a range's begin, an empty key means the first key, which is "\0" in etcd's form; alone it is sent as it is, and
// the daemon refuses it.
template <typename Request>
void set_keys(const KeyArguments& keys, Request& request) {
  std::string key = keys.key, end = keys.range_end;
  if (keys.prefix) end = prefix_end(key);
  if (keys.from_key) end = std::string(1, '\0');
  if (key.empty() && !end.empty()) key = std::string(1, '\0');
  request.set_key(key);
  request.set_range_end(end);
}

Table key_table(bool with_value) {
  using enum Table::Align;
  std::vector<Table::Column> columns{{"key", kLeft}, {"created", kRight}, {"modified", kRight}, {"version", kRight}};
  if (with_value) columns.push_back({"value", kLeft});
  return Table(std::move(columns));
}

void add_key(const mvccpb::KeyValue& kv, bool with_value, Table& table) {
  std::vector<std::string> row{printable(kv.key()), absl::StrCat(kv.create_revision()),
                               absl::StrCat(kv.mod_revision()), absl::StrCat(kv.version())};
  if (with_value) row.push_back(printable(kv.value()));
  table.add_row(std::move(row));
}

template <typename KeyValues>
ordered_json key_values_json(const KeyValues& kvs, bool with_value = true) {
  ordered_json list = ordered_json::array();
  for (const mvccpb::KeyValue& kv : kvs) list.push_back(key_value_json(kv, with_value));
  return list;
}

std::string counted_keys(std::int64_t count) { return absl::StrCat(count, count == 1 ? " key" : " keys"); }

void print_range(const etcdserverpb::RangeResponse& response, const GetArguments& arguments, bool json) {
  const std::int64_t revision = response.header().revision();
  if (json) {
    ordered_json object{{"revision", revision}, {"count", response.count()}, {"more", response.more()}};
    object["kvs"] = key_values_json(response.kvs(), !arguments.keys_only);
    std::cout << object.dump() << "\n";
    return;
  }
  if (response.kvs_size() > 0) {
    Table table = key_table(!arguments.keys_only);
    for (const mvccpb::KeyValue& kv : response.kvs()) add_key(kv, !arguments.keys_only, table);
    table.print(std::cout);
  }
  std::cout << counted_keys(response.count()) << (response.more() ? ", more than shown" : "") << ", revision "
            << revision << "\n";
}

void print_deleted(const etcdserverpb::DeleteRangeResponse& response, bool prev_kv, bool json) {
  if (json) {
    ordered_json object{{"revision", response.header().revision()}, {"deleted", response.deleted()}};
    if (prev_kv) object["prev_kvs"] = key_values_json(response.prev_kvs());
    std::cout << object.dump() << "\n";
    return;
  }
  if (response.prev_kvs_size() > 0) {
    Table table = key_table(true);
    for (const mvccpb::KeyValue& kv : response.prev_kvs()) add_key(kv, true, table);
    table.print(std::cout);
  }
  std::cout << counted_keys(response.deleted()) << " deleted, revision " << response.header().revision() << "\n";
}

void print_put(const etcdserverpb::PutResponse& response, bool prev_kv, bool json) {
  const bool had_one = response.has_prev_kv();
  if (json) {
    ordered_json object{{"revision", response.header().revision()}};
    if (prev_kv) object["prev_kv"] = had_one ? key_value_json(response.prev_kv()) : ordered_json();
    std::cout << object.dump() << "\n";
    return;
  }
  if (had_one) {
    Table table = key_table(true);
    add_key(response.prev_kv(), true, table);
    table.print(std::cout);
  }
  std::cout << "stored, revision " << response.header().revision() << "\n";
}

}  // namespace

absl::Status run_get(const CtlOptions& options, const GetArguments& arguments) {
  etcdserverpb::RangeRequest request;
  set_keys(arguments.keys, request);
  request.set_limit(arguments.limit);
  request.set_revision(arguments.revision);
  request.set_keys_only(arguments.keys_only);
  request.set_count_only(arguments.count_only);
  request.set_serializable(arguments.serializable);

  const Connection connection(options);
  const auto stub = etcdserverpb::KV::NewStub(connection.channel());
  etcdserverpb::RangeResponse response;
  const absl::Status status =
      connection.call([&](grpc::ClientContext* context) { return stub->Range(context, request, &response); });
  if (status.ok()) print_range(response, arguments, options.json());
  return status;
}

absl::Status run_put(const CtlOptions& options, const PutArguments& arguments) {
  etcdserverpb::PutRequest request;
  request.set_key(arguments.key);
  request.set_value(arguments.value ? *arguments.value
                                    : std::string(std::istreambuf_iterator<char>(std::cin), {}));
  request.set_prev_kv(arguments.prev_kv);

  const Connection connection(options);
  const auto stub = etcdserverpb::KV::NewStub(connection.channel());
  etcdserverpb::PutResponse response;
  const absl::Status status =
      connection.call([&](grpc::ClientContext* context) { return stub->Put(context, request, &response); });
  if (status.ok()) print_put(response, arguments.prev_kv, options.json());
  return status;
}

absl::Status run_del(const CtlOptions& options, const DelArguments& arguments) {
  etcdserverpb::DeleteRangeRequest request;
  set_keys(arguments.keys, request);
  request.set_prev_kv(arguments.prev_kv);

  const Connection connection(options);
  const auto stub = etcdserverpb::KV::NewStub(connection.channel());
  etcdserverpb::DeleteRangeResponse response;
  const absl::Status status =
      connection.call([&](grpc::ClientContext* context) { return stub->DeleteRange(context, request, &response); });
  if (status.ok()) print_deleted(response, arguments.prev_kv, options.json());
  return status;
}

}  // namespace ingot
