//! Readers of tables, and hostile files for them.

mod fuzz;
#[cfg(feature = "parquet")]
mod long_texts;
