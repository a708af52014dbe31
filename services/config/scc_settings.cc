#include "services/config/scc_settings.h"

namespace ingot::settings {

Range clocks() {
  return {.fault =
              [](const std::string& text) {
                scc::Clocks parsed;
                return std::string(scc::parse_clocks(text, parsed).message());
              },
          .checked = Checked::kByFlag,
          .form = "C/M/D",
          .placeholder = "C/M/D"};
}

}  // namespace ingot::settings
