//! Values of categorical columns that are none of their categories.

use rustc_hash::FxHashSet;

use super::categories::{Categories, Vocabulary};
use super::column::Column;
use super::covariates::Future;
use super::panel::Panel;
use crate::error::DataError;

/// The values of a categorical column that are none of its categories.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnseenCategories {
    /// The column.
    pub column: String,
    /// These values, each once, in the order of the rows.
    pub values: Vec<String>,
    /// The rows that hold one of these,
    pub rows: usize,
    /// and all that were looked at.
    pub of: usize,
}

impl UnseenCategories {
    fn count(
        &mut self,
        column: &Column,
        categories: &Categories,
        rows: impl Iterator<Item = usize>,
    ) -> Result<(), DataError> {
        let values = column.labelled()?;
        let number = column.numbering(categories);
        let mut met = FxHashSet::default();
        for row in rows {
            self.of += 1;
            let value = values[row];
            let Some(label) = column.label_of(value).filter(|_| number(value) == 0.0) else { continue };
            self.rows += 1;
            if met.insert(value.to_bits()) && !self.values.iter().any(|known| *known == *label) {
                self.values.push(label.into_owned());
            }
        }
        Ok(())
    }
}

impl Panel {
    /// The values of the columns of `vocabulary` that are none of their categories, in the last `rows` rows of each series, in
    /// the static table and in `future`: one entry for each column that has any. Rows without a value do not count.
    ///
    /// # Errors
    /// A column of texts that was not read as one of categories, a label that is missing.
    pub fn unseen_categories(
        &self,
        vocabulary: &Vocabulary,
        rows: usize,
        future: Option<&Future>,
    ) -> Result<Vec<UnseenCategories>, DataError> {
        let mut all = Vec::new();
        for (name, categories) in vocabulary {
            let mut unseen = UnseenCategories { column: name.clone(), ..UnseenCategories::default() };
            if let Ok(column) = self.find_column(name) {
                let last = self
                    .series
                    .iter()
                    .map(|series| series.rows())
                    .map(|all| all.end - all.len().min(rows)..all.end);
                unseen.count(column, categories, last.flatten())?;
            }
            if let Ok(column) = self.find_static(name) {
                unseen.count(column, categories, self.series.iter().map(|series| series.place))?;
            }
            if let Some(future) = future
                && let Some(column) = future.columns().iter().find(|column| column.name == *name)
            {
                unseen.count(column, categories, 0..future.n_rows())?;
            }
            all.push(unseen);
        }
        all.retain(|unseen| unseen.rows > 0);
        Ok(all)
    }
}
