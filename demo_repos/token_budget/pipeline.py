"""Orchestrates retrieval stages: stage sequencing, budget passing.

Usage: pipeline.py DATABASE LIMIT WORD...
"""

import sqlite3
import sys

from context_assembly import assemble_context
from scope_stage import expand_scope, judge_scope

if __name__ == "__main__":
    with sqlite3.connect(sys.argv[1]) as store:
        print(
            assemble_context(
                judge_scope(expand_scope(sys.argv[3:], dict(store.execute("SELECT path, text FROM files"))), most=20),
                int(sys.argv[2]),
                store,
            )
        )
