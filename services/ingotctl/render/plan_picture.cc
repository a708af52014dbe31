#include "services/ingotctl/render/plan_picture.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "services/ingotctl/render/svg.h"

namespace ingot::inline services_ingotctl_render {
namespace {

constexpr double kLeft = 190, kRight = 90, kTop = 112, kBottom = 64, kPlot = 1000;
constexpr double kGroupGap = 12;
constexpr double kLaneMax = 30, kLaneMin = 6, kLanesTogether = 960;
constexpr double kLabelledLane = 13;  // a lower lane has no room for text
constexpr const char* kSendColor = "#3b78b5";
constexpr const char* kReceiveColor = "#e9a23b";
constexpr const char* kCriticalColor = "#c8102e";
constexpr const char* kInk = "#22262b";
constexpr const char* kPaleInk = "#7a828c";
constexpr const char* kBand[] = {"#f3f6fa", "#faf5ee", "#f1f7f1", "#f8f1f6"};

// 1, 2 or 5 times a power of ten, for an axis of about ten ticks.
double tick_step(double span) {
  const double raw = std::max(span, 1.0) / 10;
  const double power = std::pow(10, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= raw) return factor * power;
  }
  return 10 * power;
}

class Picture {
 public:
  Picture(const CostModel& model, const PlannedTree& plan)
      : model_(model),
        plan_(plan),
        arrived_(broadcast_arrivals(model, plan.tree)),
        parents_(parents_of(plan.tree)),
        critical_(arrived_.size(), false),
        lane_(std::clamp(kLanesTogether / model.size(), kLaneMin, kLaneMax)),
        y_(arrived_.size(), 0.0) {
    for (const int core : critical_path(model, plan.tree)) critical_[core] = true;
    place_lanes();
  }

  std::string draw() {
    const double width = kLeft + kPlot + kRight, height = bottom_ + kBottom;
    out_ = svg_begin(width, height);
    draw_title();
    draw_axis();
    for (const bool critical : {false, true}) {  // the critical path lies on top
      for (int core = 0; core < model_.size(); ++core) {
        if (core != plan_.tree.root && critical_[core] == critical) draw_edge(core);
      }
    }
    for (int core = 0; core < model_.size(); ++core) draw_core(core);
    out_ += kSvgEnd;
    return std::move(out_);
  }

 private:
  bool same_group(int a, int b) const {
    return model_.cores[a].package == model_.cores[b].package && model_.cores[a].numa_node == model_.cores[b].numa_node;
  }

  // Orders lanes from the top: by package, then NUMA node, then the time at which a core has the message.
  void place_lanes() {
    for (int core = 0; core < model_.size(); ++core) lanes_.push_back(core);
    std::stable_sort(lanes_.begin(), lanes_.end(), [&](int a, int b) {
      const MachineCore &left = model_.cores[a], &right = model_.cores[b];
      return std::tuple(left.package, left.numa_node, arrived_[a]) <
             std::tuple(right.package, right.numa_node, arrived_[b]);
    });
    double y = kTop;
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      if (i > 0 && !same_group(lanes_[i - 1], lanes_[i])) y += kGroupGap;
      y_[lanes_[i]] = y + lane_ / 2;
      y += lane_;
    }
    bottom_ = y;
  }

  double x(double cycles) const { return kLeft + cycles / std::max(plan_.prediction.broadcast, 1.0) * kPlot; }

  void draw_title() {
    // The picture shows a broadcast, whatever the plan's objective.
    const std::string tree = plan_.objective == Objective::kBroadcast
                                 ? ""
                                 : absl::StrCat("on the tree for ", std::string(name_of(plan_.objective)), ", ");
    out_ += svg_text(24, 36, 22,
                     absl::StrCat(model_.name, ": a broadcast ", tree, "in ",
                                  cycles_and_time(plan_.prediction.broadcast, model_.frequency_hz)),
                     absl::StrCat("font-weight=\"bold\" fill=\"", kInk, "\""));
    out_ += svg_text(24, 58, 14,
                     absl::StrFormat("%d cores, tree of planner %s for %s, root %d", model_.size(), plan_.planner,
                                     std::string(name_of(plan_.objective)), model_.cores[plan_.tree.root].id.value()),
                     absl::StrCat("fill=\"", kPaleInk, "\""));
    const struct {
      const char *color, *what;
    } legend[] = {{kSendColor, "sends"}, {kReceiveColor, "receives"}, {kCriticalColor, "critical path"}};
    double at = kLeft + kPlot - 330;
    for (const auto& entry : legend) {
      out_ += svg_rectangle(at, 47, 22, 11, entry.color, "rx=\"2\"");
      out_ += svg_text(at + 28, 57, 13, entry.what, absl::StrCat("fill=\"", kInk, "\""));
      at += 110;
    }
  }

  void draw_axis() {
    draw_bands();
    const double end = plan_.prediction.broadcast, step = tick_step(end);
    for (double cycles = 0; cycles <= end * 1.0001; cycles += step) {
      absl::StrAppendFormat(&out_, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#dde1e6\"/>\n",
                            x(cycles), kTop - 6, x(cycles), bottom_ + 6);
      out_ += svg_text(x(cycles), bottom_ + 24, 12, absl::StrFormat("%.0f", cycles),
                       absl::StrCat("text-anchor=\"middle\" fill=\"", kPaleInk, "\""));
    }
    out_ += svg_text(kLeft + kPlot / 2, bottom_ + 46, 13, "cycles since the root began",
                     absl::StrCat("text-anchor=\"middle\" fill=\"", kPaleInk, "\""));
  }

  // Draws a coloured band behind each NUMA node's lanes, with its name.
  void draw_bands() {
    std::size_t number = 0;
    for (std::size_t first = 0, end; first < lanes_.size(); first = end, ++number) {
      for (end = first; end < lanes_.size() && same_group(lanes_[first], lanes_[end]);) ++end;
      const double top = y_[lanes_[first]] - lane_ / 2, height = lane_ * static_cast<double>(end - first);
      out_ += svg_rectangle(16, top - 2, kLeft + kPlot + kRight - 32, height + 4, kBand[number % std::size(kBand)],
                            "rx=\"6\"");
      const MachineCore& core = model_.cores[lanes_[first]];
      if (height < 30) continue;
      const std::string ink = absl::StrCat("fill=\"", kInk, "\"");
      out_ += svg_text(26, top + height / 2 - 2, 13, absl::StrCat("package ", core.package), ink);
      out_ += svg_text(26, top + height / 2 + 14, 13, absl::StrCat("NUMA node ", core.numa_node), ink);
    }
  }

  // Draws the send on the parent's lane, the propagation down or up, and the receive on the child's lane.
  void draw_edge(int child) {
    const int parent = parents_[child];
    const double received = arrived_[child], sent = received - model_.receive.at(parent, child);
    const double began = sent - model_.send.at(parent, child);
    const bool critical = critical_[child];
    const double bar = lane_ * 0.42;
    const std::string edge = critical ? absl::StrCat("stroke=\"", kCriticalColor, "\" stroke-width=\"1.5\"")
                                      : std::string("stroke=\"#ffffff\" stroke-width=\"0.7\"");
    out_ += svg_rectangle(x(began), y_[parent] - bar / 2, x(sent) - x(began), bar, kSendColor, edge);
    out_ += svg_rectangle(x(sent), y_[child] - bar / 2, x(received) - x(sent), bar, kReceiveColor, edge);
    const double direction = y_[child] > y_[parent] ? 1 : -1;
    absl::StrAppendFormat(
        &out_, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" stroke-width=\"%.1f\"/>\n", x(sent),
        y_[parent] + direction * bar / 2, x(sent), y_[child] - direction * bar / 2,
        critical ? kCriticalColor : "#8b939d", critical ? 2.4 : 1.0);
    draw_arrow_head(x(sent), y_[child] - direction * bar / 2, direction, critical);
    if (lane_ < kLabelledLane) return;
    out_ += svg_text((x(sent) + x(received)) / 2, y_[child] + 3.6, std::min(10.5, lane_ * 0.4),
                     absl::StrFormat("%.0f+%.0f", model_.send.at(parent, child), model_.receive.at(parent, child)),
                     "text-anchor=\"middle\" fill=\"#3a2600\"");
  }

  void draw_arrow_head(double tip_x, double tip_y, double direction, bool critical) {
    const double size = std::clamp(lane_ * 0.2, 2.0, 4.5);
    absl::StrAppendFormat(&out_, "<path d=\"M%.1f %.1f l%.1f %.1f h%.1f z\" fill=\"%s\"/>\n", tip_x, tip_y, -size,
                          -direction * 1.5 * size, 2 * size, critical ? kCriticalColor : "#8b939d");
  }

  void draw_core(int core) {
    const char* color = critical_[core] ? kCriticalColor : kInk;
    const double radius = std::clamp(lane_ * 0.16, 1.5, 4.5);
    absl::StrAppendFormat(
        &out_, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"%s\"><title>core %d: %.1f</title></circle>\n",
        x(arrived_[core]), y_[core], radius, color, model_.cores[core].id.value(), arrived_[core]);
    if (lane_ < kLabelledLane) return;
    const double size = std::min(13.0, lane_ * 0.55);
    const char* weight = critical_[core] ? " font-weight=\"bold\"" : "";
    out_ += svg_text(kLeft - 10, y_[core] + size * 0.35, size, absl::StrCat("core ", model_.cores[core].id.value()),
                     absl::StrFormat("text-anchor=\"end\" fill=\"%s\"%s", color, weight));
    // Beside the dot, or above it if the core's own sends follow.
    const bool leaf = plan_.tree.children[core].empty();
    out_ += svg_text(x(arrived_[core]) + (leaf ? 8 : 3), y_[core] + (leaf ? size * 0.35 : -lane_ * 0.28),
                     size * (leaf ? 0.9 : 0.72), absl::StrFormat("%.0f", arrived_[core]),
                     absl::StrFormat("fill=\"%s\"%s", color, weight));
  }

  const CostModel& model_;
  const PlannedTree& plan_;
  const std::vector<double> arrived_;
  const std::vector<int> parents_;
  std::vector<bool> critical_;
  const double lane_;
  std::vector<double> y_;  // by core
  std::vector<int> lanes_;
  double bottom_ = 0;
  std::string out_;
};

}  // namespace

std::string plan_picture(const CostModel& model, const PlannedTree& plan) { return Picture(model, plan).draw(); }

}  // namespace ingot::services_ingotctl_render
