//! Models that neuralforecast does not have and that are no networks: the learned numbers belong to series.
//!
//! They stand in an entry of the configuration, which neuralforecast passes over: it loads the networks of the directory. The
//! numbers are in a file of their own, in the layout of safetensors under a name that neuralforecast does not load: of model `i` the numbers
//! `name` are the tensor `i.numbers.name`, and the ids of its series, one behind the other, and their lengths in bytes `i.series` and `i.series_lengths`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::file::TensorFile;
use crate::model::FORMAT;
use crate::tagged::Misfit;
use crate::tensor::{TensorData, TensorValues};

/// A model that is no network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlainModel {
    /// The name its forecasts carry.
    pub alias: String,
    /// The name of its kind: "SeasonalNaive", ...
    pub class: String,
    /// Its place among all models of the directory.
    pub place: usize,
    /// Its hyper-parameters.
    pub hyper_parameters: Map<String, Value>,
    /// The ids of the series that it has learned numbers of.
    #[serde(skip)]
    pub series: Vec<String>,
    /// The numbers that it has learned, by name. The configuration has the names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", with = "names")]
    pub learned: BTreeMap<String, Vec<f64>>,
}

/// The entry of the configuration.
pub(crate) const ENTRY: &str = "foretell_models";

impl PlainModel {
    fn write(&self, number: usize, tensors: &mut BTreeMap<String, TensorData>) {
        let mut put = |name: String, values: TensorValues| {
            tensors.insert(format!("{number}.{name}"), TensorData::new([values.len()], values));
        };
        for (name, values) in &self.learned {
            put(format!("numbers.{name}"), TensorValues::F64(values.clone()));
        }
        if !self.series.is_empty() {
            let lengths = self.series.iter().map(|id| id.len() as u64).collect();
            put("series".to_owned(), TensorValues::U8(self.series.concat().into_bytes()));
            put("series_lengths".to_owned(), TensorValues::U64(lengths));
        }
    }

    fn read(&mut self, number: usize, tensors: &mut BTreeMap<String, TensorData>) -> Result<(), Misfit> {
        let mut take = |name: &str| tensors.remove(&format!("{number}.{name}")).map(TensorData::into_values);
        for (name, values) in &mut self.learned {
            let name = format!("numbers.{name}");
            let Some(TensorValues::F64(found)) = take(&name) else {
                return Err(Misfit::new(
                    format!("{number}.{name}"),
                    "numbers in f64",
                    "something else or none",
                ));
            };
            *values = found;
        }
        let (Some(text), Some(lengths)) = (take("series"), take("series_lengths")) else { return Ok(()) };
        let series = match (text, lengths) {
            (TensorValues::U8(text), TensorValues::U64(lengths)) => ids(&text, &lengths),
            _ => None,
        };
        let field = format!("{number}.series");
        self.series =
            series.ok_or_else(|| Misfit::new(field, "ids in UTF-8 of these lengths", "something else"))?;
        Ok(())
    }
}

/// The ids of such lengths that make up a text.
fn ids(text: &[u8], lengths: &[u64]) -> Option<Vec<String>> {
    let mut rest = text;
    let id = |&len: &u64| {
        let (id, behind) = rest.split_at_checked(usize::try_from(len).ok()?)?;
        rest = behind;
        String::from_utf8(id.to_vec()).ok()
    };
    let ids = lengths.iter().map(id).collect::<Option<_>>()?;
    rest.is_empty().then_some(ids)
}

/// The file of what all models have learned; none if that is nothing.
pub(crate) fn numbers_file(models: &[PlainModel]) -> Option<TensorFile> {
    let mut tensors = BTreeMap::new();
    models.iter().enumerate().for_each(|(number, model)| model.write(number, &mut tensors));
    let metadata = [("nf_format".to_owned(), FORMAT.to_owned())].into();
    (!tensors.is_empty()).then_some(TensorFile { metadata, tensors })
}

/// Puts the learned numbers into the models of a configuration.
pub(crate) fn read_numbers(models: &mut [PlainModel], file: TensorFile) -> Result<(), Misfit> {
    let mut tensors = file.tensors;
    models.iter_mut().enumerate().try_for_each(|(number, model)| model.read(number, &mut tensors))
}

/// The names of learned numbers, whose values are elsewhere.
mod names {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(
        all: &BTreeMap<String, Vec<f64>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(all.keys())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BTreeMap<String, Vec<f64>>, D::Error> {
        let names = Vec::<String>::deserialize(deserializer)?;
        Ok(names.into_iter().map(|name| (name, Vec::new())).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::directory::NUMBERS;

    fn model(place: usize, series: &[&str], learned: BTreeMap<String, Vec<f64>>) -> PlainModel {
        let hyper_parameters = Map::from_iter([("h".to_owned(), 3.into())]);
        let series = series.iter().map(|&id| id.to_owned()).collect();
        PlainModel { alias: "a".into(), class: "ETS".into(), place, hyper_parameters, series, learned }
    }

    /// The models as a configuration and a file of numbers bring them back.
    fn through_files(models: &[PlainModel]) -> Vec<PlainModel> {
        let text = serde_json::to_string(models).expect("text");
        let mut again: Vec<PlainModel> = serde_json::from_str(&text).expect("models");
        if let Some(file) = numbers_file(models) {
            let path = std::path::Path::new(NUMBERS);
            let file = TensorFile::from_bytes(&file.to_bytes(), path).expect("a file");
            read_numbers(&mut again, file).expect("the numbers of these models");
        }
        again
    }

    #[test]
    fn what_was_learned_is_read_as_it_was_written() {
        let learned = BTreeMap::from([
            ("level".to_owned(), vec![0.1, f64::NAN, -0.0]),
            ("season".to_owned(), vec![f64::INFINITY; 6]),
        ]);
        let models = [model(1, &["north", "süd", ""], learned), model(2, &[], BTreeMap::new())];
        let again = through_files(&models);
        assert_eq!(again[0].series, models[0].series);
        let bits = |values: &[f64]| values.iter().map(|x| x.to_bits()).collect::<Vec<u64>>();
        for (name, values) in &models[0].learned {
            assert_eq!(bits(&again[0].learned[name]), bits(values), "{name}");
        }
        assert_eq!(again[1], models[1]);
        assert_eq!(numbers_file(&models[1..]), None);
    }

    #[test]
    fn numbers_take_eight_bytes() {
        let ids: Vec<String> = (0..10_000).map(|i| format!("s{i:05}")).collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let learned = BTreeMap::from([("level".to_owned(), vec![1.0 / 3.0; 10_000])]);
        let models = [model(0, &ids, learned)];
        let bytes = numbers_file(&models).expect("a file").to_bytes().len();
        assert!(bytes <= 10_000 * (8 + 6 + 8) + 400, "{bytes}");
        assert_eq!(through_files(&models), models);
    }

    #[test]
    fn numbers_that_do_not_fit_the_configuration_are_refused() {
        let models = [model(0, &["a"], BTreeMap::from([("level".to_owned(), vec![1.0])]))];
        let refused = |change: fn(&mut BTreeMap<String, TensorData>)| {
            let mut file = numbers_file(&models).expect("a file");
            change(&mut file.tensors);
            read_numbers(&mut models.clone(), file).is_err()
        };
        assert!(!refused(|_| ()));
        assert!(refused(|tensors| drop(tensors.remove("0.numbers.level"))));
        assert!(refused(|tensors| {
            tensors.insert("0.series_lengths".into(), TensorData::new([1], TensorValues::U64(vec![2])));
        }));
        assert!(refused(|tensors| {
            tensors.insert("0.series".into(), TensorData::new([1], TensorValues::U8(vec![0xff])));
        }));
    }
}
