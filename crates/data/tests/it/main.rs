//! Readers of tables, and hostile files for them.

mod advice;
mod fuzz;
#[cfg(feature = "parquet")]
mod long_texts;
