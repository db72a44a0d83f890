"""Regenerate every fixture: python compare/fixtures.py"""

import checkpoints
import layers
import models
import ops
import optim
import tables

for script in (ops, layers, optim, models, checkpoints, tables):
    script.main()
