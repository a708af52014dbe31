#include "services/ingotctl/verbs/key_range.h"

namespace ingot::inline services_ingotctl_verbs {

void add_key_options(CLI::App& command, KeyArguments& keys) {
  command.add_option("KEY", keys.key, "The key, or where the range begins")->required()->type_name("");
  CLI::Option* prefix = command.add_flag("--prefix", keys.prefix, "All keys that begin with KEY");
  CLI::Option* from_key = command.add_flag("--from-key", keys.from_key, "KEY and all that sort after it");
  CLI::Option* range_end =
      command.add_option("--range-end", keys.range_end, "KEY and all before this one")->type_name("KEY");
  prefix->excludes(from_key)->excludes(range_end);
  from_key->excludes(range_end);
}

}  // namespace ingot::services_ingotctl_verbs
