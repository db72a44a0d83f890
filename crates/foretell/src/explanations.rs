//! Explanations of forecasts: the contributions of the inputs, and the parts of which forecasts are made.

use foretell_data::Panel;
use foretell_tables::Frame;

use crate::contributions::explain;
use crate::decompose::decompose;
use crate::decompose_options::DecomposeOptions;
use crate::error::Error;
use crate::explain_options::ExplainOptions;
use crate::fitted::Fitted;
use crate::forecasts::warnings::warn_of_stages;
use crate::stage::Source;

/// Explanations.
impl Fitted {
    /// The contributions of the inputs to the forecasts of networks: a row per series and step of the horizon, and for each network a
    /// column `NHITS:baseline`, its forecast from zeros on the scale that it sees, and a column per input, `NHITS:y@0` for the last value
    /// of the target, `NHITS:price@2` for that column's of the second step ahead, `NHITS:size` for a static column; of multivariate
    /// networks with the series in front, `TSMixer:shop/y@0`. Contributions are in units of the target;
    /// those of integrated gradients and of Shapley values add up to the forecast with the baseline.
    ///
    /// A network that forecasts step by step is explained through the forecasts that it reads. Of a network that forecasts its horizon at
    /// once, steps beyond it ([`ExplainOptions::h`]) are explained as they are forecast, horizon by horizon: `NHITS:y@0` is then the last value
    /// before the horizon of the row, a forecast of the one before, which counts as known.
    ///
    /// Categories have Shapley values of their own, and gradients by their embeddings: what the numbers of a category's embedding
    /// contribute, compared with zeros, is added up.
    ///
    /// ```
    /// # use foretell::{ExplainOptions, Forecaster, Freq, ModelSpec, Panel};
    /// # let panel = Panel::from_series(Freq::parse("D")?, [("a", 0, (0..60).map(|day| (day % 7) as f32).collect::<Vec<_>>())])?;
    /// let spec = ModelSpec::new("NLinear", 1, 7)?.set("max_steps", 20)?;
    /// let fitted = Forecaster::new([spec])?.fit(&panel)?;
    /// let contributions = fitted.explain(&panel, &ExplainOptions::default())?;
    /// let sum: f32 = contributions.columns.iter().map(|(_, values)| values[0]).sum();
    /// assert!((sum - fitted.predict(&panel, None)?.column("NLinear").unwrap()[0]).abs() < 1e-4);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If no network is explained, one has the loss of a distribution and the method takes gradients, or as [`Fitted::predict`].
    pub fn explain(&self, panel: &Panel, options: &ExplainOptions<'_>) -> Result<Frame, Error> {
        warn_of_stages(&self.trained, Source::Parts);
        explain(&self.trained, panel, options)
    }

    /// The parts of which models make their forecasts: a row per series and step of the horizon, a column per part, which add up to the
    /// forecast. NBEATS, NBEATSx and NHITS have a level and what each block adds (`NBEATS:trend_2`, `NHITS:block_1`), DLinear,
    /// Autoformer and FEDformer a trend and a seasonality, FLAIR a level and a season, exponential smoothing, Theta and MSTL a
    /// level, a trend and seasons, Prophet its trend, seasonalities, holidays and columns. A part that is zero in all rows has no column, nor has
    /// any part of other models.
    /// Networks with the loss of a distribution are passed over with a warning, where others have parts. Steps beyond the horizon
    /// ([`DecomposeOptions::h`]) are taken apart as networks forecast them, horizon by horizon.
    ///
    /// ```
    /// # use foretell::{DecomposeOptions, Forecaster, Freq, ModelSpec, Panel};
    /// # let panel = Panel::from_series(Freq::parse("D")?, [("a", 0, (0..60).map(|day| (day % 7) as f32).collect::<Vec<_>>())])?;
    /// let spec = ModelSpec::new("DLinear", 7, 14)?.set("max_steps", 5)?;
    /// let fitted = Forecaster::new([spec])?.fit(&panel)?;
    /// let parts = fitted.decompose(&panel, &DecomposeOptions::new())?;
    /// let sum = parts.column("DLinear:trend").unwrap()[0] + parts.column("DLinear:seasonality").unwrap()[0];
    /// assert!((sum - fitted.predict(&panel, None)?.column("DLinear").unwrap()[0]).abs() < 1e-4);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If no model has parts, or as [`Fitted::predict`].
    pub fn decompose(&self, panel: &Panel, options: &DecomposeOptions<'_>) -> Result<Frame, Error> {
        warn_of_stages(&self.trained, Source::Parts);
        decompose(&self.trained, panel, options)
    }
}
