//! A model by name with its hyper-parameters: neuralforecast's names, defaults and JSON values.

use std::collections::BTreeMap;
use std::fmt::Display;

use foretell_data::{Vocabulary, WindowScaler};
use foretell_messages::nearest;
use foretell_models::{
    Architecture, CategoricalColumn, CategoricalColumns, Exogenous, HyperParameterError, HyperParameters,
    MODELS, ModelEntry, find, register, with_implicit_quantiles,
};
use foretell_nn::{Dims, Loss, Network, Table, register_revin};
use serde_json::{Map, Value};

use crate::common_hyper_parameters::{CATEGORICAL, Common, MULTIVARIATE};
use crate::optimizer_settings::{OptimizerSettings, READ_TOGETHER};
use crate::spec_error::SpecError;
use crate::unknown_name;

/// A network and its hyper-parameters, checked as they are set.
///
/// ```
/// use foretell_neural::NetworkSpec;
///
/// let spec = NetworkSpec::new("NHITS", 24, 96)?
///     .set("max_steps", 300)?
///     .set("scaler_type", "standard")?
///     .set("mlp_units", serde_json::json!([[64, 64], [64, 64]]))?;
/// assert_eq!(spec.name(), "NHITS");
///
/// let slip = NetworkSpec::new("NHITS", 24, 96)?.set("max_step", 300).unwrap_err();
/// assert_eq!(slip.to_string(), "NHITS has no hyper-parameter max_step; did you mean max_steps?");
/// # Ok::<(), foretell_neural::SpecError>(())
/// ```
#[derive(Clone, Debug)]
pub struct NetworkSpec {
    pub(crate) entry: &'static ModelEntry,
    pub(crate) common: Common,
    pub(crate) own: Map<String, Value>,
    loss: Loss,
    /// None for the training loss.
    valid_loss: Option<Loss>,
    scaler: WindowScaler,
    /// How gradients change parameters, or which of the hyper-parameters for it contradict each other.
    optimizer: Result<OptimizerSettings, HyperParameterError>,
    pub(crate) restore_best: bool,
    pub(crate) keep_optimizer: bool,
    /// Forecasts with dropout that quantiles are taken from, if they are.
    pub(crate) dropout_samples: Option<usize>,
    /// Settings of neuralforecast's trainer that were set and change nothing.
    passed_over: Vec<String>,
    /// Arguments of neuralforecast's trainer, which the model's file has for it.
    pub(crate) trainer: Map<String, Value>,
}

/// Two are equal if they are the same model with the same hyper-parameters.
impl PartialEq for NetworkSpec {
    fn eq(&self, other: &Self) -> bool {
        self.entry == other.entry && self.common == other.common && self.own == other.own
    }
}

/// Parameters of a model, alignment included: 4 GB of them, and training takes four times that.
const MAX_PARAMETERS: usize = 1 << 30;

impl NetworkSpec {
    /// The model of this name, in any case of letters, with its default hyper-parameters, to forecast `h` steps from
    /// `input_size`.
    ///
    /// # Errors
    /// If there is no such model, or a size is 0.
    pub fn new(model: &str, h: usize, input_size: usize) -> Result<Self, SpecError> {
        Self::with_defaults(Self::entry(model)?)?.set("h", h)?.set("input_size", input_size)
    }

    /// A model of your own with its default hyper-parameters. It is [registered](foretell_models::register), so that
    /// this process loads the models that it saved.
    ///
    /// # Errors
    /// If a size is 0.
    ///
    /// # Panics
    /// If another model has that name.
    pub fn of<A: Architecture>(h: usize, input_size: usize) -> Result<Self, SpecError> {
        Self::with_defaults(register::<A>())?.set("h", h)?.set("input_size", input_size)
    }

    fn entry(model: &str) -> Result<&'static ModelEntry, SpecError> {
        let names = || MODELS.iter().map(|entry| entry.name).collect::<Vec<_>>();
        find(model).ok_or_else(|| SpecError::unknown_model(model, &names()))
    }

    fn with_defaults(entry: &'static ModelEntry) -> Result<Self, SpecError> {
        let common = Common::default();
        let mut spec = Self {
            entry,
            scaler: WindowScaler::Identity,
            optimizer: OptimizerSettings::read(&common),
            common,
            own: entry.own_defaults(),
            loss: Loss::mae(),
            valid_loss: None,
            restore_best: true,
            keep_optimizer: false,
            dropout_samples: None,
            passed_over: Vec::new(),
            trainer: Map::new(),
        };
        for (name, value) in entry.common_defaults() {
            spec = spec.set(&name, value)?;
        }
        Ok(spec)
    }

    /// Sets a hyper-parameter.
    ///
    /// # Errors
    /// If the model has none of that name, or it cannot have that value. Settings of neuralforecast's trainer that change no
    /// forecast are passed over ([`NetworkSpec::passed_over`]). The error names the nearest
    /// valid name, or what the value may be.
    pub fn set(mut self, name: &str, value: impl Into<Value>) -> Result<Self, SpecError> {
        let (model, value) = (self.entry.name, value.into());
        if let Some(set) = self.common.set(name, &value) {
            set.map_err(|error| error.of(model))?;
            self.check_common(name, &value)?;
            self.parse(name, &value)?;
        } else if let Some(slot) = self.own.get_mut(name) {
            *slot = value;
            self.entry.check(&self.own)?;
        } else if let Some(default) = unsupported(name) {
            if value != default && !value.is_null() {
                return self.refuse(name, format!("{default}: foretell does not read it"), value);
            }
        } else if unknown_name::changes_nothing(name, &value) {
            self.passed_over.push(name.to_owned());
        } else {
            let common = self.common.to_map();
            let known = common.keys().chain(self.own.keys()).map(String::as_str);
            let hint = unknown_name::hint(name, known);
            return Err(SpecError::UnknownName { model, found: name.to_owned(), hint });
        }
        Ok(self)
    }

    /// The error that the hyper-parameter of this name has another value than was expected.
    pub(crate) fn refuse<T>(
        &self,
        name: &str,
        expected: impl Into<String>,
        found: impl Display,
    ) -> Result<T, SpecError> {
        Err(HyperParameterError::new(name, expected, found).of(self.name()).into())
    }

    /// Checks the value of a common hyper-parameter for this model.
    fn check_common(&self, name: &str, value: &Value) -> Result<(), SpecError> {
        let refuse = |expected: String| self.refuse(name, expected, value);
        let (reads, default) = (self.entry.exogenous, Common::default().to_map());
        let lists = [
            ("futr_exog_list", reads.futr, "future"),
            ("hist_exog_list", reads.hist, "historic"),
            ("stat_exog_list", reads.stat, "static"),
        ];
        let is_filled = |value: &Value| value.as_array().is_some_and(|list| !list.is_empty());
        if let Some((_, _, kind)) =
            lists.iter().find(|(list, reads, _)| *list == name && !reads && is_filled(value))
        {
            return refuse(format!("empty: the model reads no {kind} columns"));
        }
        if CATEGORICAL.contains(&name) && !reads.cat && *value != default[name] {
            return refuse(format!("{}: the model reads no categorical columns", default[name]));
        }
        if name == MULTIVARIATE && !value.is_null() && !self.is_multivariate() {
            return refuse("null: a window of the model holds one series".to_owned());
        }
        if name == "exclude_insample_y" && value == true && self.entry.needs_target {
            return refuse("false: the model makes its forecasts of the target's own history".to_owned());
        }
        if name == "exclude_insample_y" && value == true && !(reads.futr || reads.hist || reads.stat) {
            return refuse("false: the model reads nothing but the target's history".to_owned());
        }
        Ok(())
    }

    /// Reads the value, where it stands for a loss, a scaler or an optimiser.
    fn parse(&mut self, name: &str, value: &Value) -> Result<(), SpecError> {
        let parse = || {
            Loss::parse(value).map_err(|mut error| {
                // It is called loss, whichever of the two it is.
                error.name.insert_str(0, name.trim_end_matches("loss"));
                error.of(self.name())
            })
        };
        match name {
            "loss" => self.loss = parse()?,
            "valid_loss" if value.is_null() => self.valid_loss = None,
            "valid_loss" => self.valid_loss = Some(parse()?),
            // Null is no scaling.
            "scaler_type" => {
                let scaler = self.common.scaler_type.as_deref().and_then(WindowScaler::named);
                self.scaler = scaler.unwrap_or(WindowScaler::Identity);
            }
            _ if READ_TOGETHER.contains(&name) => self.optimizer = OptimizerSettings::read(&self.common),
            _ => {}
        }
        Ok(())
    }

    /// Checks what [`NetworkSpec::set`] cannot, as one value is set after the other: that they fit together.
    ///
    /// # Errors
    /// If hyper-parameters contradict each other.
    pub fn check(&self) -> Result<(), SpecError> {
        let losses = [("loss", self.loss()), ("valid_loss", self.valid_loss())];
        self.entry.check_outputs(self.loss().outputs())?;
        if !self.loss().trains() {
            let expected = "one that models are trained with; this one only validates, as valid_loss";
            return self.refuse("loss", expected, self.loss().name());
        }
        if self.entry.one_output && self.valid_loss.as_ref().is_some_and(Loss::is_distribution) {
            let expected = "a loss of points, such as MAE, or null for the training loss";
            return self.refuse("valid_loss", expected, &self.common.valid_loss);
        }
        if !self.losses_fit() {
            let expected = "of the same outputs as loss: MQLoss and HuberMQLoss go with those of the same quantiles, \
                            IQLoss and HuberIQLoss go with themselves, no other loss goes with a DistributionLoss; a \
                            DistributionLoss goes with itself and with losses of one output or of its own quantiles";
            return self.refuse("valid_loss", expected, &self.common.valid_loss);
        }
        for (name, loss) in losses {
            let season = loss.seasonality();
            if season >= self.input_size() {
                let expected = format!("of a seasonality below input_size = {}", self.input_size());
                return self.refuse(name, expected, format!("MASE with a seasonality of {season}"));
            }
            if let Some(count) = loss.horizon_weight().map(<[f32]>::len).filter(|&count| count != self.h()) {
                let expected = format!("one weight for each of the {} steps of the horizon", self.h());
                return self.refuse("horizon_weight", expected, format!("{count} weights"));
            }
        }
        let lists = [
            ("hist_exog_list", self.hist_exog_list()),
            ("futr_exog_list", self.futr_exog_list()),
            ("stat_exog_list", self.stat_exog_list()),
            ("cat_exog_list", self.cat_exog_list()),
        ];
        for (name, list) in lists {
            if let Some(i) = (1..list.len()).find(|&i| list[..i].contains(&list[i])) {
                return self.refuse(name, "each column once".to_owned(), format!("{} twice", list[i]));
            }
        }
        let known = [self.hist_exog_list(), self.futr_exog_list(), self.stat_exog_list()].concat();
        for column in self.common.categorical_cardinalities.iter().flat_map(BTreeMap::keys) {
            let columns = self.cat_exog_list();
            if !columns.contains(column) {
                let hint = nearest(column, columns.iter().map(String::as_str));
                let hint = hint.map(|name| format!("; did you mean {name}?")).unwrap_or_default();
                let found =
                    format!("{column}, which is not in cat_exog_list = {}{hint}", Value::from(columns));
                return self.refuse(
                    "categorical_cardinalities",
                    "of columns in cat_exog_list".to_owned(),
                    found,
                );
            }
        }
        for column in self.cat_exog_list() {
            if !known.contains(column) {
                let expected =
                    "columns that stand in hist_exog_list, futr_exog_list or stat_exog_list as well";
                return self.refuse("cat_exog_list", expected.to_owned(), column.clone());
            }
        }
        self.optimizer_settings()?;
        let network = self.build(&mut Table::default())?;
        if network.needs.decoding.paths().is_some() && self.loss().arguments()["return_params"] == true {
            let expected =
                "\"mean\" for a loss with return_params: each sample path has parameters of its own";
            return self.refuse("sampling", expected.to_owned(), self.own["sampling"].to_string());
        }
        Ok(())
    }

    /// How gradients change parameters, if the hyper-parameters that say so fit together.
    pub(crate) fn optimizer_settings(&self) -> Result<OptimizerSettings, HyperParameterError> {
        self.optimizer.clone().map_err(|error| error.of(self.name()))
    }

    /// Whether the validation loss can be computed from the outputs that the training loss defines.
    pub(crate) fn losses_fit(&self) -> bool {
        let (loss, valid) = (self.loss(), self.valid_loss());
        if loss.implicit().is_some() || valid.implicit().is_some() {
            return loss.name() == valid.name();
        }
        match (loss.is_distribution(), valid.is_distribution()) {
            (true, true) => loss == valid,
            (true, false) => valid.quantiles().is_none_or(|quantiles| loss.quantiles() == Some(quantiles)),
            (false, true) => false,
            (false, false) => loss.quantiles() == valid.quantiles(),
        }
    }

    /// Settings of neuralforecast's trainer that were set and change nothing: where it computes, which reports it writes and
    /// which files it keeps.
    pub fn passed_over(&self) -> &[String] {
        &self.passed_over
    }

    /// The model's name.
    pub fn name(&self) -> &'static str {
        self.entry.name
    }

    /// The name of the model's column in a forecast: its alias, or its name.
    pub fn alias(&self) -> &str {
        self.common.alias.as_deref().unwrap_or(self.entry.name)
    }

    /// Which kinds of columns it can read beside the target.
    pub fn exogenous(&self) -> Exogenous {
        self.entry.exogenous
    }

    /// Steps that it forecasts.
    pub fn h(&self) -> usize {
        self.common.h
    }

    /// Steps of history that it sees.
    pub fn input_size(&self) -> usize {
        usize::try_from(self.common.input_size).unwrap_or(3 * self.common.h)
    }

    /// The names of the columns known for past and future that it reads.
    pub fn futr_exog_list(&self) -> &[String] {
        self.common.futr_exog_list.as_deref().unwrap_or_default()
    }

    /// The names of the columns known for the past only that it reads.
    pub fn hist_exog_list(&self) -> &[String] {
        self.common.hist_exog_list.as_deref().unwrap_or_default()
    }

    /// The names of the static columns that it reads.
    pub fn stat_exog_list(&self) -> &[String] {
        self.common.stat_exog_list.as_deref().unwrap_or_default()
    }

    /// The names of the columns among these that hold categories.
    pub fn cat_exog_list(&self) -> &[String] {
        self.common.cat_exog_list.as_deref().unwrap_or_default()
    }

    /// The training loss.
    pub fn loss(&self) -> &Loss {
        &self.loss
    }

    /// The loss of the validation windows: the training loss where none was set.
    pub fn valid_loss(&self) -> &Loss {
        self.valid_loss.as_ref().unwrap_or(&self.loss)
    }

    /// Whether training that early stopping ends goes back to the weights of the best check; true by default.
    /// neuralforecast keeps the last weights.
    #[must_use]
    pub fn restore_best(self, restore_best: bool) -> Self {
        Self { restore_best, ..self }
    }

    /// Whether the optimiser of the training is kept with the network, for trainings that continue from it; false by default.
    #[must_use]
    pub fn keep_optimizer(self, keep_optimizer: bool) -> Self {
        Self { keep_optimizer, ..self }
    }

    /// The hyper-parameters that every model has, with the defaults that most models have.
    pub fn common_defaults() -> Map<String, Value> {
        Common::default().to_map()
    }

    /// The meaning of the hyper-parameter of this name, if the model has it.
    pub fn meaning(&self, name: &str) -> Option<&'static str> {
        let mut all = Common::meanings().into_iter().chain(self.entry.meanings());
        all.find(|(known, _)| *known == name).map(|(_, meaning)| meaning)
    }

    /// All hyper-parameters with their values.
    pub fn hyper_parameters(&self) -> Map<String, Value> {
        let mut all = self.common.to_map();
        if !self.entry.exogenous.cat {
            all.retain(|name, _| !CATEGORICAL.contains(&name.as_str()));
        }
        if !self.is_multivariate() {
            all.remove(MULTIVARIATE);
        }
        all.extend(self.own.clone());
        all
    }

    pub(crate) fn common(&self) -> &Common {
        &self.common
    }

    pub(crate) fn scaler(&self) -> WindowScaler {
        self.scaler
    }

    pub(crate) fn dims(&self) -> Dims {
        Dims {
            input_size: self.input_size(),
            horizon: self.common.h,
            hist_exog: self.hist_exog_list().len(),
            futr_exog: self.futr_exog_list().len(),
            stat_exog: self.stat_exog_list().len(),
            outputs: self.loss().outputs(),
            distribution: self.loss().is_distribution(),
            by_parameter: self.loss().is_read_by_parameter(),
            n_series: self.common.n_series.unwrap_or(1),
        }
    }

    /// The most categories that a column may have, if that was set.
    pub fn cardinality(&self, column: &str) -> Option<usize> {
        self.common.categorical_cardinalities.as_ref()?.get(column).copied()
    }

    /// The model for as many categories as there are, where no other number was set.
    pub(crate) fn with_cardinalities(mut self, vocabulary: &Vocabulary) -> Self {
        let counts = vocabulary
            .iter()
            .filter(|(name, _)| self.common.cat_exog_list.iter().flatten().any(|column| column == *name));
        let counts: Vec<_> = counts.map(|(name, categories)| (name.clone(), categories.len())).collect();
        if !counts.is_empty() {
            let set = self.common.categorical_cardinalities.get_or_insert_default();
            counts.into_iter().for_each(|(name, count)| _ = set.entry(name).or_insert(count));
        }
        self
    }

    /// The categorical columns, as many categories each as was set; one where nothing was.
    pub(crate) fn categories(&self) -> CategoricalColumns {
        let cardinality = |column: &str| self.cardinality(column).unwrap_or(1);
        let among = |columns: &[String]| {
            let category = |name: &String| {
                let (column, cardinality) =
                    (columns.iter().position(|column| column == name)?, cardinality(name));
                let width = CategoricalColumn::width(&self.common.cat_emb_dim, cardinality)
                    .expect("checked when it was set");
                Some(CategoricalColumn { column, cardinality, width })
            };
            self.cat_exog_list().iter().filter_map(category).collect()
        };
        let [hist, futr, stat] =
            [self.hist_exog_list(), self.futr_exog_list(), self.stat_exog_list()].map(among);
        CategoricalColumns { hist, futr, stat }
    }

    /// Checks that this program was built with what the model needs.
    fn check_feature(&self) -> Result<(), SpecError> {
        let without = |feature| Err(SpecError::WithoutFeature { model: self.name(), feature });
        self.entry.missing_feature().map_or(Ok(()), without)
    }

    /// Builds the model and registers its parameters.
    pub(crate) fn build(&self, table: &mut Table) -> Result<Network, SpecError> {
        self.check_feature()?;
        let (dims, categories) = (self.dims(), self.categories());
        table.set_seed(self.common.random_seed);
        let mut model = self.entry.build(&self.own, &dims, &categories, table)?;
        if let Some(sizes) = self.loss().implicit() {
            model = with_implicit_quantiles(model, sizes, table);
        }
        if self.scaler() == WindowScaler::Revin {
            let embedded = categories.hist.len() + categories.futr.len();
            register_revin(&mut table.root(), 1 + dims.hist_exog + dims.futr_exog - embedded);
        }
        if table.total_len() > MAX_PARAMETERS {
            return Err(SpecError::TooLarge { model: self.entry.name, limit: MAX_PARAMETERS });
        }
        Ok(model)
    }
}

/// neuralforecast's hyper-parameters that are not read here, with the one value each may have.
pub const UNSUPPORTED: [(&str, &str); 1] = [("dataloader_kwargs", "null")];

fn unsupported(name: &str) -> Option<Value> {
    let (_, default) = UNSUPPORTED.iter().find(|(known, _)| *known == name)?;
    serde_json::from_str(default).ok()
}
