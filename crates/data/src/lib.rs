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
//! * `parquet`, off by default: Parquet files, Arrow record batches and text in zstd. It takes long to build and compiles
//!   zstd, which is C.
//! * `excel`, off by default: workbooks of Excel and OpenDocument.
//! * `tzdb`: the database of time zones is built in. Without it zones are looked up in the system's, if it has
//!   one; UTC and offsets such as `+02:00` need none.
//!
//! Beside these, `default` switches on what the crates below have by default: kernels dispatched at run time (`simd` of `foretell-simd`),
//! threads (`parallel` of `foretell-threads`), recycled buffers (`pool` of `foretell-pool`) and the like. Without it they are off, and
//! everything gives the same results; depend on those crates as well to choose among them.

#![forbid(unsafe_code)]

mod calendar;
mod error;
mod frames;
pub mod nan_as_null;
mod nearest;
mod panels;
mod setting;
mod tables;
mod windows;
mod wording;

/// The form in which tables come in and go out, beside files.
#[cfg(feature = "parquet")]
pub use arrow_array::RecordBatch;
pub use calendar::error::CalendarError;
pub use calendar::flaw::TimeFlaw;
pub use calendar::freq::Freq;
pub use calendar::given_time::Time;
pub use calendar::integer_dates::IntegerFormat;
pub use calendar::kind::TimeKind;
pub use calendar::locale::Locale;
pub use calendar::season::{calendar_seasons, usual_season};
pub use calendar::step_hints::StepHint;
pub use calendar::step_words::{MostlyMissing, OddSteps};
pub use calendar::style::TimeStyle;
pub use calendar::time_format::TimeFormat;
pub use calendar::zone::Zone;
pub use error::DataError;
pub use error::early_ends::EarlyEnds;
pub use error::file::UnreadableTable;
pub use error::flaw::{Flaw, Gap};
pub use error::place::Place;
pub use error::remedies::Repeated;
pub use error::remedies::{ColumnRemedy, ColumnRoles};
pub use error::too_large::TooLarge;
pub use error::unclear_column::UnclearColumn;
pub use error::untaught_steps::UntaughtSteps;
pub use error::whereabouts::Whereabouts;
pub use foretell_simd::{Key, Stream};
#[cfg(feature = "parquet")]
pub use frames::batch::ParquetWriter;
pub use frames::cells::{CellTable, Cells};
pub use frames::forecast_column::{AnomalyMark, ColumnPart, ForecastColumn, SAMPLE_ID};
pub use frames::frame::{Frame, FrameWriter};
pub use frames::models::{KnownColumns, ModelInTable};
pub use frames::write::CsvWriter;
/// Dates and times in code.
pub use jiff;
pub use nearest::nearest;
pub use panels::aggregate::Aggregate;
pub use panels::alike_ids::PlainId;
pub use panels::builder::PanelBuilder;
pub use panels::categories::{Categories, Vocabulary};
pub use panels::covariates::Future;
pub use panels::ends::End;
pub use panels::excerpts::Excerpt;
pub use panels::fill::{Fill, Filled, Trimmed};
pub use panels::forecast_table::{ForecastTable, series_labels};
pub use panels::id_table::IdTable;
pub use panels::level::SeriesLevel;
pub use panels::leveled::ColumnLevel;
pub use panels::local_scaler::{LocalScaler, LocalScales, LocalStats};
pub use panels::options::ReadOptions;
pub use panels::panel::Panel;
pub use panels::peers::Peers;
pub use panels::read::AVAILABLE_MASK;
pub use panels::roles::Roles;
pub use panels::unseen::UnseenCategories;
pub use setting::{Setting, SettingWords, in_words_of, settings_named, word_settings};
pub use tables::day_clock::Hours;
pub use tables::file_options::{Encoding, FileOptions};
pub use tables::format::{FileFormat, TableOutput};
pub use tables::layout::Across;
pub use tables::memory_table::MemoryTable;
pub use tables::number_format::NumberFormat;
pub use tables::open::column_names;
pub use tables::read_note::ReadNote;
pub use tables::table_columns::TableColumns;
pub use tables::table_files::table_files;
pub use windows::cut::WindowSlices;
pub use windows::cutter::Cutter;
pub use windows::sampler::SeriesSampler;
pub use windows::scaler::{Stats, WindowScaler, asinh};
pub use windows::spec::{Span, WindowRef, WindowSpec};

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
