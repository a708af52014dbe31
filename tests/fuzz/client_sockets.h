// A server that runs elsewhere, whose clients are real connections: what a schedule does to it takes real time.
#pragma once

#include <google/protobuf/message_lite.h>
#include <netinet/in.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "services/cli/endpoint.h"
#include "tests/fuzz/client_ordinary.h"
#include "tests/fuzz/client_stage.h"
#include "transport/host/descriptor.h"

namespace ingot::fuzz {

// The schedule ends once it has had `time`. Not thread-safe.
class Sockets final : public Stage {
 public:
  // `endpoint`: an IPv4 address. Ends the process if nothing listens there.
  Sockets(const HostPort& endpoint, std::chrono::milliseconds time);
  Sockets(const Sockets&) = delete;
  Sockets& operator=(const Sockets&) = delete;

  std::size_t clients() const override { return links_.size(); }
  Client& client(std::size_t index) override { return *links_[index]; }
  Client* connect(std::uint32_t stream_window) override;
  void close(Client& client) override;
  void round(std::uint64_t ms) override;
  bool over() const override { return std::chrono::steady_clock::now() >= end_; }

  void put(const std::string& key, const std::string& value) override;
  void remove(const std::string& key, const std::string& end) override;
  void compact() override;
  std::int64_t revision() override { return ordinary_.revision(); }

  void ask_ordinary(std::size_t value_bytes) override;

  std::uint64_t ordinary_rounds() const { return ordinary_.rounds(); }
  std::size_t connected() const { return connected_; }
  std::size_t sent_bytes() const { return sent_bytes_; }
  std::size_t received_bytes() const { return received_bytes_; }

 private:
  struct Link final : Client {
    Link() : Client(false) {}
    Descriptor socket;
    std::string outbox;  // frames that the socket has not taken
    bool lost = false;   // the server has ended it
  };

  std::unique_ptr<Link> connected_link(std::uint32_t stream_window);
  void move(Link& link);
  void write(Link& link);
  void read(Link& link);
  void call(const char* path, const google::protobuf::MessageLite& message);

  const sockaddr_in address_;
  const std::chrono::steady_clock::time_point end_;
  OrdinaryClient ordinary_;
  std::unique_ptr<Link> writer_;  // of others' commands
  std::vector<std::unique_ptr<Link>> links_;
  std::size_t connected_ = 0, sent_bytes_ = 0, received_bytes_ = 0;
};

}  // namespace ingot::fuzz
