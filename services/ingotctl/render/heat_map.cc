#include "services/ingotctl/render/heat_map.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "services/ingotctl/render/svg.h"

namespace ingot::inline services_ingotctl_render {
namespace {

constexpr double kSide = 480, kLeft = 64, kTop = 110, kBetween = 90, kBelow = 80;
constexpr int kShades = 40;           // so that a row is a few rectangles, not one for each core
constexpr double kLabelledCell = 11;  // the least distance of two core numbers on an axis
constexpr const char* kInk = "fill=\"#22262b\"";

class Map {
 public:
  explicit Map(const CostModel& model) : model_(model), cell_(kSide / model.size()) {
    for (int core = 0; core < model.size(); ++core) order_.push_back(core);
    std::stable_sort(order_.begin(), order_.end(), [&](int a, int b) {
      const MachineCore &left = model.cores[a], &right = model.cores[b];
      return std::tuple(left.package, left.numa_node) < std::tuple(right.package, right.numa_node);
    });
  }

  std::string draw() {
    out_ = svg_begin(2 * kLeft + 2 * kSide + kBetween, kTop + kSide + kBelow);
    const Asymmetry uneven = asymmetry(model_);
    out_ += svg_text(24, 36, 22, absl::StrCat(model_.name, ": what a message costs"),
                     absl::StrCat("font-weight=\"bold\" ", kInk));
    out_ += svg_text(
        24, 58, 14,
        absl::StrFormat("%d cores; the dearer direction of a pair costs %.2f times the other (median), at most %.2f",
                        model_.size(), uneven.median, uneven.most),
        "fill=\"#7a828c\"");
    draw_matrix("busy sending", model_.send, kLeft);
    draw_matrix("busy receiving", model_.receive, kLeft + kSide + kBetween);
    out_ += kSvgEnd;
    return std::move(out_);
  }

 private:
  void draw_matrix(const char* title, const CycleMatrix& matrix, double left) {
    double least = 0, most = 0;
    for (int from = 0; from < matrix.cores(); ++from) {
      for (int to = 0; to < matrix.cores(); ++to) {
        if (from == to) continue;
        const double cycles = matrix.at(from, to);
        least = least == 0 ? cycles : std::min(least, cycles);
        most = std::max(most, cycles);
      }
    }
    out_ += svg_text(left, kTop - 26, 15, absl::StrCat(title, ", cycles"), absl::StrCat("font-weight=\"bold\" ", kInk));
    out_ += svg_text(left, kTop - 8, 11, "row: sender, column: receiver", "fill=\"#7a828c\"");
    for (int row = 0; row < matrix.cores(); ++row) draw_row(matrix, row, left, least, most);
    draw_borders(left);
    draw_labels(left);
    draw_scale(left, least, most);
  }

  // Merges neighbours of one shade into one rectangle.
  void draw_row(const CycleMatrix& matrix, int row, double left, double least, double most) {
    const auto shade = [&](int column) {
      if (column == row) return -1;
      const double cycles = matrix.at(order_[row], order_[column]);
      return most > least ? static_cast<int>(std::lround((cycles - least) / (most - least) * kShades)) : 0;
    };
    for (int first = 0, end; first < model_.size(); first = end) {
      for (end = first + 1; end < model_.size() && shade(end) == shade(first);) ++end;
      const std::string fill = shade(first) < 0 ? "#ffffff" : heat_color(static_cast<double>(shade(first)) / kShades);
      out_ += absl::StrFormat("<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\"/>\n",
                              left + first * cell_, kTop + row * cell_, (end - first) * cell_ + 0.2, cell_ + 0.2, fill);
    }
  }

  void draw_borders(double left) {
    for (int i = 1; i < model_.size(); ++i) {
      const MachineCore &before = model_.cores[order_[i - 1]], &after = model_.cores[order_[i]];
      if (before.package == after.package && before.numa_node == after.numa_node) continue;
      const double width = before.package == after.package ? 0.8 : 2.0, at = i * cell_;
      absl::StrAppendFormat(
          &out_, "<path d=\"M%.1f %.1f v%.1f M%.1f %.1f h%.1f\" stroke=\"#22262b\" stroke-width=\"%.1f\"/>\n",
          left + at, kTop, kSide, left, kTop + at, kSide, width);
    }
    out_ += svg_rectangle(left, kTop, kSide, kSide, "none", "stroke=\"#22262b\"");
  }

  void draw_labels(double left) {
    // Narrow cells: every n-th core has a label, so that labels keep their distance.
    const int step = std::max(1, static_cast<int>(std::ceil(kLabelledCell / cell_)));
    const double size = step == 1 ? std::min(11.0, cell_ * 0.6) : std::min(9.0, step * cell_ * 0.5);
    for (int i = 0; i < model_.size(); i += step) {
      const std::string id = absl::StrCat(model_.cores[order_[i]].id.value());
      const double at = (i + 0.5) * cell_;
      out_ += svg_text(left - 6, kTop + at + size * 0.35, size, id, "text-anchor=\"end\" fill=\"#7a828c\"");
      out_ += svg_text(left + at, kTop + kSide + size + 4, size, id, "text-anchor=\"middle\" fill=\"#7a828c\"");
    }
  }

  void draw_scale(double left, double least, double most) {
    const double top = kTop + kSide + 34, step = kSide / (kShades + 1);
    for (int shade = 0; shade <= kShades; ++shade) {
      out_ += svg_rectangle(left + shade * step, top, step + 0.3, 12, heat_color(static_cast<double>(shade) / kShades));
    }
    out_ += svg_text(left, top + 28, 12, absl::StrFormat("%.0f", least), kInk);
    out_ +=
        svg_text(left + kSide, top + 28, 12, absl::StrFormat("%.0f", most), absl::StrCat("text-anchor=\"end\" ", kInk));
  }

  const CostModel& model_;
  const double cell_;
  std::vector<int> order_;  // of rows and columns
  std::string out_;
};

}  // namespace

std::string heat_map(const CostModel& model) { return Map(model).draw(); }

}  // namespace ingot::services_ingotctl_render
