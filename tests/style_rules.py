"""The rules of CONTRIBUTING.md on how code is written, as functions: each takes a file's path and text and yields what
is wrong with it. As in architecture_rules.py, nothing here reads a file.
"""

import ast
import re

from architecture_rules import code_only, line_of

MOST_COLUMNS = 120
MOST_LINES = 60  # of a function
CPP = (".h", ".cpp", ".cpp.in", ".cu", ".proto")
SCRIPTS = (".py", ".pyi", ".js", ".sh", ".cmake", "CMakeLists.txt")
RAW_STRING = re.compile(r'R"(\w*)\(.*?\)\1"', re.DOTALL)

DIGIT_SEPARATORS = re.compile(r"\b\d[\w.]*(?:'\w+)+")
DIRECTIVE = re.compile(r"[ \t]*#[ \t]*(\w+)")
TEST_CASE = re.compile(r"\b(?:(?:TYPED_)?TEST(?:_[FP])?|RC_GTEST(?:_FIXTURE)?_PROP)\(\s*(\w+)\s*,\s*(\w+)")
CAMEL_CASE = re.compile(r"(DISABLED_)?[A-Z][A-Za-z0-9]*$")
FILLED_PARENTHESES = re.compile(r"\((?:[^()]|\(\))+\)")
OPERATOR = re.compile(r"\boperator\s*(?:\(\s*\)|\[\s*\]|[^\s\w(]+)")
ATTRIBUTE = re.compile(r"\[\[.*?\]\]|\b(?:alignas|__attribute__)\s*\(+[^()]*\)+"
                       r"|\b(?:public|private|protected)\s*:", re.DOTALL)
LABELS = re.compile(r"\s*(?:(?:public|private|protected)\s*:\s*)*")
CLASS = re.compile(r"(?:typedef\s+)?(?:class|struct|union|enum)\b[^(=]*$", re.DOTALL)
ASSIGNMENT = re.compile(r"(?<![=!<>])=(?!=)")
GOES_ON = re.compile(r"\s*(?:[?.,=<>|&%/:]|->|[+-][^+-])")  # what is behind the brace of a value, not of a block
INDEX = re.compile(r"\[[^\[\]]*\]")
NO_EXPRESSION = re.compile(r"(?:return|throw|co_return|co_yield|co_await|goto|using|typedef|template)\b")


def _long_lines(path, text):
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > MOST_COLUMNS:
            yield f"{path}:{number}: {len(line)} columns: at most {MOST_COLUMNS}"


def check_lines(path, text):
    """Lines of scripts and build files have at most 120 columns."""
    if path == "dev" or path.endswith(SCRIPTS):
        yield from _long_lines(path, text)


def check_cpp_lines(path, text):
    """So have those of C++, but in raw strings."""
    if path.endswith(CPP):
        yield from _long_lines(path, RAW_STRING.sub(lambda found: "\n" * found[0].count("\n"), text))


def _too_long(path, functions):
    for line, name, count in functions:
        if count > MOST_LINES:
            yield f"{path}:{line}: {name} has {count} lines: at most {MOST_LINES}, split it along its concepts"


def python_functions(text):
    """(line, name, number of lines without the docstring) of every function."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            said = node.body[0] if ast.get_docstring(node) is not None else None
            yield (node.lineno, node.name, node.end_lineno - node.lineno + 1
                   - (said.end_lineno - said.lineno + 1 if said else 0))


def javascript_functions(text):
    """(line, name, number of lines) of every declaration that begins in column 0; it ends before the next such line."""
    lines = text.split("\n")
    for number, line in enumerate(lines):
        declared = re.match(r"(?:async )?(?:function|const|let|class) (\w+)", line)
        if declared:
            end = next((n for n in range(number + 1, len(lines)) if re.match(r"\S", lines[n])), len(lines) - 1)
            yield number + 1, declared[1], end - number + (lines[end][:1] in ("}", "]", ")"))


def plain_code(text):
    """code_only() without preprocessor directives; of alternatives the first stays, so that braces match."""
    lines, kept, is_directive = code_only(DIGIT_SEPARATORS.sub("0", text)).split("\n"), [], False
    left_out = []  # a truth value for each #if around the line
    for line in lines:
        found = None if is_directive else DIRECTIVE.match(line)
        if found and found[1].startswith("if"):
            left_out.append(False)
        elif found and found[1] in ("else", "elif") and left_out:
            left_out[-1] = True
        elif found and found[1] == "endif" and left_out:
            left_out.pop()
        kept.append("" if found or is_directive or any(left_out) else line)
        is_directive = (is_directive or found is not None) and line.endswith("\\")
    return "\n".join(kept)


def _end_of(code, begin, pair="{}"):
    """The position behind the bracket that closes the one at `begin`."""
    depth = 0
    for found in re.compile(f"[{re.escape(pair)}]").finditer(code, begin):
        depth += 1 if found[0] == pair[0] else -1
        if depth == 0:
            return found.end()
    return len(code)


def _flat(head):
    """A declaration without templates' parameters, and without what is in parentheses."""
    head = OPERATOR.sub("operator_", ATTRIBUTE.sub("", head)).strip()
    while re.match(r"template\s*<", head):
        head = head[_end_of(head, head.index("<"), "<>"):].strip()
    while True:
        flat = FILLED_PARENTHESES.sub("()", head)
        if flat == head:
            return head
        head = flat


def _opens(head):
    """What a brace behind the declaration `head` opens, outside of functions: a scope, a function, or a value."""
    flat = _flat(head)
    if re.match(r"(?:inline\s+)?namespace\b|extern$", flat) or CLASS.match(re.split(r"(?<!:):(?!:)", flat)[0]):
        return "scope"
    if "()" not in flat or ASSIGNMENT.search(flat):
        return "value"
    has_initialisers = re.search(r"\)[^:()]*(?<!:):(?!:)", flat)
    return "value" if has_initialisers and re.search(r"[\w>]$", flat) else "function"


def cpp_functions(text):
    """(line, declaration, number of lines) of every function with a body, at namespace or class scope. Test cases are
    functions; a lambda belongs to the function that it is in."""
    code = plain_code(text)
    head_begin = at = 0
    while found := re.compile(r"[;{}(]").search(code, at):
        at = found.end()
        if found[0] == "(":
            at = _end_of(code, found.start(), "()")
        elif found[0] == "{":
            head = code[head_begin:found.start()]
            opened = _opens(head)
            if opened != "scope":
                at = _end_of(code, found.start())
            if opened == "function":
                begin = head_begin + LABELS.match(head).end()
                name = re.search(r"(~?[\w:]+|operator\S+)\s*\(", head)
                yield line_of(code, begin), name[1] if name else "function", code.count("\n", begin, at) + 1
            if opened != "value":
                head_begin = at
        else:
            head_begin = at


def check_function_lengths(path, text):
    """No function has more than 60 lines: in Python (without its docstring), JavaScript and C++."""
    if path.endswith(".py"):
        yield from _too_long(path, python_functions(text))
    elif path.endswith(".js"):
        yield from _too_long(path, javascript_functions(text))


def check_cpp_function_lengths(path, text):
    if path.endswith((".h", ".cpp", ".cu")):
        yield from _too_long(path, cpp_functions(text))


def check_case_names(path, text):
    """Names of GoogleTest suites and cases are CamelCase."""
    code = code_only(text) if path.endswith(".cpp") else ""
    for found in TEST_CASE.finditer(code):
        for name in filter(None, found.groups()):
            if not CAMEL_CASE.match(name):
                yield f"{path}:{line_of(code, found.start())}: case {name}: write it in CamelCase"


def statements(code):
    """(position, text) of every statement that ends with a semicolon; what is within its braces is another one's."""
    begins, depths, at = [0], [0], 0  # of each open brace: where the statement in it began, open parentheses
    for found in re.compile(r"[;{}()]").finditer(code):
        at = found.start()
        if found[0] == "(":
            depths[-1] += 1
        elif found[0] == ")":
            depths[-1] -= 1
        elif found[0] == "{":
            begins.append(at + 1)
            depths.append(0)
        elif found[0] == "}" and len(begins) > 1:
            begins.pop()
            depths.pop()
            if depths[-1] == 0 and not GOES_ON.match(code, at + 1):
                begins[-1] = at + 1
        elif found[0] == ";" and depths[-1] == 0:
            yield begins[-1], code[begins[-1]:at]
            begins[-1] = at + 1


def _without_conditions(statement):
    """A statement without the `if (...)`, `else` and the like that it stands behind."""
    while True:
        statement = statement.lstrip()
        leading = re.match(r"(?:else|do|case\b(?:[^:?]|::)*:|default\s*:)(?=\W)", statement)
        controlled = re.match(r"(?:if|while|for|switch)\s*(?:constexpr\s*)?\(", statement)
        if leading:
            statement = statement[leading.end():]
        elif controlled:
            statement = statement[_end_of(statement, controlled.end() - 1, "()"):]
        else:
            return statement


def check_conditional_statements(path, text):
    """No conditional expression is a statement of its own: `if` says it."""
    if not path.endswith((".h", ".cpp", ".cu")):
        return
    code = plain_code(text)
    for begin, statement in statements(code):
        flat = INDEX.sub("[]", _flat(_without_conditions(statement))) if "?" in statement else ""
        if "?" in flat and not NO_EXPRESSION.match(flat) and not ASSIGNMENT.search(flat.partition("?")[0]):
            line = line_of(code, begin + len(statement) - len(statement.lstrip()))
            yield f"{path}:{line}: `{' '.join(flat.split())[:50]}` decides between two calls: write if and else"


RULES = [check_lines, check_cpp_lines, check_function_lengths, check_cpp_function_lengths, check_case_names,
         check_conditional_statements]
