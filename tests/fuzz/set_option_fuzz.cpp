#include "experiments/base/yaml.h"
#include "experiments/question/overrides/set_option.h"
#include "tests/fuzz/harness.h"

namespace corun::fuzz {
namespace {

constexpr char kDocument[] = R"(
name: base
horizon: 1s
clients:
  - { name: game, pacing: 60fps, synthetic: { game: { gpu: 4ms } } }
  - { name: load, repeat: 2 }
policies: [passthrough, pilotfish: { margin: 300us }]
)";

/// Lines of the input are options of one command line.
void apply(std::string_view bytes) {
  Diagnostics ignored;
  Node root = parse_yaml(kDocument, "base.yaml", ignored);
  std::vector<std::string> options;
  for (std::size_t begin = 0; begin <= bytes.size() && options.size() < 16;) {
    const std::size_t end = std::min(bytes.find('\n', begin), bytes.size());
    options.emplace_back(bytes.substr(begin, end - begin));
    begin = end + 1;
  }
  Diagnostics diagnostics;
  accepts([&] { apply_set_options(root, options, diagnostics); });
  promise(root.is_mapping(), "a document stays a mapping");
}

}  // namespace
}  // namespace corun::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  corun::fuzz::apply(corun::fuzz::text_of(data, size));
  return 0;
}
