//! Panels of series: reading, calendars, scalers and window sampling
//!
//! A [`Panel`] holds many series of one [`Freq`], read from a CSV file or built from slices, with
//! everything checked: duplicates, gaps, values that are missing or no numbers. A [`Cutter`] finds
//! the windows that neuralforecast would train, validate, test or predict on, draws some, and
//! writes them, scaled, into plain `f32` slices. Windows are never materialised for the panel.
//!
//! ```
//! use foretell_data::{CsvOptions, Cutter, Panel, Span, WindowScaler, WindowSlices, WindowSpec};
//! use foretell_simd::{Key, Stream};
//!
//! let mut csv = String::from("unique_id,ds,y\n");
//! for day in 1..=30 {
//!     csv += &format!("shop,2024-06-{day:02},{}\n", 10 * day);
//! }
//! let panel = Panel::read_csv(csv.as_bytes(), "sales.csv", &CsvOptions::default())?;
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

#![forbid(unsafe_code)]

mod covariates;
mod csv_file;
mod cut;
mod error;
mod frame;
mod freq;
mod long;
mod nearest;
mod panel;
mod ranks;
mod sampler;
mod scaler;
mod steps;
mod table;
mod time;
mod windows;

pub use covariates::Future;
pub use csv_file::CsvOptions;
pub use cut::WindowSlices;
pub use error::{DataError, Flaw, Gap, Place};
pub use frame::Frame;
pub use freq::Freq;
pub use nearest::nearest;
pub use panel::{Panel, PanelBuilder};
pub use sampler::SeriesSampler;
pub use scaler::{Stats, WindowScaler};
pub use time::{TimeKind, TimeStyle};
pub use windows::{Cutter, Span, WindowRef, WindowSpec};
