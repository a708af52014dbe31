#include "services/handover/handover_state.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <iterator>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/planning/helper_cores.h"
#include "replication/stable/incarnation_segments.h"

namespace ingot::inline services_handover {

namespace {

// Replaces each descriptor fd of the document by replace(fd), in a fixed order.
template <typename Replace>
void replace_descriptors(LaunchSpec& spec, Replace&& replace) {
  spec.for_each_descriptor([&](int& fd) { fd = replace(fd); });
  for (int& fd : spec.fabric_fds) fd = replace(fd);
}

absl::Status refused() { return absl::InvalidArgumentError("the description of the instance is malformed"); }

}  // namespace

void HandoverState::replace(int& number, Descriptor fd) {
  drop(number);
  number = own(std::move(fd));
}

int HandoverState::own(Descriptor fd) {
  const int number = fd.get();
  if (fd.valid()) owned_[number] = std::move(fd);
  return number;
}

absl::StatusOr<HandoverState> HandoverState::copy(const LaunchSpec& spec) {
  HandoverState instance;
  instance.spec_ = spec;
  instance.spec_.control_fd = -1;
  int error = 0;
  replace_descriptors(instance.spec_, [&](int fd) {
    Descriptor duplicate(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
    if (!duplicate.valid()) error = errno;
    return duplicate.valid() ? instance.own(std::move(duplicate)) : -1;
  });
  instance.helper_cores_ = cores_without_loops(spec.replicas);
  if (error == 0) return instance;
  const std::string text = absl::StrCat("cannot keep the instance's descriptors: ", std::strerror(error));
  return error == EBADF ? absl::InvalidArgumentError(text) : absl::ResourceExhaustedError(text);
}

// Null: no endpoint of which incarnations are told.
std::uint32_t* HandoverState::incarnation_of(int endpoint) {
  const auto replicas = static_cast<int>(spec_.replicas.size());
  if (endpoint >= 0 && endpoint < replicas) return &spec_.replicas[endpoint].incarnation;
  if (endpoint == replicas) return &spec_.front_end_incarnation;
  return has_view(spec_.config) && endpoint == view_endpoint(spec_.config) ? &spec_.publisher_incarnation : nullptr;
}

absl::Status HandoverState::begin_incarnation(const supervision_v1::NewIncarnation& started,
                                              std::span<const Descriptor> fds) {
  const auto replicas = static_cast<int>(spec_.replicas.size());
  const int endpoint = started.endpoint();
  std::uint32_t* const known = incarnation_of(endpoint);
  if (known == nullptr || (endpoint >= replicas && started.ended())) return refused();
  const std::size_t inboxes =
      endpoint == replicas ? static_cast<std::size_t>(front_end_endpoints(spec_.config)) : 1;
  if (fds.size() != (endpoint >= replicas ? inboxes : started.ended() ? 1u : 2u)) return refused();
  std::uint32_t& newest = *known;
  if (started.incarnation() <= newest) return absl::AlreadyExistsError("the incarnation is known");
  std::vector<Descriptor> copies;
  for (const Descriptor& fd : fds) {
    copies.emplace_back(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0));
    if (copies.back().valid()) continue;
    return absl::ResourceExhaustedError(absl::StrCat("incarnation ", started.incarnation(), " of endpoint ", endpoint,
                                                     " cannot be taken up: ", std::strerror(errno)));
  }
  for (std::size_t i = 0; i < inboxes && !started.ended(); ++i) {
    replace(spec_.fabric_fds[1 + static_cast<std::size_t>(endpoint) + i], std::move(copies[i]));
  }
  if (endpoint < replicas) {
    ReplicaLaunch& launch = spec_.replicas[endpoint];
    launch.earlier.push_back({launch.incarnation, launch.stable_fd});
    launch.stable_fd = own(std::move(copies.back()));
  }
  newest = started.incarnation();
  if (endpoint < replicas) set_earlier(spec_.replicas[endpoint], kept_of(started));
  return absl::OkStatus();
}

bool HandoverState::keep_incarnations(const supervision_v1::KeptIncarnations& kept) {
  if (kept.endpoint() < 0 || kept.endpoint() >= static_cast<int>(spec_.replicas.size())) return false;
  set_earlier(spec_.replicas[kept.endpoint()], kept_of(kept));
  return true;
}

void HandoverState::set_earlier(ReplicaLaunch& launch, std::span<const Incarnation> kept) {
  std::deque<EarlierIncarnation> segments(launch.earlier.begin(), launch.earlier.end());
  segments.push_back({launch.incarnation, launch.stable_fd});
  const auto dropped =
      keep_listed(segments, kept, [](Incarnation unknown) { return EarlierIncarnation{unknown.value(), -1}; });
  segments.pop_back();
  launch.earlier.assign(segments.begin(), segments.end());
  std::vector<Descriptor> closed;
  for (const EarlierIncarnation& each : dropped) closed.push_back(take(each.stable_fd));
  if (!closed.empty()) release_in_background(std::move(closed), helper_cores_);
}

void HandoverState::keep_snapshot(const supervision_v1::Snapshot& published, Descriptor snapshot) {
  if (spec_.snapshot_fd >= 0 && published.slot() <= spec_.snapshot_slot) return;
  if (spec_.snapshot_fd >= 0) release_in_background(take(spec_.snapshot_fd), helper_cores_);
  spec_.snapshot_fd = own(std::move(snapshot));
  spec_.snapshot_slot = published.slot();
}

absl::Status HandoverState::keep_socket(const supervision_v1::NewSocket& bound, const Descriptor& fd) {
  if (bound.binding() <= spec_.socket.binding) return absl::AlreadyExistsError("the socket is known");
  Descriptor duplicate(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0));
  if (!duplicate.valid()) {
    return absl::ResourceExhaustedError(absl::StrCat("the new Unix socket cannot be taken up: ",
                                                     std::strerror(errno)));
  }
  replace(spec_.socket.fd, std::move(duplicate));
  spec_.socket.binding = bound.binding();
  spec_.socket.file = {bound.device(), bound.inode()};
  return absl::OkStatus();
}

void HandoverState::describe(supervision_v1::Orphaned& greeting) const {
  std::uint32_t unknown = 0;
  for (const ReplicaLaunch& launch : spec_.replicas) {
    greeting.add_incarnations(launch.incarnation);
    for (const EarlierIncarnation& each : launch.earlier) unknown += each.stable_fd < 0 ? 1 : 0;
    unknown += launch.stable_fd < 0 ? 1 : 0;
  }
  greeting.add_incarnations(spec_.front_end_incarnation);
  greeting.add_incarnations(spec_.publisher_incarnation);
  greeting.set_snapshot_slot(spec_.snapshot_slot);
  greeting.set_binding(spec_.socket.binding);
  greeting.set_view_binding(spec_.view_socket.binding);
  greeting.set_unknown(unknown);
}

void HandoverState::merge(HandoverState other) {
  const std::size_t replicas = std::min(spec_.replicas.size(), other.spec_.replicas.size());
  for (std::size_t id = 0; id < replicas; ++id) {
    const ReplicaLaunch& theirs = other.spec_.replicas[id];
    if (theirs.incarnation > spec_.replicas[id].incarnation) {
      replace(spec_.fabric_fds[1 + id], other.take(other.spec_.fabric_fds[1 + id]));
      take_newer(spec_.replicas[id], other, theirs);
    } else {
      complete(spec_.replicas[id], other, theirs);
    }
  }
  if (other.spec_.front_end_incarnation > spec_.front_end_incarnation) {
    spec_.front_end_incarnation = other.spec_.front_end_incarnation;
    const std::size_t inboxes = static_cast<std::size_t>(front_end_endpoints(spec_.config));
    for (std::size_t inbox = 1 + replicas; inbox < 1 + replicas + inboxes; ++inbox) {
      replace(spec_.fabric_fds[inbox], other.take(other.spec_.fabric_fds[inbox]));
    }
  }
  if (has_view(spec_.config) && other.spec_.publisher_incarnation > spec_.publisher_incarnation) {
    spec_.publisher_incarnation = other.spec_.publisher_incarnation;
    const auto inbox = static_cast<std::size_t>(1 + view_endpoint(spec_.config));
    replace(spec_.fabric_fds[inbox], other.take(other.spec_.fabric_fds[inbox]));
  }
  take_newer(spec_.socket, other, other.spec_.socket);
  take_newer(spec_.view_socket, other, other.spec_.view_socket);
  if (other.spec_.snapshot_slot > spec_.snapshot_slot && other.spec_.snapshot_fd >= 0) {
    replace(spec_.snapshot_fd, other.take(other.spec_.snapshot_fd));
    spec_.snapshot_slot = other.spec_.snapshot_slot;
  }
}

void HandoverState::take_newer(SocketLaunch& mine, HandoverState& other, const SocketLaunch& theirs) {
  if (theirs.binding <= mine.binding) return;
  replace(mine.fd, other.take(theirs.fd));
  mine.binding = theirs.binding;
  mine.file = theirs.file;
}

// Of the process that knows the newer incarnation the list of kept segments is the newer one, too.
void HandoverState::take_newer(ReplicaLaunch& mine, HandoverState& other, const ReplicaLaunch& theirs) {
  ReplicaLaunch before = mine;
  before.earlier.push_back({mine.incarnation, mine.stable_fd});
  mine.incarnation = theirs.incarnation;
  mine.stable_fd = own(other.take(theirs.stable_fd));
  mine.earlier = theirs.earlier;
  for (EarlierIncarnation& each : mine.earlier) {
    if (each.stable_fd >= 0) {
      each.stable_fd = own(other.take(each.stable_fd));
    } else {
      const auto here = std::find_if(before.earlier.begin(), before.earlier.end(),
                                     [&](const auto& known) { return known.incarnation == each.incarnation; });
      if (here != before.earlier.end()) each.stable_fd = std::exchange(here->stable_fd, -1);
    }
  }
  for (const EarlierIncarnation& each : before.earlier) drop(each.stable_fd);
}

// Fills in the segments that are unknown here.
void HandoverState::complete(ReplicaLaunch& mine, HandoverState& other, const ReplicaLaunch& theirs) {
  const auto take_from_them = [&](std::uint32_t incarnation) {
    if (theirs.incarnation == incarnation) return own(other.take(theirs.stable_fd));
    for (const EarlierIncarnation& each : theirs.earlier) {
      if (each.incarnation == incarnation) return own(other.take(each.stable_fd));
    }
    return -1;
  };
  if (mine.stable_fd < 0) mine.stable_fd = take_from_them(mine.incarnation);
  for (EarlierIncarnation& each : mine.earlier) {
    if (each.stable_fd < 0) each.stable_fd = take_from_them(each.incarnation);
  }
}

absl::Status HandoverState::send(SupervisionChannel& channel) const {
  const auto document = write_launch_spec(spec_);
  if (!document.ok()) return document.status();
  std::vector<int> fds;
  LaunchSpec spec = spec_;
  replace_descriptors(spec, [&](int each) {
    fds.push_back(each);
    return each;
  });
  const int documents[] = {document->get()};
  SupervisionMessage first, more;
  first.mutable_handover_document()->set_descriptors(static_cast<std::uint32_t>(fds.size()));
  more.mutable_handover_descriptors();
  if (auto status = channel.send(first, documents); !status.ok()) return status;
  std::span<const int> rest(fds);
  while (!rest.empty()) {
    const auto part = rest.first(std::min(rest.size(), kSupervisionDescriptorsMax));
    if (auto status = channel.send(more, part); !status.ok()) return status;
    rest = rest.subspan(part.size());
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> HandoverStateReceiver::add(const SupervisionMessage& message, std::vector<Descriptor> fds) {
  if (expected_ == 0) {
    if (!message.has_handover_document() || fds.size() != 1) return refused();
    expected_ = message.handover_document().descriptors();
    auto spec = read_launch_spec(fds[0].get());
    if (!spec.ok()) return spec.status();
    instance_.spec_ = *std::move(spec);
    return false;
  }
  if (!message.has_handover_descriptors()) return refused();
  std::move(fds.begin(), fds.end(), std::back_inserter(received_));
  if (received_.size() < expected_) return false;
  return assemble();
}

absl::StatusOr<bool> HandoverStateReceiver::assemble() {
  std::size_t next = 0;
  bool enough = true;
  replace_descriptors(instance_.spec_, [&](int) {
    enough = enough && next < received_.size();
    return enough ? instance_.own(std::move(received_[next++])) : -1;
  });
  if (!enough || next != received_.size()) return refused();
  return true;
}

}  // namespace ingot::services_handover
