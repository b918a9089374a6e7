import sqlite3
import unittest

from context_assembly import assemble_context


class AssembleContext(unittest.TestCase):
    def setUp(self):
        self.store = sqlite3.connect(":memory:")
        self.addCleanup(self.store.close)
        self.store.execute("CREATE TABLE files (path TEXT, text TEXT)")
        rows = [("a.py", "a" * 40), ("b.py", "b" * 40), ("c.py", "c" * 20)]  # 10, 10 and 5 tokens
        self.store.executemany("INSERT INTO files VALUES (?, ?)", rows)

    def assemble(self, paths, limit):
        return assemble_context(paths, limit, self.store)

    def test_everything_fits_with_room_to_spare(self):
        self.assertEqual(self.assemble(["a.py", "b.py", "c.py"], 100), "a" * 40 + "b" * 40 + "c" * 20)

    def test_last_file_that_fills_the_window_is_kept(self):
        self.assertEqual(self.assemble(["a.py", "b.py", "c.py"], 25), "a" * 40 + "b" * 40 + "c" * 20)

    def test_file_over_the_limit_is_left_out(self):
        self.assertEqual(self.assemble(["a.py", "b.py"], 19), "a" * 40)

    def test_smaller_file_after_a_large_one_still_gets_in(self):
        self.assertEqual(self.assemble(["a.py", "b.py", "c.py"], 16), "a" * 40 + "c" * 20)

    def test_unknown_file_is_skipped(self):
        self.assertEqual(self.assemble(["nowhere.py", "a.py"], 100), "a" * 40)

    def test_nothing_fits_into_nothing(self):
        self.assertEqual(self.assemble(["a.py"], 0), "")
