#include "traces/importers/chrome/json_records.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "traces/base/error.h"

namespace corun {
namespace {

using Next = JsonRecords::Next;

struct Cut {
  std::vector<std::string> records;
  int broken = 0;
  Next last = Next::kEnd;
};

Cut cut(std::string_view text) {
  Cut result;
  JsonRecords records{text, 1};
  for (;;) {
    result.last = records.advance();
    if (result.last == Next::kRecord)
      result.records.emplace_back(records.record());
    else if (result.last == Next::kBroken)
      ++result.broken;
    else
      return result;
  }
}

TEST(JsonRecords, AreCutAtBracketsOutsideOfStrings) {
  const Cut result = cut(R"([{"a": {"b": [1, {"c": "}]\"{"}]}} , {"d": "x\\"},{}])");
  EXPECT_EQ(result.records,
            (std::vector<std::string>{R"({"a": {"b": [1, {"c": "}]\"{"}]}})", R"({"d": "x\\"})", "{}"}));
  EXPECT_EQ(result.last, Next::kEnd);
}

TEST(JsonRecords, KeepEverythingBeforeATruncation) {
  for (const char* tail : {"", ",", ", {\"b\": 2", ", {\"b", ", {"}) {
    const Cut result = cut(std::string{R"([{"a": 1})"} + tail);
    EXPECT_EQ(result.records.size(), 1U) << tail;
    EXPECT_EQ(result.last, Next::kTruncated) << tail;
  }
}

TEST(JsonRecords, LoseOnlyTheRecordWithAnUnescapedQuotationMark) {
  const Cut result = cut("[{\"n\": \"a\"}, {\"n\": \"5\" disk\"},\n  {\"n\": \"b\"}, {\"n\": \"c\"}]");
  EXPECT_EQ(result.broken, 1);
  EXPECT_EQ(result.records, (std::vector<std::string>{R"({"n": "a"})", R"({"n": "b"})", R"({"n": "c"})"}));
  EXPECT_EQ(result.last, Next::kEnd);
}

TEST(JsonRecords, GoOnBehindSomethingThatIsNoObject) {
  const Cut result = cut(R"([{"a": 1}, garbage}, {"b": 2}])");
  EXPECT_EQ(result.broken, 1);
  EXPECT_EQ(result.records.size(), 2U);
}

TEST(JsonRecords, ComeToAnEndOnHostileText) {
  std::string hostile = "[";
  for (int i = 0; i < 200000; ++i) hostile += "{\"a\":[1},";
  EXPECT_THROW(cut(hostile), Error);
  EXPECT_EQ(cut("[" + std::string(100000, '{')).last, Next::kTruncated);
}

RC_GTEST_PROP(JsonRecords, AreFoundWhateverTheirStringsHold, ()) {
  const auto names = *rc::gen::container<std::vector<std::string>>(
      rc::gen::container<std::string>(rc::gen::element('a', ' ', '{', '}', '[', ']', ':', '"', '\\')));
  std::vector<std::string> records;
  std::string text = "[";
  for (const std::string& name : names) {
    std::string escaped;
    for (char c : name) escaped += c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
    records.push_back("{\"n\": \"" + escaped + "\"}");
    text += (records.size() > 1 ? ", " : "") + records.back();
  }
  const Cut result = cut(text + "]");
  RC_ASSERT(result.records == records);
  RC_ASSERT(result.last == Next::kEnd);
}

TEST(JsonValueEnd, StopsScalarsAtSeparators) {
  EXPECT_EQ(json_value_end("12, 3", 0), 2U);
  EXPECT_EQ(json_value_end("true}", 0), 4U);
  EXPECT_EQ(json_value_end("\"a\\\"b\" ", 0), 6U);
  EXPECT_FALSE(json_value_end("[1, 2", 0));
  EXPECT_FALSE(json_value_end("", 0));
}

TEST(LineCounter, CountsLinesFromOne) {
  LineCounter lines{"a\nb\n\nc"};
  EXPECT_EQ(lines.line_at(0), 1U);
  EXPECT_EQ(lines.line_at(2), 2U);
  EXPECT_EQ(lines.line_at(5), 4U);
  EXPECT_EQ(lines.line_at(999), 4U);
}

}  // namespace
}  // namespace corun
