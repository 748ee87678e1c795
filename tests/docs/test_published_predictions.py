"""Predictions that were published before a measurement are still the files whose hashes were published."""

import hashlib
import re

import pytest

import pages

NAMED = re.compile(r"`([\w./-]*predictions\.jsonl?)`(?:,\s+SHA-256\s+|\s+\|\s+)`([0-9a-f]{64})`")
PUBLISHED = [(study, *pair) for study in pages.STUDIES for pair in NAMED.findall(pages.read_page(study))]


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("study, file, published", PUBLISHED, ids=lambda value: str(value)[:60])
def test_a_file_has_the_hash_that_its_study_names(study, file, published):
    assert sha256((pages.ROOT / study).parent / file) == published


def test_every_file_of_predictions_is_named_with_its_hash():
    """In the README of its study, or in a report there."""
    files = sorted((pages.ROOT / "studies").rglob("*predictions.json*"))
    assert len(files) >= 10 and len(PUBLISHED) >= 10
    for file in files:
        folder = pages.ROOT / "studies" / file.relative_to(pages.ROOT / "studies").parts[0]
        assert any(sha256(file) in page.read_text(encoding="utf-8") for page in folder.rglob("*.md")), file
