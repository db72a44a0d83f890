//! Optimisers and learning-rate schedules over flat slices
