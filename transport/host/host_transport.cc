#include "transport/host/host_transport.h"

#include <utility>

#include "transport/channel_endpoint.h"
#include "transport/host/host_memory.h"
#include "transport/limits.h"
#include "transport/nvp_channel.h"
#include "transport/srbp_channel.h"

namespace ingot::inline transport_host {
namespace {

using Nvp = NvpChannel<HostMemory>;
using Srbp = SrbpChannel<HostMemory>;

NvpLayout nvp_layout(int endpoints) { return {endpoints, kNvpSlotsPerSender, kNvpBulkBytes}; }
SrbpLayout srbp_layout(int endpoints) { return {endpoints, kSrbpSlotsPerSender}; }

}  // namespace

std::size_t inbox_bytes(TransportKind kind, int endpoints) {
  const bool nvp = kind == TransportKind::kNvp;
  const std::uint32_t lines = nvp ? nvp_layout(endpoints).inbox_lines(HostMemory::kLineBytes)
                                  : srbp_layout(endpoints).inbox_lines(HostMemory::kLineBytes);
  return lines * HostMemory::kLineBytes;
}

std::unique_ptr<ChannelTransport> make_transport(TransportKind kind, std::vector<std::span<std::byte>> inboxes,
                                                 EndpointId self, Waker& waker, std::vector<LinkHooks> links) {
  const int endpoints = static_cast<int>(inboxes.size());
  HostMemory memory(self, std::move(inboxes));
  if (kind == TransportKind::kSrbp) {
    return std::make_unique<ChannelEndpoint<Srbp>>(Srbp(std::move(memory), srbp_layout(endpoints)), &waker,
                                                   std::move(links));
  }
  return std::make_unique<ChannelEndpoint<Nvp>>(Nvp(std::move(memory), nvp_layout(endpoints)), &waker,
                                                std::move(links));
}

}  // namespace ingot::transport_host
