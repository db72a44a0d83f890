//! A horizon of which training shows only a part.

use std::fmt;

use super::remedies::helpful;

/// Steps of the horizon without a truth in any training window; its text names the longest horizon that the data teach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UntaughtSteps {
    /// The horizon.
    pub h: usize,
    /// Its steps without a truth.
    pub count: usize,
    /// The longest horizon whose steps all have one.
    pub longest: usize,
    /// Rows of the longest series before the held-out ones.
    pub rows: usize,
    /// Rows kept for validation and test.
    pub held_out: usize,
    /// The insample length.
    pub input_size: usize,
    /// Whether windows may begin before the series (`start_padding_enabled`).
    pub padded: bool,
}

impl UntaughtSteps {
    /// The remedies that give every step a truth to learn.
    fn remedy(&self) -> String {
        let Self { h, longest, rows, held_out, input_size, padded, .. } = *self;
        let lower = format!("lower h to {longest}, the longest horizon that these data teach");
        let shorter = format!("lower input_size to {}", rows.saturating_sub(h));
        // Where the rows would do, it is their mask, their weights or the steps between windows that hide some.
        let hidden = longest + input_size < rows.min(h + input_size);
        helpful([
            (longest > 0, &*lower),
            (hidden, "give values where available_mask or sample_weight is 0, or lower step_size"),
            (!hidden, "give more rows"),
            (held_out > 0, "hold out fewer (val_size; n_windows and step_size of a cross-validation)"),
            (!padded && !hidden && rows > h && rows - h < input_size, &*shorter),
            (!padded && !hidden && rows > h, "set start_padding_enabled"),
        ])
    }
}

impl fmt::Display for UntaughtSteps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { h, count, rows, held_out, input_size, padded, .. } = self;
        write!(
            f,
            "no training window shows the truth of {count} of the h = {h} steps, which would be forecast by weights that \
             nothing trained: the longest series has {rows} rows to train on ({held_out} held out), and of these {} before \
             the horizon; {}",
            match padded {
                true => "at least one comes".to_owned(),
                false => format!("input_size = {input_size} come"),
            },
            self.remedy()
        )
    }
}
