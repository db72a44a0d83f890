//! The program as its users meet it: files in, files and exit codes out. One program of tests, since each is linked
//! anew.

mod anomalies;
#[cfg(target_os = "linux")]
mod attacks;
mod bench;
mod columns;
mod command_line;
mod config;
mod daily_use;
mod distillation;
mod evaluate;
mod exports;
mod features;
mod files;
mod forecasting;
mod guides;
mod hierarchies;
#[cfg(unix)]
mod kills;
mod large_values;
#[cfg(target_os = "linux")]
mod limits;
mod looking;
mod mistakes;
mod one_of_several;
mod other_tools;
mod out_of_core;
mod outputs;
mod piped;
mod rare_demand;
mod reports;
mod resume;
mod right_by_default;
mod saved_models;
mod scores;
#[cfg(all(unix, feature = "serve"))]
mod serve;
mod several_machines;
mod short_series;
mod sums_with_others;
mod test_directory;
mod tuning;
mod undefined_scores;
mod warnings;
