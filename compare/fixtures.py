"""Regenerate every fixture: python compare/fixtures.py"""

import checkpoints
import models
import ops
import tables

for script in (ops, models, checkpoints, tables):
    script.main()
