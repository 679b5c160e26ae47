"""The index of the tests (tests/README.md) names every folder and file, and each file says what it proves."""

from tests.index import FOLDERS, README, TESTS, first_line, text

FILES = sorted(TESTS.rglob("test_*.py"))


def test_each_test_file_begins_with_what_it_proves() -> None:
    assert not [path.name for path in FILES if not first_line(path).endswith((".", ":"))]


def test_index_names_every_folder_that_has_tests() -> None:
    assert {path.parent.name for path in FILES} == set(FOLDERS)


def test_readme_is_what_the_index_writes() -> None:
    assert README.read_text(encoding="utf-8") == text(), "run python -m tests.index"
