//! Model directories: as neuralforecast wrote them, and damaged.

mod directories;
mod fuzz;
mod hostile;
mod support;
