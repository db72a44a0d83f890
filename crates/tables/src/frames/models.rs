//! The columns of a table of forecasts, model by model.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::forecast_column::{ColumnPart, ForecastColumn, SAMPLE_ID};

/// What the columns of a table hold that its names alone may not tell, by these names.
#[derive(Clone, Debug, Default)]
pub struct KnownColumns(BTreeMap<String, ForecastColumn>);

/// Tables are equal by what stands in them: what else is known of their columns makes no difference.
impl PartialEq for KnownColumns {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl KnownColumns {
    /// Keeps what a column holds, and gives its name.
    pub fn keep(&mut self, column: ForecastColumn) -> String {
        let name = column.name();
        self.0.insert(name.clone(), column);
        name
    }

    /// What is known of each of the columns of a table.
    pub fn added(&self, names: &[&str]) -> Vec<Option<ForecastColumn>> {
        names.iter().map(|name| self.0.get(*name).cloned()).collect()
    }

    /// What each of the columns of a table holds, as is known, else as the names say; nothing for that of the actual values, and for the
    /// number of a sample path.
    pub fn of(&self, names: &[&str], target: &str) -> Vec<Option<ForecastColumn>> {
        let is_forecast = |name: &&str| *name != target && *name != SAMPLE_ID;
        let forecasts: Vec<&str> = names.iter().copied().filter(is_forecast).collect();
        let mut read = ForecastColumn::read(&forecasts).into_iter();
        let column = |name: &&str| {
            let read = if is_forecast(name) { read.next() } else { None };
            self.0.get(*name).cloned().or(read)
        };
        names.iter().map(column).collect()
    }
}

/// The columns of one model in a table of forecasts, by their places.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelInTable {
    /// The model.
    pub model: Arc<str>,
    /// The forecast of a single number.
    pub number: Option<usize>,
    /// Probabilities and quantiles, upwards.
    pub quantiles: Vec<(f64, usize)>,
    /// What parts of the model, or inputs, add to the forecast, by their names.
    pub components: Vec<(String, usize)>,
    /// Whether the components are contributions of inputs.
    pub is_explained: bool,
}

/// How far two probabilities may differ to be one: single precision and the rounding of levels take part.
const SAME: f64 = 1e-6;

impl ModelInTable {
    /// The models that a table of these columns has forecasts or components of, in the order of their first columns.
    pub fn of(columns: &[Option<ForecastColumn>]) -> Vec<Self> {
        let mut models: Vec<Self> = Vec::new();
        let mut places = FxHashMap::<&str, usize>::default();
        for (at, column) in columns.iter().enumerate().filter_map(|(at, column)| Some((at, column.as_ref()?)))
        {
            let place = *places.entry(column.model()).or_insert_with(|| {
                models.push(Self::empty(column.model()));
                models.len() - 1
            });
            models[place].add(column, at);
        }
        models.retain(|model| model.is_forecast() || !model.components.is_empty());
        for model in &mut models {
            model.quantiles.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
        models
    }

    fn empty(model: &str) -> Self {
        let (quantiles, components) = (Vec::new(), Vec::new());
        Self { model: model.into(), number: None, quantiles, components, is_explained: false }
    }

    fn add(&mut self, column: &ForecastColumn, at: usize) {
        if let Some(q) = column.part().probability() {
            self.quantiles.push((q, at));
        } else if column.part() == ColumnPart::Point {
            self.number = Some(at);
        } else if let Some(name) = column.component_name() {
            self.components.push((name.to_owned(), at));
            self.is_explained |= column.is_contribution();
        }
    }

    /// Whether there is a forecast of the model, of a number or of quantiles.
    pub fn is_forecast(&self) -> bool {
        self.number.is_some() || !self.quantiles.is_empty()
    }

    /// The point forecast: the number, else the median.
    pub fn point(&self) -> Option<usize> {
        self.number.or_else(|| self.quantile(0.5))
    }

    /// The quantiles of probabilities between 0 and 1, which a forecast can be scored by; ends of an interval of 100 % are none.
    pub fn quantiles_within(&self) -> impl Iterator<Item = (f64, usize)> {
        self.quantiles.iter().copied().filter(|(q, _)| 0.0 < *q && *q < 1.0)
    }

    /// The quantile of this probability.
    pub fn quantile(&self, q: f64) -> Option<usize> {
        self.quantiles.iter().find(|(known, _)| (known - q).abs() < SAME).map(|(_, place)| *place)
    }

    /// The central intervals, the widest first: the level in percent, and the columns of the ends. They are two quantiles that are
    /// as far from the median, whatever their columns are called.
    pub fn intervals(&self) -> Vec<(f64, usize, usize)> {
        let lower = self.quantiles.iter().filter(|(q, _)| *q < 0.5 - SAME);
        // 0.9 is an end of 80 %, which the difference misses by a little.
        let level = |q: f64| ((1.0 - 2.0 * q) * 1e8).round() / 1e6;
        let interval = |&(q, low): &(f64, usize)| Some((level(q), low, self.quantile(1.0 - q)?));
        let mut intervals: Vec<_> = lower.filter_map(interval).collect();
        intervals.dedup_by_key(|(level, ..)| *level);
        intervals
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn models(names: &[&str]) -> Vec<ModelInTable> {
        ModelInTable::of(&KnownColumns::default().of(names, "y"))
    }

    #[test]
    fn the_columns_of_models_are_gathered() {
        let names = [
            "y", "sample_id", "MLP-median", "MLP-lo-80", "MLP-lo-95.5", "MLP-hi-80.0", "MLP-hi-95.5",
            "a-lo-b", "T", "T-median", "X-lo-90", "S-sample-0",
        ];
        let found = models(&names);
        assert_eq!(found.iter().map(|model| &*model.model).collect::<Vec<_>>(), ["MLP", "a-lo-b", "T", "X"]);
        assert_eq!((found[0].number, found[0].point()), (None, Some(2)));
        assert_eq!(found[0].intervals(), [(95.5, 4, 6), (80.0, 3, 5)]);
        assert_eq!((found[2].point(), found[2].quantile(0.5)), (Some(8), Some(9)));
        assert_eq!((found[3].point(), found[3].intervals()), (None, vec![]));
        assert!(models(&["y", "sample_id"]).is_empty());
    }

    #[test]
    fn quantiles_are_intervals_whatever_they_are_called() {
        let found = models(&["A", "A_ql0.1", "A_ql0.5", "A-ql0.9", "A-lo-80", "A-hi-90"]);
        assert_eq!((found.len(), found[0].intervals()), (1, vec![(80.0, 4, 3)]));
        assert_eq!((found[0].point(), found[0].quantiles.len()), (Some(0), 5));
    }

    #[test]
    fn what_is_known_of_a_column_goes_before_its_name() {
        let mut known = KnownColumns::default();
        let name = known.keep(ForecastColumn::new("a-lo-80", ColumnPart::Point));
        let columns = known.of(&[&name, "a-hi-80", "y"], "y");
        let parts: Vec<_> = columns.iter().map(|column| column.as_ref().map(ForecastColumn::part)).collect();
        assert_eq!(parts, [Some(ColumnPart::Point), Some(ColumnPart::Upper(80.0)), None]);
    }

    #[test]
    fn components_are_of_models_too() {
        let found = models(&["y", "DLinear:trend", "NHITS:baseline", "NHITS:y@0", "DLinear:seasonality"]);
        assert_eq!(found[0].components, [("trend".to_owned(), 1), ("seasonality".to_owned(), 4)]);
        assert!(!found[0].is_explained && found[1].is_explained && !found[0].is_forecast());
    }
}
