"""Short cards of knowledge that stand in the prompt of a function whose contract, types or tests call for them.

A card is a Markdown file: a title, a line ``needs:`` with words, then at most 150 tokens of advice. The application's own
lie in ``cards/LANGUAGE/``; a person's, in ``knowledge/LANGUAGE/`` of the configuration folder, come first.
"""
