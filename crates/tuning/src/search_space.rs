//! A model, and the values that a search gives its hyper-parameters.

use foretell::{ModelSpec, SpecError};
use foretell_search::Domain;
use serde_json::{Map, Value};

use crate::error::TuningError;
use crate::search_range::SearchRange;

/// The spaces that are searched where no others are named.
const DEFAULTS: &str = include_str!("default_spaces.txt");

/// A model and the values that a search gives its hyper-parameters. Those that are not searched stay unchanged.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchSpace {
    spec: ModelSpec,
    ranges: Vec<(String, SearchRange)>,
}

impl SearchSpace {
    /// The model with its usual space: for networks that of neuralforecast's Auto models. Some models have none, and are tried
    /// once unchanged.
    pub fn new(spec: ModelSpec) -> Self {
        let line = DEFAULTS.lines().find_map(|line| line.strip_prefix(spec.name())?.strip_prefix(": "));
        let range = |entry: &str| {
            let (name, range) = entry.split_once('=').expect("a default space is name=range");
            (name.to_owned(), range.parse().expect("the range of a default space"))
        };
        Self { ranges: line.into_iter().flat_map(|line| line.split(' ').map(range)).collect(), spec }
    }

    /// Searches a hyper-parameter, in place of its usual range if it has one.
    ///
    /// ```
    /// use foretell::ModelSpec;
    /// use foretell_tuning::SearchSpace;
    ///
    /// let spec = ModelSpec::new("NHITS", 24, 96)?;
    /// let space = SearchSpace::new(spec).search("learning_rate", "loguniform:1e-4:1e-2".parse()?)?.fix("batch_size");
    /// assert!(space.ranges().iter().all(|(name, _)| name != "batch_size"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the model has no hyper-parameter of that name, it cannot have a value of the list, or it is the horizon.
    pub fn search(mut self, name: &str, range: SearchRange) -> Result<Self, TuningError> {
        if name == "h" {
            return Err(TuningError::SearchedHorizon);
        }
        let coordinates = match &range {
            SearchRange::OneOf(values) => (0..values.len()).map(|place| place as f64).collect(),
            SearchRange::Uniform { low, .. } | SearchRange::Stepped { low, .. } => vec![*low],
        };
        for coordinate in coordinates {
            self.spec.clone().set(name, range.value(coordinate, self.spec.h()))?;
        }
        self.ranges.retain(|(known, _)| known != name);
        self.ranges.push((name.to_owned(), range));
        Ok(self)
    }

    /// Leaves a hyper-parameter as the model has it.
    pub fn fix(mut self, name: &str) -> Self {
        self.ranges.retain(|(known, _)| known != name);
        self
    }

    /// Leaves all hyper-parameters as the model has them, to be searched one by one.
    pub fn fix_all(self) -> Self {
        Self { ranges: Vec::new(), ..self }
    }

    /// The model as it is where nothing is searched.
    pub fn spec(&self) -> &ModelSpec {
        &self.spec
    }

    /// The hyper-parameters that are searched, with their values.
    pub fn ranges(&self) -> &[(String, SearchRange)] {
        &self.ranges
    }

    pub(crate) fn domains(&self) -> Vec<Domain> {
        self.ranges.iter().map(|(_, range)| range.domain()).collect()
    }

    /// The searched hyper-parameters at a point, or as the model has them at the point without values.
    pub(crate) fn hyper_parameters(&self, point: &[f64]) -> Map<String, Value> {
        if point.is_empty() {
            let all = self.spec.hyper_parameters();
            return self.ranges.iter().map(|(name, _)| (name.clone(), all[name].clone())).collect();
        }
        let value = |((name, range), &at): (&(String, SearchRange), &f64)| {
            (name.clone(), range.value(at, self.spec.h()))
        };
        self.ranges.iter().zip(point).map(value).collect()
    }

    /// The model at a point, or as it is.
    pub(crate) fn at(&self, point: &[f64]) -> Result<ModelSpec, SpecError> {
        if point.is_empty() {
            return Ok(self.spec.clone());
        }
        let mut all = self.hyper_parameters(point).into_iter();
        all.try_fold(self.spec.clone(), |spec, (name, value)| spec.set(&name, value))
    }
}
