#include "services/ingotctl/render/svg.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_format.h"

namespace ingot::inline services_ingotctl_render {
namespace {

struct Rgb {
  double red, green, blue;
};

// Light to dark, so that the order is visible in grey, too.
constexpr Rgb kHeat[] = {{255, 247, 220}, {254, 217, 142}, {250, 150, 60}, {215, 70, 35}, {120, 10, 30}};

std::string attributes(std::string_view extra) { return extra.empty() ? "" : " " + std::string(extra); }

}  // namespace

std::string svg_begin(double width, double height) {
  return absl::StrFormat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
      "font-family=\"Helvetica, Arial, sans-serif\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
      width, height, width, height);
}

std::string svg_text(double x, double y, double size, std::string_view text, std::string_view extra) {
  return absl::StrFormat("<text x=\"%.1f\" y=\"%.1f\" font-size=\"%.1f\"%s>%s</text>\n", x, y, size, attributes(extra),
                         svg_escape(text));
}

std::string svg_rectangle(double x, double y, double width, double height, std::string_view fill,
                          std::string_view extra) {
  return absl::StrFormat("<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"%s/>\n", x, y, width,
                         height, std::string(fill), attributes(extra));
}

std::string svg_escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return out;
}

std::string heat_color(double share) {
  constexpr int kSteps = static_cast<int>(std::size(kHeat)) - 1;
  const double at = std::clamp(share, 0.0, 1.0) * kSteps;
  const int step = std::min(static_cast<int>(at), kSteps - 1);
  const double part = at - step;
  const auto mix = [&](double Rgb::*channel) {
    return static_cast<int>(std::lround(kHeat[step].*channel * (1 - part) + kHeat[step + 1].*channel * part));
  };
  return absl::StrFormat("#%02x%02x%02x", mix(&Rgb::red), mix(&Rgb::green), mix(&Rgb::blue));
}

}  // namespace ingot::services_ingotctl_render
