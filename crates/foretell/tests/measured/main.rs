//! What the whole process does is measured here: its memory, by one test at a time, and its threads.

mod fuzz;
mod memory;
mod threads;
