//! The categories of categorical columns: those of the training data, kept with the models.

use std::borrow::Cow;
use std::collections::BTreeMap;

use foretell_data::{Categories, DataError, Panel, Vocabulary};
use foretell_estimator::{Estimator, Workers};
use foretell_threads::share;
use serde_json::Value;

use crate::columns::categorical;
use crate::error::Error;
use crate::plan_error::PlanError;

/// A column is categorical for all models that read it, or for none: it is read once.
pub(crate) fn check_categorical(models: &[&dyn Estimator]) -> Result<(), Error> {
    for column in categorical(models.iter().copied()) {
        let of_series = |model: &&dyn Estimator| model.columns_read().stat.contains(&column);
        let of_rows = |model: &&dyn Estimator| model.columns_read().of_rows().any(|name| *name == column);
        if models.iter().any(of_series) && models.iter().any(of_rows) {
            return Err(PlanError::TwoColumns { column }.into());
        }
        let reads_it_plainly = |model: &&&dyn Estimator| {
            (of_rows(model) || of_series(model)) && !model.columns_read().cat.contains(&column)
        };
        if let Some(model) = models.iter().find(reads_it_plainly) {
            return Err(PlanError::Categorical { model: model.alias().to_owned(), column }.into());
        }
    }
    Ok(())
}

/// The categories of the models' categorical columns in a panel.
pub(crate) fn vocabulary(models: &[&dyn Estimator], panel: &Panel) -> Result<Vocabulary, Error> {
    let mut vocabulary = Vocabulary::new();
    for name in categorical(models.iter().copied()) {
        let of_series = models.iter().any(|model| model.columns_read().stat.contains(&name));
        let categories =
            if of_series { panel.static_categories_of(&name) } else { panel.categories_of(&name) }?;
        if categories.is_empty() {
            return Err(Error::NoCategories { column: name });
        }
        for model in models.iter().filter(|model| model.columns_read().cat.contains(&name)) {
            if let Some(most) = model.most_categories(&name).filter(|&most| most < categories.len()) {
                let (model, column, found) = (model.alias().to_owned(), name, categories.len());
                return Err(Error::Cardinality { model, column, most, found });
            }
        }
        vocabulary.insert(name, categories);
    }
    Ok(vocabulary)
}

/// A panel whose categorical columns hold the numbers of their categories.
pub(crate) fn encode_categories<'p>(
    panel: Cow<'p, Panel>,
    vocabulary: &Vocabulary,
    workers: &Workers,
) -> Result<Cow<'p, Panel>, DataError> {
    /// Rows from which on threads gain more than they cost.
    const MANY: usize = 1 << 16;
    if vocabulary.is_empty() {
        return Ok(panel);
    }
    let encode = || panel.encode_categories(vocabulary);
    Ok(Cow::Owned(match panel.n_rows() < MANY {
        true => encode()?,
        false => workers.enter(|| share(workers.threads(), encode))?,
    }))
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

/// The vocabulary that [`stored`] returned this for.
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
