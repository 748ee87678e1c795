"""As much of PromQL as the dashboard speaks: an expression is read whole, and checked against what was scraped.

`labels(text, known)` gives the labels of the result of an expression, and fails where it is no expression, a function
gets what it does not take, or a metric or a label is not `known` (metric -> its labels).
"""

import re

TOKEN = re.compile(r"""\s*(?:(?P<number>\d+(?:\.\d+)?(?![\w:]))|(?P<duration>\d+[smhd])|(?P<name>[a-zA-Z_:][\w:]*)
                           |(?P<string>"(?:[^"\\]|\\.)*")|(?P<sign>=~|!~|!=|[-+*/(){}\[\],=]))""", re.VERBOSE)
OF_RANGES = {"rate", "increase", "irate", "delta", "max_over_time"}
AGGREGATIONS = {"sum", "max", "min", "avg", "count"}


def tokens(text):
    found, at = [], 0
    while at < len(text.rstrip()):
        token = TOKEN.match(text, at)
        assert token, f"no PromQL: {text[at:]!r}"
        found.append((token.lastgroup, token[token.lastgroup]))
        at = token.end()
    return [*found, ("end", "")]


class Expression:
    def __init__(self, text, known):
        self.rest, self.known = tokens(text), known

    def next(self, *expected):
        kind, text = self.rest.pop(0)
        assert not expected or kind in expected or text in expected, f"{text!r} found, {expected} expected"
        return text

    def is_next(self, *texts):
        return self.rest[0][1] in texts

    def whole(self):
        labels = self.operations()
        self.next("end")
        return labels

    def operations(self):
        """Both sides are matched by all their labels: these have to be the same."""
        labels = self.value()
        while self.is_next("+", "-", "*", "/"):
            self.next()
            other = self.value()
            assert None in (labels, other) or labels == other, f"{labels} is matched with {other}"
            labels = labels if other is None else other
        return labels

    def value(self):
        """Its labels; None of a number."""
        if self.rest[0][0] == "number":
            return self.next() and None
        if self.is_next("("):
            return self.in_parentheses()
        name = self.next("name")
        if name in AGGREGATIONS:
            kept = self.list_of_labels() if self.is_next("by") else set()
            labels = self.in_parentheses()
            assert kept <= labels, f"{name} by {kept} of {labels}"
            return kept
        if name == "histogram_quantile":
            self.next("("), self.next("number"), self.next(",")
            labels = self.operations()
            self.next(")")
            assert "le" in labels, f"a quantile needs buckets: {labels}"
            return labels - {"le"}
        if name in OF_RANGES:
            self.next("(")
            labels = self.selector(self.next("name"))
            self.next("["), self.next("duration"), self.next("]"), self.next(")")
            return labels
        return self.selector(name)

    def in_parentheses(self):
        self.next("(")
        labels = self.operations()
        self.next(")")
        return labels

    def list_of_labels(self):
        self.next("by"), self.next("(")
        labels = {self.next("name")}
        while self.next(",", ")") == ",":
            labels.add(self.next("name"))
        return labels

    def selector(self, metric):
        assert metric in self.known, f"no metric {metric}"
        if self.is_next("{"):
            self.next("{")
            while not self.is_next("}"):
                label = self.next("name")
                assert label in self.known[metric], f"{metric} has no label {label}: {self.known[metric]}"
                self.next("=", "=~", "!=", "!~"), self.next("string")
                if not self.is_next("}"):
                    self.next(",")
            self.next("}")
        return set(self.known[metric])


def labels(text, known):
    return Expression(text, known).whole()
