//! Panels of series: reading, calendars, scalers and window sampling
//!
//! A [`Panel`] holds many series of one [`Freq`], read from CSV or Parquet files, from Arrow record batches or
//! slices, with
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
//! # Features
//!
//! Each is on by default and passed down to the crates below.
//!
//! * `simd`: kernels dispatched at run time to the widest vectors of the machine. Without it they are scalar
//!   code.
//! * `parquet`: Parquet files and Arrow record batches. Without it tables are text, and no C is compiled.

#![forbid(unsafe_code)]

#[cfg(feature = "parquet")]
mod arrow_table;
mod builder;
mod categories;
mod compressed;
mod covariates;
mod cut;
mod edges;
mod error;
mod extend;
mod fill;
mod flaw;
mod frame;
#[cfg(feature = "parquet")]
mod frame_batch;
mod frame_read;
mod frame_serde;
mod frame_write;
mod freq;
mod gaps;
mod given;
mod grid;
mod local;
mod long;
pub mod nan_as_null;
mod nearest;
mod number_format;
#[cfg(feature = "parquet")]
mod pages;
mod panel;
mod part;
#[cfg(feature = "parquet")]
mod quiet;
mod ranks;
mod read;
#[cfg(feature = "parquet")]
mod record_batches;
mod repeated;
mod sampler;
mod scaler;
mod steps;
mod table;
mod text_table;
mod time;
mod time_format;
mod too_large;
mod wide_lines;
mod windows;
mod wording;
mod zone;

/// What tables come in and go out as, beside files.
#[cfg(feature = "parquet")]
pub use arrow_array::RecordBatch;
pub use builder::PanelBuilder;
pub use categories::{Categories, Vocabulary};
pub use covariates::Future;
pub use cut::WindowSlices;
pub use edges::Trimmed;
pub use error::DataError;
pub use fill::{Fill, Filled};
pub use flaw::{Flaw, Gap, Place};
pub use foretell_simd::{Key, Stream};
pub use frame::Frame;
#[cfg(feature = "parquet")]
pub use frame_batch::ParquetWriter;
pub use frame_write::CsvWriter;
pub use freq::Freq;
pub use given::Time;
/// Dates and times in code.
pub use jiff;
pub use local::{LocalScaler, LocalScales, LocalStats};
pub use nearest::nearest;
pub use number_format::NumberFormat;
pub use panel::Panel;
pub use read::{ReadOptions, column_names};
pub use sampler::SeriesSampler;
pub use scaler::{Stats, WindowScaler};
pub use table::is_parquet;
pub use time::{TimeKind, TimeStyle};
pub use time_format::TimeFormat;
pub use too_large::TooLarge;
pub use windows::{Cutter, Span, WindowRef, WindowSpec};
pub use zone::Zone;

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
