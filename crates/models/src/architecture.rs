//! The declaration of a model, and its entry in the list of models.

use std::any::TypeId;

use foretell_nn::{Dims, HyperParameterError, Model, Needs, Network, Scope, Table};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::categorical_columns::CategoricalColumns;
use crate::hyper::HyperParameters;

/// The smallest shard, in windows, for models whose work is products with large weights: every shard reads the
/// weights and writes their gradient, so shards should be few and large.
pub(crate) const MIN_SHARD_LARGE_WEIGHTS: usize = 128;

/// The smallest shard, in windows, for models that do little with a window: a shard costs some microseconds, whatever
/// is in it.
pub(crate) const MIN_SHARD_LIGHT_MODEL: usize = 128;

/// The smallest shard, in windows, for models that take as long in shards of 32 windows as of 64. On two threads, four shards of
/// a batch of 128 keep half as much for the backward pass as two.
pub(crate) const MIN_SHARD_LITTLE_MEMORY: usize = 32;

/// The smallest shard, in windows, for models with a row of products for each step of a window, so that few windows are enough: what
/// two threads keep of such shards stays in a third cache of 32 to 50 MB. VanillaTransformer takes 5 % longer in shards of 16 on a
/// Zen 5, on Granite Rapids TFT an eighth longer in shards of 16 and FEDformer a quarter in shards of 32.
pub(crate) const MIN_SHARD_IN_CACHE: usize = 8;

/// A model's own hyper-parameters, and how they become a model. Each model of the zoo implements it in a file of its
/// own; a model from outside is found by its name after [`register`](crate::register).
pub trait Architecture: HyperParameters + 'static {
    /// The model's name; neuralforecast's name where it has the model.
    const NAME: &'static str;
    /// Its source: authors, year and paper.
    const PAPER: &'static str;
    /// Whether it forecasts one series or several together, and all steps at once or one by one.
    const KIND: &'static str = "univariate, direct";
    /// Which kinds of exogenous columns it reads.
    const EXOGENOUS: Exogenous;
    /// Whether it makes one number for each step, so that losses of several outputs are refused.
    const ONE_OUTPUT: bool = false;
    /// Whether it cannot do without the target's history, so that `exclude_insample_y` is refused.
    const NEEDS_TARGET: bool = false;
    /// Whether it returns the weights of columns and steps behind its forecasts ([`Model::explain`]).
    const EXPLAINS: bool = false;
    /// Its differences from neuralforecast's model of that name, a sentence each.
    const DIFFERENCES: &'static [&'static str] = &[];
    /// Switches that neuralforecast's model does not have, with the value that it amounts to: that of a checkpoint that does not name
    /// them.
    const UPSTREAM: &'static [(&'static str, bool)] = &[];
    /// The hyper-parameters that are the units of layers between two linear ones, and nothing else: a number, 0 for four times
    /// `hidden_size`, or lists of numbers. Such units can be removed one by one: the layer before registers its parameters right
    /// before the layer behind, as far as their shapes depend on these hyper-parameters.
    const HIDDEN_UNITS: &'static [&'static str] = &[];

    /// The defaults of hyper-parameters common to all models, where this model has others: a JSON object.
    fn common_defaults() -> Value {
        Value::Object(Map::new())
    }

    /// Values of its own hyper-parameters that make it small enough for fast tests: a JSON object for each way in
    /// which it works. What an object leaves out takes its default.
    fn small() -> Vec<Value> {
        vec![Value::Object(Map::new())]
    }

    /// The Cargo feature that the model cannot do without and this program was built without, if there is one.
    fn missing_feature() -> Option<&'static str> {
        None
    }

    /// The requirements of a model of these hyper-parameters on training and inference.
    fn needs(&self, dims: &Dims) -> Needs {
        let _ = dims;
        Needs::default()
    }

    /// Values of its own hyper-parameters that a saved model has in place of those that were set, where these name something outside
    /// of the model: by them a model that is loaded again finds the same, or says that it is another.
    fn pinned(&self) -> Map<String, Value> {
        Map::new()
    }

    /// What of its own hyper-parameters is read by no one, such as the numbers of a list behind those that count: a sentence each,
    /// with what to do about it.
    fn unread(&self) -> Vec<String> {
        Vec::new()
    }

    /// Registers the parameters and returns the forward pass.
    ///
    /// # Errors
    /// If hyper-parameters contradict each other or the sizes.
    fn build(self, dims: &Dims, scope: &mut Scope<'_>) -> Result<Box<dyn Model>, HyperParameterError>;
}

/// Which kinds of exogenous columns a model reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Exogenous {
    /// Columns known for past and future.
    pub futr: bool,
    /// Columns known for the past only.
    pub hist: bool,
    /// Columns that do not change over time.
    pub stat: bool,
    /// Categorical columns among these, by embedding.
    pub cat: bool,
}

impl Exogenous {
    /// None.
    pub const NONE: Self = Self { futr: false, hist: false, stat: false, cat: false };
    /// All, categorical ones among them.
    pub const ALL: Self = Self { futr: true, hist: true, stat: true, cat: true };
}

/// Makes the forward pass from a model's own hyper-parameters, registering its parameters.
type Build =
    fn(&Map<String, Value>, &Dims, &CategoricalColumns, &mut Table) -> Result<Network, HyperParameterError>;

/// The values of a model's own hyper-parameters that a saved model has in place of these.
type Pinned = fn(&Map<String, Value>) -> Result<Map<String, Value>, HyperParameterError>;

/// What a model's own hyper-parameters have and it does not read, a sentence each.
type Unread = fn(&Map<String, Value>) -> Result<Vec<String>, HyperParameterError>;

/// A model of the zoo.
#[derive(Clone, Copy)]
pub struct ModelEntry {
    /// The name, as in neuralforecast.
    pub name: &'static str,
    /// Its source: authors, year and paper.
    pub paper: &'static str,
    /// Whether it forecasts one series or several together, and all steps at once or one by one.
    pub kind: &'static str,
    /// Which kinds of exogenous columns it reads.
    pub exogenous: Exogenous,
    /// Whether it makes one number for each step, so that losses of several outputs are refused.
    pub one_output: bool,
    /// Whether it cannot do without the target's history.
    pub needs_target: bool,
    /// Whether it returns the weights of columns and steps behind its forecasts.
    pub explains: bool,
    /// Its differences from neuralforecast's model of that name, a sentence each.
    pub differences: &'static [&'static str],
    /// Switches that neuralforecast's model does not have, with the value that it amounts to.
    pub upstream: &'static [(&'static str, bool)],
    /// See [`Architecture::HIDDEN_UNITS`].
    pub hidden_units: &'static [&'static str],
    type_id: fn() -> TypeId,
    common: fn() -> Value,
    small: fn() -> Vec<Value>,
    own: fn() -> Map<String, Value>,
    meanings: fn() -> Vec<(&'static str, &'static str)>,
    missing_feature: fn() -> Option<&'static str>,
    check: fn(&Map<String, Value>) -> Result<(), HyperParameterError>,
    needs: fn(&Map<String, Value>, &Dims) -> Result<Needs, HyperParameterError>,
    pinned: Pinned,
    unread: Unread,
    build: Build,
}

impl ModelEntry {
    /// The entry of a model, of the zoo or not.
    pub const fn of<A: Architecture>() -> Self {
        Self {
            name: A::NAME,
            paper: A::PAPER,
            kind: A::KIND,
            exogenous: A::EXOGENOUS,
            one_output: A::ONE_OUTPUT,
            needs_target: A::NEEDS_TARGET,
            explains: A::EXPLAINS,
            differences: A::DIFFERENCES,
            upstream: A::UPSTREAM,
            hidden_units: A::HIDDEN_UNITS,
            type_id: TypeId::of::<A>,
            common: A::common_defaults,
            small: A::small,
            own: || A::default().to_map(),
            meanings: A::meanings,
            missing_feature: A::missing_feature,
            check: |own| parse::<A>(own).map(|_| ()),
            needs: |own, dims| parse::<A>(own).map(|config| config.needs(dims)),
            pinned: |own| parse::<A>(own).map(|config| config.pinned()),
            unread: |own| parse::<A>(own).map(|config| config.unread()),
            build: |own, dims, categories, table| {
                let config = parse::<A>(own)?;
                let needs = config.needs(dims);
                let build = |dims: &Dims, scope: &mut Scope<'_>| config.build(dims, scope);
                let model = categories.embed_before(dims, &mut table.root(), build);
                Ok(Network { needs, model: model.map_err(|error| error.of(A::NAME))?.into() })
            },
        }
    }

    /// The hyper-parameters that only this model has, with their defaults.
    pub fn own_defaults(&self) -> Map<String, Value> {
        (self.own)()
    }

    /// The names of the hyper-parameters that only this model has, and their meanings.
    pub fn meanings(&self) -> Vec<(&'static str, &'static str)> {
        (self.meanings)()
    }

    /// The defaults of hyper-parameters common to all models, where this model has others.
    pub fn common_defaults(&self) -> Map<String, Value> {
        object((self.common)())
    }

    /// Values of its own hyper-parameters that make it small enough for fast tests: one set for each way in which it
    /// works.
    pub fn small(&self) -> Vec<Map<String, Value>> {
        (self.small)().into_iter().map(object).collect()
    }

    /// The Cargo feature that the model cannot do without and this program was built without, if there is one: no value of a
    /// hyper-parameter mends that.
    pub fn missing_feature(&self) -> Option<&'static str> {
        (self.missing_feature)()
    }

    /// Checks each of the model's own hyper-parameters by itself; [`ModelEntry::build`] checks that they fit each
    /// other.
    ///
    /// # Errors
    /// If no hyper-parameter has that name, or its value has another type or breaks its rule.
    pub fn check(&self, own: &Map<String, Value>) -> Result<(), HyperParameterError> {
        (self.check)(own)
    }

    /// Checks that it can make this many outputs for each step.
    ///
    /// # Errors
    /// If there are several and the model makes one only.
    pub fn check_outputs(&self, outputs: usize) -> Result<(), HyperParameterError> {
        if outputs <= 1 || !self.one_output {
            return Ok(());
        }
        let expected = "a loss of one output for each step, such as MAE, MSE, HuberLoss or QuantileLoss";
        let found = format!("one of {outputs}");
        Err(HyperParameterError::new("loss", expected, found).of(self.name))
    }

    /// The requirements on training and inference of the model of these hyper-parameters (absent ones take their defaults).
    ///
    /// # Errors
    /// If one of them does not exist or is of another kind.
    pub fn needs(&self, own: &Map<String, Value>, dims: &Dims) -> Result<Needs, HyperParameterError> {
        (self.needs)(own, dims)
    }

    /// The values of its own hyper-parameters that a saved model has in place of those that were set: [`Architecture::pinned`].
    ///
    /// # Errors
    /// If one of them does not exist or is of another kind.
    pub fn pinned(&self, own: &Map<String, Value>) -> Result<Map<String, Value>, HyperParameterError> {
        (self.pinned)(own)
    }

    /// What of its own hyper-parameters is read by no one: [`Architecture::unread`].
    ///
    /// # Errors
    /// If one of them does not exist or is of another kind.
    pub fn unread(&self, own: &Map<String, Value>) -> Result<Vec<String>, HyperParameterError> {
        (self.unread)(own)
    }

    /// Builds the model from its own hyper-parameters (absent ones take their defaults): registers its
    /// parameters in `table` and returns its forward pass with what that needs. `dims` counts columns as windows have them; the
    /// model itself sees `categories` embedded.
    ///
    /// # Errors
    /// If a hyper-parameter does not exist or is refused, several contradict each other or the sizes, or the loss wants
    /// several outputs of a model that makes one.
    ///
    /// # Panics
    /// If it has categorical columns and reads none.
    pub fn build(
        &self,
        own: &Map<String, Value>,
        dims: &Dims,
        categories: &CategoricalColumns,
        table: &mut Table,
    ) -> Result<Network, HyperParameterError> {
        self.check_outputs(dims.outputs)?;
        assert!(
            self.exogenous.cat || *categories == CategoricalColumns::default(),
            "{self:?} embeds no columns"
        );
        (self.build)(own, dims, categories, table)
    }
}

/// Two are equal if they are of the same type.
impl PartialEq for ModelEntry {
    fn eq(&self, other: &Self) -> bool {
        (self.type_id)() == (other.type_id)()
    }
}

impl std::fmt::Debug for ModelEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ModelEntry({})", self.name)
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        other => unreachable!("hyper-parameters are an object, not {other}"),
    }
}

/// The configuration with these hyper-parameters set and the defaults for the rest.
fn parse<A: Architecture>(own: &Map<String, Value>) -> Result<A, HyperParameterError> {
    let mut config = A::default();
    for (name, value) in own {
        let unknown = || Err(HyperParameterError::new(name, "one that the model has", value));
        config.set(name, value).unwrap_or_else(unknown).map_err(|error| error.of(A::NAME))?;
    }
    Ok(config)
}
