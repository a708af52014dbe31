// Which calls begin when: a bound on the calls that the loop has taken on, and an admission queue of each connection
// for the others; the queues are served round-robin.
//
// Small calls wait in their connection's queue while calls_taken_on of the loop are running, or while their connection
// has too much output that its peer does not take. Large calls also wait while large_calls are running, or while all
// output together is too much. A connection whose small calls wait for a call slot is not read, so it has only a few
// such calls. A large call never begins before the bytes that came with it have been read: if they give it up, it makes
// no work.
//
// A call whose answer may be large or small (Weight::kUnknown) waits with the small ones. A connection begins only as
// many of these at a time as fit into kUnknownBytesMax, if the next answers are as long as its last ones. If its last
// answers were large, its calls of this kind count as large ones.
//
// A call has its call slot until its handler has ended its work, even if the client has given up the call or the
// connection has gone. Otherwise calls that are given up at once would make work without a bound.
#pragma once

#include <boost/intrusive/list.hpp>
#include <boost/intrusive/list_hook.hpp>
#include <boost/smart_ptr/local_shared_ptr.hpp>
#include <boost/smart_ptr/make_local_shared.hpp>
#include <cstddef>
#include <cstdint>

#include "services/rpc/server/bounds.h"
#include "services/rpc/server/place.h"
#include "services/rpc/server/stream.h"

namespace ingot::rpc::inline server {

// A connection's admission queue. Not thread-safe.
class Line : public QueueHook {
 public:
  using Waiting = boost::intrusive::list<Stream, boost::intrusive::constant_time_size<false>>;

  virtual bool reader_reads() const = 0;  // its peer takes its output
  virtual void begin(Stream& stream) = 0;
  // No small call of this connection waits for a call slot any more: the last one has begun, or those that still wait
  // do so for their peer. May be called again.
  virtual void nothing_small_waits() = 0;

  // Of calls of Weight::kUnknown: what their answers are.
  void answered(std::size_t bytes);
  bool answers_are_large() const { return answer_bytes_ > kSmallAnswerBytes && has_answered_; }

 protected:
  ~Line() = default;

 private:
  friend class Turns;

  using LargeHook = boost::intrusive::list_member_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

  Waiting small_;
  Waiting large_;
  LargeHook in_large_lines_;
  const boost::local_shared_ptr<Works> works_ = boost::make_local_shared<Works>();
  std::size_t answer_bytes_ = kAnswerBytesGuess;  // so long the next answers may be
  bool has_answered_ = false;
};

// Not thread-safe.
class Turns {
 public:
  explicit Turns(const ServerBounds& bounds)
      : bounds_(bounds), limit_(static_cast<std::size_t>(bounds.calls_taken_on)) {}

  // Whether the call may begin now; then it has a call slot. Otherwise it waits: Line::begin is called later.
  bool admit(Line& line, Stream& stream, std::uint64_t now_ns);

  // The call has been answered by its handler, or has ended before it began.
  void over(Stream& stream, std::uint64_t now_ns);
  // Gives the call slot back, if `place` is one.
  void leave(Place& place, std::uint64_t now_ns);

  // Begins the calls that may begin. Returns how many did.
  int run(std::size_t output_bytes_all, std::uint64_t now_ns);

  // Whether run() would begin a call.
  bool ready(std::size_t output_bytes_all) const;
  // Whether small calls of the connection wait for a call slot, and for nothing else.
  bool wait_for_place(const Line& line) const { return !line.small_.empty() && may_begin(line, line.small_.front()); }
  // Whether calls wait, for whatever reason.
  bool any_wait() const;
  // Whether another call could begin, and another large one.
  bool room() const { return running_ < limit_; }
  bool room_for_large(std::size_t output_bytes_all) const {
    return room() && large_running_ < static_cast<std::size_t>(bounds_.large_calls) &&
           output_bytes_all <= bounds_.output_bytes_all;
  }
  // When run() may begin calls although none is over.
  std::uint64_t deadline_ns() const;
  // Whether large calls wait for others to take their output.
  bool pressed(std::size_t output_bytes_all) const;

 private:
  bool may_begin(const Line& line, const Stream& stream) const;
  void take_on(Line& line, Stream& stream, std::uint64_t now_ns);
  int run_small(std::uint64_t now_ns);
  int run_large(std::size_t output_bytes_all, std::uint64_t now_ns);

  const ServerBounds& bounds_;
  std::size_t running_ = 0;
  std::size_t large_running_ = 0;
  std::size_t limit_;
  std::uint64_t moved_ns_ = 0;  // when a call was last over, or the last free call slot was taken
  // Queues with calls that wait; the one that is served next comes first.
  boost::intrusive::list<Line, boost::intrusive::constant_time_size<false>> small_lines_;
  boost::intrusive::list<Line, boost::intrusive::member_hook<Line, Line::LargeHook, &Line::in_large_lines_>,
                         boost::intrusive::constant_time_size<false>>
      large_lines_;
};

}  // namespace ingot::rpc::server
