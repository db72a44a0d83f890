//! The training loop: shards, validation, early stopping, progress
