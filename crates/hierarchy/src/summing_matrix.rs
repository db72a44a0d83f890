//! Hierarchies from summing matrices.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::error::HierarchyError;
use crate::hierarchy::Hierarchy;

impl Hierarchy {
    /// The hierarchy of a summing matrix: a row per series, a column per series at the bottom, each of which has a row of its own
    /// too. The rows may be in any order; those of aggregates keep it. `matrix` is `[rows, columns]`.
    ///
    /// # Errors
    /// Another number of entries than rows times columns, one that is neither 0 nor 1, a row that sums up nothing, a column without
    /// a row, two rows or columns of one id.
    pub fn from_summing_matrix<R: AsRef<str>, C: AsRef<str>>(
        rows: &[R],
        columns: &[C],
        matrix: &[f64],
    ) -> Result<Self, HierarchyError> {
        let (expected, found) = (rows.len() * columns.len(), matrix.len());
        if expected != found {
            return Err(HierarchyError::Length { what: "the summing matrix", expected, found });
        }
        let places: FxHashMap<&str, usize> =
            columns.iter().enumerate().map(|(i, id)| (id.as_ref(), i)).collect();
        let mut has_row = vec![false; columns.len()];
        let mut aggregates: Vec<(Arc<str>, Vec<u32>)> = Vec::new();
        for (id, entries) in rows.iter().zip(matrix.chunks_exact(columns.len().max(1))) {
            let id = id.as_ref();
            let members = members(id, columns, entries)?;
            match places.get(id) {
                Some(&own) if members == [own as u32] && !has_row[own] => has_row[own] = true,
                Some(&own) if members == [own as u32] => {
                    return Err(HierarchyError::Duplicate { id: id.to_owned() });
                }
                Some(_) => {
                    return Err(HierarchyError::NoBottomRow { id: id.to_owned(), found: "other ones in it" });
                }
                None => aggregates.push((id.into(), members)),
            }
        }
        if let Some(place) = has_row.iter().position(|has_row| !has_row) {
            return Err(HierarchyError::NoBottomRow {
                id: columns[place].as_ref().to_owned(),
                found: "none",
            });
        }
        Self::new(columns.iter().map(AsRef::as_ref), aggregates)
    }

    /// The summing matrix, `[series, bottom]`.
    pub fn summing_matrix(&self) -> Vec<f64> {
        let (n_bottom, n_aggregates) = (self.n_bottom(), self.n_aggregates());
        let mut matrix = vec![0.0; self.n_series() * n_bottom];
        for number in 0..n_aggregates {
            self.members(number).iter().for_each(|&member| matrix[number * n_bottom + member as usize] = 1.0);
        }
        (0..n_bottom).for_each(|member| matrix[(n_aggregates + member) * n_bottom + member] = 1.0);
        matrix
    }
}

/// The places of the ones in a row.
fn members<C: AsRef<str>>(id: &str, columns: &[C], entries: &[f64]) -> Result<Vec<u32>, HierarchyError> {
    if let Some(place) = entries.iter().position(|&entry| entry != 0.0 && entry != 1.0) {
        let (id, column) = (id.to_owned(), columns[place].as_ref().to_owned());
        return Err(HierarchyError::NoSum { id, column, found: entries[place] });
    }
    let members: Vec<u32> =
        (0..).zip(entries).filter(|(_, entry)| **entry == 1.0).map(|(place, _)| place).collect();
    if members.is_empty() { Err(HierarchyError::EmptyRow { id: id.to_owned() }) } else { Ok(members) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_in_any_order_make_the_matrix() {
        let matrix = [0.0, 1.0, 1.0, 1.0, 1.0, 0.0];
        let hierarchy = Hierarchy::from_summing_matrix(&["b", "all", "a"], &["a", "b"], &matrix).unwrap();
        assert_eq!(hierarchy.ids().map(|id| &**id).collect::<Vec<_>>(), ["all", "a", "b"]);
        assert_eq!(hierarchy.summing_matrix(), [1.0, 1.0, 1.0, 0.0, 0.0, 1.0]);
    }

    #[test]
    fn what_is_no_sum_is_refused() {
        let fault = |rows: &[&str], matrix: &[f64]| {
            Hierarchy::from_summing_matrix(rows, &["a", "b"], matrix).unwrap_err().to_string()
        };
        let rows = ["all", "a", "b"];
        assert!(
            fault(&rows, &[1.0, 0.5, 1.0, 0.0, 0.0, 1.0])
                .contains("row all of the summing matrix has 0.5 in column b")
        );
        assert!(fault(&rows, &[0.0, 0.0, 1.0, 0.0, 0.0, 1.0]).contains("sums up nothing"));
        assert!(fault(&rows, &[1.0, 1.0, 1.0, 1.0, 0.0, 1.0]).contains("needs a row a with a 1"));
        assert!(
            fault(&rows[..2], &[1.0, 1.0, 1.0, 0.0]).contains("column b of the summing matrix needs a row b")
        );
        assert!(fault(&["a", "a", "b"], &[1.0, 0.0, 1.0, 0.0, 0.0, 1.0]).contains("called a"));
        assert!(fault(&rows, &[1.0]).contains("1 values where 6 are expected"));
    }
}
