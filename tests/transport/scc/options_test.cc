// Invalid options are refused with one sentence; address translation tables; the table of constants.
#include "tests/transport/scc/make_chip.h"

#include <array>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "transport/scc/chip_transport.h"

using namespace ingot;
using namespace ingot::scc;
using namespace ingot::test;

namespace {

constexpr LutEntry::Target kMemory = LutEntry::Target::kMemory;
constexpr LutEntry::Target kMpb = LutEntry::Target::kMpb;

void require_refused(const absl::Status& status, const std::string& words) {
  INFO(status.ToString());
  CHECK(status.code() == absl::StatusCode::kInvalidArgument);
  CHECK(std::string(status.message()).find(words) != std::string::npos);
  CHECK(std::string(status.message()).find('\n') == std::string::npos);
}

LutEntry entry(LutEntry::Target target, MemoryType type, int page) {
  return {target, type, static_cast<std::uint16_t>(page)};
}

}  // namespace

TEST_CASE("impossible options are refused") {
  const auto refused = [](auto change, const std::string& words) {
    ChipOptions options;
    change(options);
    require_refused(Chip::create(options).status(), words);
  };
  refused([](ChipOptions& o) { o.clocks.core_mhz = 0; }, "the core clock cannot run at 0 MHz: 100 to 1000 MHz");
  refused([](ChipOptions& o) { o.clocks.mesh_mhz = 5000; }, "the mesh clock cannot run at 5000 MHz");
  refused([](ChipOptions& o) { o.clocks.memory_mhz = -800; }, "the memory clock cannot run at -800 MHz");
  refused([](ChipOptions& o) { o.private_bytes = 1000; }, "a core cannot have 1000 bytes of private memory");
  refused([](ChipOptions& o) { o.private_bytes = 0; }, "private memory");
  refused([](ChipOptions& o) { o.private_bytes = kPrivateBytesMax + kLutEntryBytes; }, "private memory");
  refused([](ChipOptions& o) { o.stack_bytes = 100; }, "a core's stack cannot have 100 bytes");
  refused([](ChipOptions& o) { o.shared_type = MemoryType::kCached; }, "nothing keeps caches coherent");
  refused([](ChipOptions& o) { o.virtual_seconds_max = 0; }, "virtual seconds");
  refused([](ChipOptions& o) { o.virtual_seconds_max = std::numeric_limits<double>::quiet_NaN(); }, "virtual seconds");
  refused([](ChipOptions& o) { o.jitter_core_cycles = std::uint64_t{1} << 60; }, "jitter");
  refused([](ChipOptions& o) { o.constants[3] = -1; }, "the constant memory_memory_cycles is a number from 0");
  ChipOptions options;
  options.trace_path = "/nowhere/trace.json";
  CHECK(std::string(Chip::create(options).status().message()).find("/nowhere/trace.json: No such file") !=
        std::string::npos);
}

TEST_CASE("clock settings and cost models are parsed, or refused") {
  Clocks clocks;
  CHECK(parse_clocks("800/1600/1066", clocks).ok());
  CHECK(clocks.core_mhz == 800);
  CHECK(clocks.mesh_mhz == 1600);
  CHECK(clocks.memory_mhz == 1066);
  for (const char* bad : {"", "800", "800/800", "a/b/c", "800/800/800/800", "533,800,800"}) {
    require_refused(parse_clocks(bad, clocks), "for example 533/800/800");
  }
  require_refused(parse_clocks("20000/800/800", clocks), "the core clock cannot run at 20000 MHz");
  CHECK(clocks.core_mhz == 800);  // unchanged
  CostModel model{};
  CHECK(parse_cost_model("wgr", model).ok());
  CHECK(model == CostModel::kWgr);
  require_refused(parse_cost_model("exact", model), "logp and wgr are known");
}

TEST_CASE("every constant has a name of its own, a value and a source") {
  std::set<std::string> names;
  for (const ConstantInfo& info : constant_table()) {
    names.insert(std::string(info.name));
    CHECK(info.value >= 0);
    const std::string source(info.source);
    const std::string kind = source.substr(0, source.find_first_of(":,"));
    CHECK((kind == "papers" || kind == "derived" || kind == "assumed"));
    ChipOptions options;
    CHECK(set_constant(options, info.name, 3).ok());
    CHECK(options.constants[static_cast<std::size_t>(info.constant)] == 3);
  }
  CHECK(names.size() == kConstants);
  ChipOptions options;
  require_refused(set_constant(options, "speed_of_light", 1), "the chip has no constant \"speed_of_light\"");
  require_refused(set_constant(options, "l2_core_cycles", -1), "a number from 0");
}

TEST_CASE("a run on cores that are not there is refused") {
  const auto chip = make_chip();
  const auto refused = [&](std::vector<int> cores, const std::string& words) {
    require_refused(chip->run(cores, [](Core&) { CHECK(false); }), words);
  };
  refused({}, "at least one core");
  refused({0, 48}, "there is no core 48: cores are numbered from 0 to 47");
  refused({-1}, "there is no core -1");
  refused({3, 4, 3}, "core 3 is named twice");
  chip->start(5, [](Core& core) { core.wait_until({}, [] { return false; }); });
  refused({5}, "core 5 is still running a program");
}

TEST_CASE("a fabric that does not fit is refused") {
  std::vector<int> all;
  for (int i = 0; i < kCores; ++i) all.push_back(i);
  CHECK(lay_out(TransportKind::kNvp, all)->slots_per_sender == 4);
  CHECK(lay_out(TransportKind::kSrbp, all)->slots_per_sender == 2);
  const auto refused = [](const absl::StatusOr<ChipFabric>& fabric, const std::string& words) {
    require_refused(fabric.status(), words);
  };
  refused(lay_out(TransportKind::kNvp, all, 0, 50), "48 endpoints do not fit into 50 lines");
  refused(lay_out(TransportKind::kNvp, all, 200, 100), "lines 200 to 299 are not all in an MPB");
  refused(lay_out(TransportKind::kNvp, {}), "at least one core");
  refused(lay_out(TransportKind::kNvp, std::array<int, 2>{1, 50}), "there is no core 50");
  refused(lay_out(TransportKind::kNvp, std::array<int, 2>{1, 1}), "core 1 is named twice");
}

TEST_CASE("a LUT entry leads elsewhere after it was changed") {
  const auto chip = make_chip();
  // Core 0 gives a page of its private memory to core 1, which reads what core 0 wrote, without a copy.
  on_core(*chip, 0, [&](Core& core) {
    core.store<std::uint32_t>(private_address(3 * kLutEntryBytes + 64), 1234);
    CHECK(core.lut(3).page == private_page(0, 3));
    CHECK(core.set_lut(3, {}).ok());
  });
  on_core(*chip, 1, [&](Core& core) {
    CHECK(core.set_lut(0x60, entry(kMemory, MemoryType::kCached, private_page(0, 3))).ok());
    CHECK(core.load<std::uint32_t>(0x60000040) == 1234);
    const double near = nanoseconds(core, [&] { core.load<std::uint32_t>(0x60000080); });
    // The same entry, for a page behind another controller.
    CHECK(core.set_lut(0x60, entry(kMemory, MemoryType::kUncached, shared_page(3))).ok());
    const double far = nanoseconds(core, [&] { core.load<std::uint32_t>(0x60000080); });
    CHECK(far > near + 30);
    chip->shared_memory()[3 * kLutEntryBytes + 0x40] = std::byte(77);
    CHECK(core.load<std::uint8_t>(0x60000040) == 77);
    // The MPB of a tile, uncached.
    CHECK(core.set_lut(0x60, entry(kMpb, MemoryType::kUncached, 4)).ok());
    core.store<std::uint32_t>(0x60000000, 5);
    CHECK(chip->mpb(8)[0] == std::byte(5));
  });
}

TEST_CASE("a LUT entry that would make caches incoherent, or lead nowhere, is refused") {
  const auto chip = make_chip();
  on_core(*chip, 1, [&](Core& core) {
    require_refused(core.set_lut(256, {}), "there is no LUT entry 256");
    require_refused(core.set_lut(0x60, entry(kMpb, MemoryType::kUncached, 24)), "there is no tile 24");
    require_refused(core.set_lut(0x60, entry(kMpb, MemoryType::kCached, 0)), "uncached or MPB-typed");
    require_refused(core.set_lut(0x60, entry(kMemory, MemoryType::kUncached, 60000)), "there is no memory page 60000");
    const int beyond = private_page(0, 40);
    require_refused(core.set_lut(0x60, entry(kMemory, MemoryType::kUncached, beyond)), "no memory page 40");
    require_refused(core.set_lut(0x60, entry(kMemory, MemoryType::kNone, 0)), "has a type");
    CHECK(core.set_lut(0x60, entry(kMemory, MemoryType::kCached, private_page(0, 0))).code() ==
          absl::StatusCode::kFailedPrecondition);
    CHECK(core.set_lut(0x60, entry(kMemory, MemoryType::kUncached, private_page(0, 0))).code() ==
          absl::StatusCode::kFailedPrecondition);
    CHECK(core.set_lut(0x80, entry(kMemory, MemoryType::kCached, shared_page(0))).code() ==
          absl::StatusCode::kFailedPrecondition);
    CHECK(core.lut(0x60).target == LutEntry::Target::kNothing);
  });
}
