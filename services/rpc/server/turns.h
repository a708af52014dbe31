// Which calls begin when: a bound on what the loop has taken on, and turns between connections for what waits.
//
// Small calls wait in their connection's line while calls_taken_on of the loop are running, or while their connection
// has too much output that its peer does not take. Large calls wait besides while large_calls are running, or while all
// output together is too much. A connection with small calls that wait for a place is not read, so each has only a few.
#pragma once

#include <boost/intrusive/list.hpp>
#include <boost/intrusive/list_hook.hpp>
#include <cstddef>
#include <cstdint>

#include "services/rpc/server/bounds.h"
#include "services/rpc/server/stream.h"

namespace ingot::rpc {

// A connection's place. Not thread-safe.
class Line : public QueueHook {
 public:
  using Waiting = boost::intrusive::list<Stream, boost::intrusive::constant_time_size<false>>;

  virtual bool reader_reads() const = 0;  // its peer takes its output
  virtual void begin(Stream& stream) = 0;
  virtual void nothing_small_waits() = 0;  // told once the last one that waited has begun

  bool small_wait() const { return !small_.empty(); }

 protected:
  ~Line() = default;

 private:
  friend class Turns;

  using LargeHook = boost::intrusive::list_member_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

  Waiting small_;
  Waiting large_;
  LargeHook in_large_lines_;
  std::size_t large_running_ = 0;
};

// Not thread-safe.
class Turns {
 public:
  explicit Turns(const ServerBounds& bounds)
      : bounds_(bounds), limit_(static_cast<std::size_t>(bounds.calls_taken_on)) {}

  // Whether the call may begin now; then it counts until over(). Otherwise it waits: Line::begin is called later.
  bool admit(Line& line, Stream& stream, std::size_t output_bytes_all, std::uint64_t now_ns);

  // The call has been answered or is lost, running or waiting.
  void over(Line& line, Stream& stream, std::uint64_t now_ns);

  // Begins what may begin. Returns how much did.
  int run(std::size_t output_bytes_all, std::uint64_t now_ns);

  // Whether run() would begin something.
  bool ready(std::size_t output_bytes_all) const;
  // Whether calls wait, for whatever reason.
  bool any_wait() const;
  // Whether another call could begin.
  bool room() const { return running_ < limit_; }
  // When run() may begin calls although none is over.
  std::uint64_t deadline_ns() const;
  // Whether large calls wait for others to take their output.
  bool pressed(std::size_t output_bytes_all) const;

 private:
  bool room_for_large(std::size_t output_bytes_all) const {
    return room() && large_running_ < static_cast<std::size_t>(bounds_.large_calls) &&
           output_bytes_all <= bounds_.output_bytes_all;
  }
  void take_on(Line& line, Stream& stream, std::uint64_t now_ns);
  int run_small(std::uint64_t now_ns);
  int run_large(std::size_t output_bytes_all, std::uint64_t now_ns);

  const ServerBounds& bounds_;
  std::size_t running_ = 0;
  std::size_t large_running_ = 0;
  std::size_t limit_;
  std::uint64_t moved_ns_ = 0;  // when a call was last over, or the last free place was taken
  // Lines with calls that wait; the next one whose turn it is comes first.
  boost::intrusive::list<Line, boost::intrusive::constant_time_size<false>> small_lines_;
  boost::intrusive::list<Line, boost::intrusive::member_hook<Line, Line::LargeHook, &Line::in_large_lines_>,
                         boost::intrusive::constant_time_size<false>>
      large_lines_;
};

}  // namespace ingot::rpc
