//! The numbers that an estimator has learned of each series.

use std::collections::HashMap;

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
    #[should_panic(expected = "3 numbers level for 2 series")]
    fn a_method_has_as_many_of_each_series() {
        SeriesNumbers::default().set(&panel(), "level", vec![0.0; 3]);
    }
}
