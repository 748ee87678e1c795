#include "experiments/base/yaml.h"

#include <gtest/gtest.h>

#include "tests/experiments/question/experiment_text.h"

namespace corun {
namespace {

std::vector<std::string> problems(std::string_view text) {
  Diagnostics diagnostics;
  try {
    parse_yaml(text, "f.yaml", diagnostics);
    diagnostics.throw_if_any();
  } catch (const InvalidInput& invalid) {
    std::vector<std::string> lines;
    for (const Diagnostic& d : invalid.diagnostics()) lines.push_back(d.where.to_string() + " " + d.message);
    return lines;
  } catch (const Error& error) {
    return {error.what()};
  }
  return {};
}

TEST(Yaml, KeepsTextAndPlace) {
  Diagnostics diagnostics;
  const Node root = parse_yaml("a: no\nb: [012, \"\"]\nc: {d: 12:30:45}\n", "f.yaml", diagnostics);
  ASSERT_TRUE(diagnostics.empty());
  EXPECT_EQ(root.find("a")->text, "no");
  EXPECT_EQ(root.find("b")->items[0].text, "012");
  EXPECT_FALSE(root.find("b")->items[1].is_absent());
  EXPECT_EQ(root.find("c")->find("d")->text, "12:30:45");
  EXPECT_EQ(root.find("c")->find("d")->where.to_string(), "f.yaml:3:8");
  EXPECT_EQ(root.find("c")->find("d")->where.length, 8U);
}

TEST(Yaml, CountsColumnsInCharacters) {
  Diagnostics diagnostics;
  const Node root = parse_yaml("{\"\u00e9\u00e9\": x}", "f.yaml", diagnostics);
  EXPECT_EQ(root.entries[0].value.where.column, 8U);
}

TEST(Yaml, RefusesWhatCouldSurprise) {
  EXPECT_EQ(problems("a: &x 1\nb: *x\n").size(), 2U);
  EXPECT_EQ(problems("a: !!int 1\n"), std::vector<std::string>{"f.yaml:1:4 tags are not used here"});
  EXPECT_EQ(problems("a: 1\n---\nb: 2\n"), std::vector<std::string>{"f.yaml:2:1 a second document begins here"});
  EXPECT_EQ(problems("a: 1\na: 2\n"), std::vector<std::string>{"f.yaml:2:1 key `a` is given twice"});
  EXPECT_EQ(problems("[1, 2]: x\n"), std::vector<std::string>{"f.yaml:1:1 a key must be text"});
}

TEST(Yaml, TellsWhereTheSyntaxBreaks) {
  const auto found = problems("a: [1, 2\nb: 3\n");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(found[0].starts_with("f.yaml:2:")) << found[0];
}

TEST(Yaml, LimitsSizeDepthAndBytes) {
  EXPECT_EQ(problems(std::string(70, '[') + std::string(70, ']')).size(), 1U);
  EXPECT_EQ(problems(std::string(60, '[') + std::string(60, ']')).size(), 0U);
  EXPECT_EQ(problems(std::string(kMaxYamlBytes + 1, '#')).size(), 1U);
  EXPECT_EQ(problems(std::string_view("a: \0b", 5)).size(), 1U);
  EXPECT_EQ(problems("a: \xff\xfe\n").size(), 1U);
}

TEST(Yaml, EveryCutOfADocumentIsReadOrRefused) {
  const std::string text = "name: x\nlist: [a, {b: \"c\", d: 'e'}]\nblock: |\n  two\n  lines\n";
  for (std::size_t length = 0; length <= text.size(); ++length) problems(text.substr(0, length));
}

TEST(Yaml, RefusesAFolderAndAMissingFile) {
  const testing::TemporaryFolder folder;
  EXPECT_THROW(read_text_file(folder.path().string()), Error);
  EXPECT_THROW(read_text_file(folder / "none.yaml"), Error);
}

}  // namespace
}  // namespace corun
