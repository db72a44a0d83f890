//! The windows that a model is cut: what for decides their sizes where it forecasts step by step.

use foretell_data::WindowSpec;
use foretell_nn::{Decoding, Dims, Needs};

use crate::spec::NetworkSpec;

/// The purpose of windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Train,
    Validate,
    Forecast,
}

/// The sizes of the windows of a model. One that forecasts step by step has a step of history more, trains
/// on a horizon of its own unless the loss weighs the steps of the whole, and may see another history when
/// it forecasts.
pub(crate) fn window_dims(spec: &NetworkSpec, needs: Needs, purpose: Purpose) -> Dims {
    let dims = spec.dims();
    let Decoding::StepByStep { h_train, inference_input_size, .. } = needs.decoding else { return dims };
    let (input_size, horizon) = match purpose {
        Purpose::Train if spec.loss().horizon_weight().is_none() => (dims.input_size, h_train),
        Purpose::Train | Purpose::Validate => (dims.input_size, dims.horizon),
        Purpose::Forecast => (inference_input_size, dims.horizon),
    };
    Dims { input_size: input_size + 1, horizon, ..dims }
}

/// Rows that a series needs to train the model on: those of its input, one if it may be padded.
pub(crate) fn least_rows(spec: &NetworkSpec) -> usize {
    if spec.common().start_padding_enabled {
        return 1;
    }
    window_dims(spec, spec.network_needs(), Purpose::Train).input_size
}

/// How windows of these sizes are cut from a panel.
pub(crate) fn window_spec(spec: &NetworkSpec, dims: &Dims) -> WindowSpec {
    let common = spec.common();
    WindowSpec {
        input_size: dims.input_size,
        horizon: dims.horizon,
        step_size: common.step_size,
        start_padding: common.start_padding_enabled,
        availability_threshold: common.training_data_availability_threshold.each(),
        hist: spec.hist_exog_list().to_vec(),
        futr: spec.futr_exog_list().to_vec(),
        stat: spec.stat_exog_list().to_vec(),
        scaler: spec.scaler(),
        all_series: spec.is_multivariate(),
    }
}
