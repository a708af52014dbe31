#include "tests/replication/agreement/scenario.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "replication/agreement/messages.h"
#include "tests/replication/agreement/group.h"
#include "tests/replication/agreement/trace.h"

namespace ingot::testing {

namespace {

using Words = std::vector<std::string>;

struct LinkName {
  int from = 0;
  int to = 0;
};

// "A->B"
LinkName link_name(const std::string& word) {
  const std::size_t arrow = word.find("->");
  if (arrow == std::string::npos) throw std::invalid_argument("a link is A->B, not " + word);
  return {std::stoi(word.substr(0, arrow)), std::stoi(word.substr(arrow + 2))};
}

std::map<std::string, std::string> options_of(const Words& words, std::size_t first) {
  std::map<std::string, std::string> options;
  for (std::size_t i = first; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    options[words[i].substr(0, equals)] = equals == std::string::npos ? "" : words[i].substr(equals + 1);
  }
  return options;
}

MessageType type_named(const std::string& name) {
  for (int type = 0; type < 256; ++type) {
    if (name == name_of(static_cast<MessageType>(type))) return static_cast<MessageType>(type);
  }
  throw std::invalid_argument("no message is called " + name);
}

class Runner {
 public:
  std::string run(const std::string& line) {
    std::istringstream in(line);
    Words words;
    for (std::string word; in >> word;) words.push_back(word);
    trace_.clear();
    const auto command = commands_.find(words.at(0));
    if (command == commands_.end()) return "no command is called " + words[0] + "\n";
    try {
      if (!group_ && words[0] != "group") return "there is no group yet\n";
      command->second(words);
    } catch (const std::logic_error& error) {
      trace_ += std::string("the command is wrong: ") + error.what() + "\n";
    }
    return trace_;
  }

 private:
  static int replica(const Words& words) { return std::stoi(words.at(1)); }
  static int count(const Words& words, int otherwise) { return words.size() > 2 ? std::stoi(words[2]) : otherwise; }

  void group(const Words& words) {
    GroupOptions options;
    options.replicas = std::stoi(words.at(1));
    options.kind = words.at(2);
    options.voters = std::min(options.replicas, kVotersMax);
    for (const auto& [name, value] : options_of(words, 3)) {
      if (name == "voters") options.voters = std::stoi(value);
      if (name == "window") options.bounds.window_slots = std::stoi(value);
      if (name == "log") options.bounds.command_log_slots = std::stoi(value);
      if (name == "prepared_bytes") options.bounds.prepared_bytes = std::stoul(value);
      if (name == "suspect") options.bounds.suspect_ticks = std::stoi(value);
      if (name == "leader_changes") options.bounds.leader_changes = std::stoi(value);
      if (name == "in_flight") options.bounds.in_flight_bytes = std::stoul(value);
      if (name == "window_bytes") options.bounds.window_bytes = std::stoul(value);
      if (name == "fencing") options.fencing = true;
      if (name == "apply") options.apply_by_hand = value == "by-hand";
    }
    group_ = std::make_unique<Group>(options);
    const bool quiet = options_of(words, 3).count("quiet") > 0;
    group_->observe = [this, quiet](int who, const Effects& effects) {
      trace_ += quiet ? without_configuration(describe_effects(who, effects)) : describe_effects(who, effects);
    };
  }

  static std::string without_configuration(const std::string& trace) {
    std::istringstream in(trace);
    std::string out;
    for (std::string line; std::getline(in, line);) {
      if (line.find(" stores Configuration") == std::string::npos && line.find("  Config") == std::string::npos) {
        out += line + "\n";
      }
    }
    return out;
  }

  // Whether a command that names R and then perhaps A... is for `who`.
  static bool is_for(const Words& words, int who) {
    const bool named =
        words.size() == 2 || std::find(words.begin() + 2, words.end(), std::to_string(who)) != words.end();
    return named && who != replica(words);
  }

  void died(const Words& words) {
    for (int who = 0; who < group_->replicas(); ++who) {
      if (is_for(words, who) && group_->alive(who)) group_->report_death(who, replica(words));
    }
  }

  void tell_others(const Words& words, void (Group::*report)(int, int)) {
    for (int who = 0; who < group_->replicas(); ++who) {
      if (is_for(words, who) && group_->runs(who)) (*group_.*report)(who, replica(words));
    }
  }

  void move(const Words& words) {
    const Role role = words.at(2) == "leader" ? Role::kLeader : Role::kAcceptor;
    const absl::Status status = group_->move(replica(words), role, std::stoi(words.at(3)));
    if (!status.ok()) trace_ += "refused: " + std::string(status.message()) + "\n";
  }

  void segment(const Words& words) {
    const int incarnation = count(words, static_cast<int>(group_->incarnation(replica(words)).value()));
    const StableView* view = group_->segment({EndpointId(static_cast<std::uint16_t>(replica(words))),
                                              Incarnation(static_cast<std::uint32_t>(incarnation))});
    if (!view) {
      trace_ += "missing\n";
      return;
    }
    std::ostringstream out;
    out << "acceptor epoch " << view->epoch << " promised " << view->promised << " trimmed " << view->trimmed << ":";
    for (const auto& [slot, entry] : view->accepted) out << " " << slot << " `" << *entry.command << "`";
    out << "\nleader epoch " << view->leader_epoch << " ballot " << view->leader_ballot << " from slot "
        << view->leader_trimmed << ":";
    for (const auto& [ballot, slots] : view->proposed) {
      for (const auto& [slot, command] : slots) out << " " << slot << " `" << *command << "`";
    }
    trace_ += out.str() + "\n";
  }

  void deliver(const Words& words) {
    if (words.at(1) == "all") return group_->deliver_all();
    const LinkName name = link_name(words.at(1));
    for (int left = count(words, 1 << 20); left > 0 && !group_->link(name.from, name.to).empty(); --left) {
      group_->deliver(name.from, name.to);
    }
  }

  void drop(const Words& words) {
    const LinkName name = link_name(words.at(1));
    auto& link = group_->link(name.from, name.to);
    for (int left = count(words, 1 << 20); left > 0 && !link.empty(); --left) {
      trace_ += "lost: " + describe_message(*link.front()) + "\n";
      link.pop_front();
    }
  }

  void duplicate(const Words& words) {
    const LinkName name = link_name(words.at(1));
    auto& link = group_->link(name.from, name.to);
    if (!link.empty()) link.push_front(link.front());
  }

  void inject(const Words& words) {
    const LinkName name = link_name(words.at(1));
    auto options = options_of(words, 3);
    const auto number = [&](const char* key, std::uint64_t otherwise) {
      return options.count(key) ? std::stoull(options[key]) : otherwise;
    };
    Message message;
    message.type = type_named(words.at(2));
    message.incarnation = Incarnation(static_cast<std::uint32_t>(number("incarnation", 1)));
    message.epoch = Epoch(number("epoch", 1));
    message.ballot = Ballot(number("ballot", 1));
    message.slot = Slot(number("slot", 0));
    message.number = number("number", 0);
    message.target = Incarnation(static_cast<std::uint32_t>(number("target", 0)));
    message.verdict = options.count("yes") > 0;
    message.payload = options["command"];
    group_->receive(name.from, name.to, encode(message));
  }

  void raw(const Words& words) {
    const LinkName name = link_name(words.at(1));
    std::string bytes;
    const std::string& hex = words.at(2);
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
      bytes.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
    }
    group_->receive(name.from, name.to, bytes);
  }

  void tick(const Words& words) {
    int ticks = 0;
    for (; ticks < count(words, 1) && group_->at(replica(words)).wants_tick(); ++ticks) group_->tick(replica(words));
    if (ticks < count(words, 1)) trace_ += std::to_string(replica(words)) + " wants no more ticks\n";
  }

  void status(const Words& words) {
    for (int who = 0; who < group_->replicas(); ++who) {
      if (words.size() > 1 && who != replica(words)) continue;
      trace_ += std::to_string(who) + ": " +
                (group_->alive(who) ? describe_status(group_->at(who).status()) : std::string("dead\n"));
    }
  }

  void why(const Words& words) {
    for (int who = 0; who < group_->replicas(); ++who) {
      if ((words.size() > 1 && who != replica(words)) || !group_->runs(who)) continue;
      trace_ += std::to_string(who) + " " + describe_waiting(group_->at(who).status()) + "\n";
    }
  }

  void links() {
    for (int from = 0; from < group_->replicas(); ++from) {
      for (int to = 0; to < group_->replicas(); ++to) {
        for (const auto& message : group_->link(from, to)) {
          trace_ += std::to_string(from) + " -> " + std::to_string(to) + "  " + describe_message(*message) + "\n";
        }
      }
    }
  }

  std::unique_ptr<Group> group_;
  std::string trace_;
  const std::map<std::string, std::function<void(const Words&)>> commands_{
      {"group", [this](const Words& w) { group(w); }},
      {"propose",
       [this](const Words& w) {
         for (std::size_t i = 2; i < w.size(); ++i) group_->propose(replica(w), w[i]);
       }},
      {"read",
       [this](const Words& w) {
         for (int i = 0; i < count(w, 1); ++i) group_->read(replica(w));
       }},
      {"deliver", [this](const Words& w) { deliver(w); }},
      {"drop", [this](const Words& w) { drop(w); }},
      {"duplicate", [this](const Words& w) { duplicate(w); }},
      {"inject", [this](const Words& w) { inject(w); }},
      {"raw", [this](const Words& w) { raw(w); }},
      {"drained",
       [this](const Words& w) { group_->drained(link_name(w.at(1)).from, link_name(w.at(1)).to); }},
      {"tick", [this](const Words& w) { tick(w); }},
      {"apply", [this](const Words& w) { group_->apply(replica(w), Slot(std::stoull(w.at(2)))); }},
      {"compact", [this](const Words& w) { group_->compact(replica(w), Slot(std::stoull(w.at(2)))); }},
      {"install", [this](const Words& w) { group_->install(replica(w), Slot(std::stoull(w.at(2)))); }},
      {"room", [this](const Words& w) { group_->room(replica(w), std::stoul(w.at(2))); }},
      {"crash", [this](const Words& w) { group_->crash(replica(w)); }},
      {"restart", [this](const Words& w) { group_->restart(replica(w)); }},
      {"run", [this](const Words& w) { group_->run(std::stoi(w.at(1))); }},
      {"stop",
       [this](const Words& w) {
         for (std::size_t i = 1; i < w.size(); ++i) group_->stop(std::stoi(w[i]), true);
       }},
      {"cont",
       [this](const Words& w) {
         for (std::size_t i = 1; i < w.size(); ++i) group_->stop(std::stoi(w[i]), false);
       }},
      {"lose", [this](const Words& w) { group_->lose_segments(replica(w)); }},
      {"release", [this](const Words& w) { group_->release_segments(replica(w), Slot(std::stoull(w.at(2)))); }},
      {"died", [this](const Words& w) { died(w); }},
      {"started", [this](const Words& w) { tell_others(w, &Group::report_start); }},
      {"stopped", [this](const Words& w) { tell_others(w, &Group::report_stop); }},
      {"continued", [this](const Words& w) { tell_others(w, &Group::report_continued); }},
      {"waits", [this](const Words& w) { group_->client_waits(replica(w)); }},
      {"move", [this](const Words& w) { move(w); }},
      {"segment", [this](const Words& w) { segment(w); }},
      {"status", [this](const Words& w) { status(w); }},
      {"why", [this](const Words& w) { why(w); }},
      {"links", [this](const Words&) { links(); }},
      {"refused",
       [this](const Words& w) {
         trace_ += std::to_string(group_->at(replica(w)).refused_messages()) + " messages refused\n";
       }},
  };
};

}  // namespace

std::string run_scenario(const std::string& text) {
  Runner runner;
  std::istringstream in(text);
  std::string out;
  std::string trace;
  bool in_old_trace = false;
  for (std::string line; std::getline(in, line);) {
    if (in_old_trace) {
      in_old_trace = !line.empty();
      if (!in_old_trace) out += "\n";
      continue;
    }
    out += line + "\n";
    if (line == "----") {
      out += trace.empty() ? "nothing happens\n" : trace;
      trace.clear();
      in_old_trace = true;
    } else if (!line.empty() && line[0] != '#') {
      trace += runner.run(line);
    }
  }
  return out;
}

}  // namespace ingot::testing
