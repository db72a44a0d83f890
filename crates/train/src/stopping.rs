//! Early stopping: how long the validation loss may go without a new best.

/// Counts the checks since the best one.
#[derive(Debug)]
pub(crate) struct Stopping {
    patience: Option<u64>,
    best: f64,
    since: u64,
    diverged: bool,
}

impl Stopping {
    /// Stops after `patience` checks in a row that are no better than the best before; never if it is 0 or less.
    pub(crate) fn new(patience: i64) -> Self {
        let patience = u64::try_from(patience).ok().filter(|&patience| patience > 0);
        Self { patience, best: f64::INFINITY, since: 0, diverged: false }
    }

    /// Whether early stopping is on.
    pub(crate) fn is_active(&self) -> bool {
        self.patience.is_some()
    }

    /// Takes the loss of a check; returns whether it is the best so far. A loss that is not finite ends the patience.
    pub(crate) fn observe(&mut self, loss: f64) -> bool {
        self.diverged |= !loss.is_finite();
        let better = loss < self.best;
        if better {
            self.best = loss;
            self.since = 0;
        } else {
            self.since += 1;
        }
        better
    }

    /// Whether patience is over.
    pub(crate) fn is_over(&self) -> bool {
        self.patience.is_some_and(|patience| self.diverged || self.since >= patience)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patience_counts_checks_without_a_new_best() {
        let mut stopping = Stopping::new(2);
        let verdicts: Vec<bool> = [3.0, 2.0, 2.0, 1.0, 4.0, 5.0]
            .into_iter()
            .map(|loss| {
                stopping.observe(loss);
                stopping.is_over()
            })
            .collect();
        assert_eq!(verdicts, [false, false, false, false, false, true]);
    }

    #[test]
    fn a_loss_that_is_not_finite_ends_it() {
        for loss in [f64::NAN, f64::INFINITY] {
            let mut stopping = Stopping::new(10);
            assert!(!stopping.observe(loss) && stopping.is_over());
        }
    }

    #[test]
    fn without_patience_it_never_stops() {
        let mut stopping = Stopping::new(-1);
        (0..100).for_each(|i| {
            stopping.observe(f64::from(i));
        });
        assert!(!stopping.is_over() && !stopping.is_active());
    }
}
