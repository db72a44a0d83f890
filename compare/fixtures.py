"""Regenerate every fixture: python compare/fixtures.py"""

import checkpoints
import models
import ops

for script in (ops, models, checkpoints):
    script.main()
