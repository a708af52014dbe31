#include "services/supervision/children.h"

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "replication/pages/page_access.h"
#include "replication/pages/page_status.h"
#include "services/launch/process_signal.h"
#include "services/log/log.h"
#include "services/supervision/limits.h"

namespace ingot::inline services_supervision {

namespace {

std::string how_it_ended(int wait_status) {
  if (WIFSIGNALED(wait_status)) return absl::StrCat("was killed by signal ", WTERMSIG(wait_status));
  return absl::StrCat("exited with code ", WEXITSTATUS(wait_status));
}

using Outcome = SupervisionChannel::Received::Outcome;

}  // namespace

Children::Children(boost::asio::io_context& io, Instance& instance, ChildObserver& observer)
    : io_(io), instance_(instance), observer_(observer), standstill_(io, log_warning, log_info) {}

void Children::watch() {
  signals_.add(SIGCHLD);
  reap();
}

absl::Status Children::start(const ChildRole& role) {
  LaunchSpec spec = instance_.launch_spec();
  spec.replica = role.word == "replica" ? role.endpoint : -1;
  auto process = standby_.become(role.word, spec, instance_.fabric().descriptors());
  if (!process) {
    auto started = start_child(role.word, std::move(spec), instance_.fabric().descriptors());
    if (!started.ok()) return started.status();
    process = *std::move(started);
  }
  const std::uint32_t incarnation = role.endpoint < 0 ? 1 : instance_.incarnation(role.endpoint);
  auto child = std::make_shared<Child>(io_, role, process->pid, std::move(process->pidfd), std::move(process->channel),
                                       incarnation, instance_.all_told());
  add(std::move(child), ProcessState::kStarting);
  return absl::OkStatus();
}

void Children::adopt(const ChildRole& role, Orphan orphan) {
  const std::uint32_t incarnation = role.endpoint < 0 ? 1 : instance_.incarnation(role.endpoint);
  auto child = std::make_shared<Child>(io_, role, orphan.pid, std::move(orphan.pidfd), std::move(orphan.channel),
                                       incarnation, std::move(orphan.told));
  child->ready = orphan.answered;
  child->foreign = true;
  child->stopped = process_state(child->pid) == 'T';
  child->post(adopted_message());
  watch_end(child);
  add(child, child->stopped ? ProcessState::kStopped : child->ready ? ProcessState::kUp : ProcessState::kStarting);
  if (children_.size() == 1) poll_stops();
}

void Children::watch_end(std::shared_ptr<Child> child) {
  Child& ref = *child;
  ref.pidfd.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                       [this, child = std::move(child)](const boost::system::error_code& error) {
                         if (!error && child->running) ended(*child, "ended");
                       });
}

void Children::poll_stops() {
  bool any = false;
  for_each_running([&](Child& child) {
    if (!child.foreign) return;
    any = true;
    const char state = process_state(child.pid);
    const bool stopped = state == 'T';
    if (state == 0 || stopped == child.stopped) return;  // 0: it has just ended, or no descriptor is left to look
    child.stopped = stopped;
    note_state(child, stopped ? ProcessState::kStopped : child.ready ? ProcessState::kUp : ProcessState::kStarting);
  });
  if (!any) return;
  poll_timer_.expires_after(std::chrono::milliseconds(kStoppedPollMs));
  poll_timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) poll_stops();
  });
}

void Children::add(std::shared_ptr<Child> child, ProcessState state) {
  std::erase_if(children_, [&](const auto& each) { return !each->running && each->role.label == child->role.label; });
  note_state(*child, state);
  receive(child);
  children_.push_back(std::move(child));
}

void Children::receive(std::shared_ptr<Child> child) {
  Child& ref = *child;
  ref.channel_ready.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                         [this, child = std::move(child)](const boost::system::error_code& error) {
                           if (error || !child->running) return;
                           // The channel's end is ignored: SIGCHLD or the pidfd reports the process's end.
                           if (read(*child) != Outcome::kEnd) receive(child);
                         });
}

Outcome Children::read(Child& child) {
  auto received = child.channel.receive();
  const Outcome outcome = received.outcome;
  if (outcome == Outcome::kMessage) dispatch(child, std::move(received));
  if (outcome == Outcome::kMalformed || outcome == Outcome::kTruncated) note_refused(child);
  return outcome;
}

void Children::dispatch(Child& child, SupervisionChannel::Received received) {
  const SupervisionMessage& message = received.message;
  if (message.has_ready() || message.has_orphaned()) {  // orphaned: the child was stopped when it was adopted
    child.ready = true;
    // It may have been stopped since it sent that.
    note_state(child, child.stops.is_stopped() ? ProcessState::kStopped : ProcessState::kUp);
    observer_.child_ready(child);
  } else if (message.has_pong()) {
    observer_.child_answered(child);
  } else if (message.has_failed()) {
    observer_.child_failed(child, status_of(message.failed()));
  } else if (message.has_snapshot()) {
    observer_.child_published(child, message.snapshot(), std::move(received.fds[0]));
  }
}

// A process may send malformed messages without end: only its first one is logged.
void Children::note_refused(const Child& child) {
  instance_.page().refused_messages.add(1);
  if (child.channel.refused() > 1) return;
  log_warning(absl::StrCat("a message of ", child.name(), " was refused: it is malformed"));
}

void Children::reap() {
  int wait_status = 0;
  pid_t pid = 0;
  while ((pid = ::waitpid(-1, &wait_status, WNOHANG | WUNTRACED | WCONTINUED)) > 0) {
    if (pid == standby_.pid()) {
      standby_changed(wait_status);
      continue;
    }
    const auto found = std::find_if(children_.begin(), children_.end(),
                                    [&](const auto& each) { return each->running && each->pid == pid; });
    if (found == children_.end()) continue;
    const std::shared_ptr<Child> child = *found;  // keeps it alive: its next incarnation may take its table entry
    changed(*child, wait_status);
  }
  signals_.async_wait([this](const boost::system::error_code& error, int) {
    if (!error) reap();
  });
}

// A stopped standby process is discarded, since it would not read its role. The next one is started once all processes
// are ready again.
void Children::standby_changed(int wait_status) {
  if (WIFSTOPPED(wait_status)) standby_.discard();
  else if (!WIFCONTINUED(wait_status)) standby_.ended();
}

void Children::changed(Child& child, int wait_status) {
  if (WIFSTOPPED(wait_status)) {
    was_stopped(child, WSTOPSIG(wait_status));
  } else if (WIFCONTINUED(wait_status)) {
    child.stops.continued(Child::Clock::now());
    note_state(child, child.ready ? ProcessState::kUp : ProcessState::kStarting);
  } else {
    ended(child, how_it_ended(wait_status));
  }
}

// The others hear of it at once. Of replicas in one process none is left that could.
void Children::was_stopped(Child& child, int signal) {
  note_state(child, ProcessState::kStopped);
  const bool doubted = child.stops.stopped(Child::Clock::now());
  if (child.role.replicas.size() != 1) return;
  DaemonPage& page = instance_.page();
  const auto replica = static_cast<std::size_t>(child.role.replicas.front());
  if (!doubted) {
    page.undoubted_stops.add(1);
    if (page.replicas[replica].doubted.get() != 0) note_doubt(page, replica, 0);
    return;
  }
  page.doubted_stops.add(1);
  note_doubt(page, replica, child.incarnation);
  wake_all();
  log_warning(absl::StrCat(child.name(), " was stopped by signal ", signal, "; `kill -CONT ", child.pid,
                           "` lets it go on"));
}

void Children::ended(Child& child, const std::string& how) {
  // Reads the remaining messages, such as why it could not start. A refused message does not end the loop.
  for (auto last = read(child); last != Outcome::kNothing && last != Outcome::kEnd; last = read(child)) continue;
  child.running = false;
  child.close();
  note_state(child, ProcessState::kDead);
  tell_of_death();
  observer_.child_ended(child, how);
}

// Wakes all endpoints so that they see which process died: the group replaces a dead leader or acceptor before any
// request has to wait for it.
void Children::tell_of_death() {
  instance_.page().deaths.add_release(1);  // pairs with the readers' acquire: the dead state above is visible to them
  wake_all();
}

void Children::wake_all() {
  for (int id = 0; id < instance_.fabric().endpoints(); ++id) {
    instance_.fabric().notify(EndpointId(static_cast<std::uint16_t>(id)));
  }
}

void Children::note_missing(const ChildRole& role) {
  note(role,
       {.state = ProcessState::kDead, .incarnation = role.endpoint < 0 ? 1 : instance_.incarnation(role.endpoint)});
  tell_of_death();
}

void Children::note_state(Child& child, ProcessState state) {
  const bool dead = state == ProcessState::kDead;
  note(child.role, {.state = state,
                    .incarnation = child.incarnation,
                    .started = dead ? 0 : child.start_ticks(),
                    .pid = dead ? 0 : static_cast<std::uint64_t>(child.pid)});
}

void Children::note(const ChildRole& role, const NotedProcess& now) {
  DaemonPage& page = instance_.page();
  for (const int id : role.replicas) {
    note_process(page.replicas[id], now);
    const bool doubted = page.replicas[id].doubted.get() != 0;
    if (doubted && now.state != ProcessState::kStopped) note_doubt(page, static_cast<std::size_t>(id), 0);
  }
  if (role.front_end()) note_process(page.front_end, now);
  standstill_.observe(any_replica_runs(page, static_cast<std::size_t>(instance_.config().replicas)));
}

void Children::tell_all() {
  for_each_running([this](Child& child) { child.tell(instance_); });
}

void Children::for_each_running(absl::FunctionRef<void(Child&)> visit) {
  const auto now = children_;
  for (const auto& child : now) {
    if (child->running) visit(*child);
  }
}

Child* Children::running(std::string_view label) {
  for (const auto& child : children_) {
    if (child->running && child->role.label == label) return child.get();
  }
  return nullptr;
}

bool Children::any_running() const {
  return std::any_of(children_.begin(), children_.end(), [](const auto& child) { return child->running; });
}

bool Children::all_ready() const {
  return std::all_of(children_.begin(), children_.end(),
                     [](const auto& child) { return !child->running || child->ready; });
}

}  // namespace ingot::services_supervision
