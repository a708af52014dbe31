#include "transport/host/fabric.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/check.h"
#include "core/limits.h"
#include "transport/host/fence.h"
#include "transport/host/limits.h"

namespace ingot::inline transport_host {
namespace {

constexpr std::uint64_t kFabricMagic = 0x32'6369'7262'6166;  // "fabric2", low byte first
constexpr std::size_t kLineBytes = 64;

// create stores it before any child exists; constant afterwards.
struct alignas(kLineBytes) FabricHeader {
  std::uint64_t magic;
  std::uint64_t endpoints;
  std::uint64_t inbox_bytes;
};
static_assert(sizeof(FabricHeader) == sizeof(SleepingWord) && sizeof(SleepingWord) == kLineBytes);

// Bytes of a row of accepted[][]: one receiver's.
std::size_t row_bytes(int endpoints) {
  const std::size_t bytes = static_cast<std::size_t>(endpoints) * sizeof(std::uint32_t);
  return (bytes + kLineBytes - 1) / kLineBytes * kLineBytes;
}

std::size_t rows_offset(int endpoints) {
  return sizeof(FabricHeader) + static_cast<std::size_t>(endpoints) * sizeof(SleepingWord);
}

std::size_t control_bytes(int endpoints) {
  return round_up_to_pages(rows_offset(endpoints) + static_cast<std::size_t>(endpoints) * row_bytes(endpoints));
}

absl::Status bad_descriptors(std::span<const int> descriptors, const char* why) {
  return absl::InvalidArgumentError(
      absl::StrCat("the descriptors ", absl::StrJoin(descriptors, ","), " are not a fabric's: ", why));
}

// Takes ownership of the descriptors; of none if one is not open.
absl::StatusOr<std::vector<Descriptor>> take_descriptors(std::span<const int> descriptors) {
  std::vector<Descriptor> fds;
  for (const int fd : descriptors) {
    if (!set_inherited(fd, false)) {
      for (Descriptor& taken : fds) taken.release();  // ownership stays with the caller
      return bad_descriptors(descriptors, "one is not open");
    }
    fds.emplace_back(fd);
  }
  return fds;
}

}  // namespace

Fabric::Fabric(std::string name, Segment control, Descriptor fd, std::size_t inbox_bytes)
    : name_(std::move(name)), control_(std::move(control)), control_fd_(std::move(fd)), inbox_bytes_(inbox_bytes) {}

absl::StatusOr<Segment> Fabric::map_inbox(int fd) const {
  auto memory = Segment::map(fd, Segment::Access::kReadWrite);
  if (!memory.ok() || memory->size() == inbox_bytes_) return memory;
  return absl::InvalidArgumentError(
      absl::StrCat("an inbox of this fabric has ", inbox_bytes_, " bytes, not ", memory->size()));
}

absl::StatusOr<Fabric::Inbox> Fabric::open_inbox(Descriptor fd) const {
  auto memory = map_inbox(fd.get());
  if (!memory.ok()) return memory.status();
  return Inbox{std::move(fd), *std::move(memory)};
}

absl::StatusOr<Fabric> Fabric::create(const std::string& name, int endpoints, std::size_t inbox_bytes) {
  if (endpoints < 1 || endpoints > kEndpointsMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("a fabric cannot have ", endpoints, " endpoints: 1 to ", kEndpointsMax, " are allowed"));
  }
  if (inbox_bytes == 0 || inbox_bytes > kSegmentBytesMax / kEndpointsMax) {
    return absl::InvalidArgumentError(absl::StrCat("an inbox cannot have ", inbox_bytes, " bytes: 1 to ",
                                                   kSegmentBytesMax / kEndpointsMax, " are allowed"));
  }
  inbox_bytes = round_up_to_pages(inbox_bytes);
  auto fd = create_segment(name, control_bytes(endpoints));
  if (!fd.ok()) return fd.status();
  auto control = Segment::map(fd->get(), Segment::Access::kReadWrite);
  if (!control.ok()) return control.status();
  *control->as<FabricHeader>() = {kFabricMagic, static_cast<std::uint64_t>(endpoints), inbox_bytes};
  Fabric fabric(name, *std::move(control), *std::move(fd), inbox_bytes);
  fabric.inboxes_.resize(static_cast<std::size_t>(endpoints));
  for (std::uint16_t i = 0; i < endpoints; ++i) {
    auto bell = Doorbell::create();
    if (!bell.ok()) return bell.status();
    fabric.bells_.push_back(*std::move(bell));
    if (auto inbox = fabric.renew_inbox(EndpointId(i)); !inbox.ok()) return inbox.status();
  }
  for (std::uint16_t receiver = 0; receiver < endpoints; ++receiver) {
    for (std::uint16_t sender = 0; sender < endpoints; ++sender) {
      fabric.accepted_word(EndpointId(receiver), EndpointId(sender)).store(1, std::memory_order_relaxed);
    }
  }
  return fabric;
}

absl::StatusOr<Fabric> Fabric::attach(std::span<const int> descriptors) {
  if (descriptors.empty()) return bad_descriptors(descriptors, "there are none");
  auto fds = take_descriptors(descriptors);
  if (!fds.ok()) return fds.status();
  auto control = Segment::map((*fds)[0].get(), Segment::Access::kReadWrite);
  if (!control.ok()) return control.status();
  const std::size_t endpoints = (fds->size() - 1) / 2;
  const FabricHeader header = *control->as<FabricHeader>();
  if (header.magic != kFabricMagic) return bad_descriptors(descriptors, "the memory has another layout");
  if (endpoints < 1 || endpoints > kEndpointsMax || fds->size() != 1 + 2 * endpoints || header.endpoints != endpoints ||
      control->size() != control_bytes(static_cast<int>(endpoints))) {
    return bad_descriptors(descriptors, "the memory was made for another number of endpoints");
  }
  Fabric fabric("", *std::move(control), std::move((*fds)[0]), header.inbox_bytes);
  for (std::size_t i = 1; i <= endpoints; ++i) {
    auto inbox = fabric.open_inbox(std::move((*fds)[i]));
    if (!inbox.ok()) return inbox.status();
    fabric.inboxes_.push_back(*std::move(inbox));
    fabric.bells_.emplace_back(std::move((*fds)[endpoints + i]));
  }
  return fabric;
}

std::vector<int> Fabric::descriptors() const {
  std::vector<int> fds{control_fd_.get()};
  for (const Inbox& inbox : inboxes_) fds.push_back(inbox.fd.get());
  for (const Doorbell& bell : bells_) fds.push_back(bell.fd());
  return fds;
}

std::span<std::byte> Fabric::inbox(EndpointId endpoint) const {
  INGOT_CHECK(endpoint.value() < inboxes_.size(), "endpoints are numbered from 0");
  return inboxes_[endpoint.value()].memory.bytes();
}

absl::StatusOr<int> Fabric::renew_inbox(EndpointId endpoint) {
  INGOT_CHECK(endpoint.value() < inboxes_.size(), "endpoints are numbered from 0");
  auto fd = create_segment(absl::StrCat(name_, "-inbox-", endpoint.value()), inbox_bytes_);
  if (!fd.ok()) return fd.status();
  auto inbox = open_inbox(*std::move(fd));
  if (!inbox.ok()) return inbox.status();
  inboxes_[endpoint.value()] = *std::move(inbox);
  return inboxes_[endpoint.value()].fd.get();
}

SharedCell<std::uint32_t>& Fabric::accepted_word(EndpointId receiver, EndpointId sender) const {
  INGOT_CHECK(receiver.value() < inboxes_.size() && sender.value() < inboxes_.size(), "endpoints are numbered from 0");
  std::byte* const row = control_.data() + rows_offset(endpoints()) + receiver.value() * row_bytes(endpoints());
  return reinterpret_cast<SharedCell<std::uint32_t>*>(row)[sender.value()];
}

void Fabric::accept(EndpointId receiver, EndpointId sender, Incarnation incarnation) {
  accepted_word(receiver, sender).store(incarnation.value(), std::memory_order_release);
  notify(sender);
}

Incarnation Fabric::accepted(EndpointId receiver, EndpointId sender) const {
  return Incarnation(accepted_word(receiver, sender).load(std::memory_order_acquire));
}

SleepingWord& Fabric::sleeping(EndpointId endpoint) const {
  INGOT_CHECK(endpoint.value() < bells_.size(), "endpoints are numbered from 0");
  return reinterpret_cast<SleepingWord*>(control_.data() + sizeof(FabricHeader))[endpoint.value()];
}

const Doorbell& Fabric::bell(EndpointId endpoint) const {
  INGOT_CHECK(endpoint.value() < bells_.size(), "endpoints are numbered from 0");
  return bells_[endpoint.value()];
}

void Fabric::notify(EndpointId receiver) {
  store_load_fence();
  if (asleep(receiver)) ring(receiver);
}

}  // namespace ingot::transport_host
