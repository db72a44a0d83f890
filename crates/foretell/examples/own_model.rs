//! A model of your own: SparseTSF (Lin, Lin, Wu, Chen, Yang 2024, arXiv 2405.00946), which the zoo does not have.
//!
//! The values of one phase of the season, a season apart, are forecast by one linear layer that all phases share.
//! `cargo run --release -p foretell --example own_model` trains it beside a model of the zoo.

use std::error::Error;

use foretell::own_model::{
    Activation, Architecture, Dims, Exogenous, Forward, HyperParameterError, Inputs, Linear, Model, Scope,
    Var, hyper_parameters, rules,
};
use foretell::{Fitted, Forecaster, Freq, ModelSpec, Panel, ValidationOptions, jiff::civil::date, json};

hyper_parameters! {
    /// Its own hyper-parameters; `h`, `input_size`, `max_steps`, `loss` and so on every model has.
    pub struct SparseTsf {
        /// Steps of a season.
        period: usize = 24 => rules::units,
    }
}

impl Architecture for SparseTsf {
    const NAME: &'static str = "SparseTSF";
    const PAPER: &'static str = "Lin et al. 2024, arXiv 2405.00946";
    const EXOGENOUS: Exogenous = Exogenous::NONE;

    fn build(self, dims: &Dims, scope: &mut Scope<'_>) -> Result<Box<dyn Model>, HyperParameterError> {
        if !(1..=dims.input_size).contains(&self.period) {
            let expected = format!("between 1 and input_size = {}", dims.input_size);
            return Err(HyperParameterError::new("period", expected, self.period));
        }
        let (seen, ahead) = (dims.input_size / self.period, dims.horizon.div_ceil(self.period));
        let linear = Linear::without_bias(&mut scope.at("linear"), seen, ahead * dims.outputs);
        Ok(Box::new(Network { dims: *dims, period: self.period, seen, ahead, linear }))
    }
}

/// The model: sizes and the places of its parameters. The parameters themselves come with each run.
struct Network {
    dims: Dims,
    period: usize,
    /// Whole seasons of the history.
    seen: usize,
    /// Seasons that the horizon begins.
    ahead: usize,
    linear: Linear,
}

impl Model for Network {
    fn forward(&self, cx: &Forward<'_>, windows: &Inputs) -> Var {
        let Dims { input_size, horizon, outputs, .. } = self.dims;
        let &Self { period, seen, ahead, .. } = self;
        let batch = windows.batch();
        let y = windows.insample_y.clone();
        let mean = y.mean(1).reshape([batch, 1]);
        let steps = seen * period;
        let centred = y.sub(&mean).narrow(1, input_size - steps, steps);
        // [batch, season, phase] to [batch, phase, season], and back.
        let by_phase = centred.reshape([batch, seen, period]).permute(&[0, 2, 1]);
        let forecast = self.linear.forward(cx, &by_phase, Activation::Identity);
        let by_time = forecast.reshape([batch, period, ahead, outputs]).permute(&[0, 2, 1, 3]);
        let by_time = by_time.reshape([batch, ahead * period, outputs]).narrow(1, 0, horizon);
        by_time.add(&mean.reshape([batch, 1, 1]))
    }
}

/// Three series of hours with a daily season each.
fn panel() -> Result<Panel, Box<dyn Error>> {
    let hours = |phase: f32| {
        let hour = |t: i32| {
            let (t, day) = (t as f32, std::f32::consts::TAU / 24.0);
            10.0 + (t * day + phase).sin() + 0.5 * (2.0 * t * day).cos() + 0.1 * (t * 12.9898 + phase).sin()
        };
        (0..40 * 24).map(hour).collect::<Vec<_>>()
    };
    let first = date(2024, 1, 1).at(0, 0, 0, 0);
    let series = [("a", first, hours(0.0)), ("b", first, hours(1.0)), ("c", first, hours(2.0))];
    Ok(Panel::from_series(Freq::parse("h")?, series)?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let panel = panel()?;
    let set = |spec: ModelSpec| spec.set("max_steps", 300)?.set("learning_rate", 1e-2);
    let own = set(ModelSpec::of::<SparseTsf>(48, 7 * 24)?.set("period", 24)?)?;
    let zoo = set(ModelSpec::new("NLinear", 48, 7 * 24)?)?;

    let validation =
        Forecaster::new([own.clone(), zoo])?.cross_validate(&panel, &ValidationOptions::new(3, 48))?;
    for metrics in validation.metrics(&panel, 24) {
        println!("{:<14} MAE {:.4}", metrics.model, metrics.mae);
    }

    // The same model with quantiles, saved, and loaded again under its name.
    let quantiles = own.set("loss", json!({ "MQLoss": { "level": [80] } }))?;
    let fitted = Forecaster::new([quantiles])?.fit(&panel)?;
    let home = std::env::temp_dir().join(format!("foretell-own-model-{}", std::process::id()));
    fitted.save(&home, false)?;
    let forecast = Fitted::load(&home)?.predict(&panel, None)?;
    std::fs::remove_dir_all(&home)?;
    println!("{} forecasts in the columns {:?}", forecast.n_rows(), fitted.column_names());
    Ok(())
}
