#include "tests/fuzz/client_sockets.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

#include "proto/etcd/rpc.pb.h"
#include "tests/services/rpc/server/raw_client.h"

namespace ingot::fuzz {
namespace {

namespace pb = etcdserverpb;

constexpr std::size_t kOutboxBytes = 64 * 1024;  // that a client has framed ahead
constexpr std::uint64_t kPauseMsMax = 20;        // of a round
constexpr std::uint64_t kAskRoundMs = 10;
constexpr int kAskRoundsMax = 60'000;  // a watchdog of ten minutes

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::_Exit(1);
}

bool would_block(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

sockaddr_in address_of(const HostPort& endpoint) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(endpoint.port));
  if (::inet_pton(AF_INET, endpoint.host.c_str(), &address.sin_addr) != 1) {
    fail("--endpoint has an IPv4 address and a port, as 127.0.0.1:2379");
  }
  return address;
}

}  // namespace

Sockets::Sockets(const HostPort& endpoint, std::chrono::milliseconds time)
    : address_(address_of(endpoint)),
      end_(std::chrono::steady_clock::now() + time),
      ordinary_(endpoint.host + ":" + std::to_string(endpoint.port)) {}

std::unique_ptr<Sockets::Link> Sockets::connected_link(std::uint32_t stream_window) {
  auto link = std::make_unique<Link>();
  link->socket = Descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(link->socket.get(), reinterpret_cast<const sockaddr*>(&address_), sizeof address_) != 0) {
    fail(std::string("the server takes no connection: ") + std::strerror(errno));
  }
  const int on = 1;
  ::setsockopt(link->socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  link->peer.greet(stream_window);
  ++connected_;
  return link;
}

Client* Sockets::connect(std::uint32_t stream_window) {
  if (links_.size() == kClientsMax) return nullptr;
  return links_.emplace_back(connected_link(stream_window)).get();
}

// What the server has sent and this end has not read resets the connection.
void Sockets::close(Client& client) {
  std::erase_if(links_, [&](const auto& each) { return each.get() == &client; });
}

// ---- A round ----

void Sockets::round(std::uint64_t ms) {
  if (writer_ != nullptr) move(*writer_);
  for (const auto& link : links_) move(*link);
  if (writer_ != nullptr && writer_->lost) writer_.reset();
  std::erase_if(links_, [](const auto& link) { return link->lost; });
  if (ms > 1) std::this_thread::sleep_for(std::chrono::milliseconds(std::min(ms, kPauseMsMax)));
}

void Sockets::move(Link& link) {
  write(link);
  if (!link.lost && link.reads_bytes > 0) read(link);
}

void Sockets::write(Link& link) {
  if (link.outbox.size() < kOutboxBytes) link.peer.write(link.outbox, kOutboxBytes);
  if (link.outbox.empty()) return;
  const ssize_t sent =
      ::send(link.socket.get(), link.outbox.data(), link.outbox.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent < 0) {
    link.lost = !would_block(errno);
    return;
  }
  sent_bytes_ += static_cast<std::size_t>(sent);
  link.outbox.erase(0, static_cast<std::size_t>(sent));
}

void Sockets::read(Link& link) {
  static thread_local std::array<char, 256 * 1024> buffer;
  const std::size_t most = std::min(link.reads_bytes, buffer.size());
  const ssize_t bytes = ::recv(link.socket.get(), buffer.data(), most, MSG_DONTWAIT);
  if (bytes <= 0) {
    link.lost = bytes == 0 || !would_block(errno);
    return;
  }
  received_bytes_ += static_cast<std::size_t>(bytes);
  link.peer.receive({buffer.data(), static_cast<std::size_t>(bytes)});
}

// ---- Others ----

// It waits for no answer, and reads them all.
void Sockets::call(const char* path, const google::protobuf::MessageLite& message) {
  if (writer_ == nullptr) {
    writer_ = connected_link(65'535);
    writer_->peer.gives_window = true;
  }
  writer_->peer.open(rpc::RawClient::grpc_headers(path), rpc::framed(message.SerializeAsString()), true);
}

void Sockets::put(const std::string& key, const std::string& value) {
  pb::PutRequest request;
  request.set_key(key);
  request.set_value(value);
  call("/etcdserverpb.KV/Put", request);
}

void Sockets::remove(const std::string& key, const std::string& end) {
  pb::DeleteRangeRequest request;
  request.set_key(key);
  request.set_range_end(end);
  call("/etcdserverpb.KV/DeleteRange", request);
}

void Sockets::compact() {
  pb::CompactionRequest request;
  request.set_revision(revision());
  call("/etcdserverpb.KV/Compact", request);
}

// A round of it may be under way, so two have to end.
void Sockets::ask_ordinary(std::size_t value_bytes) {
  ordinary_.set_value_bytes(value_bytes);
  const std::uint64_t enough = ordinary_.rounds() + 2;
  for (int i = 0; i < kAskRoundsMax; ++i) {
    round(kAskRoundMs);
    if (ordinary_.rounds() >= enough) return;
  }
  fail(std::string("the ordinary client waits for ") + ordinary_.waits_for());
}

}  // namespace ingot::fuzz
