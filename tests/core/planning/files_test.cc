// Machine and tree files: written files read back as they were, and each defect is reported in one sentence.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <limits>
#include <string>

#include "absl/strings/str_replace.h"
#include "core/planning/cost_model_file.h"
#include "core/planning/tree_file.h"
#include "core/planning/tree_prediction.h"
#include "core/prng.h"
#include "tests/core/planning/random_machine.h"

namespace ingot {
namespace {

using Catch::Matchers::Contains;

constexpr const char* kMachine =
    R"({"name": "two", "unit": "cycles", "frequency_hz": 2e9, "cores": [{"id": 0, "numa_node": 1, "package": 2}, {"id": 7}],
"send": [[0, 63.65], [62, 0]], "receive": [[0, 226], [225.5, 0]], "round_trip": [[0, 640], [640, 0]], "other": [1]})";

std::string machine_error(const std::string& text) {
  const auto model = read_machine(text);
  REQUIRE(!model.ok());
  CHECK(model.status().code() == absl::StatusCode::kInvalidArgument);
  const std::string message(model.status().message());
  CHECK(std::count(message.begin(), message.end(), '\n') == 0);
  CHECK(!message.empty());
  return message;
}

std::string with(const std::string& before, const std::string& after) {
  const std::string text = absl::StrReplaceAll(kMachine, {{before, after}});
  REQUIRE(text != kMachine);
  return text;
}

TEST_CASE("a machine file is read as it is written") {
  const auto model = read_machine(kMachine);
  REQUIRE(model.ok());
  CHECK(model->name == "two");
  CHECK(model->frequency_hz == 2e9);
  CHECK(model->cores == std::vector<MachineCore>{{CoreId(0), 1, 2}, {CoreId(7), 0, 0}});
  CHECK(model->send.at(0, 1) == 63.65);
  CHECK(model->receive.at(1, 0) == 225.5);
  CHECK(model->edge(0, 1) == 63.65 + 226);
  CHECK(model->overlapped.empty());
  CHECK(defects(*model).empty());
  CHECK(*read_machine(write_machine(*model)) == *model);
}

TEST_CASE("any model survives being written and read") {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    CostModel model = random_machine(seed, 2 + static_cast<int>(seed % 9));
    model.name = "a \"name\"\n\xff";
    const auto once = read_machine(write_machine(model));
    REQUIRE(once.ok());
    model.name = "a \"name\"\n\xef\xbf\xbd";  // bytes that are not UTF-8 are replaced
    CHECK(*once == model);
  }
}

TEST_CASE("a defect of a machine file is reported in one sentence") {
  CHECK_THAT(machine_error(""), Contains("not JSON"));
  CHECK_THAT(machine_error("[1, 2]"), Contains("not a JSON object"));
  CHECK_THAT(machine_error(with("63.65", "NaN")), Contains("not JSON: look at line 2"));
  CHECK_THAT(machine_error(with("63.65", "Infinity")), Contains("line 2"));
  CHECK_THAT(machine_error(with("63.65", "1e999")), Contains("not JSON"));
  CHECK(machine_error(with("63.65", "null")) == "send from core 0 to core 7 is missing");
  CHECK(machine_error(with("63.65", "-3")) == "send from core 0 to core 7 is negative (-3)");
  CHECK_THAT(machine_error(with("63.65", "0")), Contains("is 0, but a message between two cores costs something"));
  CHECK_THAT(machine_error(with("63.65", "1e12")), Contains("more than any message takes"));
  CHECK_THAT(machine_error(with("63.65", "\"63\"")), Contains("row 0, column 1 of \"send\" is neither a number"));
  CHECK_THAT(machine_error(with("[[0, 63.65], [62, 0]]", "[[0, 63.65, 1], [62, 0, 1]]")), Contains("must be square"));
  CHECK_THAT(machine_error(with("[[0, 63.65], [62, 0]]", "[[0, 63.65]]")), Contains("1 rows for 2 cores"));
  CHECK_THAT(machine_error(with("[[0, 63.65], [62, 0]]", "7")), Contains("must be square"));
  CHECK_THAT(machine_error(with("[[0, 63.65], [62, 0]]", "[[5, 63.65], [62, 0]]")), Contains("to itself is not 0"));
  CHECK_THAT(machine_error(with("\"send\"", "\"sent\"")), Contains("no matrix \"send\""));
  CHECK_THAT(machine_error(with("\"cycles\"", "\"ns\"")), Contains("\"unit\" is not \"cycles\""));
  CHECK_THAT(machine_error(with("\"id\": 7", "\"id\": 0")), Contains("core 0 is listed twice"));
  CHECK_THAT(machine_error(with("\"id\": 7", "\"id\": -1")), Contains("cores[1] has no \"id\""));
  CHECK_THAT(machine_error(with("\"id\": 7", "\"id\": 70000")), Contains("cores[1] has no \"id\""));
  CHECK_THAT(machine_error(with("{\"id\": 7}", "7")), Contains("cores[1] is not an object"));
  CHECK_THAT(machine_error(with("\"package\": 2", "\"package\": 2.5")), Contains("\"package\" of cores[0]"));
  CHECK_THAT(machine_error(with("2e9", "-1")), Contains("frequency_hz"));
  CHECK_THAT(machine_error(R"({"cores": [], "send": [], "receive": []})"), Contains("\"cores\" is empty"));
  CHECK_THAT(machine_error(R"({"send": [], "receive": []})"), Contains("no list of \"cores\""));
  CHECK_THAT(machine_error(R"({"cores": [{"id": 3}], "send": [[0]], "receive": [[0]]})"), Contains("only one core"));
  CHECK_THAT(machine_error(std::string(100'000, '[')), Contains("nested more than 32 deep"));
}

TEST_CASE("a check names every defect and every suspicious value") {
  CostModel model = random_machine(1, 5);
  CHECK(defects(model).empty());
  model.send.set(0, 1, -1);
  model.receive.set(3, 2, std::numeric_limits<double>::quiet_NaN());
  CHECK(defects(model) == std::vector<std::string>{"send from core 1 to core 4 is negative (-1)",
                                                   "receive from core 10 to core 7 is missing"});
  model = random_machine(1, 5);
  model.receive.set(0, 1, 20'000);
  REQUIRE(defects(model).size() == 1);
  CHECK_THAT(defects(model)[0], Contains("core 1 to core 4 costs") && Contains("measure this pair again"));
  model = random_machine(1, 5);
  model.round_trip = CycleMatrix(5);
  for (int from = 0; from < 5; ++from) {
    for (int to = 0; to < 5; ++to) model.round_trip.set(from, to, from == to ? 0 : 4 * model.edge(from, to));
  }
  CHECK(defects(model).empty());
  model.round_trip.set(2, 0, 10);
  REQUIRE(defects(model).size() == 1);
  CHECK_THAT(defects(model)[0], Contains("round_trip from core 7 to core 1"));
  // Microseconds, given as cycles.
  model = random_machine(1, 5);
  for (int from = 0; from < 5; ++from) {
    for (int to = 0; to < 5; ++to) {
      model.send.set(from, to, model.send.at(from, to) / 2500);
      model.receive.set(from, to, model.receive.at(from, to) / 2500);
    }
  }
  REQUIRE(defects(model).size() == 1);
  CHECK_THAT(defects(model)[0], Contains("the unit is probably wrong"));
  // Gigahertz, given as hertz.
  model = random_machine(1, 5);
  model.frequency_hz = 2.5;
  REQUIRE(defects(model).size() == 1);
  CHECK_THAT(defects(model)[0], Contains("frequency_hz is 2.5"));
}

TEST_CASE("asymmetry is the dearer direction over the cheaper") {
  CostModel model = random_machine(2, 2);
  model.send.set(0, 1, 100), model.receive.set(0, 1, 300);
  model.send.set(1, 0, 50), model.receive.set(1, 0, 150);
  const Asymmetry uneven = asymmetry(model);
  CHECK(uneven.median == 2);
  CHECK(uneven.most == 2);
  CHECK(uneven.from == 0);
  CHECK(uneven.to == 1);
}

TEST_CASE("a group's model holds its cores' costs, in the group's order") {
  const CostModel model = random_machine(4, 9);
  const std::vector<CoreId> group{CoreId(25), CoreId(1), CoreId(10)};
  const auto part = restrict_to(model, group);
  REQUIRE(part.ok());
  CHECK(part->size() == 3);
  CHECK(part->send.at(0, 2) == model.send.at(8, 3));
  CHECK(part->cores[1] == model.cores[0]);
  CHECK_THAT(std::string(restrict_to(model, std::vector<CoreId>{}).status().message()), Contains("empty"));
  CHECK_THAT(std::string(restrict_to(model, std::vector<CoreId>{CoreId(2)}).status().message()),
             Contains("core 2, which random does not have"));
  CHECK_THAT(std::string(restrict_to(model, std::vector<CoreId>{CoreId(1), CoreId(1)}).status().message()),
             Contains("twice"));
}

std::string tree_error(const std::string& text) {
  const auto tree = read_tree(text);
  REQUIRE(!tree.ok());
  CHECK(tree.status().code() == absl::StatusCode::kInvalidArgument);
  const std::string message(tree.status().message());
  CHECK(std::count(message.begin(), message.end(), '\n') == 0);
  return message;
}

TEST_CASE("a tree file keeps the order of children") {
  const auto named = read_tree(R"({"root": 13, "children": {"13": [4, 19], "4": [1, 0]}, "predicted": {}})");
  REQUIRE(named.ok());
  CHECK(named->cores.front() == CoreId(13));
  const auto id = [&](int index) { return named->cores[index].value(); };
  const auto& top = named->tree.children[named->tree.root];
  REQUIRE(top.size() == 2);
  CHECK(id(top[0]) == 4);
  CHECK(id(top[1]) == 19);
  CHECK(id(named->tree.children[top[0]][0]) == 1);
}

TEST_CASE("any tree survives being written and read") {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    const int cores = 2 + static_cast<int>(seed);
    const CostModel model = random_machine(seed, cores);
    const Tree tree = random_tree(seed, cores);
    const auto named = read_tree(write_tree(model, tree));
    REQUIRE(named.ok());
    const Prediction before = predict(model, tree), after = predict(*restrict_to(model, named->cores), named->tree);
    CHECK(after.broadcast == Approx(before.broadcast));
    CHECK(after.reduction == Approx(before.reduction));
    CHECK(after.bottleneck == Approx(before.bottleneck));
  }
}

TEST_CASE("a defect of a tree file is reported in one sentence") {
  CHECK_THAT(tree_error("{"), Contains("not JSON"));
  CHECK_THAT(tree_error("7"), Contains("not a JSON object"));
  CHECK_THAT(tree_error(R"({"children": {}})"), Contains("no \"root\""));
  CHECK_THAT(tree_error(R"({"root": 0})"), Contains("no \"children\""));
  CHECK_THAT(tree_error(R"({"root": 0, "children": {}})"), Contains("only one core"));
  CHECK_THAT(tree_error(R"({"root": 0, "children": {"0": [1], "1": [0]}})"), Contains("cycle"));
  CHECK_THAT(tree_error(R"({"root": 0, "children": {"0": [1], "2": [3], "3": [2]}})"), Contains("form a cycle"));
  CHECK_THAT(tree_error(R"({"root": 0, "children": {"0": [1], "2": [3]}})"), Contains("reaches only 2"));
  CHECK_THAT(tree_error(R"({"root": 0, "children": {"0": [1, 1]}})"), Contains("two parents"));
  CHECK_THAT(tree_error(R"({"root": 0, "children": {"0": [1, 2], "1": [2]}})"), Contains("two parents"));
  CHECK_THAT(tree_error(R"({"root": 0, "children": {"0": [-1]}})"), Contains("a child of core 0 is no core's id"));
  CHECK_THAT(tree_error(R"({"root": 0, "children": {"0": 1}})"), Contains("not a list"));
  CHECK_THAT(tree_error(R"({"root": 0, "children": {"x": [1]}})"), Contains("no core's id"));
  CHECK_THAT(tree_error(R"({"root": 0, "children": {"0": [1], "00": [2]}})"), Contains("two lists"));
}

// A seeded mutation of a valid file: bytes changed, cut, doubled, or replaced by input that breaks readers.
std::string mutated(std::string text, Prng& random) {
  static constexpr const char* kPieces[] = {"NaN",       "-",    "1e999",  "null",    "[",    "]",
                                            "{",         "}",    "\"",     "\\u0000", "\xff", "99999999999999999999",
                                            "0.0000001", "[[]]", "\"id\"", ","};
  for (std::uint64_t changes = 1 + random.below(4); changes > 0 && !text.empty(); --changes) {
    const std::size_t at = random.below(text.size());
    switch (random.below(4)) {
      case 0:
        text[at] = static_cast<char>(random.below(256));
        break;
      case 1:
        text.erase(at, random.below(20));
        break;
      case 2:
        text.insert(at, text.substr(random.below(text.size()), random.below(30)));
        break;
      default:
        text.insert(at, kPieces[random.below(std::size(kPieces))]);
    }
  }
  return text;
}

TEST_CASE("damaged files are refused or read as valid ones") {
  const int rounds = std::getenv("INGOT_LONG_TESTS") != nullptr ? 300'000 : 4'000;
  int machines_read = 0, trees_read = 0;
  for (int round = 0; round < rounds; ++round) {
    CAPTURE(round);
    Prng random(static_cast<std::uint64_t>(round));
    const auto model = read_machine(mutated(kMachine, random));
    if (model.ok()) {
      ++machines_read;
      REQUIRE(validate(*model).ok());
      const auto again = read_machine(write_machine(*model));
      REQUIRE(again.ok());
      REQUIRE(again->send == model->send);
    } else {
      REQUIRE(!model.status().message().empty());
    }
    const auto named =
        read_tree(mutated(R"({"root": 13, "children": {"13": [4, 19], "4": [1, 0], "19": [7]}})", random));
    if (named.ok()) {
      ++trees_read;
      REQUIRE(validate(named->tree).ok());
      REQUIRE(named->tree.children.size() == named->cores.size());
    } else {
      REQUIRE(!named.status().message().empty());
    }
  }
  // Else the mutations would only test the JSON parser.
  CHECK(machines_read > rounds / 100);
  CHECK(trees_read > rounds / 400);
}

}  // namespace
}  // namespace ingot
