"""Finds places in C++ sources where a usual slip would change the program, by clang's parse of each file.

A site is a dict: `file`, byte offsets `start` and `end` of the code that is replaced, `line`, `kind` (the operator that
made it), `original` and `mutated` for people, and `code`, the replacement with @ in the place of the switch. Code is
left out where no switch can be at run time (constexpr variables, case labels, template arguments) and inside macros.
"""

import bisect
import pathlib
import re

from clang import cindex
from clang.cindex import CursorKind as Kind

RELATIONS = {"<": ["<=", ">="], "<=": ["<", ">"], ">": [">=", "<="], ">=": [">", "<"], "==": ["!="], "!=": ["=="]}
ARITHMETIC = {"+": ["-"], "-": ["+"], "*": ["/"], "/": ["*"], "%": ["*"], "&": ["|"], "|": ["&"], "<<": [">>"],
              ">>": ["<<"], "+=": ["-="], "-=": ["+="], "*=": ["/="], "/=": ["*="], "|=": ["&="], "&=": ["|="]}
LOGIC = {"&&": ["||"], "||": ["&&"]}
OPERATORS = [("relation", RELATIONS), ("arithmetic", ARITHMETIC), ("logic", LOGIC)]
EXTREMES = {"std::min": "std::max", "std::max": "std::min", "std::ranges::min": "std::ranges::max",
            "std::ranges::max": "std::ranges::min"}
LOOPS = {Kind.FOR_STMT, Kind.WHILE_STMT, Kind.CXX_FOR_RANGE_STMT, Kind.DO_STMT}
WITHOUT_SWITCH = {Kind.STATIC_ASSERT, Kind.ENUM_DECL, Kind.TEMPLATE_NON_TYPE_PARAMETER,
                  Kind.TEMPLATE_TYPE_PARAMETER, Kind.TYPE_ALIAS_DECL}
DECLARATIONS = {Kind.VAR_DECL, Kind.FIELD_DECL, Kind.PARM_DECL, Kind.FUNCTION_DECL, Kind.CXX_METHOD}
MACRO = re.compile(rb"\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\s*\(")
PREPROCESSED = re.compile(rb"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
COMMENT = re.compile(rb"//[^\n]*|/\*.*?\*/", re.DOTALL)
NUMBERS = {"int", "long", "unsigned int", "unsigned long", "double", "float", "long long", "unsigned long long",
           "unsigned char", "unsigned short", "short", "signed char"}


def closed_at(text, at):
    """Where the parenthesis that opens at `at` closes."""
    depth = 0
    for here in range(at, len(text)):
        depth += {40: 1, 41: -1}.get(text[here], 0)
        if depth == 0:
            return here + 1
    return len(text)


class Finder:
    """The sites of one file."""

    def __init__(self, path, full_path, unit):
        self.path, self.full_path, self.unit = path, str(full_path), unit
        self.text = pathlib.Path(full_path).read_bytes()
        self.line_starts = [0] + [match.end() for match in re.finditer(rb"\n", self.text)]
        hidden = [(found.start(), closed_at(self.text, found.end() - 1)) for found in MACRO.finditer(self.text)]
        hidden += [found.span() for found in PREPROCESSED.finditer(self.text)]
        self.hidden = sorted(hidden)
        self.sites = {}

    def found(self):
        for cursor in self.unit.cursor.get_children():
            if cursor.location.file and cursor.location.file.name == self.full_path:
                self.visit(cursor, [self.unit.cursor])
        related = {key[:2] for key, site in self.sites.items() if site["kind"] == "relation"}
        return [site for key, site in self.sites.items() if site["kind"] != "condition" or key[:2] not in related]

    # --- the text

    def of(self, span):
        return self.text[slice(*span)].decode()

    def span(self, cursor):
        return cursor.extent.start.offset, cursor.extent.end.offset

    def is_hidden(self, span):
        last = bisect.bisect_right(self.hidden, (span[0], len(self.text))) - 1
        return any(start <= span[0] < end or span[0] <= start < span[1] and start != span[0]
                   for start, end in self.hidden[max(0, last):last + 2])

    def between(self, start, end):
        return COMMENT.sub(b"", self.text[start:end]).strip().decode()

    def add(self, kind, span, mutated, code, original=None):
        if span[0] >= span[1] and kind != "loop" or self.is_hidden(span):
            return
        key = (*span, mutated)
        original = self.of(span) if original is None else original
        self.sites.setdefault(key, {
            "file": self.path, "start": span[0], "end": span[1], "kind": kind,
            "line": bisect.bisect_right(self.line_starts, span[0]), "original": original, "mutated": mutated,
            "code": code})

    def either(self, kind, span, mutated):
        self.add(kind, span, mutated, f"(@ ? ({mutated}) : ({self.of(span)}))")

    # --- the tree

    def visit(self, cursor, above):
        kind = cursor.kind
        if kind in WITHOUT_SWITCH or kind == Kind.VAR_DECL and self.is_constexpr(cursor):
            return
        if self.text.endswith(b"= default", *self.span(cursor)):
            return
        children = list(cursor.get_children())
        if kind.is_expression():
            self.expression(cursor, children, above)
        elif kind.is_statement():
            self.statement(cursor, children, above)
        if kind == Kind.CASE_STMT or kind == Kind.IF_STMT and self.is_constexpr_if(cursor):
            children = children[1:]
        for child in children:
            self.visit(child, above + [cursor])

    def is_constexpr(self, cursor):
        before = re.split(rb"[;{}]", self.text[:cursor.location.offset][-300:])[-1]
        return bool(re.search(rb"\b(constexpr|constinit)\b", before))

    def is_constexpr_if(self, cursor):
        return bool(re.match(rb"if\s+constexpr\b", self.text[cursor.extent.start.offset:][:40]))

    def expression(self, cursor, children, above):
        span = self.span(cursor)
        if len(children) >= 2 and cursor.kind != Kind.CONDITIONAL_OPERATOR:
            self.operator(span, self.span(children[0]), self.span(children[-1]))
        if cursor.kind in (Kind.UNARY_OPERATOR, Kind.CXX_UNARY_EXPR, Kind.CALL_EXPR):
            self.unary(span)
        if cursor.kind == Kind.CALL_EXPR:
            self.call(span, cursor)
        if cursor.kind in (Kind.INTEGER_LITERAL, Kind.FLOATING_LITERAL, Kind.CXX_BOOL_LITERAL_EXPR):
            self.constant(span, above)
        if cursor.kind == Kind.CONDITIONAL_OPERATOR and children:
            self.negated(self.span(children[0]))
        self.deleted(cursor, span, above)

    def operator(self, span, left, right):
        if not span[0] <= left[0] < left[1] <= right[0] < right[1] <= span[1]:
            return
        sign = self.between(left[1], right[0])
        for kind, table in OPERATORS:
            for other in table.get(sign, []):
                self.either(kind, span, f"{self.of(left)} {other} {self.of(right)}")

    def unary(self, span):
        code = self.of(span)
        for sign, other in (("++", "--"), ("--", "++")):
            if code.startswith(sign):
                self.either("step", span, other + code[2:])
            elif code.endswith(sign):
                self.either("step", span, code[:-2] + other)
        if re.match(r"[!-][\w(:]", code):
            self.either("logic" if code[0] == "!" else "arithmetic", span,
                        f"static_cast<bool>({code[1:]})" if code[0] == "!" else code[1:])

    def call(self, span, cursor):
        code = self.of(span)
        name = re.match(r"[\w:]+", code)
        if name and name[0] in EXTREMES:
            self.either("extreme", span, EXTREMES[name[0]] + code[name.end():])
        if name and name[0] == "std::clamp":
            arguments = list(cursor.get_arguments())
            if len(arguments) == 3:
                self.either("extreme", span, self.of(self.span(arguments[0])))

    def constant(self, span, above):
        before = COMMENT.sub(b"", self.text[max(0, span[0] - 200):span[0]]).rstrip()[-1:]
        if above[-1].kind in DECLARATIONS and before not in (b"=", b"{", b"("):
            return
        if any(cursor.kind in (Kind.TYPE_REF, Kind.TEMPLATE_REF) for cursor in above[-2:]) or before in (b"<", b"["):
            if before == b"<" or above[-1].kind in DECLARATIONS:
                return
        code = self.of(span)
        if not re.match(r"[\d.]|true|false", code):  # the 0 of what `a < b` is rewritten to, say
            return
        if code in ("true", "false"):
            self.either("constant", span, "false" if code == "true" else "true")
            return
        for other in {"0": ["1"], "1": ["0", "2"]}.get(code, [f"{code} + 1", f"{code} - 1"]):
            self.either("constant", span, other)

    def negated(self, span):
        code = self.of(span)
        self.add("condition", span, f"!({code})", f"(@ ? !({code}) : static_cast<bool>({code}))")

    # --- statements

    def statement(self, cursor, children, above):
        kind, span = cursor.kind, self.span(cursor)
        if kind == Kind.IF_STMT and children and children[0].kind.is_expression() and not self.is_constexpr_if(cursor):
            self.negated(self.span(children[0]))
        if kind in LOOPS and children:
            self.loop(kind, children[0] if kind == Kind.DO_STMT else children[-1])
        if kind == Kind.RETURN_STMT and children:
            self.returned(span, children[0], above)
        if kind in (Kind.BREAK_STMT, Kind.CONTINUE_STMT) and above[-1].kind == Kind.IF_STMT:
            self.without(span)
        if kind == Kind.RETURN_STMT and self.goes_on_after(above):
            self.without(span)

    def goes_on_after(self, above):
        """Whether a return is the whole of an `if` that other statements follow."""
        if above[-1].kind != Kind.IF_STMT or above[-2].kind != Kind.COMPOUND_STMT:
            return False
        around = list(above[-2].get_children())
        return len(list(above[-1].get_children())) == 2 and around[-1] != above[-1]

    def deleted(self, cursor, span, above):
        inside, parent = above[-1].kind, above[-1]
        if inside == Kind.COMPOUND_STMT or inside == Kind.DEFAULT_STMT:
            self.without(span)
        elif inside in LOOPS or inside == Kind.IF_STMT:
            children = list(parent.get_children())
            if len(children) > 1 and cursor != children[0] and (inside == Kind.IF_STMT or cursor == children[-1]):
                self.without(span)

    def without(self, span):
        if self.between(span[1], span[1] + 40)[:1] == ";":
            end = self.text.index(b";", span[1]) + 1
            code = self.of((span[0], end))
            self.add("deletion", (span[0], end), "", f"{{ if (!@) {{ {code} }} }}")

    def loop(self, kind, body):
        span = self.span(body)
        if body.kind != Kind.COMPOUND_STMT or not self.text[span[0]:span[0] + 1] == b"{":
            return
        if kind in (Kind.FOR_STMT, Kind.CXX_FOR_RANGE_STMT):
            self.add("loop", (span[0] + 1, span[0] + 1), "continue at once", " if (@) continue; ")
        self.add("loop", (span[1] - 1, span[1] - 1), "break after one pass", " if (@) break; ")

    def returned(self, span, value, above):
        end = self.text.find(b";", span[1])
        if end < 0 or self.between(span[1], end):
            return
        code, whole = self.of(self.span(value)), self.of((span[0], end + 1))
        maker = next((cursor for cursor in reversed(above)
                      if cursor.kind in (Kind.FUNCTION_DECL, Kind.CXX_METHOD, Kind.LAMBDA_EXPR,
                                         Kind.FUNCTION_TEMPLATE, Kind.CONVERSION_FUNCTION)), None)
        if maker is None:
            return
        is_named = maker.kind != Kind.LAMBDA_EXPR
        result = maker.result_type.get_canonical().spelling if is_named else value.type.get_canonical().spelling
        result = result.removeprefix("const ")
        if result == "bool":
            others = [f"!({code})"]
        elif result in NUMBERS:
            others = ["0", f"({code}) + 1"]
        else:
            others = ["{}"] if is_named else []
        for other in others:
            if other != code:
                returned = other if is_named else f"static_cast<{result}>({other})"  # what the lambda's type follows
                self.add("return", (span[0], end + 1), f"return {other};",
                         f"{{ if (@) return {returned}; {whole} }}", whole)


def sites_of(root, path, arguments):
    """All sites of a file and of the header of the same name; raises where clang cannot make sense of it."""
    unit = cindex.Index.create().parse(str(root / path), args=arguments)
    errors = [str(said) for said in unit.diagnostics if said.severity >= cindex.Diagnostic.Error]
    if errors:
        raise ValueError(f"{path}: {errors[0]}")
    found = Finder(path, root / path, unit).found()
    header = path.removesuffix(".cpp") + ".h"
    if path != header and (root / header).exists():
        found += Finder(header, root / header, unit).found()
    return found
