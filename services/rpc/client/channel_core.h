// What a channel does. Internal to services/rpc/client.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "services/rpc/client/call_list.h"
#include "services/rpc/client/channel.h"
#include "services/rpc/client/connection.h"

namespace ingot::rpc::client {

// Kept alive by its timers and posted functions; close() ends its work.
class Channel::Core final : public std::enable_shared_from_this<Core>, public Connection::Owner {
 public:
  Core(boost::asio::io_context& io, Target target, ChannelOptions options);

  void open() { attempt(); }
  void close();

  bool connected() const { return current_ != nullptr; }
  CallId start(const std::string& path, const google::protobuf::MessageLite& request, const CallOptions& options,
               Receiver& receiver);
  void cancel(CallId id);

 private:
  void ready(Connection& connection) override;
  void going_away(Connection& connection) override;
  void ended(std::vector<OpenCall*>& calls) override;
  void lost(Connection& connection, std::vector<OpenCall*> calls, const std::string& why) override;

  void attempt();
  void attempt_failed(const std::string& why);
  void attempt_after_end();
  void retire(std::shared_ptr<Connection> connection);
  void drop_if_idle();

  void place(OpenCall& call);
  void submit(OpenCall& call);
  void submit_waiting();
  void refuse_waiting();
  void refuse(OpenCall& call, grpc::Status status);
  void deliver(std::vector<OpenCall*>& calls);

  void arm_deadline(std::uint64_t deadline_ns);
  void expire();
  void flush_soon();
  void flush_now();

  boost::asio::io_context& io_;
  const Target target_;
  const ChannelOptions options_;
  bool closed_ = false;

  std::shared_ptr<Connection> current_;  // takes calls, unless it has said goodbye a moment ago
  std::shared_ptr<Connection> pending_;  // connects
  std::vector<std::shared_ptr<Connection>> draining_;
  boost::asio::steady_timer attempt_timer_;  // the end of the pause, or of the time for an attempt
  bool pausing_ = false;                     // between attempts
  std::size_t next_endpoint_ = 0;
  int pause_ms_ = kReconnectPauseMs;
  std::uint64_t ready_ns_ = 0;  // when current_ was ready
  bool failing_ = false;        // all endpoints have failed since a connection was up
  std::string why_;             // the last attempt failed

  CallList calls_;
  std::vector<OpenCall*> waiting_;  // for a connection
  std::vector<OpenCall*> refused_;  // ended before they were sent; delivered by the next posted flush
  boost::asio::steady_timer deadline_timer_;
  std::uint64_t armed_ns_ = kNoDeadline;
  bool delivering_ = false;  // the current connection is flushed afterwards
  bool flush_posted_ = false;
};

}  // namespace ingot::rpc::client
