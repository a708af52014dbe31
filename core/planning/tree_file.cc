#include "core/planning/tree_file.h"

#include <limits>
#include <map>
#include <unordered_map>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/planning/json.h"
#include "core/planning/limits.h"

namespace ingot::inline core_planning {
namespace {

using nlohmann::json;

constexpr std::int64_t kIdMax = std::numeric_limits<CoreId::rep>::max();

absl::Status wrong(const std::string& sentence) { return absl::InvalidArgumentError(sentence); }

// Collects the cores of a file and numbers them in their order.
class Reader {
 public:
  absl::Status read(const json& file) {
    if (!file.is_object()) return wrong("it is not a JSON object with \"root\" and \"children\"");
    const std::int64_t root = file.contains("root") ? whole_number_or_minus_one(file["root"], kIdMax) : -1;
    if (root < 0) return wrong("it has no \"root\" that is a core's id");
    number(root);
    result_.planned = file.contains("planner");
    if (!file.contains("children") || !file["children"].is_object()) {
      return wrong("it has no \"children\" like {\"0\": [1, 2]}");
    }
    for (const auto& [key, list] : file["children"].items()) {
      const absl::Status status = read_children(key, list);
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  NamedTree take() {
    result_.tree.root = 0;
    return std::move(result_);
  }

 private:
  absl::Status read_children(const std::string& key, const json& list) {
    std::int64_t parent = -1;
    const bool digits = !key.empty() && key.find_first_not_of("0123456789") == std::string::npos;
    if (!digits || !absl::SimpleAtoi(key, &parent) || parent > kIdMax) {
      return wrong(absl::StrCat("\"children\" has an entry that is no core's id, the ", seen_ + 1, ". in order"));
    }
    ++seen_;
    if (!list.is_array()) return wrong(absl::StrCat("the children of core ", parent, " are not a list"));
    const int from = number(parent);
    if (!result_.tree.children[from].empty()) return wrong(absl::StrCat("core ", parent, " has two lists of children"));
    for (const json& child : list) {
      const std::int64_t id = whole_number_or_minus_one(child, kIdMax);
      if (id < 0) return wrong(absl::StrCat("a child of core ", parent, " is no core's id"));
      const int to = number(id);
      if (static_cast<int>(result_.cores.size()) > kMachineCoresMax) {
        return wrong(absl::StrCat("it names more than ", kMachineCoresMax, " cores"));
      }
      if (result_.tree.children[from].size() > result_.cores.size()) {
        return wrong(absl::StrCat("core ", parent, " has a child twice"));
      }
      result_.tree.children[from].push_back(to);
    }
    return absl::OkStatus();
  }

  int number(std::int64_t id) {
    const auto [at, added] = index_.emplace(id, static_cast<int>(result_.cores.size()));
    if (added) {
      result_.cores.push_back(CoreId(static_cast<CoreId::rep>(id)));
      result_.tree.children.emplace_back();
    }
    return at->second;
  }

  NamedTree result_;
  std::unordered_map<std::int64_t, int> index_;
  int seen_ = 0;
};

}  // namespace

absl::StatusOr<NamedTree> read_tree(std::string_view text) {
  const absl::StatusOr<json> file = parse_json(text);
  if (!file.ok()) return file.status();
  Reader reader;
  if (const absl::Status status = reader.read(*file); !status.ok()) return status;
  NamedTree result = reader.take();
  if (result.cores.size() == 1) return wrong("its tree has only one core; a tree takes at least two");
  if (const absl::Status status = validate(result.tree); !status.ok()) return status;
  return result;
}

std::string children_json(const CostModel& model, const Tree& tree) {
  std::map<CoreId, int> inner;
  for (int core = 0; core < tree.size(); ++core) {
    if (!tree.children[core].empty()) inner.emplace(model.cores[core].id, core);
  }
  std::string out = "{";
  for (const auto& [id, core] : inner) {
    if (out.size() > 1) out += ',';
    const auto append_id = [&](std::string* to, int child) { absl::StrAppend(to, model.cores[child].id.value()); };
    absl::StrAppend(&out, "\"", id.value(), "\":[", absl::StrJoin(tree.children[core], ",", append_id), "]");
  }
  return out + "}";
}

std::string write_tree(const CostModel& model, const Tree& tree) {
  return absl::StrCat("{\"root\":", model.cores[tree.root].id.value(), ",\"children\":", children_json(model, tree),
                      "}\n");
}

}  // namespace ingot::core_planning
