//! Which forecasts are made together, so that a network that attends to the series of a group reads each beside the others.

use std::collections::BTreeMap;

use foretell_data::Panel;
use foretell_estimator::{Cutoff, EstimatorError};

use crate::settings::PretrainedSettings;

/// Forecasts in groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Groups {
    /// The places of the forecasts, those of a group behind each other.
    pub(crate) order: Vec<usize>,
    /// Forecasts of each group.
    pub(crate) sizes: Vec<usize>,
}

impl Groups {
    /// Those of a panel at these cutoffs: of one time, with equal values in the static columns of the settings, and no more than the
    /// settings allow; each alone where the settings say nothing of groups. A series whose category is unknown is alone.
    pub(crate) fn of(
        settings: &PretrainedSettings,
        panel: &Panel,
        cutoffs: &[Cutoff],
    ) -> Result<Self, EstimatorError> {
        if !settings.has_groups() {
            return Ok(Self { order: (0..cutoffs.len()).collect(), sizes: vec![1; cutoffs.len()] });
        }
        let PretrainedSettings { stat_exog_list: statics, cat_exog_list: categories, .. } = settings;
        let mut groups: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (place, &(series, before)) in cutoffs.iter().enumerate() {
            let mut values = Vec::with_capacity(statics.len());
            let mut alone = None;
            for name in statics {
                // The two zeros are equal.
                let value = panel.static_value(name, series)? + 0.0;
                alone = alone.or((value == 0.0 && categories.contains(name)).then_some(series));
                values.push(value.to_bits());
            }
            let time = before.checked_sub(1).map(|row| panel.time(series, row));
            groups.entry((values, time, alone)).or_default().push(place);
        }
        let most = match settings.cross_learning {
            0 => usize::MAX,
            most => most,
        };
        let groups: Vec<&[usize]> = groups.values().flat_map(|group| group.chunks(most)).collect();
        let sizes = groups.iter().map(|group| group.len()).collect();
        Ok(Self { order: groups.concat(), sizes })
    }

    /// The sizes of the groups, put together where they are at most this many forecasts.
    pub(crate) fn together(&self, most: usize) -> impl Iterator<Item = &[usize]> {
        let mut left = &self.sizes[..];
        std::iter::from_fn(move || {
            let mut sum = 0_usize;
            let fits = |size: &&usize| {
                sum += **size;
                sum <= most
            };
            let count = left.iter().take_while(fits).count().max(1);
            let (now, later) = left.split_at_checked(count)?;
            left = later;
            Some(now)
        })
    }

    /// Numbers by forecast, which are there in the order of the groups, in the order of the cutoffs.
    pub(crate) fn restore(&self, values: Vec<f32>) -> Vec<f32> {
        if self.order.is_sorted() {
            return values;
        }
        let each = values.len() / self.order.len();
        let mut restored = vec![0.0; values.len()];
        for (values, place) in values.chunks_exact(each).zip(&self.order) {
            restored[place * each..][..each].copy_from_slice(values);
        }
        restored
    }
}

#[cfg(test)]
mod tests {
    use foretell_calendar::Freq;

    use super::*;

    #[test]
    fn series_of_one_time_and_equal_statics_are_together() {
        let series = |name: &str, len: usize| (name.to_owned(), 0, vec![1.0_f32; len]);
        let all = [series("a", 5), series("b", 4), series("c", 5), series("d", 5), series("e", 5)];
        let panel = Panel::from_series(Freq::parse("D").expect("days"), all).expect("a panel");
        let shops = [("a", 1.0), ("b", 1.0), ("c", 2.0), ("d", 1.0), ("e", 0.0)];
        let panel = panel.with_static("shop", &shops).expect("a column");
        let at_end: Vec<Cutoff> = (0..5).map(|series| (series, panel.len(series))).collect();
        let of = |statics: &[&str], categories: &[&str], most: usize| {
            let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
            let settings = PretrainedSettings {
                stat_exog_list: names(statics),
                cat_exog_list: names(categories),
                cross_learning: most,
                ..PretrainedSettings::default()
            };
            Groups::of(&settings, &panel, &at_end).expect("groups")
        };
        assert_eq!(of(&[], &[], 0), Groups { order: vec![0, 1, 2, 3, 4], sizes: vec![1; 5] });
        // The second ends a day earlier.
        let shops = of(&["shop"], &[], 0);
        assert_eq!(shops, Groups { order: vec![4, 1, 0, 3, 2], sizes: vec![1, 1, 2, 1] });
        assert_eq!(of(&[], &[], 9), Groups { order: vec![1, 0, 2, 3, 4], sizes: vec![1, 4] });
        assert_eq!(of(&[], &[], 3), Groups { order: vec![1, 0, 2, 3, 4], sizes: vec![1, 3, 1] });
        assert_eq!(of(&["shop"], &["shop"], 1).sizes, [1; 5]);
        let values = vec![40.0, 41.0, 10.0, 11.0, 0.0, 1.0, 30.0, 31.0, 20.0, 21.0];
        assert_eq!(shops.restore(values), [0.0, 1.0, 10.0, 11.0, 20.0, 21.0, 30.0, 31.0, 40.0, 41.0]);
        let together: Vec<&[usize]> = shops.together(2).collect();
        assert_eq!(together, [&[1, 1][..], &[2], &[1]]);
        assert_eq!(of(&[], &[], 9).together(2).collect::<Vec<_>>(), [&[1][..], &[4]]);
    }

    #[test]
    fn an_unknown_category_is_of_no_group() {
        let all = ["a", "b", "c"].map(|name| (name.to_owned(), 0, vec![1.0_f32; 3]));
        let panel = Panel::from_series(Freq::parse("D").expect("days"), all).expect("a panel");
        let panel = panel.with_static("shop", &[("a", 0.0), ("b", 1.0), ("c", 0.0)]).expect("a column");
        let groups = |categories: Vec<String>| {
            let statics = vec!["shop".to_owned()];
            let settings = PretrainedSettings {
                stat_exog_list: statics,
                cat_exog_list: categories,
                ..PretrainedSettings::default()
            };
            Groups::of(&settings, &panel, &[(0, 3), (1, 3), (2, 3)]).expect("groups").sizes
        };
        assert_eq!(groups(Vec::new()), [2, 1]);
        assert_eq!(groups(vec!["shop".to_owned()]), [1, 1, 1]);
    }
}
