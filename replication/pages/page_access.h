// What readers learn from the order of a page's stores: each writer beside its reader. A test runs them on a model of a
// machine that reorders stores and loads (tests/replication/pages/weak_memory_test.cc).
#pragma once

#include <cstdint>
#include <optional>

#include "core/types.h"
#include "replication/pages/pages.h"

namespace ingot::inline replication_pages {

// ---- Processes, which the supervisor notes -------------------------------------------------------------------------

struct NotedProcess {
  ProcessState state = ProcessState::kStarting;
  std::uint64_t incarnation = 0;
  std::uint64_t started = 0;  // as in ProcessEntry
  std::uint64_t pid = 0;      // likewise
};

inline void note_process(ProcessEntry& entry, const NotedProcess& now) {
  entry.state.set(static_cast<std::uint64_t>(now.state));
  entry.incarnation.set_release(now.incarnation);  // pairs with dead_incarnation and process_of
  entry.started.set(now.started);
  entry.pid.set_release(now.pid);  // pairs with process_in and process_of
}

// A pid with its start time names one process for ever.
struct ProcessName {
  std::uint64_t pid = 0;
  std::uint64_t started = 0;  // of that process or of a later one, which the caller finds out
};

// The running process, or the last one.
inline ProcessName process_in(const ProcessEntry& entry) {
  const std::uint64_t pid = entry.pid.get_acquire();  // pairs with note_process
  return {pid, entry.started.get()};
}

// The process of that incarnation; nothing if the entry is of another one. While a new incarnation begins, the pid may
// be its predecessor's, but then the start time is not.
inline std::optional<ProcessName> process_of(const ProcessEntry& entry, std::uint64_t incarnation) {
  const std::uint64_t pid = entry.pid.get_acquire();                        // pairs with note_process
  if (entry.incarnation.get_acquire() != incarnation) return std::nullopt;  // likewise
  return ProcessName{pid, entry.started.get()};
}

// The incarnation that the entry shows as dead; nothing if it shows none. If a later one has died meanwhile, that
// incarnation is dead as well.
inline std::optional<std::uint64_t> dead_incarnation(const ProcessEntry& entry) {
  const std::uint64_t incarnation = entry.incarnation.get_acquire();  // pairs with note_process
  if (static_cast<ProcessState>(entry.state.get()) != ProcessState::kDead) return std::nullopt;
  return incarnation;
}

// `incarnation`: 0: the process that was doubted has gone on, or is dead.
inline void note_doubt(DaemonPage& page, std::size_t replica, std::uint64_t incarnation) {
  page.replicas[replica].doubted.set(incarnation);
  page.doubts.add_release(1);  // pairs with doubts_in
}

// With this number come the changes of ProcessEntry::doubted that it counts, or later ones.
inline std::uint64_t doubts_in(const DaemonPage& page) { return page.doubts.get_acquire(); }  // pairs with note_doubt

inline void note_supervisor(DaemonPage& page, const ProcessName& supervisor) {
  page.supervisor_started.set(supervisor.started);
  page.supervisor_pid.set_release(supervisor.pid);  // pairs with supervisor_of
}

inline ProcessName supervisor_of(const DaemonPage& page) {
  const std::uint64_t pid = page.supervisor_pid.get_acquire();  // pairs with note_supervisor
  return {pid, page.supervisor_started.get()};
}

// ---- Segments that are kept, which the supervisor notes ------------------------------------------------------------

// As the DaemonPage has them.
struct KeptSummary {
  KeptSegments state = KeptSegments::kFew;
  std::uint64_t segments = 0;
  std::uint64_t bytes = 0;
};

inline void publish_kept(DaemonPage& page, const KeptSummary& kept) {
  page.kept_segments_bytes.set(kept.bytes);
  page.kept_segments.set(kept.segments);
  page.kept_segments_state.set_release(static_cast<std::uint64_t>(kept.state));  // pairs with kept_in
}

// Each number is the one that led to the state, or a later one.
inline KeptSummary kept_in(const DaemonPage& page) {
  const auto state = static_cast<KeptSegments>(page.kept_segments_state.get_acquire());  // pairs with publish_kept
  return {state, page.kept_segments.get(), page.kept_segments_bytes.get()};
}

// ---- Progress, which each replica shows ----------------------------------------------------------------------------

struct Progress {
  Slot decided;  // slots known to be decided, contiguous from 0
  Slot applied;
};

inline void publish_progress(ReplicaPage& page, const Progress& progress) {
  page[ReplicaCounter::kDecidedSlots].set(progress.decided.value());
  page[ReplicaCounter::kAppliedSlots].set_release(progress.applied.value());  // pairs with progress_in
}

// Of a running replica: it never seems to have applied more than it has decided.
inline Progress progress_in(const ReplicaPage& page) {
  const Slot applied(page[ReplicaCounter::kAppliedSlots].get_acquire());  // pairs with publish_progress
  return {Slot(page[ReplicaCounter::kDecidedSlots].get()), applied};
}

// ---- Incarnations of a replica, which share its page ---------------------------------------------------------------

// The next incarnation begins, and has not counted anything yet. All values are 0 again, but for the lines of the log
// that all incarnations have lost.
inline void begin_incarnation(ReplicaPage& page) {
  publish_progress(page, {Slot(0), Slot(0)});
  for (Counter& counter : page.counters) {
    if (&counter != &page[ReplicaCounter::kAppliedSlots]) counter.set(0);
  }
  for (auto* links : {&page.sent, &page.received}) {
    for (LinkCounters& link : *links) {
      link.messages.set(0);
      link.bytes.set(0);
    }
  }
  for (Counter& bucket : page.batch_commands) bucket.set(0);
  page.batch_commands_sum.set(0);
  page.incarnation.set_release(0);  // pairs with PageSnapshot: with this number come no values of its predecessor
}

// The replica is ready, and its page shows this incarnation's values.
inline void announce_incarnation(ReplicaPage& page, Incarnation incarnation) {
  page.incarnation.set_release(incarnation.value());  // pairs with applied_by and PageSnapshot
}

// What that incarnation has applied; nothing while the page does not show that it is ready. Later loads from the page
// return values of this incarnation, too, and not those that its predecessor left there.
inline std::optional<Slot> applied_by(const ReplicaPage& page, Incarnation incarnation) {
  if (page.incarnation.get_acquire() != incarnation.value()) return std::nullopt;  // pairs with announce_incarnation
  return Slot(page[ReplicaCounter::kAppliedSlots].get());
}

}  // namespace ingot::replication_pages
