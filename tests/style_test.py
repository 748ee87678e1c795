"""Holds the tree to the rules of style_rules.py, and the rules to their word by planting violations."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import style_rules as rules  # noqa: E402
from architecture_test import texts  # noqa: E402


class TheTree(unittest.TestCase):
    def test_keeps_the_rules(self):
        tree = texts()
        self.assertGreater(len(tree), 500)
        for rule in rules.RULES:
            with self.subTest(rule.__name__):
                complaints = [complaint for path, text in tree.items() for complaint in rule(path, text)]
                self.assertEqual([], complaints, "\n" + "\n".join(complaints))


def function_of(lines, head="void f() {", end="}"):
    """A function of so many lines."""
    return "\n".join([head, *["  g();"] * (lines - 2), end]) + "\n"


class TheRules(unittest.TestCase):
    """Each rule sees a planted violation and leaves good text alone."""

    def sees(self, rule, *arguments):
        self.assertTrue(list(rule(*arguments)), f"{rule.__name__} overlooks {arguments}")

    def accepts(self, rule, *arguments):
        self.assertEqual(list(rule(*arguments)), [])

    def test_lines_have_at_most_120_columns(self):
        for path in ("dev", "a.py", "a.js", "a.sh", "sim/CMakeLists.txt"):
            self.sees(rules.check_lines, path, "short\n" + "x" * 121)
            self.accepts(rules.check_lines, path, "é" * 120 + "\n")
        self.accepts(rules.check_lines, "README.md", "x" * 121)

    def test_lines_of_cpp_have_at_most_120_columns(self):
        for path in ("sim/a.h", "sim/a.cpp", "sim/a.cpp.in", "sim/a.cu"):
            self.sees(rules.check_cpp_lines, path, "x" * 121)
            self.accepts(rules.check_cpp_lines, path, "x" * 120)

    def test_functions_of_python_have_at_most_60_lines_of_code(self):
        for head in ("def f():", "async def f():"):
            self.sees(rules.check_function_lengths, "a.py", function_of(61, head, "  g()").replace(";", ""))
            self.accepts(rules.check_function_lengths, "a.py", function_of(60, head, "  g()").replace(";", ""))
        documented = 'def f():\n  """One.\n\n  Two."""\n'
        self.accepts(rules.check_function_lengths, "a.py", documented + "  g()\n" * 59)
        self.sees(rules.check_function_lengths, "a.py", documented + "  g()\n" * 60)
        self.sees(rules.check_function_lengths, "a.py", "class A:\n  def f(self):\n" + "    g()\n" * 60)

    def test_functions_of_javascript_have_at_most_60_lines(self):
        for head, end in (("function f() {", "}"), ("const f = x => {", "};"), ("async function f() {", "}"),
                          ("const f = x => html(", ")")):
            self.sees(rules.check_function_lengths, "a.js", function_of(61, head, end))
            self.accepts(rules.check_function_lengths, "a.js", function_of(60, head, end) * 2)
        one_line = "const a = 1;\n"
        self.accepts(rules.check_function_lengths, "a.js", one_line * 70)

    def test_functions_of_cpp_have_at_most_60_lines(self):
        for head in ("int f() {", "A::A(int a)\n    : a_(a),\n      b_{1, 2},\n      c_{g()} {", "TEST(A, B) {",
                     "template <class T, int N = 3>\nauto A<T>::f(T t = {}) const noexcept -> std::vector<int> {",
                     "bool operator==(const A& a, const A& b) {", "void operator()(int) override {", "~A() {",
                     "[[nodiscard]] struct stat f() {", 'extern "C" int f() {', "RC_GTEST_PROP(A, B, (int a)) {"):
            lines = head.count("\n")
            for scope in ("%s", "namespace a::b {\n%s}\n", "class A : public B<C> {\n public:\n%s};\n",
                          'extern "C" {\n%s}\n'):
                long, short = (scope % function_of(count - lines, head) for count in (61, 60))
                self.sees(rules.check_cpp_function_lengths, "a.cpp", long)
                self.accepts(rules.check_cpp_function_lengths, "a.cpp", short)

    def functions(self, text):
        return [(name, lines) for _, name, lines in rules.cpp_functions(text)]

    def test_braces_that_open_no_function(self):
        for text in ("int a[] = {1, 2};\n", "const std::map<int, int> kOf{{1, 2}};\n",
                     "enum class A : int { kB, kC };\n",
                     "struct A {\n  int a = 0;\n  std::vector<int> b{1, 2};\n};\n",
                     "auto f = [](int a) { return a; };\n",
                     "namespace {\n}  // namespace\n", "using A = B<int()>;\n", "class A;\nint f(int a = {});\n"):
            self.assertEqual([], self.functions(text), text)

    def test_braces_in_strings_comments_and_numbers_count_for_nothing(self):
        for line in ('R"x(} {{ ")x";', '"{{\\"";', "'{';", "1'000'000, '}';", "// }", "/* { */", "0xff'ff;",
                     'R"({)"  // "'):
            self.assertEqual([("f", 3), ("g", 1)], self.functions(f"void f() {{\n  {line}\n}}\nvoid g() {{}}\n"), line)

    def test_a_lambda_belongs_to_the_function_around_it(self):
        text = "void f() {\n  sort(a, [&](int b) {\n    if (b) { g(); }\n  });\n}\nint A::g() const { return 1; }\n"
        self.assertEqual([("f", 5), ("A::g", 1)], self.functions(text))

    def test_one_alternative_of_the_preprocessor_counts(self):
        text = "#if A\nvoid f() {\n#else\nvoid f(int) {\n#endif\n  g();\n}\nvoid h() {}\n#define M \\\n  {\n"
        self.assertEqual([("f", 6), ("h", 1)], self.functions(text))

    def test_the_line_of_a_function_is_right(self):
        [(line, name,
          _)] = rules.cpp_functions("// one\n\nnamespace a {\n\n/// Two.\nint f(int a,\n      int b) {\n}\n}\n")
        self.assertEqual((6, "f"), (line, name))

    def test_cases_are_named_in_camel_case(self):
        for text in ("TEST(Gate, opens_late) {", "TEST_F(gate, Opens) {", "RC_GTEST_PROP(Gate, opens_late, ()) {",
                     "TEST_P(Gate,\n       opens) {", "TYPED_TEST(Gate, Opens_Late) {"):
            self.sees(rules.check_case_names, "tests/a_test.cpp", text)
        for text in ("TEST(Gate, OpensLate) {", "TEST_F(Gate, DISABLED_Opens2) {", "// TEST(a, b)", "CONTEST(a, b)"):
            self.accepts(rules.check_case_names, "tests/a_test.cpp", text)

    def test_a_conditional_expression_is_no_statement(self):
        for text in ("a ? b() : c();", "if (x) a ? b() : c();", "else a == 1 ? b() : c();",
                     "f([&] { a ? b() : c(); });",
                     "for (int i = 0; i < n; ++i) is(i) ? b() : c();", "case A::kB: a() ? b() : c();",
                     "if (a) { g(); } a.b[1]->c ? d() : e();", "Foo f{1}; a ? b() : void();"):
            self.sees(rules.check_conditional_statements, "a.cpp", f"void f() {{ {text} }}")

    def test_a_conditional_expression_may_be_a_value(self):
        for text in ("int d = a ? b : c;", "d += a ? b : c;", "return a ? b : c;", "g(a ? b : c);", "d[a ? b : c] = 1;",
                     "for (i = 0; i < n ? a : b; ++i) g();", "int d{a ? b : c};", "(a ? b : c) = d;",
                     "const A& d = A{1} == b ? c : e;", "case A::kB: return a ? b : c;", "throw a ? B() : C();",
                     "else return a ? b : c;", 'g("a ? b : c;");', "// a ? b() : c();", "return A{b} ? c : d;"):
            self.accepts(rules.check_conditional_statements, "a.cpp", f"void f() {{ {text} }}")


if __name__ == "__main__":
    unittest.main()
