//! The categories of categorical columns: those of the training data, kept with the models.

use std::borrow::Cow;
use std::collections::BTreeMap;

use foretell_data::{Categories, DataError, Panel, Vocabulary};
use serde_json::Value;

use crate::error::Error;
use crate::spec::ModelSpec;

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
        let lists = |spec: &ModelSpec| {
            [spec.hist_exog_list(), spec.futr_exog_list(), spec.stat_exog_list()].concat().contains(&column)
        };
        let reads_it_plainly = |spec: &&ModelSpec| lists(spec) && !spec.cat_exog_list().contains(&column);
        if let Some(spec) = specs.iter().find(reads_it_plainly) {
            return Err(Error::Categorical { model: spec.alias().to_owned(), column });
        }
    }
    Ok(())
}

/// What the categorical columns of the models hold in a panel.
pub(crate) fn vocabulary(specs: &[ModelSpec], panel: &Panel) -> Result<Vocabulary, Error> {
    let mut vocabulary = Vocabulary::new();
    for name in categorical(specs) {
        let categories = panel.categories_of(&name)?;
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
pub(crate) fn numbered<'p>(panel: &'p Panel, vocabulary: &Vocabulary) -> Result<Cow<'p, Panel>, DataError> {
    Ok(match vocabulary.is_empty() {
        true => Cow::Borrowed(panel),
        false => Cow::Owned(panel.numbered(vocabulary)?),
    })
}

/// As neuralforecast's directories have it: by column, values and their indices. What pandas reads as a truth
/// value is one there.
pub(crate) fn stored(vocabulary: &Vocabulary) -> BTreeMap<String, Vec<(Value, usize)>> {
    let of_text = |text: &str, truths: bool| if truths { (text == "True").into() } else { text.into() };
    let of_number =
        |number: f64, integers: bool| if integers { (number as i64).into() } else { number.into() };
    let values = |categories: &Categories| -> Vec<Value> {
        match categories {
            Categories::Numbers(numbers) => {
                let integers = numbers.iter().all(|number| number.fract() == 0.0);
                numbers.iter().map(|&number| of_number(number, integers)).collect()
            }
            Categories::Texts(texts) => {
                let truths = texts.iter().all(|text| ["False", "True"].contains(&&**text));
                texts.iter().map(|text| of_text(text, truths)).collect()
            }
        }
    };
    let numbered = |categories| values(categories).into_iter().zip(1..).collect();
    vocabulary.iter().map(|(name, categories)| (name.clone(), numbered(categories))).collect()
}

/// Reads what [`stored`] gives, or why it cannot be.
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
        let text = |value: &Value| match value {
            Value::Bool(truth) => Some(if *truth { "True".into() } else { "False".into() }),
            value => value.as_str().map(Into::into),
        };
        let numbers: Option<Vec<f64>> = values.iter().map(|(value, _)| value.as_f64()).collect();
        let texts = || values.iter().map(|(value, _)| text(value)).collect::<Option<Vec<_>>>();
        let categories = numbers.map(Categories::Numbers).or_else(|| texts().map(Categories::Texts));
        let categories = categories.filter(Categories::is_sorted).ok_or_else(fault)?;
        vocabulary.insert(name.clone(), categories);
    }
    Ok(vocabulary)
}
