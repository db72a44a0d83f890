//! Prophet's hyper-parameters, named as in the Python package.

use foretell_calendar::jiff::civil::DateTime;
use serde::{Deserialize, Serialize};

use crate::holiday::Holiday;

/// How the trend grows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Growth {
    /// In straight lines, from one change point to the next.
    #[default]
    Linear,
    /// Towards a capacity, along logistic curves from one change point to the next.
    Logistic,
    /// Not at all.
    Flat,
}

/// How a component and the trend become a forecast.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// They are added.
    #[default]
    Additive,
    /// The component is a fraction of the trend.
    Multiplicative,
}

/// The divisor of `y`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scaling {
    /// The largest magnitude.
    #[default]
    Absmax,
    /// The distance of the largest from the smallest value, which is subtracted first.
    Minmax,
}

/// Whether there is one of the seasonalities that Prophet has by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum BuiltIn {
    /// With the usual number of harmonics, or not at all.
    Switch(bool),
    /// With this number of harmonics; 0 for none.
    Order(usize),
    /// Where the history has two seasons of it, and more than one row in each.
    #[default]
    #[serde(with = "auto")]
    Auto,
}

/// The word `auto`.
mod auto {
    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

    const WORD: &str = "auto";

    pub(super) fn serialize<S: Serializer>(serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(WORD)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<(), D::Error> {
        match String::deserialize(deserializer)?.as_str() {
            WORD => Ok(()),
            other => Err(D::Error::custom(format!("{other:?} is not {WORD:?}"))),
        }
    }
}

/// A seasonality of your own (`add_seasonality` of the package).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnSeasonality {
    /// Its name. One called `yearly`, `weekly` or `daily` replaces that.
    pub name: String,
    /// Days of a period.
    pub period: f64,
    /// Harmonics.
    pub fourier_order: usize,
    /// The deviation of the normal prior of its coefficients; `None` for `seasonality_prior_scale`.
    #[serde(default)]
    pub prior_scale: Option<f64>,
    /// `None` for `seasonality_mode`.
    #[serde(default)]
    pub mode: Option<Mode>,
    /// The column that says when it applies: 1, or 0 where it does not.
    #[serde(default)]
    pub condition_name: Option<String>,
}

/// How a column of `futr_exog_list` enters the model (`add_regressor` of the package).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RegressorOptions {
    /// The column.
    pub name: String,
    /// The deviation of the normal prior of its coefficient; `None` for `holidays_prior_scale`.
    #[serde(default)]
    pub prior_scale: Option<f64>,
    /// `None` for `seasonality_mode`.
    #[serde(default)]
    pub mode: Option<Mode>,
    /// Whether it is brought to mean 0 and deviation 1 in each series; `None` to do so unless it is only 0 and 1.
    #[serde(default)]
    pub standardize: Option<bool>,
}

/// All hyper-parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct ProphetSettings {
    /// Steps to forecast.
    pub h: usize,
    /// How the trend grows.
    pub growth: Growth,
    /// Where the rate of growth may change; `None` for `n_changepoints` of them, evenly over the rows.
    pub changepoints: Option<Vec<DateTime>>,
    /// How many change points there are, if none are given.
    pub n_changepoints: usize,
    /// The part of the history, from its beginning, that has change points.
    pub changepoint_range: f64,
    /// Seasons of a year: 10 harmonics.
    pub yearly_seasonality: BuiltIn,
    /// Seasons of a week: 3 harmonics.
    pub weekly_seasonality: BuiltIn,
    /// Seasons of a day: 4 harmonics.
    pub daily_seasonality: BuiltIn,
    /// Further seasonalities.
    pub seasonalities: Vec<OwnSeasonality>,
    /// Days with an effect of their own.
    pub holidays: Vec<Holiday>,
    /// The country whose public holidays are added to these, by its two letters of ISO 3166.
    pub country_holidays: Option<String>,
    /// How seasonalities and regressors enter, where they do not say it themselves.
    pub seasonality_mode: Mode,
    /// How holidays enter; `None` for `seasonality_mode`.
    pub holidays_mode: Option<Mode>,
    /// The deviation of the normal prior of seasonal coefficients.
    pub seasonality_prior_scale: f64,
    /// The deviation of the normal prior of the coefficients of holidays and regressors.
    pub holidays_prior_scale: f64,
    /// The scale of the Laplace prior of the changes of the rate.
    pub changepoint_prior_scale: f64,
    /// The divisor of `y`.
    pub scaling: Scaling,
    /// The column of the capacity that logistic growth leads to.
    pub cap: Option<String>,
    /// The column of the value that logistic growth comes from; `None` for 0.
    pub floor: Option<String>,
    /// Columns known in advance that the forecast depends on.
    pub futr_exog_list: Vec<String>,
    /// How columns of `futr_exog_list` enter, where that is not usual.
    pub regressors: Vec<RegressorOptions>,
    /// Simulated futures that quantiles are taken from.
    pub uncertainty_samples: usize,
    /// The seed of these draws.
    pub random_seed: u64,
    /// The name of its column; `None` for `Prophet`.
    pub alias: Option<String>,
}

impl Default for ProphetSettings {
    fn default() -> Self {
        Self {
            h: 1,
            growth: Growth::default(),
            changepoints: None,
            n_changepoints: 25,
            changepoint_range: 0.8,
            yearly_seasonality: BuiltIn::default(),
            weekly_seasonality: BuiltIn::default(),
            daily_seasonality: BuiltIn::default(),
            seasonalities: Vec::new(),
            holidays: Vec::new(),
            country_holidays: None,
            seasonality_mode: Mode::default(),
            holidays_mode: None,
            seasonality_prior_scale: 10.0,
            holidays_prior_scale: 10.0,
            changepoint_prior_scale: 0.05,
            scaling: Scaling::default(),
            cap: None,
            floor: None,
            futr_exog_list: Vec::new(),
            regressors: Vec::new(),
            uncertainty_samples: 1000,
            random_seed: 1,
            alias: None,
        }
    }
}

impl ProphetSettings {
    /// The columns that are read beside the target, each once: regressors, conditions, capacity and floor.
    pub(crate) fn columns(&self) -> Vec<String> {
        let conditions = self.seasonalities.iter().filter_map(|own| own.condition_name.as_ref());
        let bounds =
            [&self.cap, &self.floor].into_iter().flatten().filter(|_| self.growth == Growth::Logistic);
        let mut columns: Vec<String> = Vec::new();
        for name in self.futr_exog_list.iter().chain(conditions).chain(bounds) {
            if !columns.contains(name) {
                columns.push(name.clone());
            }
        }
        columns
    }

    /// The columns that are regressors: those of `futr_exog_list`, but for the capacity and the floor, which are none unless
    /// `regressors` names them.
    pub(crate) fn regressor_names(&self) -> impl Iterator<Item = &String> {
        self.futr_exog_list.iter().filter(|name| !self.is_only_bound(name))
    }

    /// Whether a column of `futr_exog_list` is the capacity or the floor alone.
    pub(crate) fn is_only_bound(&self, name: &str) -> bool {
        let mut bounds = [&self.cap, &self.floor].into_iter().flatten();
        self.growth == Growth::Logistic
            && bounds.any(|bound| bound == name)
            && self.regressors.iter().all(|options| options.name != name)
    }

    /// Those of them whose values mean what they are: capacity and floor are of the target, conditions are 0 or 1.
    pub(crate) fn unscaled_columns(&self) -> Vec<String> {
        let conditions = self.seasonalities.iter().filter_map(|own| own.condition_name.as_ref());
        let bounds = [&self.cap, &self.floor].into_iter().flatten();
        let columns = self.columns();
        bounds.chain(conditions).filter(|name| columns.contains(name)).cloned().collect()
    }

    /// Whether a component may be a share of the trend.
    pub(crate) fn has_shares(&self) -> bool {
        let own = self.seasonalities.iter().map(|seasonality| seasonality.mode);
        let of_columns = self.regressors.iter().map(|regressor| regressor.mode);
        let mut modes =
            own.chain(of_columns).chain([Some(self.seasonality_mode), self.holidays_mode]).flatten();
        modes.any(|mode| mode == Mode::Multiplicative)
    }

    /// Why they do not fit together, if they do not.
    pub(crate) fn contradiction(&self) -> Option<String> {
        if self.growth == Growth::Logistic && self.cap.is_none() {
            return Some("logistic growth leads to a capacity; name the column that has it (cap)".to_owned());
        }
        let unknown = self.regressors.iter().find(|options| !self.futr_exog_list.contains(&options.name));
        if let Some(RegressorOptions { name, .. }) = unknown {
            return Some(format!("regressors has `{name}`, which is not in futr_exog_list; add it there"));
        }
        let place = |name: &String| self.regressors.iter().position(|options| options.name == *name);
        let again = self.regressors.iter().enumerate().find(|(i, options)| place(&options.name) != Some(*i));
        if let Some((_, RegressorOptions { name, .. })) = again {
            return Some(format!("regressors has `{name}` twice; leave one of them out"));
        }
        let mut names: Vec<&str> = self.seasonalities.iter().map(|own| own.name.as_str()).collect();
        names.extend(self.futr_exog_list.iter().map(String::as_str));
        names.extend(["trend", "holidays"]);
        names.sort_unstable();
        let twice = names.windows(2).find(|pair| pair[0] == pair[1]);
        twice.map(|pair| format!("two components are called `{}`; rename one of them", pair[0]))
    }
}
