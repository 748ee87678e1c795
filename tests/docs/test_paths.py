"""Files that a page names exist."""

import re

import pytest

import pages

FOLDERS = "docs|experiments|games|notebooks|policies|python|servers|sim|studies|tests|tracer|traces"
NAMED = re.compile(rf"(?<![\w/.~:-])((?:{FOLDERS})/[\w./-]+\.(?:cpp|cu|h|md|proto|py|sh|toml|yaml))\b")
AT_THE_ROOT = ["ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "GLOSSARY.md"]


def missing(text):
    return [name for name in NAMED.findall(text) if not (pages.ROOT / name).exists()]


@pytest.mark.parametrize("page", [*AT_THE_ROOT, *pages.PAGES])
def test_files_that_a_page_names_exist(page):
    text = "\n".join(line for line in pages.read_page(page).splitlines() if "of that commit" not in line)
    assert missing(text) == []


def test_a_file_that_is_gone_is_noticed():
    assert missing("see sim/engine/engine.h and (sim/engine/gone.h)") == ["sim/engine/gone.h"]
