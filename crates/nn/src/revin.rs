//! The affine correction of forecasts that goes with the window scaler `revin`.
//!
//! Kim et al. 2022, "Reversible instance normalization"; neuralforecast adds the bias to the shift of a
//! window and multiplies its unit by the weight. Losses of points are taken on the windows' scale, so no
//! gradient reaches the two: they are kept as constants of the state dictionary.

use crate::{Params, Scope};

/// Registers `scaler.revin_bias` and `scaler.revin_weight`, `[1, 1, columns, 1]`: one of each for the target
/// and every historic and future column.
pub fn register_revin(scope: &mut Scope<'_>, columns: usize) {
    let mut scope = scope.at("scaler");
    scope.constant("revin_bias", [1, 1, columns, 1], |values| values.fill(0.0));
    scope.constant("revin_weight", [1, 1, columns, 1], |values| values.fill(1.0));
}

impl Params {
    /// Bias and weight of the target, where a model has them.
    pub fn revin(&self) -> Option<[f32; 2]> {
        let first = |name: &str| {
            let entry = self.table().entries().iter().find(|entry| entry.name == name)?;
            self.values(entry).first().copied()
        };
        Some([first("scaler.revin_bias")?, first("scaler.revin_weight")?])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Table;

    #[test]
    fn a_fresh_correction_changes_nothing() {
        let mut table = Table::default();
        register_revin(&mut table.root(), 3);
        assert_eq!(table.numel(), 0, "nothing to train");
        let params = table.initialise(1);
        assert_eq!(params.revin(), Some([0.0, 1.0]));
        assert_eq!(Table::default().initialise(1).revin(), None);
    }
}
