//! The zoo: one file per model, one registry line each
