// What a client does.
#include <string_view>

#include "proto/etcd/rpc.pb.h"
#include "tests/fuzz/client_schedule.h"

namespace ingot::fuzz {
namespace {

namespace pb = etcdserverpb;

std::string framed(const google::protobuf::MessageLite& message) { return rpc::framed(message.SerializeAsString()); }

}  // namespace

// ---- Calls ----

void Schedule::open(Client& link, const char* path, const std::string& body, bool end, unsigned how) {
  rpc::Headers headers = rpc::RawClient::grpc_headers(path);
  if (how % 16 == 1) headers.emplace_back("grpc-timeout", "50m");
  if (how % 16 == 2) headers.emplace_back("x-data", std::string(8'000, 'm'));
  if (how % 16 == 3) headers.emplace_back("x-data", std::string(9'000, 'm'));
  if (how % 16 == 4) headers.emplace_back("hasleader", "true");
  if (how % 16 == 5) headers.emplace_back("grpc-encoding", "br");
  if (how % 16 == 6) headers.emplace_back("X-UPPER", "refused");
  if (std::string_view(path).starts_with("/v3/")) headers[5].second = "application/json";
  if (how % 16 == 7) headers[5].second = "text/plain";
  uploaded_bytes_ += body.size() + 200;
  link.peer.open(headers, body, end);
}

std::string Schedule::request_of(unsigned method) {
  pb::PutRequest put;
  put.set_key(key());
  put.set_value(value());
  pb::RangeRequest range;
  range.set_key(put.key());
  range.set_range_end(std::string(1, '\0'));
  pb::DeleteRangeRequest gone;
  gone.set_key(put.key());
  gone.set_range_end(kLastKey);  // the ordinary client's key stays
  gone.set_prev_kv(true);
  pb::TxnRequest txn;
  for (int i = 0; i < 6; ++i) {
    pb::PutRequest& one = *txn.add_success()->mutable_request_put();
    one.set_key(std::string(1, static_cast<char>('a' + i)));
    one.set_value(put.value());
    if (put.value().size() > 60'000) break;
  }
  *txn.add_success()->mutable_request_range() = range;
  pb::CompactionRequest compaction;
  compaction.set_revision(stage_.revision());
  const std::array<const google::protobuf::MessageLite*, 5> messages = {&put, &range, &gone, &txn, &compaction};
  return framed(*messages[method % messages.size()]);
}

void Schedule::call() {
  static constexpr std::array<const char*, 7> kPaths = {
      "/etcdserverpb.KV/Put", "/etcdserverpb.KV/Range",   "/etcdserverpb.KV/DeleteRange",
      "/etcdserverpb.KV/Txn", "/etcdserverpb.KV/Compact", "/etcdserverpb.KV/None", "bad"};
  Client& of = link();
  const unsigned method = byte() % kPaths.size(), how = byte();
  std::string body = request_of(method);
  if (how / 16 == 1) body.resize(body.size() / 2);
  if (how / 16 == 2) body += body;
  if (how / 16 == 3) body[0] = 1;
  if (how / 16 == 4) body[1] = 1;
  open(of, kPaths[method], body, how / 16 != 5, how);
}

// ---- Other services ----

std::string Schedule::request_of_service(std::size_t which) {
  const int id = 1 + static_cast<int>(byte() % 4);
  const std::string bytes = value();
  pb::LeaseGrantRequest grant;
  grant.set_id(id);
  grant.set_ttl(600);
  pb::LeaseKeepAliveRequest keep_alive;
  keep_alive.set_id(id);
  pb::LeaseTimeToLiveRequest left;
  left.set_id(id);
  left.set_keys(true);
  pb::LeaseRevokeRequest revoke;
  revoke.set_id(id);
  const std::array<const google::protobuf::MessageLite*, 4> leases = {&grant, &keep_alive, &left, &revoke};
  if (which < leases.size()) return framed(*leases[which]);
  if (which < kFirstJsonPath) return rpc::framed("");
  std::string base64;
  while (base64.size() < bytes.size()) base64 += "dnZ2";
  static constexpr std::array<const char*, 4> kJson = {
      R"({"key":"YQ==","range_end":"AA=="})", R"({"create_request":{"key":"YQ==","range_end":"AA=="}})",
      R"({"ID":"1"})", R"({"key":"YQ==","value":")"};
  const std::size_t of_json = (which - kFirstJsonPath) % kJson.size();
  return kJson[of_json] + (of_json == 3 ? base64 + "\"}" : "");
}

// Some of their methods take a stream of messages or give one. What no loop serves itself is passed on.
void Schedule::call_service() {
  static constexpr std::array<const char*, 13> kPaths = {
      "/etcdserverpb.Lease/LeaseGrant", "/etcdserverpb.Lease/LeaseKeepAlive", "/etcdserverpb.Lease/LeaseTimeToLive",
      "/etcdserverpb.Lease/LeaseRevoke", "/etcdserverpb.Maintenance/Snapshot", "/etcdserverpb.Maintenance/Status",
      "/grpc.health.v1.Health/Check", "/grpc.health.v1.Health/Watch", "/ingot.control.v1.Control/WatchStatus",
      "/v3/kv/range", "/v3/watch", "/v3/lease/keepalive", "/v3/kv/put"};
  static_assert(kPaths.size() == kFirstJsonPath + 4);
  Client& of = link();
  const std::size_t which = byte() % kPaths.size();
  const unsigned how = byte();
  const std::size_t times = which == 1 || which == kFirstJsonPath + 2 ? number(12) : 1;
  const std::string one = request_of_service(which);
  std::string body;
  for (std::size_t i = 0; i < times; ++i) body += one;
  if (how / 16 == 1) body.resize(body.size() / 2);
  if (how / 16 == 2) body += body;
  if (how / 16 == 3) body[0] = 1;
  open(of, kPaths[which], body, how / 16 < 5, how);
}

// ---- Watches ----

void Schedule::open_watch() {
  Client& of = link();
  const unsigned how = byte();
  open(of, kWatchPath, "", false, how);
}

void Schedule::create() {
  Client& of = link();
  const int id = stream(of);
  const std::size_t count = number(15);
  const unsigned how = byte();
  pb::WatchRequest request;
  pb::WatchCreateRequest& asked = *request.mutable_create_request();
  if (how % 2 == 1) asked.set_start_revision(1);
  if (how / 2 % 2 == 1) asked.set_range_end(std::string(1, '\0'));
  asked.set_prev_kv(how / 4 % 4 == 1);
  asked.set_fragment(how / 16 % 4 == 1);
  asked.set_progress_notify(how / 64 % 2 == 1);
  if (how >= 250) asked.set_start_revision(stage_.revision() + 3);
  const std::string first = key();
  const bool distinct = byte() % 2 == 0;
  std::string bytes;
  for (std::size_t i = 0; i < count; ++i) {
    asked.set_key(distinct && i > 0 ? first + std::to_string(i) : first);
    bytes += framed(request);
  }
  trace("  watches", count);
  upload(of, id, bytes);
}

void Schedule::create_invalid() {
  Client& of = link();
  const int id = stream(of);
  const std::size_t count = number(15);
  pb::WatchRequest request;
  pb::WatchCreateRequest& asked = *request.mutable_create_request();
  asked.set_key("b");
  switch (byte() % 3) {
    case 0:
      asked.set_range_end("a");
      break;
    case 1:
      asked.set_watch_id(7);  // the second one is a duplicate
      break;
    default:
      asked.set_start_revision(-1);
  }
  trace("  watches", count);
  upload_often(of, id, request, count);
}

void Schedule::cancel() {
  Client& of = link();
  const int id = stream(of);
  const std::size_t count = number(12);
  std::string bytes;
  for (std::size_t i = 0; i < count; ++i) {
    pb::WatchRequest request;
    request.mutable_cancel_request()->set_watch_id(static_cast<std::int64_t>(i));
    bytes += framed(request);
  }
  upload(of, id, bytes);
}

void Schedule::ask_progress() {
  Client& of = link();
  const int id = stream(of);
  pb::WatchRequest request;
  request.mutable_progress_request();
  upload_often(of, id, request, number(15));
}

void Schedule::upload_often(Client& link, int stream, const google::protobuf::MessageLite& message, std::size_t times) {
  const std::string one = framed(message);
  std::string bytes;
  while (times-- > 0) bytes += one;
  upload(link, stream, bytes);
}

// ---- Streams ----

void Schedule::upload(Client& link, int stream, const std::string& bytes, bool end) {
  uploaded_bytes_ += bytes.size();
  link.peer.upload(stream, bytes, end);
}

void Schedule::send_malformed() {
  Client& of = link();
  const int id = stream(of);
  static const std::array<std::string, 4> kBytes = {rpc::framed("\xff\xff"), std::string(5, '\x7f'),
                                                    std::string("\0\x7f\xff\xff\xff", 5), rpc::framed("x", true)};
  upload(of, id, kBytes[byte() % kBytes.size()]);
}

void Schedule::half_close() {
  Client& of = link();
  upload(of, stream(of), "", true);
}

void Schedule::reset() {
  Client& of = link();
  const int id = stream(of);
  of.peer.reset(id, byte() % 14);
}

void Schedule::read_on() {
  Client& of = link();
  const unsigned how = byte();
  const std::size_t bytes = std::size_t{1} << (how / 4 % 20);
  of.reads_bytes = how % 4 == 0 ? 0 : how % 4 == 1 ? bytes : Client::kAll;
  of.peer.gives_window = how % 4 == 3;
}

void Schedule::give_window() {
  Client& of = link();
  const int id = stream(of);
  const auto bytes = static_cast<std::uint32_t>(number(24));
  of.peer.window(0, bytes);
  of.peer.window(id, bytes);
}

// ---- Connections ----

void Schedule::change_settings() {
  Client& of = link();
  const unsigned how = byte(), value = byte();
  if (how % 2 == 0) {
    of.peer.settings(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kWindows[value % kWindows.size()]);
  } else {
    of.peer.settings(static_cast<std::uint16_t>(how / 2 % 10), value << how % 24);
  }
}

void Schedule::ping() {
  Client& of = link();
  const std::size_t count = number(8);
  for (std::size_t i = 0; i < count; ++i) {
    of.peer.raw(rpc::frame(NGHTTP2_PING, 0, 0, std::string(8, 'p')));
  }
}

// Many frames of one kind, whether these are allowed or not.
void Schedule::flood() {
  Client& of = link();
  const int id = stream(of);
  const std::uint8_t type = static_cast<std::uint8_t>(byte() % 12), flags = static_cast<std::uint8_t>(byte());
  const std::string payload(byte() % 64, '\1');
  const std::size_t count = number(12);
  uploaded_bytes_ += count * payload.size();
  for (std::size_t left = count; left > 0; --left) {
    of.peer.raw(rpc::frame(type, flags, static_cast<std::uint32_t>(id), payload));
  }
}

void Schedule::send_frame() {
  Client& of = link();
  const std::uint8_t type = static_cast<std::uint8_t>(byte() % 12), flags = static_cast<std::uint8_t>(byte());
  const std::uint32_t id = byte();
  std::string payload;
  for (unsigned left = byte() % 16; left > 0; --left) payload.push_back(static_cast<char>(byte()));
  of.peer.raw(rpc::frame(type, flags, id, payload));
}

void Schedule::go_away() { link().peer.raw(rpc::frame(NGHTTP2_GOAWAY, 0, 0, std::string(8, '\0'))); }

}  // namespace ingot::fuzz
