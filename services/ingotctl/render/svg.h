// Building blocks of all SVG pictures.
#pragma once

#include <string>
#include <string_view>

namespace ingot::inline services_ingotctl_render {

// Begins a white picture of this size in pixels, with text in a sans-serif face; `svg_end` closes it.
std::string svg_begin(double width, double height);
inline constexpr std::string_view kSvgEnd = "</svg>\n";

// Text at a point; `extra` are further attributes, like "text-anchor=\"end\"".
std::string svg_text(double x, double y, double size, std::string_view text, std::string_view extra = "");

std::string svg_rectangle(double x, double y, double width, double height, std::string_view fill,
                          std::string_view extra = "");

// Escapes the characters that have a meaning in XML; control characters become blanks.
std::string svg_escape(std::string_view text);

// From pale (share 0) over orange to dark red (share 1): "#rrggbb".
std::string heat_color(double share);

}  // namespace ingot::services_ingotctl_render
