//! The categories of categorical columns: those of the training data, kept with the models.

use std::borrow::Cow;
use std::collections::BTreeMap;

use foretell_data::{Categories, DataError, Panel, Vocabulary};
use serde_json::Value;

use crate::error::Error;
use crate::spec::ModelSpec;
use crate::usage_error::UsageError;

/// The columns of categories that any of the models reads, each once.
pub(crate) fn categorical<'a>(specs: impl IntoIterator<Item = &'a ModelSpec>) -> Vec<String> {
    let mut names: Vec<String> = specs.into_iter().flat_map(ModelSpec::cat_exog_list).cloned().collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// A column is categorical for all models that read it, or for none: it is read once.
pub(crate) fn check_categorical(specs: &[ModelSpec]) -> Result<(), Error> {
    for column in categorical(specs) {
        let of_series = |spec: &ModelSpec| spec.stat_exog_list().contains(&column);
        let of_rows =
            |spec: &ModelSpec| [spec.hist_exog_list(), spec.futr_exog_list()].concat().contains(&column);
        if specs.iter().any(of_series) && specs.iter().any(of_rows) {
            return Err(UsageError::TwoColumns { column }.into());
        }
        let reads_it_plainly =
            |spec: &&ModelSpec| (of_rows(spec) || of_series(spec)) && !spec.cat_exog_list().contains(&column);
        if let Some(spec) = specs.iter().find(reads_it_plainly) {
            return Err(UsageError::Categorical { model: spec.alias().to_owned(), column }.into());
        }
    }
    Ok(())
}

/// What the categorical columns of the models hold in a panel.
pub(crate) fn vocabulary(specs: &[ModelSpec], panel: &Panel) -> Result<Vocabulary, Error> {
    let mut vocabulary = Vocabulary::new();
    for name in categorical(specs) {
        let of_series = specs.iter().any(|spec| spec.stat_exog_list().contains(&name));
        let categories =
            if of_series { panel.static_categories_of(&name) } else { panel.categories_of(&name) }?;
        if categories.is_empty() {
            return Err(Error::NoCategories { column: name });
        }
        for spec in specs.iter().filter(|spec| spec.cat_exog_list().contains(&name)) {
            if let Some(most) = spec.cardinality(&name).filter(|&most| most < categories.len()) {
                let (model, column, found) = (spec.alias().to_owned(), name, categories.len());
                return Err(Error::Cardinality { model, column, most, found });
            }
        }
        vocabulary.insert(name, categories);
    }
    Ok(vocabulary)
}

/// A panel whose categorical columns hold the numbers of their categories.
pub(crate) fn encode_categories<'p>(
    panel: &'p Panel,
    vocabulary: &Vocabulary,
) -> Result<Cow<'p, Panel>, DataError> {
    Ok(match vocabulary.is_empty() {
        true => Cow::Borrowed(panel),
        false => Cow::Owned(panel.encode_categories(vocabulary)?),
    })
}

/// As neuralforecast's directories have it: by column, values and their indices.
pub(crate) fn stored(vocabulary: &Vocabulary) -> BTreeMap<String, Vec<(Value, usize)>> {
    let of_number =
        |number: f64, integers: bool| if integers { (number as i64).into() } else { number.into() };
    let values = |categories: &Categories| -> Vec<Value> {
        match categories {
            Categories::Numbers(numbers) => {
                let integers = numbers.iter().all(|number| number.fract() == 0.0);
                numbers.iter().map(|&number| of_number(number, integers)).collect()
            }
            Categories::Truths(truths) => truths.iter().map(|&truth| truth.into()).collect(),
            Categories::Texts(texts) => texts.iter().map(|text| Value::from(&**text)).collect(),
        }
    };
    let encoded = |categories| values(categories).into_iter().zip(1..).collect();
    vocabulary.iter().map(|(name, categories)| (name.clone(), encoded(categories))).collect()
}

/// The vocabulary of what [`stored`] made of it.
///
/// # Errors
/// In words, if values are of several kinds, or their indices are not 1, 2, 3 and so on.
pub(crate) fn read(stored: &BTreeMap<String, Vec<(Value, usize)>>) -> Result<Vocabulary, String> {
    let mut vocabulary = Vocabulary::new();
    for (name, values) in stored {
        let fault = || {
            format!("categorical_vocab_: {name} must hold texts, numbers or truth values in order, from 1")
        };
        let mut values: Vec<&(Value, usize)> = values.iter().collect();
        values.sort_by_key(|(_, index)| *index);
        if values.iter().zip(1..).any(|((_, index), place)| *index != place) {
            return Err(fault());
        }
        let values = || values.iter().map(|(value, _)| value);
        let numbers = || values().map(Value::as_f64).collect::<Option<_>>().map(Categories::Numbers);
        let truths = || values().map(Value::as_bool).collect::<Option<_>>().map(Categories::Truths);
        let texts = || {
            let texts = values().map(|value| value.as_str().map(Into::into));
            texts.collect::<Option<_>>().map(Categories::Texts)
        };
        let categories = numbers().or_else(truths).or_else(texts);
        let categories = categories.filter(Categories::is_sorted).ok_or_else(fault)?;
        vocabulary.insert(name.clone(), categories);
    }
    Ok(vocabulary)
}
