"""Regenerate every fixture: python compare/fixtures.py"""

import checkpoints
import models
import ops
import optim
import tables

for script in (ops, optim, models, checkpoints, tables):
    script.main()
