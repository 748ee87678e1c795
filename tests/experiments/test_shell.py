"""What the shell sees of simcli and simtrace: help, versions, completions of three shells, manual pages."""

import os
import pathlib
import pty
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("CORUN_BUILD", ROOT / "build" / "release"))
PROGRAMS = ["simcli", "simtrace"]
BASH = """source <({program} completion bash)
COMP_WORDS=({program} {words}); COMP_CWORD=$((${{#COMP_WORDS[@]}}-1)); _{program}
printf '%s\\n' "${{COMPREPLY[@]}}" """
ZSH = """autoload -Uz compinit && compinit -u; {program} completion zsh > {folder}/script && source {folder}/script
COMP_WORDS=({program} {words}); COMP_CWORD=$((${{#COMP_WORDS[@]}}-1))
emulate ksh -c '_{program}; print -l "${{COMPREPLY[@]}}"' """
FISH = "{program} completion fish | source; complete -C '{program} {text}'"


def ask(*words, text=None):
    return subprocess.run(list(map(str, words)), input=text, capture_output=True, text=True, timeout=120,
                          env=os.environ | {"PATH": f"{BUILD}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"})


def commands(program, *group):
    """Names below the heading of subcommands in the help of a program, or of a group of its commands."""
    text = ask(BUILD / program, "help", *group).stdout
    return re.findall(r"^  ([a-z]\w*)\s", text.partition("Subcommands:\n")[2], re.M)


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_version_is_no_error(program):
    for flag in ("-V", "--version"):
        done = ask(BUILD / program, flag)
        assert done.returncode == 0
        assert re.fullmatch(program + r" \d+\.\d+\.\d+\n", done.stdout), done


@pytest.mark.parametrize("program", PROGRAMS)
def test_help_of_every_command_is_that_of_the_command_itself(program):
    names = commands(program)
    assert {"help", "completion", "man"} < set(names)
    for name in names:
        done, own = ask(BUILD / program, "help", name), ask(BUILD / program, name, "--help")
        assert done.returncode == own.returncode == 0, done.stderr
        assert done.stdout.splitlines()[2:] == own.stdout.splitlines()[2:], name
        assert f"Usage: {program} {name}" in done.stdout


def test_help_goes_down_to_commands_of_two_words_and_names_the_near_one_of_a_slip():
    assert "Usage: simcli policy list" in ask(BUILD / "simcli", "help", "policy", "list").stdout
    slip = ask(BUILD / "simcli", "help", "policy", "lst")
    assert slip.returncode == 2
    assert "`lst`; did you mean `list`?" in slip.stderr


def test_the_name_of_the_program_alone_shows_what_there_is():
    done = ask(BUILD / "simcli")
    assert (done.returncode, done.stdout) == (2, "")
    assert "A subcommand is required" in done.stderr and "  advise " in done.stderr


@pytest.mark.parametrize("words, meant", [
    ("simcli run x.yaml --outputt y.sqlite", "--output"), ("simcli run x.yaml --output-file=y.sqlite", "--output"),
    ("simcli run x.yaml --out y.sqlite", "--output"), ("simcli report x.sqlite --outptu y.html", "--output"),
    ("simcli policy list --plugn x.so", "--plugin"), ("simtrace merge --outputt x.corun y.parts", "--output")])
def test_the_near_option_of_a_slip_is_named(words, meant):
    program, *rest = words.split()
    done = ask(BUILD / program, *rest)
    assert done.returncode == 2
    assert f"did you mean `{meant}`?" in done.stderr, done.stderr


@pytest.mark.parametrize("words", ["simcli run x.yaml --frobnicate", "simcli check x.yaml -q", "simcli run --sit x y"])
def test_no_option_is_named_that_is_not_near(words):
    assert "did you mean" not in ask(BUILD / "simcli", *words.split()[1:]).stderr


def test_a_name_that_others_use_for_a_policy_is_not_taken_for_a_slip():
    assert "did you mean `mps_percentage`" in ask(BUILD / "simcli", "policy", "list", "mps").stderr
    assert "did you mean `passthrough`" in ask(BUILD / "simcli", "policy", "list", "time-slicing").stderr


def completed(shell, words, text, program="simcli"):
    """The candidates behind the words, the last of which is begun."""
    script = {"bash": BASH, "fish": FISH}[shell].format(program=program, words=words, text=text)
    done = ask(shell, "-c", script)
    assert done.returncode == 0, done.stderr
    return {line.split("\t")[0] for line in done.stdout.splitlines() if line}


@pytest.mark.parametrize("shell", ["bash", "fish"])
def test_commands_and_options_are_completed(shell):
    assert completed(shell, "ad", "ad") == {"advise"}
    assert set(commands("simcli", "policy")) <= completed(shell, "policy ''", "policy ")
    assert "--output" in completed(shell, "run --out", "run --out")
    assert completed(shell, "run --diagnostics ''", "run --diagnostics ") == {"full", "short"}
    assert "record" in completed(shell, "''", "", "simtrace")


def test_bash_leaves_values_without_words_to_file_names():
    assert completed("bash", "run -o ''", "") == set()


def test_zsh_completes_by_the_script_of_bash(tmp_path):
    done = ask("zsh", "-f", "-c", ZSH.format(program="simcli", words="policy g", folder=tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    assert set(commands("simcli", "policy")) <= set(done.stdout.split())  # zsh itself leaves out what does not match
    assert "advise" not in done.stdout


def test_a_shell_that_is_not_known_is_refused_with_those_that_are():
    done = ask(BUILD / "simcli", "completion", "tcsh")
    assert done.returncode == 2
    assert "bash,zsh,fish" in done.stderr


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_manual_page_is_well_formed_and_has_every_command_and_option(program):
    page = ask(BUILD / program, "man").stdout
    lint = ask("mandoc", "-T", "lint", "-W", "warning", text=page)
    assert [line for line in lint.stdout.splitlines() if "missing date" not in line] == []
    groups = [["policy", name] for name in commands(program, "policy")] if program == "simcli" else []
    for words in [[name] for name in commands(program) if name != "policy"] + groups:
        _, heading, section = page.partition(f'.SS "{" ".join([program, *words])}"' + "\n")
        assert heading, words
        options = ask(BUILD / program, *words, "--help").stdout.partition("Options:")[2]
        for option in set(re.findall(r"^  (?:-\w,)?(--[a-z-]+)", options, re.M)) - {"--help", "--help-all"}:
            assert option.replace("-", r"\-") in section.partition(".SS")[0], (words, option)


def on_a_terminal(words, **variables):
    """What a program writes to stderr where that is a terminal."""
    ours, its = pty.openpty()
    environment = {key: value for key, value in os.environ.items() if key != "NO_COLOR"} | {"TERM": "xterm"} | variables
    subprocess.run(words, stdout=subprocess.DEVNULL, stderr=its, env=environment, timeout=120, check=False)
    os.close(its)
    text = b""
    try:
        while part := os.read(ours, 4096):
            text += part
    except OSError:  # no process has the other side open any more
        pass
    os.close(ours)
    return text.decode()


@pytest.mark.parametrize("words", [["simcli", "run", "nothere.yaml"], ["simtrace", "merge", "nothere.parts"]])
def test_errors_are_coloured_on_a_terminal_unless_no_color_says_something(words):
    command = [BUILD / words[0], *words[1:]]
    assert "\x1b[" in on_a_terminal(command)
    assert "\x1b[" in on_a_terminal(command, NO_COLOR="")
    assert "\x1b[" not in on_a_terminal(command, NO_COLOR="1")
    assert "\x1b[" not in on_a_terminal(command, TERM="dumb")
