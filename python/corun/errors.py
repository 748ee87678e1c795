"""Errors, by the side that has to act. The same four kinds as the exit codes of `simcli`."""


class Error(Exception):
    """What the package raises. Its text is what `simcli` prints: where, what was found and expected, what to do.

    `diagnostics` lists everything that is wrong as dicts with `code`, `file`, `line`, `column`, `message`, `label`,
    `notes` and `help`; lines and columns count from 1, 0 is "not known". `code`, `file`, `line` and `column` are those
    of the first.

    >>> try:
    ...     corun.Experiment(PAIR).set("devise", "h200")
    ... except corun.InputError as error:
    ...     print(error.code, error.line, error.column, error.diagnostics[0]["label"])
    E0201 1 1 did you mean `device`?
    """

    def __init__(self, text, diagnostics=()):
        super().__init__(text)
        self.diagnostics = list(diagnostics)
        first = self.diagnostics[0] if self.diagnostics else {}
        self.code = first.get("code")
        self.file = first.get("file")
        self.line = first.get("line", 0)
        self.column = first.get("column", 0)


class InputError(Error, ValueError):
    """A file, an experiment or an argument that is not what it should be: the user's turn.

    >>> try:
    ...     corun.open("no-such.sqlite")
    ... except corun.InputError as error:
    ...     print(error)
    no-such.sqlite: no such file: `simcli run EXPERIMENT.yaml` writes one
    """


class UnsupportedError(Error):
    """This build, capture or machine cannot do it."""


class DeviceError(Error):
    """The device or the operating system failed: no memory, no space on the disk."""


class PolicyError(Error):
    """A policy raised an exception or asked for what is not allowed: its author's turn. The text has the simulated time
    and, for a policy in Python, the traceback.

    >>> class Fails(corun.Policy):
    ...     def decide(self, view, act):
    ...         raise ZeroDivisionError("of mine")
    >>> try:
    ...     corun.run(corun.Experiment(PAIR, policies=[Fails]).set("policies", ["fails"]), until="100ms")
    ... except corun.PolicyError as error:
    ...     print("ZeroDivisionError: of mine" in str(error), len(error.results.runs))
    True 2
    """


_KINDS = {2: InputError, 3: UnsupportedError, 4: DeviceError, 5: PolicyError}


def from_core(kind, text, diagnostics):
    """The exception of an error of the compiled part; `kind` is simcli's exit code."""
    return _KINDS[kind](text.strip("\n"), diagnostics)
