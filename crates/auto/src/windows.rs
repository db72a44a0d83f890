//! The windows that weights are chosen by, and the one that is kept for the score.

/// Where forecasts that are scored begin, in steps before the end of each series.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WindowPlan {
    /// The windows that weights are chosen by, the newest first.
    pub(crate) chosen_by: Vec<usize>,
    /// The window that chooses nothing, if there are data enough.
    pub(crate) kept: Option<usize>,
}

impl WindowPlan {
    /// At most `most` windows to choose by, beside the kept one, for series of this typical length. A first window leaves two seasons
    /// before it, or where there are fewer one, and never less than the horizon, or half of it.
    pub(crate) fn new(typical: usize, h: usize, season: usize, most: usize) -> Self {
        let needs =
            [(2 * season + 1).max(h).max(10), (season + 2).max(h).max(6), (season + 2).max(h / 2).max(4)];
        for rows in needs {
            let spare = typical.saturating_sub(rows);
            if spare >= 2 * h {
                let left = spare - 2 * h;
                // Windows a horizon apart; where there are few, they overlap.
                let step = if left >= 2 * h { h } else { (h / 3).max(1) };
                let n = (left / step + 1).min(most.max(1));
                return Self {
                    chosen_by: (0..n).map(|window| 2 * h + window * step).collect(),
                    kept: Some(h),
                };
            }
        }
        let rows = (h / 2).max(3);
        if typical >= h + rows {
            let left = typical - h - rows;
            let step = (h / 3).max(1);
            let n = (left / step + 1).min(most.clamp(1, 3));
            return Self { chosen_by: (0..n).map(|window| h + window * step).collect(), kept: None };
        }
        Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_window_chooses_nothing_where_there_are_data_enough() {
        let plan = WindowPlan::new(200, 12, 12, 3);
        assert_eq!((plan.chosen_by, plan.kept), (vec![24, 36, 48], Some(12)));
        let plan = WindowPlan::new(60, 12, 12, 6);
        assert_eq!(
            (plan.chosen_by, plan.kept),
            (vec![24, 28, 32], Some(12)),
            "they overlap, after two seasons"
        );
        let plan = WindowPlan::new(40, 12, 12, 3);
        assert_eq!((plan.chosen_by, plan.kept), (vec![24], Some(12)), "one season before");
        let plan = WindowPlan::new(20, 8, 12, 3);
        assert_eq!((plan.chosen_by, plan.kept), (vec![8, 10, 12], None));
        assert_eq!(WindowPlan::new(9, 8, 1, 3), WindowPlan::default());
    }

    #[test]
    fn windows_that_choose_end_before_the_kept_one_begins() {
        for typical in 1..200 {
            for h in [1, 2, 7, 24] {
                let plan = WindowPlan::new(typical, h, 7, 4);
                if let Some(kept) = plan.kept {
                    assert!(plan.chosen_by.iter().all(|ahead| ahead - h >= kept), "{typical} {h} {plan:?}");
                }
                assert!(plan.chosen_by.iter().all(|ahead| *ahead < typical), "{typical} {h} {plan:?}");
            }
        }
    }
}
