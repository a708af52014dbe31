// One client of a load: at most one outstanding request, with messages whose memory is reused.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <string_view>

#include "proto/etcd/rpc.pb.h"
#include "services/ingot_load/write_ledger.h"
#include "services/rpc/client/channel.h"
#include "services/rpc/client/receiver.h"

namespace ingot::load {

class LoadClient;

// Hears of what its clients waited for. Called on the loop's thread.
class LoadClientOwner {
 public:
  // The client's request is over; its `status` says how.
  virtual void answered(LoadClient& client) = 0;
  virtual void paused(LoadClient& client) = 0;

 protected:
  ~LoadClientOwner() = default;
};

// Not thread-safe. Does not move.
class LoadClient final : private rpc::client::Receiver {
 public:
  LoadClient(std::uint16_t number, boost::asio::io_context& io, rpc::client::Channel& channel, LoadClientOwner& owner)
      : number_(number), channel_(channel), owner_(owner), pause_(io) {}

  // REQUIRES: nothing is outstanding.
  void start_put(std::chrono::nanoseconds timeout);
  void start_range(std::chrono::nanoseconds timeout);
  void start_pause(std::chrono::milliseconds pause);

  bool connected() const { return channel_.connected(); }

  // The id of this client's next write; never the same twice.
  WriteId next_write() { return WriteId{number_, ++sequence_}; }

  etcdserverpb::PutRequest put;
  etcdserverpb::PutResponse put_reply;
  etcdserverpb::RangeRequest range;
  etcdserverpb::RangeResponse range_reply;
  grpc::Status status;
  bool reading = false;           // the outstanding request is `range`
  std::uint32_t key = 0;          // of the request
  WriteId write;                  // of a put
  Revision floor = 0;             // of a range: the lowest revision that it may return
  std::uint64_t intended_ns = 0;  // when the request started, or should have

 private:
  void answered(const grpc::Status& answer, std::string_view message) override;

  const std::uint16_t number_;
  rpc::client::Channel& channel_;
  LoadClientOwner& owner_;
  std::uint64_t sequence_ = 0;
  boost::asio::steady_timer pause_;
};

}  // namespace ingot::load
