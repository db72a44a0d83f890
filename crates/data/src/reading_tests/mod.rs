//! What a panel holds of tables of every kind.

mod across;
mod arrow_stream;
mod arrow_table;
mod compressed;
mod given_times;
mod integer_dates;
mod joined_ids;
mod joined_times;
mod missing_marks;
mod number_flags;
mod other_kinds;
mod points;
mod repeated_times;
mod several_files;
mod step_hints;
mod texts;
mod units;
mod workbooks;
