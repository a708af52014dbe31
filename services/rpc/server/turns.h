// Which calls begin when: a bound on what the loop has taken on, and turns between connections for what waits.
//
// Small calls wait in their connection's line while calls_taken_on of the loop are running, or while their connection
// has too much output that its peer does not take. Large calls wait besides while large_calls are running, or while all
// output together is too much. A connection with small calls that wait for a place is not read, so each has a few only.
// A large call never begins before the bytes that came with it have been read: one that they give up makes no work.
//
// A call whose answer may be large or small (Weight::kUnknown) waits with the small ones. Of these a connection begins
// only so many at a time as may be answered with kUnknownBytesMax, if the next answers are as long as its last ones. A
// connection whose last answers were large makes large calls.
//
// A place is taken until the handler has ended its work, also for a call that its client has given up, and for one
// whose connection has gone: else calls that are given up at once would make work without a bound.
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

// A connection's place. Not thread-safe.
class Line : public QueueHook {
 public:
  using Waiting = boost::intrusive::list<Stream, boost::intrusive::constant_time_size<false>>;

  virtual bool reader_reads() const = 0;  // its peer takes its output
  virtual void begin(Stream& stream) = 0;
  // For a place: told when the last one that did has begun, and when all that wait do so for their peer. May be repeated.
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

  // Whether the call may begin now; then it has a place. Otherwise it waits: Line::begin is called later.
  bool admit(Line& line, Stream& stream, std::uint64_t now_ns);

  // The call has been answered by its handler, or has ended before it began.
  void over(Stream& stream, std::uint64_t now_ns);
  // Gives the place back, if it is one.
  void leave(Place& place, std::uint64_t now_ns);

  // Begins what may begin. Returns how much did.
  int run(std::size_t output_bytes_all, std::uint64_t now_ns);

  // Whether run() would begin something.
  bool ready(std::size_t output_bytes_all) const;
  // Whether small calls of the connection wait for a place, and for nothing else.
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
  std::uint64_t moved_ns_ = 0;  // when a call was last over, or the last free place was taken
  // Lines with calls that wait; the next one whose turn it is comes first.
  boost::intrusive::list<Line, boost::intrusive::constant_time_size<false>> small_lines_;
  boost::intrusive::list<Line, boost::intrusive::member_hook<Line, Line::LargeHook, &Line::in_large_lines_>,
                         boost::intrusive::constant_time_size<false>>
      large_lines_;
};

}  // namespace ingot::rpc::server
