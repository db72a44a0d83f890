//! Hostile files for the readers of tables, and the advice of their messages.

mod advice;
mod bounds;
mod fuzz;
mod long_texts;
