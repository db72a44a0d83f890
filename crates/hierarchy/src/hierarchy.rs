//! Which series sum up which: the summing matrix, as the places of its ones.

use std::sync::Arc;

use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

use crate::error::HierarchyError;

/// Series of which some sum up others: aggregates, then the series at the bottom, which sum up none.
///
/// It is the summing matrix S `[series, bottom]` of zeros and ones. What is kept are the places of the ones of aggregates: as many
/// numbers as a series at the bottom has aggregates, times the series.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Plain", into = "Plain")]
pub struct Hierarchy {
    /// Aggregates, then the bottom.
    ids: Vec<Arc<str>>,
    /// Where the members of each aggregate begin, and where the last ones end.
    starts: Vec<usize>,
    /// Numbers of series at the bottom, rising within an aggregate.
    members: Vec<u32>,
}

/// A hierarchy as formats have it.
#[derive(Serialize, Deserialize)]
#[serde(rename = "Hierarchy", deny_unknown_fields)]
struct Plain {
    bottom: Vec<String>,
    aggregates: Vec<(String, Vec<u32>)>,
}

impl From<Hierarchy> for Plain {
    fn from(hierarchy: Hierarchy) -> Self {
        let aggregates = (0..hierarchy.n_aggregates())
            .map(|number| (hierarchy.ids[number].to_string(), hierarchy.members(number).to_vec()));
        let bottom = hierarchy.bottom_ids().iter().map(ToString::to_string).collect();
        Self { bottom, aggregates: aggregates.collect() }
    }
}

impl TryFrom<Plain> for Hierarchy {
    type Error = HierarchyError;

    fn try_from(Plain { bottom, aggregates }: Plain) -> Result<Self, HierarchyError> {
        Self::new(bottom, aggregates)
    }
}

impl Hierarchy {
    /// A hierarchy of series and of aggregates, each with the numbers of the series that it sums up.
    ///
    /// # Errors
    /// No series, two of one id, or an aggregate of none, of one twice, or of one that there is not.
    pub fn new<B: Into<Arc<str>>, A: Into<Arc<str>>>(
        bottom: impl IntoIterator<Item = B>,
        aggregates: impl IntoIterator<Item = (A, Vec<u32>)>,
    ) -> Result<Self, HierarchyError> {
        let bottom: Vec<Arc<str>> = bottom.into_iter().map(Into::into).collect();
        let last = bottom.len().checked_sub(1).ok_or(HierarchyError::Empty)?;
        let (mut ids, mut starts, mut members) = (Vec::new(), vec![0], Vec::new());
        for (id, mut own) in aggregates {
            let id: Arc<str> = id.into();
            own.sort_unstable();
            let what = match own.last() {
                None => Some("nothing".to_owned()),
                Some(&beyond) if beyond as usize > last => Some(format!("series {beyond}")),
                _ => own
                    .windows(2)
                    .find(|pair| pair[0] == pair[1])
                    .map(|pair| format!("series {} twice", pair[0])),
            };
            if let Some(what) = what {
                return Err(HierarchyError::Members { id: id.to_string(), what, last });
            }
            members.extend(own);
            starts.push(members.len());
            ids.push(id);
        }
        ids.extend(bottom);
        let mut known = FxHashSet::default();
        let twice = ids.iter().find(|id| !known.insert(&***id)).map(ToString::to_string);
        match twice {
            Some(id) => Err(HierarchyError::Duplicate { id }),
            None => Ok(Self { ids, starts, members }),
        }
    }

    /// The hierarchy of those series at the bottom that `is_there`, without aggregates that sum up none of them; `None` if there is none.
    pub fn among(&self, is_there: impl Fn(&str) -> bool) -> Option<Self> {
        let bottom = self.bottom_ids();
        let mut places = vec![None; bottom.len()];
        let kept: Vec<Arc<str>> = bottom.iter().filter(|id| is_there(id)).cloned().collect();
        let there = (0..bottom.len()).filter(|&number| is_there(&bottom[number]));
        there.zip(0..).for_each(|(number, place)| places[number] = Some(place));
        let aggregates = (0..self.n_aggregates()).map(|aggregate| {
            let members = self.members(aggregate).iter();
            (self.ids[aggregate].clone(), members.filter_map(|&member| places[member as usize]).collect())
        });
        let aggregates: Vec<(Arc<str>, Vec<u32>)> =
            aggregates.filter(|(_, members): &(_, Vec<u32>)| !members.is_empty()).collect();
        Self::new(kept, aggregates).ok()
    }

    /// The ids of all series: those of aggregates, then those of the bottom.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = &Arc<str>> + Clone {
        self.ids.iter()
    }

    /// The ids of the series at the bottom.
    pub fn bottom_ids(&self) -> &[Arc<str>] {
        &self.ids[self.n_aggregates()..]
    }

    /// Number of all series.
    pub fn n_series(&self) -> usize {
        self.ids.len()
    }

    /// Number of series that sum up others.
    pub fn n_aggregates(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of series at the bottom.
    pub fn n_bottom(&self) -> usize {
        self.n_series() - self.n_aggregates()
    }

    /// The numbers of the series at the bottom that an aggregate sums up, rising.
    ///
    /// # Panics
    /// If there are not this many aggregates.
    #[track_caller]
    pub fn members(&self, aggregate: usize) -> &[u32] {
        &self.members[self.starts[aggregate]..self.starts[aggregate + 1]]
    }

    /// The aggregates of the level in the middle: those between the total and the bottom that have every series once stand in levels, by
    /// the number of aggregates that sum up the same series and more; of an even number of levels it is the upper one in the middle. Nothing
    /// where there is no such level.
    pub fn middle(&self) -> Option<Vec<usize>> {
        let mut sets: Vec<Vec<bool>> = Vec::with_capacity(self.n_aggregates());
        for number in 0..self.n_aggregates() {
            let mut set = vec![false; self.n_bottom()];
            self.members(number).iter().for_each(|&member| set[member as usize] = true);
            sets.push(set);
        }
        // Of two of the same series the first stands above.
        let is_above = |one: usize, other: usize| {
            one != other
                && self.members(other).iter().all(|&member| sets[one][member as usize])
                && (self.members(one).len() > self.members(other).len() || one < other)
        };
        let depth = |number: usize| (0..self.n_aggregates()).filter(|&one| is_above(one, number)).count();
        let mut levels: Vec<Vec<usize>> = Vec::new();
        for number in 0..self.n_aggregates() {
            let depth = depth(number);
            if levels.len() <= depth {
                levels.resize(depth + 1, Vec::new());
            }
            levels[depth].push(number);
        }
        let covers_once = |level: &Vec<usize>| {
            let all: usize = level.iter().map(|&number| self.members(number).len()).sum();
            let each = (0..self.n_bottom()).all(|member| level.iter().any(|&number| sets[number][member]));
            all == self.n_bottom() && each
        };
        let mut between: Vec<Vec<usize>> = levels.into_iter().filter(covers_once).collect();
        // The total is no level in the middle.
        between.retain(|level| level.len() > 1);
        let middle = between.len().checked_sub(1)? / 2;
        Some(between.swap_remove(middle))
    }

    /// The first aggregate that sums up all series at the bottom.
    pub fn total(&self) -> Option<usize> {
        (0..self.n_aggregates()).find(|&number| self.members(number).len() == self.n_bottom())
    }

    /// The numbers of the aggregates of each series at the bottom, rising.
    pub(crate) fn aggregates_of_bottom(&self) -> Vec<Vec<u32>> {
        let mut of_bottom = vec![Vec::new(); self.n_bottom()];
        for number in 0..self.n_aggregates() {
            for &member in self.members(number) {
                of_bottom[member as usize].push(number as u32);
            }
        }
        of_bottom
    }

    /// Puts the sums of the series at the bottom into the aggregates of `values [series, columns]`.
    ///
    /// # Panics
    /// If there are not this many values.
    #[track_caller]
    pub fn sum(&self, values: &mut [f64], columns: usize) {
        assert_eq!(values.len(), self.n_series() * columns, "values of all series");
        let (aggregates, bottom) = values.split_at_mut(self.n_aggregates() * columns);
        for number in 0..self.n_aggregates() {
            let sum = &mut aggregates[number * columns..][..columns];
            sum.fill(0.0);
            for &member in self.members(number) {
                let part = &bottom[member as usize * columns..][..columns];
                sum.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
            }
        }
    }

    /// By how much the sums of `values [series, columns]` are off: the largest difference between an aggregate and the sum of its
    /// series, relative to the sum of their absolute values. 0 where there is no aggregate, NaN where a value is.
    ///
    /// # Panics
    /// If there are not this many values.
    #[track_caller]
    pub fn incoherence(&self, values: &[f64], columns: usize) -> f64 {
        assert_eq!(values.len(), self.n_series() * columns, "values of all series");
        let bottom = &values[self.n_aggregates() * columns..];
        let mut largest = 0.0;
        for number in 0..self.n_aggregates() {
            for column in 0..columns {
                let parts =
                    || self.members(number).iter().map(|&member| bottom[member as usize * columns + column]);
                let (sum, level) = (parts().sum::<f64>(), parts().map(f64::abs).sum::<f64>());
                let gap = (values[number * columns + column] - sum).abs();
                let gap = if gap == 0.0 { 0.0 } else { gap / level };
                if gap.is_nan() {
                    return gap;
                }
                largest = f64::max(largest, gap);
            }
        }
        largest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hierarchy() -> Hierarchy {
        Hierarchy::new(["a", "b", "c"], [("all", vec![2, 0, 1]), ("left", vec![0, 1])]).unwrap()
    }

    #[test]
    fn sums_are_those_of_the_members() {
        let hierarchy = hierarchy();
        let mut values = [9.0, 9.0, 9.0, 9.0, 1.0, 10.0, 2.0, 20.0, 4.0, 40.0];
        assert_eq!(hierarchy.incoherence(&values, 2), 2.0);
        hierarchy.sum(&mut values, 2);
        assert_eq!(values, [7.0, 70.0, 3.0, 30.0, 1.0, 10.0, 2.0, 20.0, 4.0, 40.0]);
        assert_eq!(hierarchy.incoherence(&values, 2), 0.0);
        assert_eq!((hierarchy.total(), hierarchy.members(0)), (Some(0), &[0, 1, 2][..]));
        assert_eq!(hierarchy.aggregates_of_bottom(), [vec![0, 1], vec![0, 1], vec![0]]);
        values[0] = f64::NAN;
        assert!(hierarchy.incoherence(&values, 2).is_nan());
    }

    #[test]
    fn a_hierarchy_of_some_of_its_series_has_their_sums() {
        let some = hierarchy().among(|id| id != "a").unwrap();
        assert_eq!(some.ids().map(|id| &**id).collect::<Vec<_>>(), ["all", "left", "b", "c"]);
        assert_eq!((some.members(0), some.members(1)), (&[0, 1][..], &[0][..]));
        let one = hierarchy().among(|id| id == "c").unwrap();
        assert_eq!(one.ids().map(|id| &**id).collect::<Vec<_>>(), ["all", "c"]);
        assert!(hierarchy().among(|_| false).is_none());
    }

    #[test]
    fn faults_are_named() {
        let fault = |aggregates: Vec<(&str, Vec<u32>)>| {
            Hierarchy::new(["a", "b"], aggregates).unwrap_err().to_string()
        };
        assert!(fault(vec![("all", vec![])]).contains("all sums up nothing"));
        assert!(fault(vec![("all", vec![0, 2])]).contains("all sums up series 2; "));
        assert!(fault(vec![("all", vec![1, 0, 1])]).contains("series 1 twice"));
        assert!(fault(vec![("b", vec![0, 1])]).contains("two rows or series of the hierarchy are called b"));
        assert_eq!(Hierarchy::new::<&str, &str>([], []), Err(HierarchyError::Empty));
    }

    #[test]
    fn it_is_read_as_it_was_written() {
        let text = serde_json::to_string(&hierarchy()).unwrap();
        assert_eq!(text, r#"{"bottom":["a","b","c"],"aggregates":[["all",[0,1,2]],["left",[0,1]]]}"#);
        assert_eq!(serde_json::from_str::<Hierarchy>(&text).unwrap(), hierarchy());
        let wrong = text.replace("[0,1]]]", "[0,7]]]");
        assert!(serde_json::from_str::<Hierarchy>(&wrong).unwrap_err().to_string().contains("series 7"));
    }
}
