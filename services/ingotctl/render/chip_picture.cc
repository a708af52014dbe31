// The mesh as it lies on the chip, by core numbers: tile (0, 0) is at the top left.
#include "services/ingotctl/render/chip_picture.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "services/ingotctl/render/svg.h"
#include "transport/scc/geometry.h"

namespace ingot::inline services_ingotctl_render {
namespace {

using ::ingot::control::v1::GetChipResponse;

constexpr double kTile = 104, kGap = 46, kLeft = 110, kTop = 96, kArrow = 8;
constexpr const char* kInk = "fill=\"#22262b\"";
constexpr const char* kPale = "fill=\"#7a828c\"";

// "12", "3.4k", "5.6M".
std::string compact(std::uint64_t count) {
  const auto number = static_cast<double>(count);
  if (count < 1000) return absl::StrCat(count);
  if (count < 1'000'000) return absl::StrFormat("%.1fk", number * 1e-3);
  return absl::StrFormat("%.1fM", number * 1e-6);
}

class Picture {
 public:
  explicit Picture(const GetChipResponse& chip) : chip_(chip) {
    for (const auto& port : chip.mpb_ports()) most_lines_ = std::max(most_lines_, port.lines());
    for (const auto& link : chip.links()) most_packets_ = std::max(most_packets_, link.packets());
  }

  std::string draw() {
    const double width = 2 * kLeft + scc::kColumns * kTile + (scc::kColumns - 1) * kGap;
    const double height = kTop + scc::kRows * kTile + (scc::kRows - 1) * kGap + 70;
    out_ = svg_begin(width, height);
    out_ += svg_text(24, 34, 20, "Simulated SCC: load of the mesh and of the message buffers",
                     absl::StrCat("font-weight=\"bold\" ", kInk));
    out_ += svg_text(24, 56, 13,
                     absl::StrFormat("%.3f ms of virtual time, %d core cycles at %d/%d/%d MHz, seed %d",
                                     static_cast<double>(chip_.virtual_ps()) * 1e-9, chip_.core_cycles(),
                                     chip_.core_mhz(), chip_.mesh_mhz(), chip_.memory_mhz(), chip_.seed()),
                     kPale);
    for (const auto& link : chip_.links()) {
      draw_link(static_cast<int>(link.from_tile()), static_cast<int>(link.to_tile()), link.packets());
    }
    for (const auto& port : chip_.mpb_ports()) draw_tile(static_cast<int>(port.tile()), port.lines());
    for (int i = 0; i < chip_.memory_controllers_size(); ++i) draw_controller(i);
    out_ += svg_text(24, height - 24, 12,
                     absl::StrFormat("tile: lines served by its port, dark = %s; arrow: packets, dark = %s",
                                     compact(most_lines_), compact(most_packets_)),
                     kPale);
    out_ += kSvgEnd;
    return std::move(out_);
  }

 private:
  static double left(int tile) { return kLeft + scc::column_of_tile(tile) * (kTile + kGap); }
  static double top(int tile) { return kTop + scc::row_of_tile(tile) * (kTile + kGap); }

  static double share(std::uint64_t part, std::uint64_t most) {
    return most == 0 ? 0 : static_cast<double>(part) / static_cast<double>(most);
  }

  void draw_tile(int tile, std::uint64_t lines) {
    const double heat = share(lines, most_lines_);
    const std::string ink = heat > 0.6 ? "fill=\"#ffffff\"" : kInk;
    out_ += svg_rectangle(left(tile), top(tile), kTile, kTile, lines == 0 ? "#f4f5f6" : heat_color(heat),
                          "stroke=\"#22262b\" stroke-width=\"0.8\" rx=\"4\"");
    for (int z = 0; z < 2; ++z) {
      const auto& core = chip_.cores(2 * tile + z);
      const std::string runs = core.runs().empty() ? "" : absl::StrCat(": ", core.runs());
      out_ += svg_text(left(tile) + 8, top(tile) + 22 + 20 * z, 12, absl::StrCat(core.core(), runs),
                       absl::StrCat(runs.empty() ? "" : "font-weight=\"bold\" ", ink));
    }
    if (lines > 0) out_ += svg_text(left(tile) + 8, top(tile) + kTile - 12, 12, compact(lines), ink);
  }

  // Draws one of the two arrows between neighbours, one for each direction.
  void draw_link(int from, int to, std::uint64_t packets) {
    const double middle_x = left(from) + kTile / 2, middle_y = top(from) + kTile / 2;
    const double dx = scc::column_of_tile(to) - scc::column_of_tile(from);
    const double dy = scc::row_of_tile(to) - scc::row_of_tile(from);
    // To the right of the line between the centres, seen along the arrow.
    const double x = middle_x + dx * kTile / 2 - dy * kArrow, y = middle_y + dy * kTile / 2 + dx * kArrow;
    const std::string color = heat_color(0.15 + 0.85 * share(packets, most_packets_));
    const double length = kGap - 10;
    absl::StrAppendFormat(&out_, "<path d=\"M%.1f %.1f l%.1f %.1f\" stroke=\"%s\" stroke-width=\"5\"/>\n", x, y,
                          dx * length, dy * length, color);
    absl::StrAppendFormat(&out_,
                          "<path d=\"M%.1f %.1f l%.1f %.1f l%.1f %.1f z\" fill=\"%s\"><title>tile %d to %d: %d "
                          "packets</title></path>\n",
                          x + dx * (length + 10), y + dy * (length + 10), -dx * 12 - dy * 7, -dy * 12 + dx * 7,
                          dy * 14, -dx * 14, color, from, to, packets);
  }

  void draw_controller(int controller) {
    const int tile = scc::controller_tile(controller);
    const bool west = scc::column_of_tile(tile) == 0;
    const double x = west ? left(tile) - 74 : left(tile) + kTile + 14;
    out_ += svg_rectangle(x, top(tile) + 26, 60, 40, "#eef1f4", "stroke=\"#7a828c\" rx=\"4\"");
    out_ += svg_text(x + 6, top(tile) + 43, 11, absl::StrCat("DRAM ", controller), kInk);
    out_ += svg_text(x + 6, top(tile) + 58, 11, compact(chip_.memory_controllers(controller).lines()), kPale);
  }

  const GetChipResponse& chip_;
  std::uint64_t most_lines_ = 0, most_packets_ = 0;
  std::string out_;
};

}  // namespace

std::string chip_picture(const GetChipResponse& chip) { return Picture(chip).draw(); }

}  // namespace ingot::services_ingotctl_render
