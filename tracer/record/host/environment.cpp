#include "tracer/record/host/environment.h"

#include <unistd.h>

#include <algorithm>

namespace corun::record {

namespace {

bool is_named(std::string_view entry, std::string_view name) {
  return entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=';
}

}  // namespace

Environment Environment::inherited() {
  Environment environment;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
    environment.entries_.emplace_back(*entry);
  return environment;
}

std::string Environment::get(std::string_view name) const {
  const auto found = std::ranges::find_if(entries_, [&](const std::string& entry) { return is_named(entry, name); });
  return found == entries_.end() ? "" : found->substr(name.size() + 1);
}

void Environment::set(std::string_view name, std::string_view value) {
  remove(name);
  entries_.push_back(std::string(name) + "=" + std::string(value));
}

void Environment::remove(std::string_view name) {
  std::erase_if(entries_, [&](const std::string& entry) { return is_named(entry, name); });
}

std::vector<char*> Environment::pointers() {
  std::vector<char*> pointers;
  for (std::string& entry : entries_) pointers.push_back(entry.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace corun::record
