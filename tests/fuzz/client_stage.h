// What a schedule of clients' actions acts on: a server's connections, its store, and an ordinary client beside.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/fuzz/client_peer.h"

namespace ingot::fuzz {

// A connection of the schedule.
struct Client {
  static constexpr std::size_t kAll = ~std::size_t{0};

  explicit Client(bool keeps) : peer(keeps) {}

  Peer peer;
  std::size_t reads_bytes = kAll;  // that the peer takes in a round
};

// Not thread-safe. A client is named until the next round, in which its connection may end.
class Stage {
 public:
  static constexpr std::size_t kClientsMax = 20;

  virtual std::size_t clients() const = 0;
  virtual Client& client(std::size_t index) = 0;                // the newest has the highest index
  virtual Client* connect(std::uint32_t stream_window) = 0;     // null: there are kClientsMax
  virtual void close(Client& client) = 0;

  // The connections move on, so much later; what a server owes is looked at.
  virtual void round(std::uint64_t ms) = 0;
  // Whether the schedule should end, since it has had its rounds or its time.
  virtual bool over() const = 0;

  // Somebody else's commands. `end` as in a range.
  virtual void put(const std::string& key, const std::string& value) = 0;
  virtual void remove(const std::string& key, const std::string& end) = 0;
  virtual void compact() = 0;           // at the newest revision
  virtual std::int64_t revision() = 0;  // the store's, or one of a moment ago

  // The ordinary client puts such a value, reads it, and hears of it by its watch. Ends the process if it does not.
  virtual void ask_ordinary(std::size_t value_bytes) = 0;

 protected:
  ~Stage() = default;
};

}  // namespace ingot::fuzz
