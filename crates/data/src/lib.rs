//! Panels of series: reading, filling, covariates, scalers and window sampling
//!
//! A [`Panel`] holds many series of one frequency (`foretell_calendar::Freq`), read from files of any format or from slices, with
//! everything checked: duplicates, gaps, values that are missing or no numbers. A [`Cutter`] finds
//! the windows that neuralforecast would train, validate, test or predict on, draws some, and
//! writes them, scaled, into plain `f32` slices. Windows are never materialised for the panel.
//!
//! ```
//! use foretell_data::{Cutter, Key, Panel, ReadOptions, Span, Stream, WindowScaler, WindowSlices, WindowSpec};
//!
//! let mut csv = String::from("unique_id,ds,y\n");
//! for day in 1..=30 {
//!     csv += &format!("shop,2024-06-{day:02},{}\n", 10 * day);
//! }
//! let panel = Panel::read_csv(csv.as_bytes(), "sales.csv", &ReadOptions::default())?;
//! assert_eq!(panel.freq().to_string(), "D");
//!
//! let spec = WindowSpec { scaler: WindowScaler::Standard, ..WindowSpec::new(7, 2) };
//! let cutter = Cutter::new(&panel, &spec, Span::Train { val_size: 4, test_size: 0 })?;
//! let mut batch = Vec::new();
//! let series = cutter.series_with_windows();
//! cutter.draw(&series, Some(16), &mut Stream::new(Key::new(1)), &mut batch);
//!
//! let (mut insample, mut outsample, mut loc) = ([0.0; 16 * 7], [0.0; 16 * 2], [0.0; 16]);
//! cutter.cut(
//!     &batch,
//!     &mut WindowSlices {
//!         insample_y: &mut insample,
//!         outsample_y: &mut outsample,
//!         loc: &mut loc,
//!         ..WindowSlices::default()
//!     },
//! );
//! assert!(insample[..7].iter().sum::<f32>().abs() < 1e-5, "the mean is gone");
//! assert_eq!(panel.future_times(0, 1)?, [panel.time(0, 29) + 86_400_000_000]);
//! # Ok::<(), foretell_data::DataError>(())
//! ```
//!
//! `default` switches on what the crates below have by default: the database of time zones (`tzdb` of `foretell-calendar`), kernels
//! dispatched at run time (`simd` of `foretell-simd`), threads (`parallel` of `foretell-threads`), recycled buffers (`pool` of
//! `foretell-pool`) and the like. Without it they are off, and everything gives the same results; depend on those crates as well to choose
//! among them. Parquet, Arrow and workbooks are the features `parquet` and `excel` of `foretell-tables`.

#![forbid(unsafe_code)]

mod error;
mod panels;
#[cfg(test)]
mod reading_tests;
mod windows;

pub use error::DataError;
pub use error::file_clocks::FileClocks;
pub use error::files::FilesError;
pub use error::future::FutureError;
pub use error::misread::MisreadTable;
pub use error::series::{Repeated, SeriesError};
pub use error::steps::{Gap, StepError};
pub use error::windows::{EarlyEnds, UntaughtSteps, WindowError, early_ends_remedy};
pub use foretell_simd::{Key, Stream};
pub use panels::aggregate::Aggregate;
pub use panels::alike_ids::PlainId;
pub use panels::builder::PanelBuilder;
pub use panels::categories::{Categories, Vocabulary};
pub use panels::covariates::Future;
pub use panels::ends::End;
pub use panels::excerpts::Excerpt;
pub use panels::fill::{Fill, Filled, Trimmed};
pub use panels::first_times::FirstTimes;
pub use panels::forecast_table::ForecastTable;
pub use panels::id_table::IdTable;
pub use panels::labels::{LabelFiles, SeriesLabels};
pub use panels::level::SeriesLevel;
pub use panels::leveled::ColumnLevel;
pub use panels::local_scaler::{LocalScaler, LocalScales, LocalStats};
pub use panels::notation::Notation;
pub use panels::options::ReadOptions;
pub use panels::panel::Panel;
pub use panels::peers::Peers;
pub use panels::read::AVAILABLE_MASK;
pub use panels::roles::Roles;
pub use panels::unseen::UnseenCategories;
pub use windows::cut::WindowSlices;
pub use windows::cutter::Cutter;
pub use windows::sampler::SeriesSampler;
pub use windows::scaler::{Stats, WindowScaler, asinh};
pub use windows::spec::{Span, WindowRef, WindowSpec};

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
