//! All that the public signatures use is named by this crate; a model is written against foretell-nn.

use foretell_nn::{Forward, Init, Inputs, ParamId, Var};
use foretell_train::{
    Batch, Clip, Engine, Key, Loss, Model, Network, Optimizer, Params, Rule, Schedule, Table, Tensor,
    TrainConfig, Windows, Workers,
};

/// Forecasts `w` times the last value of the history for the next step.
struct Naive(ParamId);

impl Model for Naive {
    fn forward(&self, cx: &Forward<'_>, windows: &Inputs) -> Var {
        let y = windows.insample_y.narrow(1, windows.insample_y.shape()[1] - 1, 1);
        (y * cx.param(self.0)).reshape([windows.batch(), 1, 1])
    }
}

/// Windows of two steps, whose values are all 1.
fn batch(windows: usize) -> Batch {
    let ones = |steps: usize| Tensor::full([windows, steps], 1.0);
    Batch {
        windows: Windows {
            insample_y: ones(2),
            insample_mask: ones(2),
            hist_exog: None,
            futr_exog: None,
            stat_exog: None,
        },
        target: ones(1),
        weights: ones(1),
        error_scale: Tensor::full([windows], 1.0),
        loc: Tensor::zeros([windows]),
        scale: Tensor::full([windows], 1.0),
    }
}

#[test]
fn a_model_is_trained_for_a_step() {
    let mut table = Table::default();
    let network = Network::from(Naive(table.root().param("w", [1], Init::Constant(3.0))));
    let params: Params = table.initialise(0);
    let config = TrainConfig::default()
        .optimizer(Rule::Sgd(Default::default()))
        .clip(Some(Clip::Value(0.5)))
        .schedule(Schedule::constant(2.0));
    let optimizer = Optimizer::new(params.table().arena_len(), config.optimizer, config.clip);
    let (loss, workers) = (Loss::mae(), Workers::new(1).expect("a thread"));
    let mut engine = Engine::new(&network, params, optimizer, &loss, Key::new(0), &workers);
    let loss_value = engine.step(4, 4.0, config.schedule.at(0), |range| batch(range.len()));
    assert_eq!(loss_value, Ok(2.0));
    // The slope of |w - 1| is 1, of which the bound leaves a half.
    assert_eq!(engine.into_params().get("w"), Some(Tensor::full([1], 2.0)));
}
