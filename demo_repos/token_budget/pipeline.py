"""Orchestrates retrieval stages: stage sequencing, budget passing.

Usage: pipeline.py DATABASE LIMIT WORD...
"""

import sqlite3
import sys

from context_assembly import assemble_context
from scope_stage import expand_scope, judge_scope

if __name__ == "__main__":
    store = sqlite3.connect(sys.argv[1])
    files = dict(store.execute("SELECT path, text FROM files ORDER BY path"))
    chosen = judge_scope(expand_scope(sys.argv[3:], files), most=20)
    print(assemble_context(chosen, int(sys.argv[2]), store))
