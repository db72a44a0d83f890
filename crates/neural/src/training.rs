//! The training of one model on a panel.

use std::sync::Arc;

use foretell_data::{Cutter, Panel, Span};
use foretell_estimator::{EstimatorError, HeldOut, Outcome, Run};
use foretell_nn::{Table, check_amp};
use foretell_train::{Cut, Fit, KeptFitError, fit_kept};

use crate::error::NetworkError;
use crate::kept_numbers::KeptNumbers;
use crate::kept_optimizer::{before, kept};
use crate::spec::NetworkSpec;
use crate::spec_error::SpecError;
use crate::start::{first_params, pruning};
use crate::train_config::train_config;
use crate::trained_network::TrainedNetwork;
use crate::windows::{Purpose, window_dims, window_spec};

/// Trains a model, on the windows of the panel.
pub(crate) fn train(
    spec: &NetworkSpec,
    panel: &Panel,
    HeldOut { validation: val_size, test: test_size }: HeldOut,
    run: Run<'_>,
) -> Result<TrainedNetwork, NetworkError> {
    check_amp(run.step.precision.name())?;
    let config = &train_config(spec, run.step)?;
    let watching = [
        (config.early_stop_patience_steps > 0, "early_stop_patience_steps"),
        (config.schedule.watches(), "lr_scheduler ReduceLROnPlateau"),
    ];
    if let Some((_, what)) = watching.into_iter().find(|(watches, _)| *watches && val_size == 0) {
        return Err(SpecError::NothingToWatch { model: spec.alias().to_owned(), what, h: spec.h() }.into());
    }
    check_support(spec, panel)?;
    spec.check_ends(panel)?;
    let mut table = Table::default();
    let network = spec.build(&mut table)?;
    let (mut params, frozen) = first_params(spec, table, &run.start)?;
    let pruning = run.start.sparsity.map(|sparsity| pruning(params.table(), sparsity));
    if pruning.is_some() && run.state.is_some() {
        let reason = "a training that sets weights to zero keeps no state; leave the directory of states out";
        return Err(NetworkError::Start { model: spec.alias().to_owned(), reason: reason.to_owned() });
    }
    if config.max_steps == 0 {
        pruning.iter().for_each(|pruning| pruning.apply(&mut params));
        // Nor need the panel have a window to train on.
        return Ok(TrainedNetwork::new(spec.clone(), network, params, Some(Outcome::of_no_step())));
    }
    let [dims, valid_dims] =
        [Purpose::Train, Purpose::Validate].map(|purpose| window_dims(spec, network.needs, purpose));
    let train = Cutter::new(panel, &window_spec(spec, &dims), Span::Train { val_size, test_size })?;
    train.check_horizon()?;
    let span = Span::Validation { val_size, test_size };
    let valid = match val_size {
        0 => None,
        _ => Some(Cutter::new(panel, &window_spec(spec, &valid_dims), span)?),
    };
    let loss = spec.loss();
    let before = before(spec, &params, config.optimizer, &run.start)?;
    let kept_numbers = KeptNumbers::measure(spec, &network, &params, run.step.low_memory).of(&dims);
    let cut = Cut {
        dims,
        loss,
        exclude_insample_y: spec.common().exclude_insample_y,
        step_by_step: network.needs.decoding.is_step_by_step(),
        preparation: None,
    };
    let job = Fit {
        valid_loss: spec.valid_loss(),
        valid: valid.as_ref(),
        valid_dims,
        frozen: &frozen,
        pruning: pruning.as_ref(),
        before: before.as_ref(),
        keeps_optimizer: spec.keep_optimizer,
        kept: kept_numbers,
        reduction: run.reduction,
        ..Fit::new(&network, params, cut, &train, config, run.workers)
    };
    let (params, outcome, optimizer) = fit_kept(job, run.state, run.listen).map_err(|error| match error {
        KeptFitError::Train(source) => NetworkError::Train { model: spec.alias().to_owned(), source },
        KeptFitError::State(error) => error.into(),
    })?;
    let mut trained = TrainedNetwork::new(spec.clone(), network, params, Some(outcome));
    trained.optimizer = optimizer.map(|optimizer| Arc::new(kept(spec, optimizer)));
    Ok(trained)
}

/// Refuses values that the loss's distribution gives no probability to: they have no likelihood.
fn check_support(spec: &NetworkSpec, panel: &Panel) -> Result<(), EstimatorError> {
    let (expected, possible) = spec.loss().support();
    for series in 0..panel.n_series() {
        let known = |row: usize| panel.available_mask(series).is_none_or(|mask| mask[row] != 0.0);
        let wrong = panel.y(series).iter().enumerate().find(|(row, y)| !possible(**y) && known(*row));
        if let Some((row, &found)) = wrong {
            let (model, series) = (spec.alias().to_owned(), panel.id(series).to_string());
            return Err(EstimatorError::Support { model, expected, series, row: row + 1, found });
        }
    }
    Ok(())
}
