//! Hierarchies from labels of the series: country, state, city.

use std::collections::BTreeMap;

use crate::error::HierarchyError;
use crate::hierarchy::Hierarchy;

/// The separator of the labels in the id of an aggregate.
const SEPARATOR: &str = "/";

/// The id of the sum of all series, where the first level has several labels.
const TOTAL: &str = "Total";

impl Hierarchy {
    /// The hierarchy of series with labels, the widest first: each level is divided by the next. An aggregate is called as its labels,
    /// joined by `/` (`Australia/Victoria`), as in hierarchicalforecast. If the series have several labels of the first level, the sum
    /// of all is `Total`. Aggregates are in the order of levels, then of labels. Where the labels of a single series are its id, they are no
    /// aggregate but the series.
    ///
    /// ```
    /// use foretell_hierarchy::Hierarchy;
    ///
    /// let cities = [("mel", ["Australia", "Victoria"]), ("syd", ["Australia", "NSW"]), ("gee", ["Australia", "Victoria"])];
    /// let hierarchy = Hierarchy::from_levels(&cities)?;
    /// let ids: Vec<&str> = hierarchy.ids().map(|id| &**id).collect();
    /// assert_eq!(ids, ["Australia", "Australia/NSW", "Australia/Victoria", "mel", "syd", "gee"]);
    /// # Ok::<(), foretell_hierarchy::HierarchyError>(())
    /// ```
    ///
    /// # Errors
    /// No series, two of one id, an aggregate with the id of a series, different numbers of labels, or an empty one.
    pub fn from_levels<S: AsRef<str>, L: AsRef<str>, A: AsRef<[L]>>(
        series: &[(S, A)],
    ) -> Result<Self, HierarchyError> {
        let levels = series.first().map_or(0, |(_, labels)| labels.as_ref().len());
        for (id, labels) in series {
            let (id, labels) = (id.as_ref(), labels.as_ref());
            if labels.len() != levels {
                let (id, expected, found) = (id.to_owned(), levels, labels.len());
                return Err(HierarchyError::Levels { id, expected, found });
            }
            if let Some(place) = labels.iter().position(|label| label.as_ref().is_empty()) {
                return Err(HierarchyError::NoLabel { id: id.to_owned(), level: place + 1 });
            }
        }
        let mut aggregates: Vec<(String, Vec<u32>)> = Vec::new();
        for depth in 1..=levels {
            let mut groups = BTreeMap::<Vec<&str>, Vec<u32>>::new();
            for (number, (_, labels)) in series.iter().enumerate() {
                let path = labels.as_ref()[..depth].iter().map(AsRef::as_ref).collect();
                groups.entry(path).or_default().push(number as u32);
            }
            if depth == 1 && groups.len() > 1 {
                aggregates.push((TOTAL.to_owned(), (0..series.len() as u32).collect()));
            }
            let sums = groups.into_iter().map(|(path, members)| (path.join(SEPARATOR), members));
            // The last label is often the series itself: a sum of one series by its own id is that series.
            let is_itself = |(id, members): &(String, Vec<u32>)| matches!(&members[..], [only] if series[*only as usize].0.as_ref() == id);
            aggregates.extend(sums.filter(|sum| !is_itself(sum)));
        }
        Self::new(series.iter().map(|(id, _)| id.as_ref()), aggregates)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_level_is_divided_by_the_next() {
        let series = [("1", ["x", "p"]), ("2", ["y", "p"]), ("3", ["x", "q"]), ("4", ["x", "p"])];
        let hierarchy = Hierarchy::from_levels(&series).unwrap();
        let found: Vec<(&str, &[u32])> = hierarchy
            .ids()
            .enumerate()
            .take(6)
            .map(|(number, id)| (&**id, hierarchy.members(number)))
            .collect();
        let expected: [(&str, &[u32]); 6] = [
            ("Total", &[0, 1, 2, 3]),
            ("x", &[0, 2, 3]),
            ("y", &[1]),
            ("x/p", &[0, 3]),
            ("x/q", &[2]),
            ("y/p", &[1]),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_level_of_single_series_is_these_series() {
        let series = [("N/1", ["N", "1"]), ("N/2", ["N", "2"]), ("S/1", ["S", "1"])];
        let hierarchy = Hierarchy::from_levels(&series).unwrap();
        assert_eq!(
            hierarchy,
            Hierarchy::from_levels(&series.map(|(id, [region, _])| (id, [region]))).unwrap()
        );
        let ids: Vec<&str> = hierarchy.ids().map(|id| &**id).collect();
        assert_eq!(ids, ["Total", "N", "S", "N/1", "N/2", "S/1"]);
    }

    #[test]
    fn faults_are_named() {
        let fault = |series: &[(&str, Vec<&str>)]| Hierarchy::from_levels(series).unwrap_err().to_string();
        assert!(
            fault(&[("1", vec!["a"]), ("2", vec![])]).contains("series 2 has 0 labels where others have 1")
        );
        assert!(fault(&[("1", vec!["a", ""])]).contains("series 1 has no label of level 2"));
        assert!(fault(&[("a", vec!["a"]), ("b", vec!["a"])]).contains("are called a"));
        // Two paths of one name.
        assert!(fault(&[("1", vec!["a/b", "c"]), ("2", vec!["a", "b/c"])]).contains("are called a/b/c"));
        assert!(fault(&[]).contains("found none"));
    }
}
