import unittest

from scope_stage import expand_scope, judge_scope


class Scope(unittest.TestCase):
    def test_names_come_before_texts(self):
        files = {"x.py": "tree", "tree.py": "", "y.py": "leaf"}
        self.assertEqual(expand_scope(["tree"], files), ["tree.py", "x.py"])

    def test_only_source_files_and_not_too_many(self):
        self.assertEqual(judge_scope(["a.py", "b.txt", "c.c", "d.h"], 2), ["a.py", "c.c"])
