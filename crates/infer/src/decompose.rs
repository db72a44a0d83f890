//! The parts of which a network makes its forecasts.

use foretell_data::{Cutter, Stats, WindowRef};
use foretell_nn::Forward;

use crate::forecast::Forecasts;

/// The parts of forecasts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ForecastPartsOfNetwork {
    /// Their names; none of a network that makes its forecasts in one piece.
    pub names: Vec<String>,
    /// `[parts, rows, horizon]`, in units of the target: they add up to the forecast.
    pub values: Vec<Vec<f32>>,
}

impl Forecasts<'_> {
    /// The parts of the forecasts of whole windows, of one of the model's outputs. The first part has the level of each window.
    ///
    /// # Panics
    /// If the model's outputs are the parameters of a distribution, quantiles are made of its output, or the windows' scaler is a curve.
    #[track_caller]
    pub fn parts(&self, cutter: &Cutter<'_>, windows: &[WindowRef], output: usize) -> ForecastPartsOfNetwork {
        assert!(!self.cut.loss.is_distribution(), "parts of the parameters of a distribution");
        assert!(self.cut.loss.implicit().is_none(), "parts of what quantiles are made of");
        let mut all = ForecastPartsOfNetwork::default();
        if self.network.needs.decoding.is_step_by_step() {
            return all;
        }
        for windows in windows.chunks(self.rows_at_a_time()) {
            let batch = self.cut.batch(cutter, windows);
            let cx = Forward::inference(self.params).with_key(self.key()).collecting_parts();
            let forecast = self.network.model.forward(&cx, &batch.windows.inputs());
            let scaling = || batch.loc.values().iter().zip(batch.scale.values());
            for (place, (name, part)) in cx.into_parts().into_iter().enumerate() {
                if all.names.len() == place {
                    all.names.push(name);
                    all.values.push(Vec::new());
                }
                let part = part.broadcast_to(forecast.shape()).narrow(2, output, 1).to_vec();
                for (row, (&loc, &scale)) in part.chunks_exact(self.cut.dims.horizon).zip(scaling()) {
                    let line = cutter.scaler().line_back(self.output_scaling(Stats { loc, scale }));
                    let Stats { loc, scale } = line.expect("a scaler that is no curve");
                    let shift = if place == 0 { loc } else { 0.0 };
                    all.values[place].extend(row.iter().map(|value| value * scale + shift));
                }
            }
        }
        all
    }
}
