// One connection to a server: a socket and HTTP/2 on it. One read and one write a round. Internal to
// services/rpc/client.
#pragma once

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <memory>
#include <string>
#include <vector>

#include "services/rpc/client/session.h"

namespace ingot::rpc::client {

// Not thread-safe. Its pending operations keep it alive; close() ends them.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  using Endpoint = boost::asio::generic::stream_protocol::endpoint;

  // The channel. Called from the loop, or from within flush().
  class Owner {
   public:
    virtual void ready(Connection& connection) = 0;
    virtual void going_away(Connection& connection) = 0;
    // These calls have ended.
    virtual void ended(std::vector<OpenCall*>& calls) = 0;
    // The connection is closed, and says nothing more. Its calls have not ended by themselves.
    virtual void lost(Connection& connection, std::vector<OpenCall*> calls, const std::string& why) = 0;

   protected:
    ~Owner() = default;
  };

  // `authority` and `owner` outlive the connection, or its closing.
  Connection(boost::asio::io_context& io, const std::string& authority, std::size_t answer_bytes_max, Owner& owner);

  // Connects. Call it once.
  void start(const Endpoint& endpoint);
  // Closes the socket; the owner hears nothing more. Its calls are forgotten.
  void close();

  // Ends it as if it were lost, for this reason.
  void abandon(const std::string& why) { fail(why); }

  Session& session() { return session_; }

  // Sends what there is to send. May end in lost().
  void flush();

 private:
  void on_connected(const boost::system::error_code& error);
  void wait_readable();
  void on_readable(const boost::system::error_code& error);
  // Tells the owner what is new. False: the connection was closed meanwhile.
  bool tell();
  void fail(const std::string& why);

  boost::asio::generic::stream_protocol::socket socket_;
  Owner* owner_;  // null: closed
  Session session_;
  std::vector<OpenCall*> ended_;  // empty; its memory is reused
  std::string output_;
  std::size_t sent_ = 0;  // bytes of output_
  bool connected_ = false;
  bool waits_to_write_ = false;
  bool told_ready_ = false;
  bool told_going_away_ = false;
};

}  // namespace ingot::rpc::client
