#include "services/ingotctl/render/kv.h"

#include <cstdint>
#include <iostream>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "services/cli/table.h"
#include "services/cli/utf8.h"

namespace ingot::inline services_ingotctl_render {
namespace {

using nlohmann::ordered_json;

void add_bytes(nlohmann::ordered_json& json, const std::string& name, const std::string& bytes) {
  if (is_utf8(bytes))
    json[name] = bytes;
  else
    json[name + "_base64"] = absl::Base64Escape(bytes);
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

}  // namespace

nlohmann::ordered_json key_value_json(const mvccpb::KeyValue& kv, bool with_value) {
  nlohmann::ordered_json json;
  add_bytes(json, "key", kv.key());
  json["create_revision"] = kv.create_revision();
  json["mod_revision"] = kv.mod_revision();
  json["version"] = kv.version();
  json["lease"] = kv.lease();
  if (with_value) add_bytes(json, "value", kv.value());
  return json;
}

std::string prefix_end(std::string prefix) {
  while (!prefix.empty() && static_cast<unsigned char>(prefix.back()) == 0xff) prefix.pop_back();
  if (prefix.empty()) return std::string(1, '\0');
  prefix.back() = static_cast<char>(static_cast<unsigned char>(prefix.back()) + 1);
  return prefix;
}

void print_range(const etcdserverpb::RangeResponse& response, bool with_values, bool json) {
  const std::int64_t revision = response.header().revision();
  if (json) {
    ordered_json object{{"revision", revision}, {"count", response.count()}, {"more", response.more()}};
    object["kvs"] = key_values_json(response.kvs(), with_values);
    std::cout << object.dump() << "\n";
    return;
  }
  if (response.kvs_size() > 0) {
    Table table = key_table(with_values);
    for (const mvccpb::KeyValue& kv : response.kvs()) add_key(kv, with_values, table);
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

void print_watching(std::int64_t revision, bool json) {
  if (json) {
    std::cout << ordered_json{{"type", "watching"}, {"revision", revision}}.dump() << "\n";
  } else {
    std::cout << "watching from revision " << revision << "\n";
  }
}

void print_event(const mvccpb::Event& event, bool prev_kv, bool json) {
  const mvccpb::KeyValue& kv = event.kv();
  const bool deleted = event.type() == mvccpb::Event::DELETE;
  if (json) {
    ordered_json object{{"type", deleted ? "delete" : "put"}, {"revision", kv.mod_revision()}};
    if (deleted) {
      add_bytes(object["kv"], "key", kv.key());
    } else {
      object["kv"] = key_value_json(kv);
    }
    if (prev_kv) object["prev_kv"] = event.has_prev_kv() ? key_value_json(event.prev_kv()) : ordered_json();
    std::cout << object.dump() << "\n";
    return;
  }
  std::cout << kv.mod_revision() << (deleted ? " delete " : " put ") << printable(kv.key());
  if (!deleted) std::cout << " = " << printable(kv.value());
  if (event.has_prev_kv()) std::cout << "; before: " << printable(event.prev_kv().value());
  std::cout << "\n";
}

}  // namespace ingot::services_ingotctl_render
