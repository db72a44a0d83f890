//! The numbers that an estimator has learned of each series.

use std::collections::{BTreeMap, HashMap};

use foretell_data::Panel;

use crate::forecasts::Learned;

/// Numbers that an estimator has learned of the series of a panel, by name; as many of each series.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SeriesNumbers {
    learned: Learned,
    /// The place of each series.
    places: HashMap<String, usize>,
}

impl SeriesNumbers {
    /// Sets the numbers of this name, `[series, k]` in the order of the panel's series. It is the same panel for all names.
    ///
    /// # Panics
    /// If they are not as many for each series.
    #[track_caller]
    pub fn set(&mut self, panel: &Panel, name: &str, values: Vec<f64>) {
        if self.learned.numbers.is_empty() {
            self.learned.series = (0..panel.n_series()).map(|series| panel.id(series).to_string()).collect();
            self.places = self.learned.series.iter().cloned().zip(0..).collect();
        }
        let series = panel.n_series();
        let fits = values.len().checked_rem(series).map_or(values.is_empty(), |rest| rest == 0);
        assert!(fits, "{} numbers {name} for {series} series", values.len());
        self.learned.numbers.insert(name.to_owned(), values);
    }

    /// The numbers of this name of the series with this id; none of a series that was not learned from.
    pub fn of(&self, id: &str, name: &str) -> Option<&[f64]> {
        let (place, values) = (*self.places.get(id)?, self.learned.numbers.get(name)?);
        let count = values.len() / self.places.len();
        Some(&values[place * count..(place + 1) * count])
    }

    /// All numbers, for files.
    pub fn learned(&self) -> &Learned {
        &self.learned
    }

    /// The numbers from [`SeriesNumbers::learned`].
    ///
    /// # Errors
    /// In words, if an id comes twice or numbers are not as many for each series.
    pub fn restored(learned: Learned) -> Result<Self, String> {
        let series = learned.series.len();
        let places: HashMap<String, usize> = learned.series.iter().cloned().zip(0..).collect();
        if places.len() != series {
            return Err(format!(
                "it has learned of {series} series, of which {} are different",
                places.len()
            ));
        }
        let uneven = learned.numbers.iter().find(|(_, values)| values.len().checked_rem(series) != Some(0));
        match uneven {
            Some((name, values)) => {
                Err(format!("it has {} numbers {name} for {series} series", values.len()))
            }
            None => Ok(Self { learned, places }),
        }
    }

    /// What was learned of the series of all parts, in their order; where a part has more numbers of a series than another, zeros follow those
    /// of the other.
    ///
    /// # Errors
    /// In words, if numbers that one part has another lacks, or those of [`SeriesNumbers::restored`].
    pub fn joined(parts: impl IntoIterator<Item = Learned>) -> Result<Learned, String> {
        let (mut series, mut columns) = (Vec::new(), BTreeMap::<String, Vec<Vec<f64>>>::new());
        for part in parts {
            let part = Self::restored(part)?.learned;
            let count = part.series.len();
            for (name, values) in part.numbers {
                let each = values.len() / count.max(1);
                let own = columns.entry(name).or_default();
                // Of a name that the parts before lack, it stays behind and is told below.
                own.extend((0..count).map(|place| values[place * each..(place + 1) * each].to_vec()));
            }
            series.extend(part.series);
            if let Some((name, _)) = columns.iter().find(|(_, own)| own.len() != series.len()) {
                return Err(format!("a part lacks the numbers {name}, which another has"));
            }
        }
        let even = |mut lists: Vec<Vec<f64>>| {
            let most = lists.iter().map(Vec::len).max().unwrap_or(0);
            lists.iter_mut().for_each(|list| list.resize(most, 0.0));
            lists.concat()
        };
        let numbers = columns.into_iter().map(|(name, lists)| (name, even(lists))).collect();
        Ok(Self::restored(Learned { series, numbers })?.learned)
    }

    /// How many numbers of this name each series has.
    pub fn count(&self, name: &str) -> Option<usize> {
        self.learned.numbers.get(name).map(|values| values.len().checked_div(self.places.len()).unwrap_or(0))
    }

    /// Their bytes.
    pub fn bytes(&self) -> u64 {
        let Learned { series, numbers } = &self.learned;
        let ids: usize = series.iter().map(|id| 2 * (id.len() + size_of::<String>())).sum();
        (ids + numbers.values().map(|values| size_of_val(&**values)).sum::<usize>()) as u64
    }
}

#[cfg(test)]
mod tests {
    use foretell_calendar::Freq;

    use super::*;

    fn panel() -> Panel {
        let freq = Freq::parse("D").expect("days");
        Panel::from_series(freq, [("a", 0, vec![1.0]), ("b", 0, vec![2.0])]).expect("a panel")
    }

    #[test]
    fn numbers_are_found_by_the_id_of_their_series() {
        let mut numbers = SeriesNumbers::default();
        numbers.set(&panel(), "level", vec![1.0, 2.0]);
        numbers.set(&panel(), "season", vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let again = SeriesNumbers::restored(numbers.learned().clone()).expect("the same");
        assert_eq!(again, numbers);
        assert_eq!(
            (again.of("b", "level"), again.of("b", "season")),
            (Some(&[2.0][..]), Some(&[4.0, 5.0, 6.0][..]))
        );
        assert_eq!((again.of("c", "level"), again.of("a", "trend")), (None, None));
    }

    #[test]
    fn numbers_that_belong_to_no_series_are_refused() {
        let learned = |series: &[&str], count: usize| Learned {
            series: series.iter().map(|&id| id.to_owned()).collect(),
            numbers: [("level".to_owned(), vec![0.0; count])].into(),
        };
        let refused = |learned| SeriesNumbers::restored(learned).expect_err("they do not fit");
        assert_eq!(refused(learned(&["a", "b"], 3)), "it has 3 numbers level for 2 series");
        assert_eq!(refused(learned(&[], 1)), "it has 1 numbers level for 0 series");
        assert!(refused(learned(&["a", "a"], 2)).starts_with("it has learned of 2 series, of which 1"));
        assert_eq!(SeriesNumbers::restored(Learned::default()), Ok(SeriesNumbers::default()));
    }

    #[test]
    fn parts_are_joined_in_their_order() {
        let part = |series: &[&str], numbers: &[(&str, &[f64])]| Learned {
            series: series.iter().map(|&id| id.to_owned()).collect(),
            numbers: numbers.iter().map(|(name, values)| ((*name).to_owned(), values.to_vec())).collect(),
        };
        let first = part(&["a", "b"], &[("level", &[1.0, 2.0]), ("form", &[1.0, 2.0, 3.0, 4.0])]);
        let second = part(&["c"], &[("level", &[3.0]), ("form", &[5.0])]);
        let all =
            part(&["a", "b", "c"], &[("level", &[1.0, 2.0, 3.0]), ("form", &[1.0, 2.0, 3.0, 4.0, 5.0, 0.0])]);
        assert_eq!(SeriesNumbers::joined([first.clone(), Learned::default(), second]), Ok(all));
        assert_eq!(SeriesNumbers::joined([Learned::default(), Learned::default()]), Ok(Learned::default()));
        let other = part(&["c"], &[("level", &[3.0])]);
        let lacks = "a part lacks the numbers form, which another has";
        assert_eq!(SeriesNumbers::joined([first.clone(), other.clone()]), Err(lacks.to_owned()));
        assert_eq!(SeriesNumbers::joined([other, first.clone()]), Err(lacks.to_owned()));
        assert!(
            SeriesNumbers::joined([first.clone(), first])
                .expect_err("twice")
                .contains("of which 2 are different")
        );
    }

    #[test]
    #[should_panic(expected = "3 numbers level for 2 series")]
    fn a_method_has_as_many_of_each_series() {
        SeriesNumbers::default().set(&panel(), "level", vec![0.0; 3]);
    }
}
