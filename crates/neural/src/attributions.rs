//! The contributions of the inputs to a network's forecasts, with the inputs' names.

use foretell_data::{Future, Panel, Span, WindowScaler};
use foretell_estimator::{Attribution, Contributions, Estimator as _, Workers, point_column};
use foretell_infer::ForecastPartsOfNetwork;
use foretell_nn::Decoding;

use crate::error::NetworkError;
use crate::trained_network::TrainedNetwork;
use crate::windows::{Purpose, window_dims};

impl TrainedNetwork {
    /// The contributions of the inputs: see [`Trained::contributions`](foretell_estimator::Trained::contributions). Of a distribution its
    /// mean is explained, by Shapley values alone.
    ///
    /// # Errors
    /// If the network has no such output, its loss is of a distribution and the method takes gradients, or the scaler of its windows
    /// bends the values; if the panel lacks a column, or has another number of series than the network forecasts together.
    pub(crate) fn attribute(
        &self,
        panel: &Panel,
        future: Option<&Future>,
        h: usize,
        workers: &Workers,
        method: Attribution,
        output: usize,
    ) -> Result<Vec<Contributions>, NetworkError> {
        self.check_attribution(Some(method), output)?;
        let (loss, span) = (self.spec.loss(), Span::Predict { future });
        Ok(self.on_windows(panel, span, loss, h, workers, |forecasts, cutter| {
            forecasts.attribute(cutter, &cutter.rows(), method, output)
        })?)
    }

    /// The parts of the forecasts of the `h` steps after each series of the panel, of the forecast of a single number; none of a network
    /// that makes its forecasts in one piece.
    ///
    /// # Errors
    /// As [`TrainedNetwork::attribute`].
    pub(crate) fn parts_of_forecasts(
        &self,
        panel: &Panel,
        future: Option<&Future>,
        h: usize,
        workers: &Workers,
    ) -> Result<ForecastPartsOfNetwork, NetworkError> {
        let output = point_column(&self.spec.outputs());
        self.check_attribution(None, output)?;
        let (loss, span) = (self.spec.loss(), Span::Predict { future });
        if loss.implicit().is_some() {
            let reason = "a layer of its loss makes quantiles of its forecast, which are no sum of parts; train it with another loss";
            let model = self.spec.alias().to_owned();
            return Err(NetworkError::Explain { model, reason: reason.to_owned() });
        }
        Ok(self.on_windows(panel, span, loss, h, workers, |forecasts, cutter| {
            forecasts.parts(cutter, &cutter.rows(), output)
        })?)
    }

    /// Whether an output can be explained by this method, or without one taken apart.
    fn check_attribution(&self, method: Option<Attribution>, output: usize) -> Result<(), NetworkError> {
        let spec = &self.spec;
        // Of a distribution that is the mean.
        let outputs = if spec.loss().is_distribution() { 1 } else { spec.loss().outputs() };
        let refuse = |reason: String| Err(NetworkError::Explain { model: spec.alias().to_owned(), reason });
        match method {
            Some(Attribution::ShapleySampling { .. }) => {}
            _ if !spec.loss().is_distribution() => {}
            Some(_) => {
                let reason = "its outputs are the parameters of a distribution, whose gradients are none of its mean; choose \
                              Shapley sampling, or train it with another loss";
                return refuse(reason.to_owned());
            }
            None => {
                let reason = "its outputs are the parameters of a distribution; train it with another loss";
                return refuse(reason.to_owned());
            }
        }
        if self.network.needs.decoding.paths().is_some() {
            let reason = "its forecasts are those of drawn paths (sampling ancestral), in which chance has a part; train it with \
                          sampling mean";
            return refuse(reason.to_owned());
        }
        if output >= outputs {
            return refuse(format!("it has {outputs} outputs, counted from 0, and no output {output}"));
        }
        if spec.scaler() == WindowScaler::Invariant {
            return refuse(
                "its windows are scaled by a curve (scaler_type invariant), over which contributions do not add up; train it with \
                 another scaler"
                    .to_owned(),
            );
        }
        Ok(())
    }

    /// The names of the inputs of a series, in the order of [`Contributions`], of forecasts of `h` steps.
    pub(crate) fn input_names(&self, target: &str, h: usize) -> Vec<String> {
        let spec = &self.spec;
        let dims = window_dims(spec, self.network.needs, Purpose::Forecast);
        let (history, horizon, ahead) = (dims.input_size as i64, dims.horizon as i64, h as i64);
        // A network that forecasts step by step sees columns one step ahead of the target.
        let (hist, futr) = match self.network.needs.decoding {
            Decoding::Direct => (1 - history..=0, 1 - history..=horizon),
            Decoding::StepByStep { .. } => (2 - history..=ahead, 2 - history..=ahead),
        };
        let mut names: Vec<String> = (1 - history..=0).map(|step| format!("{target}@{step}")).collect();
        for (steps, columns) in [(hist, spec.hist_exog_list()), (futr, spec.futr_exog_list())] {
            names.extend(steps.flat_map(|step| columns.iter().map(move |column| format!("{column}@{step}"))));
        }
        names.extend(spec.stat_exog_list().iter().cloned());
        names
    }
}
