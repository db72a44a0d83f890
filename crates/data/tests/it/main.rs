//! Readers of tables, and hostile files for them.

mod advice;
#[cfg(feature = "parquet")]
mod bounds;
mod fuzz;
#[cfg(feature = "parquet")]
mod long_texts;
