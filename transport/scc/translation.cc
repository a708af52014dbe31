// The address translation tables: their initial content, their valid entries, and the target of an entry.
#include "absl/strings/str_cat.h"
#include "transport/scc/chip.h"
#include "transport/scc/chip_state.h"
#include "transport/scc/core.h"

namespace ingot::scc::inline transport_scc {

int private_page(int core, int index) { return core * kPrivateEntries + index; }
int shared_page(int index) { return kCores * kPrivateEntries + index; }

std::byte* ChipState::page_bytes(int page) const {
  const std::size_t private_pages = options.private_bytes / kLutEntryBytes;
  if (page >= shared_page(0)) {
    return memory.at((kCores * private_pages + static_cast<std::size_t>(page - shared_page(0))) * kLutEntryBytes);
  }
  const auto index = static_cast<std::size_t>(page % kPrivateEntries);
  if (index >= private_pages) return nullptr;
  return memory.at((static_cast<std::size_t>(page / kPrivateEntries) * private_pages + index) * kLutEntryBytes);
}

int ChipState::page_controller(int page) const {
  return page >= shared_page(0) ? page - shared_page(0) : controller_of(page / kPrivateEntries);
}

Route ChipState::route_of(const CoreState& core, LutEntry value) const {
  Route route;
  if (value.target == LutEntry::Target::kNothing || value.type == MemoryType::kNone) return route;
  auto* self = const_cast<ChipState*>(this);
  route.type = value.type;
  route.target = value.target;
  if (value.target == LutEntry::Target::kMpb) {
    const std::size_t tile = value.page;
    route.server = static_cast<std::uint8_t>(tile);
    route.routers = static_cast<std::uint8_t>(
        costs.posted_writes && core.tile == static_cast<int>(tile) ? 0 : routers(core.tile, static_cast<int>(tile)));
    route.bytes = self->mpb[tile].data();
    route.size = kTileStride;
    route.watch_base = tile * kTileStride;
    route.port = &self->mpb_ports[tile];
  } else {
    const int controller = page_controller(value.page);
    route.server = static_cast<std::uint8_t>(controller);
    route.routers = static_cast<std::uint8_t>(routers(core.tile, controller_tile(controller)));
    route.bytes = page_bytes(value.page);
    route.size = kLutEntryBytes;
    route.watch_base = WatchKey::kMemory + std::uint64_t{value.page} * kLutEntryBytes;
    route.port = &self->memory_ports[static_cast<std::size_t>(controller)];
  }
  return route;
}

void ChipState::set_up_lut(CoreState& core) const {
  using Target = LutEntry::Target;
  const auto set = [&](int entry, LutEntry value) {
    core.lut[static_cast<std::size_t>(entry)] = value;
    core.routes[static_cast<std::size_t>(entry)] = route_of(core, value);
  };
  const int private_pages = static_cast<int>(options.private_bytes / kLutEntryBytes);
  for (int i = 0; i < private_pages; ++i) {
    set(i, {Target::kMemory, MemoryType::kCached, static_cast<std::uint16_t>(private_page(core.id, i))});
  }
  for (int i = 0; i < kSharedEntries; ++i) {
    set(kSharedEntry + i, {Target::kMemory, options.shared_type, static_cast<std::uint16_t>(shared_page(i))});
  }
  for (int tile = 0; tile < kTiles; ++tile) {
    set(kMpbEntry + tile, {Target::kMpb, MemoryType::kMpbTyped, static_cast<std::uint16_t>(tile)});
  }
}

absl::Status ChipState::check_lut(const CoreState& core, int entry, LutEntry value) const {
  if (entry < 0 || entry >= kLutEntries) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no LUT entry ", entry, ": entries are numbered from 0 to ", kLutEntries - 1));
  }
  if (value.target == LutEntry::Target::kNothing) return absl::OkStatus();
  if (value.type == MemoryType::kNone) return absl::InvalidArgumentError("a LUT entry that leads somewhere has a type");
  if (value.target == LutEntry::Target::kMpb) {
    if (value.page >= kTiles) {
      return absl::InvalidArgumentError(
          absl::StrCat("there is no tile ", value.page, ": tiles are numbered from 0 to ", kTiles - 1));
    }
    if (value.type == MemoryType::kCached) return absl::InvalidArgumentError("an MPB is uncached or MPB-typed");
    return absl::OkStatus();
  }
  if (value.page >= pages() || page_bytes(value.page) == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("there is no memory page ", value.page));
  }
  for (const auto& other : cores) {
    const CoreState& state = other->state();
    for (int i = 0; i < kLutEntries; ++i) {
      const LutEntry& theirs = state.lut[static_cast<std::size_t>(i)];
      if (theirs.target != LutEntry::Target::kMemory || theirs.page != value.page) continue;
      if (state.id == core.id && i == entry) continue;
      if (value.type == MemoryType::kCached || theirs.type == MemoryType::kCached) {
        return absl::FailedPreconditionError(
            absl::StrCat("page ", value.page, " is mapped by core ", state.id, " at entry ", i,
                         ": a page that is cached has one mapping, since nothing keeps caches coherent"));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace ingot::scc::transport_scc
