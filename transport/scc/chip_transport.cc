#include "transport/scc/chip_transport.h"

#include <algorithm>
#include <bitset>
#include <string>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "core/enum_names.h"
#include "transport/channel_endpoint.h"
#include "transport/nvp_channel.h"
#include "transport/srbp_channel.h"

namespace ingot::scc::inline transport_scc {
namespace {

using Nvp = NvpChannel<SccMemory>;
using Srbp = SrbpChannel<SccMemory>;

// Polls of a probe that find the next place empty, before one scan of all places. On the host a place costs a cache
// hit; here it is a line over the mesh, some 3000 cycles for all with 48 endpoints.
constexpr int kPollsPerScan = 64;

constexpr int kSlotsMax = 64;  // of one sender in one inbox; more would only lengthen its queue

absl::Status check_cores(std::span<const int> cores) {
  if (cores.empty()) return absl::InvalidArgumentError("a fabric needs at least one core");
  std::bitset<kCores> taken;
  for (const int core : cores) {
    if (!is_core(core)) {
      return absl::InvalidArgumentError(
          absl::StrCat("there is no core ", core, ": cores are numbered from 0 to ", kCores - 1));
    }
    if (taken.test(static_cast<std::size_t>(core))) {
      return absl::InvalidArgumentError(absl::StrCat("core ", core, " is named twice: a core has one endpoint"));
    }
    taken.set(static_cast<std::size_t>(core));
  }
  return absl::OkStatus();
}

std::uint32_t lines_for(TransportKind kind, int endpoints, int slots) {
  return kind == TransportKind::kNvp ? NvpLayout{endpoints, slots}.inbox_lines(kLineBytes)
                                     : SrbpLayout{endpoints, slots}.inbox_lines(kLineBytes);
}

// SRBP's receiver polls a single word. Lines behind a hole, which a stopped sender leaves, are elsewhere, so every
// kCyclesPerScan it scans all places. It does not scan an inbox that was not written since the last scan, so that a
// chip whose cores all wait for good is recognized as a deadlock. `touched`: any write to the watched lines ends the
// wait.
bool wait_for_srbp(Core& core, ChannelEndpoint<Srbp>& transport, std::span<const Watch> watch, Picoseconds deadline_ps,
                   bool touched) {
  constexpr std::uint64_t kCyclesPerScan = 10'000;
  constexpr const char* kWhat = "a message";
  Srbp& channel = transport.channel();
  for (;;) {
    int polls = 0;
    const auto poll = [&] { return (++polls > 1 && touched) || channel.next_is_there(); };
    const Picoseconds scan_ps = core.now_ps() + core.costs().core_cycles(kCyclesPerScan);
    if (core.wait_until(watch, poll, std::min(scan_ps, deadline_ps), kWhat)) return true;
    if (core.now_ps() >= deadline_ps) return false;
    bool found = false, written = false;
    polls = 0;
    const auto scan_then_poll = [&] {
      if (++polls == 1) {
        found = channel.readable();
        if (!found) written = core.poll_again();
        return found;
      }
      found = (polls > 2 && touched) || channel.next_is_there();
      return found || written || polls > 2;
    };
    if (!core.wait_until(watch, scan_then_poll, deadline_ps, kWhat)) return false;
    if (found) return true;
  }
}

}  // namespace

absl::StatusOr<ChipFabric> lay_out(TransportKind kind, std::span<const int> cores, std::uint32_t first_line,
                                   std::uint32_t lines) {
  if (auto status = check_cores(cores); !status.ok()) return status;
  if (first_line > kMpbLinesPerCore || lines > kMpbLinesPerCore - first_line) {
    return absl::InvalidArgumentError(absl::StrCat("lines ", first_line, " to ", std::uint64_t{first_line} + lines - 1,
                                                   " are not all in an MPB, which has ", kMpbLinesPerCore));
  }
  const int endpoints = static_cast<int>(cores.size());
  int slots = kSlotsMax;
  while (slots > 0 && lines_for(kind, endpoints, slots) > lines) slots /= 2;
  if (slots == 0) {
    return absl::InvalidArgumentError(absl::StrCat(endpoints, " endpoints do not fit into ", lines,
                                                   " lines of an MPB with ", name_of(kind), ": they need ",
                                                   lines_for(kind, endpoints, 1)));
  }
  ChipFabric fabric{kind, {cores.begin(), cores.end()}, {}, slots};
  for (const int core : cores) {
    fabric.inboxes.push_back({mpb_line(core, first_line), lines_for(kind, endpoints, slots), core, core});
  }
  return fabric;
}

std::unique_ptr<Transport> make_chip_transport(const ChipFabric& fabric, Core& core, EndpointId self,
                                               std::vector<LinkHooks> links, Site weakened) {
  INGOT_CHECK(self.value() < fabric.cores.size() && fabric.cores[self.value()] == core.id());
  const int endpoints = static_cast<int>(fabric.cores.size());
  SccMemory memory(core, self, fabric.inboxes, TicketKind::kCounter, weakened);
  if (fabric.kind == TransportKind::kSrbp) {
    const SrbpLayout layout{endpoints, fabric.slots_per_sender, kPollsPerScan};
    return std::make_unique<ChannelEndpoint<Srbp>>(Srbp(std::move(memory), layout), nullptr, std::move(links));
  }
  return std::make_unique<ChannelEndpoint<Nvp>>(Nvp(std::move(memory), {endpoints, fabric.slots_per_sender}), nullptr,
                                                std::move(links));
}

bool wait_readable(const ChipFabric& fabric, Core& core, Transport& transport, Picoseconds deadline_ps,
                   std::span<const EndpointId> full) {
  absl::InlinedVector<Watch, 4> watch;
  const auto add = [&](EndpointId endpoint) {
    const Inbox& inbox = fabric.inboxes[endpoint.value()];
    watch.push_back({inbox.base, inbox.lines * kLineBytes});
  };
  add(transport.self());
  for (const EndpointId peer : full) add(peer);
  if (auto* const srbp = dynamic_cast<ChannelEndpoint<Srbp>*>(&transport); srbp != nullptr) {
    return wait_for_srbp(core, *srbp, watch, deadline_ps, !full.empty());
  }
  int polls = 0;
  const auto poll = [&] { return (++polls > 1 && !full.empty()) || transport.readable(); };
  return core.wait_until(watch, poll, deadline_ps, "a message");
}

}  // namespace ingot::scc::transport_scc
