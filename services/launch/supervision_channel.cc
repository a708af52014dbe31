#include "services/launch/supervision_channel.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/check.h"

namespace ingot::inline services_launch {

namespace {

using Received = SupervisionChannel::Received;

// Buffer for a datagram's ancillary data: one header with up to kSupervisionDescriptorsMax descriptors.
struct alignas(cmsghdr) DescriptorRoom {
  char bytes[CMSG_SPACE(kSupervisionDescriptorsMax * sizeof(int))] = {};
};

absl::Status send_failure(int error) {
  switch (error) {
    case EAGAIN:
    case EINTR:
    case ENOBUFS:
    case ENOMEM:
    case ETOOMANYREFS:  // too many descriptors of this user are in flight
    case EPERM:         // a stopped child has not accepted the connection, and takes no descriptors until then
      return absl::UnavailableError("the supervision channel is full");
    case EPIPE:
    case ECONNRESET:
    case ENOTCONN:
      return absl::FailedPreconditionError("the other end of the supervision channel is closed");
    default:
      return absl::InternalError(absl::StrCat("cannot send over the supervision channel: ", std::strerror(error)));
  }
}

std::vector<Descriptor> take_descriptors(msghdr& header) {
  std::vector<Descriptor> fds;
  for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr; part = CMSG_NXTHDR(&header, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof fd, sizeof fd);
      fds.emplace_back(fd);
    }
  }
  return fds;
}

void add_descriptors(msghdr& header, DescriptorRoom& room, std::span<const int> fds) {
  header.msg_control = room.bytes;
  header.msg_controllen = CMSG_SPACE(fds.size_bytes());
  cmsghdr* rights = CMSG_FIRSTHDR(&header);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(fds.size_bytes());
  std::memcpy(CMSG_DATA(rights), fds.data(), fds.size_bytes());
}

}  // namespace

void SupervisionChannel::close() {
  pending_.clear();
  fd_.reset();
}

absl::Status SupervisionChannel::send(const SupervisionMessage& message, std::span<const int> fds) {
  if (!open()) return absl::FailedPreconditionError("the supervision channel is closed");
  const std::string bytes = message.SerializeAsString();
  INGOT_CHECK(!bytes.empty(), "a datagram of no bytes would look like the end");
  INGOT_CHECK(bytes.size() <= kSupervisionMessageBytesMax, "the receiver would refuse the message");
  INGOT_CHECK(fds.size() <= kSupervisionDescriptorsMax, "more descriptors need more datagrams");
  iovec part{const_cast<char*>(bytes.data()), bytes.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  DescriptorRoom room;
  if (!fds.empty()) add_descriptors(header, room, fds);
  if (::sendmsg(fd(), &header, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) return send_failure(errno);
  ++sent_;
  return absl::OkStatus();
}

absl::Status SupervisionChannel::post(const SupervisionMessage& message) {
  if (!pending()) {
    const absl::Status sent = send(message);
    if (!absl::IsUnavailable(sent)) return sent;
  }
  std::erase_if(pending_, [&](const SupervisionMessage& each) { return each.kind_case() == message.kind_case(); });
  pending_.push_back(message);
  return absl::OkStatus();
}

absl::Status SupervisionChannel::flush() {
  absl::Status outcome;
  while (!pending_.empty()) {
    const absl::Status sent = send(pending_.front());
    if (absl::IsUnavailable(sent)) break;
    outcome.Update(sent);
    pending_.pop_front();
  }
  return outcome;
}

Received SupervisionChannel::receive() {
  Received received;
  char bytes[kSupervisionMessageBytesMax];
  iovec part{bytes, sizeof bytes};
  DescriptorRoom room;
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = room.bytes;
  header.msg_controllen = sizeof room.bytes;
  ssize_t size = ::recvmsg(fd(), &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  // If the other end closed with unread data, the kernel reports ECONNRESET once, before the datagrams that it had
  // sent.
  if (size < 0 && errno == ECONNRESET) size = ::recvmsg(fd(), &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (size < 0) {
    const bool nothing = errno == EAGAIN || errno == EINTR;
    received.outcome = nothing ? Received::Outcome::kNothing : Received::Outcome::kEnd;
    return received;
  }
  std::vector<Descriptor> fds = take_descriptors(header);
  if ((header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) {
    ++refused_;
    received.outcome = Received::Outcome::kTruncated;
  } else if (size == 0) {
    received.outcome = Received::Outcome::kEnd;
  } else if (auto message = decode_supervision_message({bytes, static_cast<std::size_t>(size)}, fds.size())) {
    received = {Received::Outcome::kMessage, *std::move(message), std::move(fds)};
  } else {
    ++refused_;
    received.outcome = Received::Outcome::kMalformed;
  }
  return received;
}

bool is_supervision_channel(int fd) {
  const auto option_is = [fd](int option, int expected) {
    int value = 0;
    socklen_t length = sizeof value;
    return ::getsockopt(fd, SOL_SOCKET, option, &value, &length) == 0 && value == expected;
  };
  return option_is(SO_DOMAIN, AF_UNIX) && option_is(SO_TYPE, SOCK_SEQPACKET);
}

}  // namespace ingot::services_launch
