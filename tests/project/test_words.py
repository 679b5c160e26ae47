"""The project's words: documents, docstrings, messages and vehicle files use the field's nouns."""

import pytest

from tests.words import AVOIDED, CHECKED, PATTERNS, Text, find, hits


def test_documents_docstrings_messages_and_vehicle_files_avoid_listed_words():
    found = [
        f"{hit.path}:{hit.line}: {hit.found!r}; write: {AVOIDED[hit.words]}"
        for hit in hits()
        if hit.kind in CHECKED
    ]
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize(
    "text",
    [
        "The loop is told to stop",
        "whoever connects first",
        "one order waits",
        "Turns round the pool.",
        "parameters\nthat are kept in a file",
        "a row of the failsafe table",
    ],
)
def test_avoided_word_is_found_when_it_stands_in_prose(text):
    assert list(find(Text("document", "README.md", 1, text)))


@pytest.mark.parametrize(
    "text",
    [
        "The fish swims freely, in order of priority",
        "a round trip; an order of magnitude",
        "`mend depth` clears a fault, `docs/pictures` has screenshots",
        "aims at the target, on top of the doorstep",
    ],
)
def test_other_meaning_of_an_avoided_word_is_accepted(text):
    assert not list(find(Text("document", "README.md", 1, text)))


def test_every_avoided_word_has_a_replacement():
    assert all(AVOIDED.values()) and len(PATTERNS) == len(AVOIDED)
