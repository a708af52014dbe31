#include "tests/chaos/lease_records.h"

#include <algorithm>
#include <map>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "replication/store/limits.h"

namespace ingot::chaos {
namespace {

constexpr std::uint64_t kMsNs = 1'000'000;
// One tick that follows a pause may count so much of it.
constexpr std::uint64_t kCountedOfStopNs = kTickMaxMs * kMsNs;

std::string words(const SeenEvent& event) {
  return absl::StrCat(event.deleted ? "delete of " : "put of ", event.key, " at revision ", event.revision);
}

std::uint64_t overlap_ns(const Span& a, const Span& b) {
  const std::uint64_t from = std::max(a.from_ns, b.from_ns);
  const std::uint64_t to = std::min(a.to_ns, b.to_ns);
  return to > from ? to - from : 0;
}

// How long the group ran in the span, at most.
std::uint64_t ran_ns(const Span& span, const std::vector<Span>& stops) {
  std::uint64_t stopped = 0;
  for (const Span& stop : stops) {
    const std::uint64_t pause = overlap_ns(span, stop);
    stopped += pause > kCountedOfStopNs ? pause - kCountedOfStopNs : 0;
  }
  return span.to_ns - span.from_ns - stopped;
}

// When each key was first seen to vanish.
std::map<std::string, std::uint64_t> first_deletes(const std::vector<SeenEvents>& watchers) {
  std::map<std::string, std::uint64_t> found;
  for (const SeenEvents& events : watchers) {
    for (const SeenEvent& event : events) {
      if (!event.deleted) continue;
      const auto [at, inserted] = found.try_emplace(event.key, event.seen_ns);
      if (!inserted) at->second = std::min(at->second, event.seen_ns);
    }
  }
  return found;
}

// When the lease was first known to have ended by itself; nothing: it was given up before, or nobody knows of its end.
std::optional<std::uint64_t> ended_ns(const LeaseRecord& lease, const std::map<std::string, std::uint64_t>& deletes) {
  std::uint64_t first = lease.refused_ns != 0 ? lease.refused_ns : ~std::uint64_t{0};
  if (const auto seen = deletes.find(lease.key); seen != deletes.end()) first = std::min(first, seen->second);
  if (first == ~std::uint64_t{0} || (lease.given_up_ns != 0 && lease.given_up_ns <= first)) return std::nullopt;
  return first;
}

}  // namespace

std::string find_event_violation(const std::vector<SeenEvents>& watchers, const SeenEvents& reference, bool whole) {
  for (std::size_t i = 0; i < watchers.size(); ++i) {
    const SeenEvents& events = watchers[i];
    for (std::size_t at = 0; at < std::min(events.size(), reference.size()); ++at) {
      if (events[at].same(reference[at])) continue;
      return absl::StrCat("watcher ", i, " saw as event ", at, " the ", words(events[at]), ", not the ",
                          words(reference[at]));
    }
    if (events.size() > reference.size()) {
      return absl::StrCat("watcher ", i, " saw the ", words(events[reference.size()]), ", which never was");
    }
    if (whole && events.size() < reference.size()) {
      return absl::StrCat("watcher ", i, " never saw the ", words(reference[events.size()]));
    }
  }
  return "";
}

std::string find_shared_lock(std::vector<Tenure> tenures) {
  std::sort(tenures.begin(), tenures.end(), [](const Tenure& a, const Tenure& b) {
    return std::pair(a.lock, a.span.from_ns) < std::pair(b.lock, b.span.from_ns);
  });
  for (std::size_t i = 1; i < tenures.size(); ++i) {
    const Tenure& before = tenures[i - 1];
    const Tenure& after = tenures[i];
    if (before.lock != after.lock) continue;
    const auto both = [&] {
      return absl::StrCat("lock ", after.lock, ": leases ", before.lease, " and ", after.lease);
    };
    if (after.span.from_ns < before.span.to_ns) {
      return absl::StrCat(both(), " held it at once for ",
                          (std::min(before.span.to_ns, after.span.to_ns) - after.span.from_ns) / kMsNs, " ms");
    }
    if (after.revision <= before.revision) {
      return absl::StrCat(both(), " held it one after another, with keys of revisions ", before.revision, " and ",
                          after.revision);
    }
  }
  return "";
}

std::string find_early_end(const std::vector<LeaseRecord>& leases, const std::vector<SeenEvents>& watchers,
                           const Disturbances& disturbances) {
  const auto deletes = first_deletes(watchers);
  for (const LeaseRecord& lease : leases) {
    const auto ended = ended_ns(lease, deletes);
    if (!ended) continue;
    if (*ended < lease.asked_ns) {
      return absl::StrCat("the lease of ", lease.key, " was kept alive after its key had vanished");
    }
    const std::uint64_t ran = ran_ns({lease.asked_ns, *ended}, disturbances.stops);
    if (ran >= lease.ttl_ns) continue;
    return absl::StrCat("the lease of ", lease.key, ", of ", lease.ttl_ns / kMsNs, " ms, ended ", ran / kMsNs,
                        " ms of the group's time after its last keep-alive");
  }
  return "";
}

Lateness lateness(const std::vector<LeaseRecord>& leases, const std::vector<SeenEvents>& watchers,
                  const Disturbances& disturbances) {
  const auto deletes = first_deletes(watchers);
  std::vector<std::uint64_t> times = disturbances.times;
  for (const Span& stop : disturbances.stops) times.push_back(stop.to_ns);
  std::sort(times.begin(), times.end());
  Lateness found;
  for (const LeaseRecord& lease : leases) {
    if (lease.attached && !deletes.contains(lease.key)) ++found.left;
    const auto ended = ended_ns(lease, deletes);
    if (!ended) continue;
    ++found.ended;
    std::uint64_t begins = lease.touched_ns;
    const auto after = std::upper_bound(times.begin(), times.end(), *ended);
    if (after != times.begin()) begins = std::max(begins, *std::prev(after));
    const std::uint64_t due = begins + lease.ttl_ns;
    if (*ended <= due || *ended - due <= found.most_ns) continue;
    found.most_ns = *ended - due;
    found.whose = lease.key;
  }
  return found;
}

}  // namespace ingot::chaos
