"""The documents that a task names, as they are shown with it."""

from __future__ import annotations

from agent.task.documents import LONGEST_DOCUMENT, with_documents


def test_what_markdown_does_not_show_is_left_out() -> None:
    source = "Uses a [stack][lifo].\n\n<!-- editors:\nmind this -->\n[lifo]: https://example.org/stack\nLast line.\n"
    text = with_documents("Do what NOTES.md and NOTES.txt say.", {"NOTES.md": source.encode(), "NOTES.txt": source.encode()})
    shown, plain = text.split("NOTES.txt says:")
    assert "[stack][lifo]" in shown and "Last line." in shown
    assert "example.org" not in shown and "mind this" not in shown
    assert "example.org" in plain and "mind this" in plain


def test_what_stands_for_an_image_in_a_document_is_not_shown() -> None:
    source = b"Before.\n![A grid,\nwith cages.][grid]\nBetween ![small](a.png) and [a link](b.html).\n\n[grid]: c.png\n"
    assert with_documents("As README.md says.", {"README.md": source}).endswith("Before.\n\nBetween  and [a link](b.html).")


def test_a_document_is_cut_and_one_that_is_not_there_is_left_out() -> None:
    text = with_documents("Do as LONG.txt and ./docs/NONE.md say.", {"LONG.txt": b"#" * 9000})
    assert text.count("#") == LONGEST_DOCUMENT and "NONE.md says" not in text
