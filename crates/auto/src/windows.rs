//! The windows that weights are chosen by, and the one that is kept for the score.

/// Where forecasts that are scored begin, in steps before the end of each series.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WindowPlan {
    /// The windows that weights are chosen by, the newest first.
    pub(crate) chosen_by: Vec<usize>,
    /// The window that chooses nothing of what it scores, if there are data enough.
    pub(crate) kept: Option<usize>,
    /// The windows that choose the weights of the forecast, once the kept one has scored: of few data those with two seasons before
    /// them, as models that forecast seasons show little on less.
    pub(crate) forecast_by: Vec<usize>,
}

impl WindowPlan {
    /// At most `most` windows to choose by, beside the kept one, for series of this typical length. A first window leaves two seasons
    /// before it, or where there are fewer one, and never less than the horizon, or half of it. Where no window can be kept, those with two
    /// seasons before them choose, or with one, if there are any; if there are none, what follows the first season, though it is shorter than
    /// the horizon: other windows would show nothing of the seasonal naive.
    pub(crate) fn new(typical: usize, h: usize, season: usize, most: usize) -> Self {
        let needs =
            [(2 * season + 1).max(h).max(10), (season + 2).max(h).max(6), (season + 2).max(h / 2).max(4)];
        let two_seasons = (2 * season).max(h).max(10);
        for rows in needs {
            let spare = typical.saturating_sub(rows);
            if spare >= 2 * h {
                let left = spare - 2 * h;
                // Windows a horizon apart; where there are few, they overlap.
                let step = if left >= 2 * h { h } else { (h / 3).max(1) };
                let n = (left / step + 1).min(most.max(1));
                let chosen_by: Vec<usize> = (0..n).map(|window| 2 * h + window * step).collect();
                let long = (0..=most.max(1)).map(|window| h + window * step);
                let mut forecast_by: Vec<usize> =
                    long.filter(|ahead| ahead + two_seasons <= typical).collect();
                if forecast_by.is_empty() {
                    forecast_by = [&[h], &chosen_by[..]].concat();
                }
                return Self { chosen_by, kept: Some(h), forecast_by };
            }
        }
        // Of a single season the seasonal naive has no quantiles.
        let a_season = season + 1;
        if season > 1 && a_season < typical && typical < a_season + h {
            let spare = typical - season;
            let rest = vec![spare - (spare / 3).max(1)];
            return Self { forecast_by: rest.clone(), chosen_by: rest, kept: None };
        }
        let rows = (h / 2).max(3);
        if typical >= h + rows {
            let left = typical - h - rows;
            let step = (h / 3).max(1);
            let n = (left / step + 1).min(most.clamp(1, 3));
            let mut chosen_by: Vec<usize> = (0..n).map(|window| h + window * step).collect();
            if let Some(before) =
                [two_seasons, a_season].into_iter().find(|rows| chosen_by[0] + rows <= typical)
            {
                chosen_by.retain(|ahead| ahead + before <= typical);
            }
            return Self { forecast_by: chosen_by.clone(), chosen_by, kept: None };
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
        let plan = WindowPlan::new(21, 8, 12, 3);
        assert_eq!((plan.chosen_by, plan.kept), (vec![8], None), "others have no season before them");
        let plan = WindowPlan::new(16, 6, 12, 3);
        assert_eq!((plan.chosen_by, plan.kept), (vec![3], None), "what follows the first season");
        assert_eq!(WindowPlan::new(12, 6, 12, 3).chosen_by, [6, 8], "less than a season");
        assert_eq!(WindowPlan::new(9, 8, 1, 3), WindowPlan::default());
    }

    #[test]
    fn weights_of_the_forecast_are_chosen_by_windows_with_two_seasons_before_them() {
        assert_eq!(WindowPlan::new(200, 12, 12, 3).forecast_by, [12, 24, 36, 48]);
        // Four years, of which the windows before the kept one have two at most.
        let plan = WindowPlan::new(48, 12, 12, 5);
        assert_eq!((plan.chosen_by, plan.forecast_by), (vec![24, 28, 32], vec![12, 16, 20, 24]));
        let plan = WindowPlan::new(22, 3, 12, 5);
        assert_eq!(
            (plan.chosen_by, plan.forecast_by),
            (vec![6, 7, 8], vec![3, 6, 7, 8]),
            "none has two years"
        );
        // Where no window can be kept, those that choose.
        assert_eq!(WindowPlan::new(36, 12, 12, 5).chosen_by, [12]);
        assert_eq!(WindowPlan::new(35, 12, 12, 5).chosen_by, [12, 16, 20], "none has two years");
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
