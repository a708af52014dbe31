#include "services/ingotctl/command.h"

#include "services/cli/cli.h"

namespace ingot::inline services_ingotctl {

void add_form(CLI::App& command, std::string& output, const std::vector<std::string>& forms, const std::string& help) {
  command.add_option("-o,--output", output, help)
      ->check(one_of(forms).description(""))
      ->capture_default_str()
      ->type_name("FORM");
}

}  // namespace ingot::services_ingotctl
