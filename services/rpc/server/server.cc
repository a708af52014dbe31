#include "services/rpc/server/server.h"

#include <malloc.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/intrusive/list.hpp>
#include <deque>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "services/rpc/server/connection.h"
#include "services/rpc/server/listener.h"
#include "services/rpc/server/shared.h"
#include "services/rpc/wire/free_memory.h"
#include "transport/host/event_loop.h"

namespace ingot::rpc::inline server {
namespace {

constexpr std::uint64_t kMsNs = 1'000'000;

// Connections for which the process has descriptors.
std::size_t connections_max(const ServerBounds& bounds) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const auto wanted = static_cast<std::size_t>(bounds.connections);
  if (limit.rlim_cur == RLIM_INFINITY) return wanted;
  const std::size_t left =
      limit.rlim_cur > 2 * kDescriptorsReserved ? limit.rlim_cur - kDescriptorsReserved : limit.rlim_cur / 2;
  return std::min(wanted, std::max<std::size_t>(left, 1));
}

// The C library raises both bounds with each large buffer that is freed, and malloc_trim() does not look at the end of
// the heap of another thread than the first. Together they would keep up to a whole heap (64 MiB) of a loop.
void bound_free_heap() {
  ::mallopt(M_TRIM_THRESHOLD, kHeapTopBytes);
  ::mallopt(M_MMAP_THRESHOLD, kHeapMapBytes);
}

}  // namespace

class Server::State final : public ConnectionHost {
 public:
  State(boost::asio::io_context& io, Options options)
      : io_(io),
        options_(std::move(options)),
        shared_(*options_.methods, options_.bounds, options_.counters),
        connections_max_(connections_max(options_.bounds)),
        read_buffer_(kLoneTurnBytes),
        pressure_(this, [](void* self) { static_cast<State*>(self)->end_stalled(); }),
        trim_(this, [](void* self) { static_cast<State*>(self)->trim(); }) {
    shared_.now_ns = options_.now_ns();
    bound_free_heap();
  }

  // Waits that were cancelled keep closed connections, which use nothing of this any more.
  ~State() { end(); }

  void end() {
    for (const auto& listener : listeners_) listener->close();
    while (!connections_.empty()) std::shared_ptr(connections_.begin()->second)->close();
    shared_.handlers_over.clear();
  }

  absl::Status listen(Descriptor socket, Caller::Door door) {
    int listening = 0;
    socklen_t size = sizeof listening;
    if (::getsockopt(socket.get(), SOL_SOCKET, SO_ACCEPTCONN, &listening, &size) != 0 || listening == 0) {
      return absl::InvalidArgumentError("a server listens on a listening socket; this descriptor is none");
    }
    const Listener::Host host{[this] { return room(); },
                              [this](Descriptor fd, Caller caller) { adopt(std::move(fd), std::move(caller)); }};
    listeners_.push_back(std::make_shared<Listener>(io_, std::move(socket), door, shared_, host));
    listeners_.back()->start();
    return absl::OkStatus();
  }

  void adopt(Descriptor fd, Caller caller) {
    shared_.now_ns = options_.now_ns();  // the loop may have slept since its last round
    shared_.count(&ServerCounters::connections_accepted);
    auto connection = std::make_shared<Connection>(io_, std::move(fd), std::move(caller), shared_, *this);
    connections_.emplace(connection.get(), connection);
    uncalled_.push_back(*connection);
    show_connections();
    connection->start();
  }

  void count_freed(std::size_t bytes) { shared_.freed_bytes += bytes; }

  int poll(std::uint64_t now_ns) {
    shared_.now_ns = now_ns;
    if (io_.stopped()) io_.restart();
    std::size_t work = io_.poll();
    work += static_cast<std::size_t>(shared_.timers.run(now_ns, kTimersPerRound));
    work += static_cast<std::size_t>(shared_.turns.run(shared_.counted_output_bytes(), now_ns));
    work += read_some(ready_, kTurnsPerRound);
    work += read_some(newcomers_, kNewcomerTurnsPerRound);
    work += read_some(backlogged_, kTurnsPerRound);
    for (const auto& listener : listeners_) work += static_cast<std::size_t>(listener->accept());
    work += static_cast<std::size_t>(shared_.turns.run(shared_.counted_output_bytes(), now_ns));  // large ones
    look_for_pressure();
    shared_.handlers_over.clear();
    return static_cast<int>(work);
  }

  bool readable() const {
    return !dirty_.empty() || anything_to_read() || shared_.turns.ready(shared_.counted_output_bytes()) ||
           std::any_of(listeners_.begin(), listeners_.end(), [](const auto& listener) { return listener->ready(); });
  }

  std::uint64_t deadline_ns() const { return std::min(shared_.timers.nearest_ns(), shared_.turns.deadline_ns()); }

  // Answers and messages that handlers give while they hear of room leave at once, too, but not without end.
  void flush() {
    constexpr int kPasses = 4;
    for (int pass = 0; pass < kPasses && !dirty_.empty(); ++pass) {
      flushing_.swap(dirty_);
      for (const std::shared_ptr<Connection>& connection : flushing_) connection->flush();
      flushing_.clear();
    }
    shared_.handlers_over.clear();
    show_held();
    trim_later();
  }

  void drain() {
    if (std::exchange(shared_.draining, true)) return;
    for (const auto& listener : listeners_) listener->close();
    std::vector<std::shared_ptr<Connection>> all;
    for (const auto& [key, connection] : connections_) all.push_back(connection);
    for (const auto& connection : all) connection->drain();
  }

  bool drained() const {
    return shared_.draining && open_calls() == 0 && !shared_.turns.any_wait() && shared_.output_bytes == 0;
  }

  std::size_t connections() const { return connections_.size(); }
  std::size_t open_calls() const { return shared_.calls.open_calls(); }
  std::size_t held_bytes() const { return shared_.received_bytes + shared_.head_bytes + shared_.output_bytes; }

 private:
  using ConnectionLine = std::deque<std::shared_ptr<Connection>>;
  using ConnectionList = boost::intrusive::list<Connection, boost::intrusive::constant_time_size<false>>;

  // ConnectionHost
  void readable(std::shared_ptr<Connection> connection) override {
    (connection->uncalled() ? newcomers_ : ready_).push_back(std::move(connection));
  }
  void backlogged(std::shared_ptr<Connection> connection) override {
    (connection->uncalled() ? newcomers_ : backlogged_).push_back(std::move(connection));
  }
  void dirty(std::shared_ptr<Connection> connection) override { dirty_.push_back(std::move(connection)); }
  std::string answer_http1(std::string_view head) const override { return rpc::answer_http1(head, options_.http1); }
  std::span<char> read_buffer() override {
    if (!shared_.turns.room()) return std::span(read_buffer_).first(kCrowdedTurnBytes);
    return std::span(read_buffer_).first(anything_to_read() ? kTurnBytes : kLoneTurnBytes);
  }
  std::string& write_buffer() override { return write_buffer_; }
  void closed(Connection& connection) override {
    const auto found = connections_.find(&connection);
    if (found == connections_.end()) return;
    const std::shared_ptr<Connection> kept = std::move(found->second);  // close() is still running
    connections_.erase(found);
    show_connections();
    if (shared_.draining) return;
    for (const auto& listener : listeners_) listener->resume();
  }

  void show_connections() {
    if (shared_.counters != nullptr) shared_.counters->connections_open.set(connections_.size());
  }

  void show_held() {
    if (shared_.counters == nullptr) return;
    shared_.counters->held_heads.set(shared_.head_bytes + shared_.stream_bytes);
    shared_.counters->held_requests.set(shared_.received_bytes);
    shared_.counters->held_answers.set(shared_.output_bytes);
    shared_.counters->held_http2.set(shared_.http2_bytes);
  }

  bool anything_to_read() const { return !ready_.empty() || !newcomers_.empty() || !backlogged_.empty(); }

  // By turns: a connection that has more goes to the end of its line. Returns how many there were.
  static std::size_t read_some(ConnectionLine& line, std::size_t turns_max) {
    if (line.empty()) return 0;
    const std::uint64_t until_ns = monotonic_ns() + kRoundUs * 1'000;
    std::size_t turns = 0;
    for (; turns < turns_max && !line.empty() && (turns == 0 || monotonic_ns() < until_ns); ++turns) {
      const std::shared_ptr<Connection> connection = std::move(line.front());
      line.pop_front();
      connection->turn();
    }
    return turns;
  }

  // Whether one more connection may be accepted. One that was never used makes room for it, or soon one that is idle.
  bool room() {
    while (!uncalled_.empty() && !uncalled_.front().uncalled()) move_first(uncalled_, called_);
    if (connections_.size() < connections_max_) return true;
    if (uncalled_.empty() ||
        shared_.now_ns < uncalled_.front().accepted_ns() + shared_.bounds.uncalled_grace_ms * kMsNs) {
      end_idle();
      return false;
    }
    shared_.count(&ServerCounters::ended_silent);
    const std::shared_ptr<Connection> oldest = uncalled_.front().shared_from_this();
    oldest->close();
    return connections_.size() < connections_max_;
  }

  // So a client cannot keep all others out by a call on each of its connections. The listener tries again when one is
  // closed, or after a while.
  void end_idle() {
    const std::size_t looks_max = std::min(connections_.size(), static_cast<std::size_t>(kIdleLooksMax));
    for (std::size_t looks = 0; looks < looks_max && !called_.empty(); ++looks) {
      const std::shared_ptr<Connection> next = called_.front().shared_from_this();
      move_first(called_, called_);
      if (next->end_if_idle()) return;
    }
  }

  static void move_first(ConnectionList& from, ConnectionList& to) {
    Connection& first = from.front();
    from.pop_front();
    to.push_back(first);
  }

  void look_for_pressure() {
    if (pressure_.set() || !shared_.turns.pressed(shared_.counted_output_bytes())) return;
    shared_.timers.set(pressure_, shared_.now_ns + kPressureLookMs * kMsNs);
  }

  // Large calls wait for room that connections hold whose peers take nothing.
  void end_stalled() {
    if (!shared_.turns.pressed(shared_.counted_output_bytes())) return;
    const std::uint64_t since_ns = shared_.now_ns - shared_.bounds.stalled_under_pressure_ms * kMsNs;
    std::vector<std::shared_ptr<Connection>> stalled;
    for (const auto& [key, connection] : connections_) {
      if (connection->stalled_since(since_ns)) stalled.push_back(connection);
    }
    for (const auto& connection : stalled) {
      shared_.count(&ServerCounters::ended_stalled);
      connection->close();
    }
  }

  // The C library keeps what is freed; after much it is given back to the kernel, some time later, when all is freed.
  void trim_later() {
    if (shared_.freed_bytes < kTrimBytes || trim_.set()) return;
    shared_.timers.set(trim_, shared_.now_ns + kTrimIntervalMs * kMsNs);
  }

  void trim() {
    shared_.freed_bytes = 0;
    if (write_buffer_.capacity() > 2 * kWriteBytes) free_memory(write_buffer_);
    ::malloc_trim(0);
  }

  boost::asio::io_context& io_;
  const Options options_;
  Shared shared_;
  const std::size_t connections_max_;
  std::vector<std::shared_ptr<Listener>> listeners_;
  std::unordered_map<Connection*, std::shared_ptr<Connection>> connections_;
  ConnectionList uncalled_;    // and some that have called
  ConnectionList called_;      // in the order in which room is looked for
  ConnectionLine ready_;       // to be read, of those that have made a call
  ConnectionLine backlogged_;  // likewise, and their last turn left something
  ConnectionLine newcomers_;   // to be read, of others, and of those that the server has ended
  std::vector<std::shared_ptr<Connection>> dirty_;
  std::vector<std::shared_ptr<Connection>> flushing_;
  std::vector<char> read_buffer_;
  std::string write_buffer_;
  Timer pressure_;
  Timer trim_;
};

Server::Server(boost::asio::io_context& io, Options options)
    : state_(std::make_unique<State>(io, std::move(options))) {}
Server::~Server() = default;

absl::Status Server::listen(Descriptor listening_socket, Caller::Door door) {
  return state_->listen(std::move(listening_socket), door);
}
void Server::adopt(Descriptor connection, Caller caller) { state_->adopt(std::move(connection), std::move(caller)); }
int Server::poll(std::uint64_t now_ns) { return state_->poll(now_ns); }
bool Server::readable() { return state_->readable(); }
std::uint64_t Server::deadline_ns() const { return state_->deadline_ns(); }
void Server::flush() { state_->flush(); }
void Server::count_freed(std::size_t bytes) { state_->count_freed(bytes); }
void Server::drain() { state_->drain(); }
void Server::end() { state_->end(); }
bool Server::drained() const { return state_->drained(); }
std::size_t Server::connections() const { return state_->connections(); }
std::size_t Server::open_calls() const { return state_->open_calls(); }
std::size_t Server::held_bytes() const { return state_->held_bytes(); }

}  // namespace ingot::rpc::server
