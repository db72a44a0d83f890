"""Regenerate every fixture: python compare/fixtures.py"""

import amp
import checkpoints
import dropout
import hierarchy
import language_model
import layers
import models
import ops
import optim
import scores
import simulation
import spaces
import tables

for script in (ops, layers, optim, amp, language_model, models, dropout, checkpoints, tables, scores, spaces, hierarchy, simulation):
    script.main()
