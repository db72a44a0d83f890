//! Columns that hold categories: labels as they are read, the categories that training saw, and numbers in
//! place of labels.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::column::{Column, ColumnKind};
use super::covariates::Future;
use super::keyed_series::KeyedSeries;
use super::panel::Panel;
use crate::error::DataError;
use foretell_tables::{Place, TableError};

/// From here on integers are not told apart as 64-bit floats: columns of such are texts.
const EXACT: f64 = (1_u64 << 53) as f64;

/// The categories of a column, each once and in order; the number of a category is its place, from 1. The
/// number 0 stands for all that is not among them.
#[derive(Clone, Debug, PartialEq)]
pub enum Categories {
    /// The categories of a column whose labels all are numbers below 2^53.
    Numbers(Vec<f64>),
    /// The categories of a column whose labels all are truth values.
    Truths(Vec<bool>),
    /// The categories of any other column.
    Texts(Vec<Arc<str>>),
}

/// The categories of columns, by name.
pub type Vocabulary = BTreeMap<String, Categories>;

impl Categories {
    /// The categories that these labels name, of a column that is known to hold texts or is not.
    fn of<'a>(labels: impl Iterator<Item = &'a Arc<str>> + Clone, texts: bool) -> Self {
        let all = labels.clone();
        if !texts && let Some(numbers) = all.map(|label| number(label)).collect::<Option<Vec<_>>>() {
            return Self::of_numbers(numbers);
        }
        let all = labels.clone();
        if !texts && let Some(truths) = all.map(|label| truth(label)).collect::<Option<BTreeSet<_>>>() {
            return Self::Truths(truths.into_iter().collect());
        }
        let texts: BTreeSet<Arc<str>> = labels.cloned().collect();
        Self::Texts(texts.into_iter().collect())
    }

    fn of_numbers(mut numbers: Vec<f64>) -> Self {
        numbers.sort_unstable_by(f64::total_cmp);
        numbers.dedup();
        Self::Numbers(numbers)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Numbers(numbers) => numbers.len(),
            Self::Truths(truths) => truths.len(),
            Self::Texts(texts) => texts.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether they are in order, each once: what those of [`Panel::categories_of`] always are.
    pub fn is_sorted(&self) -> bool {
        match self {
            Self::Numbers(numbers) => numbers.is_sorted_by(|a, b| a < b),
            Self::Truths(truths) => truths.is_sorted_by(|a, b| a < b),
            Self::Texts(texts) => texts.is_sorted_by(|a, b| a < b),
        }
    }

    /// The labels that name them, in their order.
    pub fn labels(&self) -> Vec<String> {
        match self {
            Self::Numbers(numbers) => numbers.iter().map(ToString::to_string).collect(),
            Self::Truths(truths) => {
                truths.iter().map(|&truth| if truth { "True" } else { "False" }.to_owned()).collect()
            }
            Self::Texts(texts) => texts.iter().map(ToString::to_string).collect(),
        }
    }

    /// The number of the category that a label names.
    pub fn number_of(&self, label: &str) -> usize {
        let place = match self {
            Self::Numbers(numbers) => {
                number(label).and_then(|label| numbers.binary_search_by(|known| known.total_cmp(&label)).ok())
            }
            Self::Truths(truths) => truth(label).and_then(|label| truths.binary_search(&label).ok()),
            Self::Texts(texts) => texts.binary_search_by(|known| (**known).cmp(label)).ok(),
        };
        place.map_or(0, |place| place + 1)
    }

    /// The number of the category that a value is, to the precision of 32 bits; truth values are 1 and 0.
    fn number_of_value(&self, value: f32) -> usize {
        match self {
            Self::Numbers(numbers) => {
                let order = |known: &f64| (*known as f32).partial_cmp(&value).unwrap_or(Ordering::Less);
                numbers.binary_search_by(order).map_or(0, |place| place + 1)
            }
            Self::Truths(_) if value == 1.0 => self.number_of("True"),
            Self::Truths(_) if value == 0.0 => self.number_of("False"),
            Self::Truths(_) => 0,
            Self::Texts(_) => self.number_of(&value.to_string()),
        }
    }
}

/// A label that is a number, so that `3`, `03` and `3.0` are one, and `-0` is `0`.
fn number(label: &str) -> Option<f64> {
    label.trim().parse::<f64>().ok().filter(|number| number.abs() < EXACT).map(|number| number + 0.0)
}

fn truth(label: &str) -> Option<bool> {
    match label {
        "True" | "true" | "TRUE" => Some(true),
        "False" | "false" | "FALSE" => Some(false),
        _ => None,
    }
}

impl Column {
    /// The categories that the values of some rows name.
    fn categories(&self, values: impl Iterator<Item = f32>) -> Categories {
        match &self.kind {
            ColumnKind::Labels(labels) => {
                let mut met = vec![false; labels.texts.len() + 1];
                values.for_each(|code| met[code as usize] = true);
                let met = labels.texts.iter().zip(&met[1..]).filter(|(_, met)| **met);
                Categories::of(met.map(|(label, _)| label), labels.typed)
            }
            ColumnKind::Numbers | ColumnKind::Categories => {
                let mut values: Vec<f32> = values.collect();
                values.sort_unstable_by(f32::total_cmp);
                values.dedup();
                Categories::of_numbers(values.into_iter().map(|value| f64::from(value + 0.0)).collect())
            }
        }
    }

    /// The values, whatever they are.
    pub(crate) fn labelled(&self) -> Result<&[f32], DataError> {
        match &self.values {
            Ok(values) => Ok(values),
            Err(_) => self.usable(),
        }
    }

    /// The function from a value of the column to the number of its category.
    pub(crate) fn numbering<'a>(&'a self, categories: &'a Categories) -> Box<dyn Fn(f32) -> f32 + Sync + 'a> {
        match &self.kind {
            ColumnKind::Categories => Box::new(|value| value),
            ColumnKind::Labels(labels) => {
                let mut numbers = vec![0.0];
                numbers.extend(labels.texts.iter().map(|label| categories.number_of(label) as f32));
                Box::new(move |code| numbers[code as usize])
            }
            ColumnKind::Numbers => Box::new(|value| categories.number_of_value(value) as f32),
        }
    }

    /// The label of a value of the column, before it became a number; `None` for a row that is not known.
    pub(crate) fn label_of(&self, value: f32) -> Option<Cow<'_, str>> {
        match &self.kind {
            ColumnKind::Categories => None,
            ColumnKind::Labels(labels) => {
                (value as usize).checked_sub(1).map(|place| (&*labels.texts[place]).into())
            }
            ColumnKind::Numbers => Some(value.to_string().into()),
        }
    }

    /// The column with the numbers of its categories for values.
    fn encode_categories(&self, categories: &Categories) -> Result<Self, DataError> {
        let (values, numbering) = (self.labelled()?, self.numbering(categories));
        // A number is looked up among the categories, a label in a table of all labels.
        let cost = if matches!(self.kind, ColumnKind::Numbers) { 16 } else { 2 };
        let mut numbers = vec![0.0; values.len()];
        foretell_threads::rows(values.len(), cost, [&mut numbers[..]], |rows, [numbers]| {
            numbers.iter_mut().zip(&values[rows]).for_each(|(number, value)| *number = numbering(*value));
        });
        Ok(Self { name: self.name.clone(), values: Ok(numbers.into()), kind: ColumnKind::Categories })
    }
}

/// Numbers the columns that have categories, and keeps the others.
fn encode_categories(columns: &[Column], vocabulary: &Vocabulary) -> Result<Vec<Column>, DataError> {
    let encoded = |column: &Column| match vocabulary.get(&column.name) {
        Some(categories) => column.encode_categories(categories),
        None => Ok(column.clone()),
    };
    columns.iter().map(encoded).collect()
}

impl Panel {
    /// The categories of a further column: what its rows hold, labels or numbers.
    ///
    /// # Errors
    /// No such column; one of texts that was not read as one of categories
    /// ([`ReadOptions::categories`](crate::ReadOptions::categories)); a label that is missing.
    pub fn categories_of(&self, name: &str) -> Result<Categories, DataError> {
        let column = self.find_column(name)?;
        let values = column.labelled()?;
        Ok(column.categories(self.series.iter().flat_map(|series| &values[series.rows()]).copied()))
    }

    /// The categories of a static column.
    ///
    /// # Errors
    /// No such column; one of texts that was not read as one of categories
    /// ([`ReadOptions::categories`](crate::ReadOptions::categories)); a label that is missing.
    pub fn static_categories_of(&self, name: &str) -> Result<Categories, DataError> {
        let column = self.find_static(name)?;
        let values = column.labelled()?;
        Ok(column.categories(self.series.iter().map(|series| values[series.place])))
    }

    /// The panel whose columns of `vocabulary` hold the numbers of their categories: 0 for values that are not among
    /// them. Scalers pass such columns by. The columns are copied, on the threads that [`share`](foretell_threads::share) allows.
    ///
    /// # Errors
    /// A column of texts that was not read as one of categories, a label that is missing.
    pub fn encode_categories(&self, vocabulary: &Vocabulary) -> Result<Self, DataError> {
        let columns = encode_categories(&self.data.columns, vocabulary)?;
        let mut panel = self.clone();
        panel.data = Arc::new(self.data.with_values(self.data.y.clone(), columns));
        panel.statics = Arc::new(encode_categories(&self.statics, vocabulary)?);
        Ok(panel)
    }

    /// The panel with static columns encoded as [`Panel::encode_categories`] does, and the others unchanged, which are
    /// not copied.
    ///
    /// # Errors
    /// A column of texts that was not read as one of categories, a label that is missing.
    pub fn with_encoded_statics(&self, vocabulary: &Vocabulary) -> Result<Self, DataError> {
        let mut panel = self.clone();
        panel.statics = Arc::new(encode_categories(&self.statics, vocabulary)?);
        Ok(panel)
    }

    /// Adds a static column of categories: one label for each series, found by id.
    ///
    /// # Errors
    /// A name twice, an id twice, or series without a label.
    pub fn with_static_categories(mut self, name: &str, labels: &[(&str, &str)]) -> Result<Self, DataError> {
        let places = self.static_places(
            &name.into(),
            labels.iter().map(|(id, _)| *id),
            &KeyedSeries::default(),
            Place::row,
        )?;
        let mut column = Column::of_labels(name);
        for row in places {
            // A place of a series that was cut from the panel has no row.
            let label = labels.get(row).map(|(_, label)| *label);
            let cell = label.map_or(Ok(0.0), |label| column.label(label));
            column.push(cell, || (Place::row(row), label.unwrap_or_default().to_owned()));
        }
        self.add_statics([column])?;
        Ok(self)
    }
}

impl Future {
    /// Adds a column of categories: labels `[series, h]`, in the panel's order of series.
    ///
    /// # Errors
    /// Another number of labels, one that is missing, a name twice.
    pub fn with_categories<L: AsRef<str>>(mut self, name: &str, labels: &[L]) -> Result<Self, DataError> {
        let expected = self.n_rows();
        if labels.len() != expected {
            let what = format!("future column `{name}`");
            return Err(DataError::Table(TableError::Length { what, expected, found: labels.len() }));
        }
        let mut column = Column::of_labels(name);
        for (row, label) in labels.iter().enumerate() {
            let cell = column.label(label.as_ref());
            column.push(cell, || (Place::row(row), label.as_ref().to_owned()));
        }
        column.labelled()?;
        self.add(column)?;
        Ok(self)
    }

    /// The same with the numbers of categories, as [`Panel::encode_categories`].
    ///
    /// # Errors
    /// A column of texts that was not read as one of categories, a label that is missing.
    pub fn encode_categories(&self, vocabulary: &Vocabulary) -> Result<Self, DataError> {
        Ok(self.with_columns(encode_categories(self.columns(), vocabulary)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::panels::fill::Fill;
    use crate::panels::options::ReadOptions;
    use crate::{Cutter, LocalScaler, Span, UnseenCategories, WindowScaler, WindowSlices, WindowSpec};
    use foretell_calendar::{Freq, TimeKind};

    const CSV: &str = "unique_id,ds,y,sky,code\n\
                       a,1,1,sun,3\na,2,2,rain,03\na,3,3,sun,10\nb,1,4,Snow,3.0\nb,2,5,sun,-0\nb,3,6,rain,0\n";

    fn options() -> ReadOptions {
        ReadOptions {
            categories: vec!["sky".into(), "code".into(), "color".into()],
            ..ReadOptions::default()
        }
    }

    fn panel() -> Panel {
        let panel = Panel::read_csv(CSV.as_bytes(), "t.csv", &options()).unwrap();
        panel.with_static_categories("color", &[("b", "red"), ("a", "true"), ("z", "none")]).unwrap()
    }

    fn vocabulary(panel: &Panel) -> Vocabulary {
        let categories_of =
            |name: &str| panel.categories_of(name).or_else(|_| panel.static_categories_of(name)).unwrap();
        ["sky", "code", "color"].into_iter().map(|name| (name.to_owned(), categories_of(name))).collect()
    }

    fn texts(texts: &[&str]) -> Categories {
        Categories::Texts(texts.iter().map(|text| Arc::from(*text)).collect())
    }

    #[test]
    fn categories_are_what_the_rows_hold_in_order() {
        let panel = panel();
        assert_eq!(panel.categories_of("sky").unwrap(), texts(&["Snow", "rain", "sun"]));
        assert_eq!(panel.categories_of("code").unwrap(), Categories::Numbers(vec![0.0, 3.0, 10.0]));
        assert_eq!(panel.static_categories_of("color").unwrap(), texts(&["red", "true"]));
        // Of the rows that are left.
        let cut = panel.without_last(2);
        assert_eq!(cut.categories_of("sky").unwrap(), texts(&["Snow", "sun"]));
        assert_eq!(cut.categories_of("code").unwrap(), Categories::Numbers(vec![3.0]));
        let error = panel.categories_of("skye").unwrap_err().to_string();
        assert!(error.contains("did you mean `sky`?"), "{error}");
    }

    #[test]
    fn what_all_labels_are_decides_what_they_mean() {
        let categories = |labels: &[&str], texts| {
            let labels: Vec<Arc<str>> = labels.iter().map(|label| Arc::from(*label)).collect();
            Categories::of(labels.iter(), texts)
        };
        assert_eq!(categories(&["3", " 03", "1e1"], false), Categories::Numbers(vec![3.0, 10.0]));
        assert_eq!(categories(&["3", "03"], true), texts(&["03", "3"]));
        let truths = categories(&["true", "FALSE", "True"], false);
        assert_eq!(truths, Categories::Truths(vec![false, true]));
        assert_eq!((truths.number_of("TRUE"), truths.number_of("yes")), (2, 0));
        assert_eq!(categories(&["true", "yes"], false), texts(&["true", "yes"]));
        // As floats, these two are one.
        let large = categories(&["9007199254740992", "9007199254740993"], false);
        assert_eq!(large, texts(&["9007199254740992", "9007199254740993"]));
        assert_eq!(categories(&["1e999", "3"], false), texts(&["1e999", "3"]));
    }

    #[test]
    fn labels_become_the_numbers_of_their_categories() {
        let vocabulary = vocabulary(&panel().without_last(2));
        let encoded = panel().encode_categories(&vocabulary).unwrap();
        assert_eq!(encoded.column("sky", 0).unwrap(), [2.0, 0.0, 2.0]);
        assert_eq!(encoded.column("sky", 1).unwrap(), [1.0, 2.0, 0.0]);
        assert_eq!(encoded.column("code", 0).unwrap(), [1.0, 1.0, 0.0]);
        assert_eq!(encoded.static_value("color", 1).unwrap(), 1.0);
        // A second time changes nothing.
        let again = encoded.encode_categories(&vocabulary).unwrap();
        assert_eq!(again.column("sky", 1).unwrap(), [1.0, 2.0, 0.0]);

        let future = Future::new(&panel(), 1, &[("code", &[10.0, 3.0])]).unwrap();
        let future =
            future.with_categories("sky", &["sun", "hail"]).unwrap().encode_categories(&vocabulary).unwrap();
        assert_eq!(future.column("sky").unwrap(), [2.0, 0.0]);
        assert_eq!(future.column("code").unwrap(), [0.0, 1.0]);
    }

    #[test]
    fn labels_that_are_no_categories_are_counted() {
        let panel = panel();
        let vocabulary = Vocabulary::from([
            ("sky".into(), texts(&["rain", "sun"])),
            ("code".into(), Categories::Numbers(vec![0.0, 3.0])),
            ("color".into(), texts(&["red"])),
        ]);
        let future = Future::new(&panel, 1, &[("code", &[7.0, 3.0])]).unwrap();
        let future = future.with_categories("sky", &["hail", "sun"]).unwrap();
        let unseen = |column: &str, values: &[&str], rows, of| {
            let values = values.iter().map(|&value| value.to_owned()).collect();
            UnseenCategories { column: column.into(), values, rows, of }
        };
        let color = unseen("color", &["true"], 1, 2);
        let unseen_columns = panel.unseen_categories(&vocabulary, 9, Some(&future)).unwrap();
        let [code, sky] = [unseen("code", &["10", "7"], 2, 8), unseen("sky", &["Snow", "hail"], 2, 8)];
        assert_eq!(unseen_columns, [code, color.clone(), sky]);
        // Rows further back are not looked at, and encoded categories are known.
        let unseen_columns = panel.unseen_categories(&vocabulary, 2, None).unwrap();
        assert_eq!(unseen_columns, [unseen("code", &["10"], 1, 4), color]);
        let encoded = panel.encode_categories(&vocabulary).unwrap();
        assert_eq!(encoded.unseen_categories(&vocabulary, 9, None).unwrap(), []);
    }

    #[test]
    fn a_file_of_the_future_is_read_as_the_panel_is() {
        let home = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = home.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let futr = write("futr.csv", "unique_id,ds,sky,code\nb,4,hail,10\na,4,sun,3.00\n");
        let statics = write("static.csv", "unique_id,color\nb,red\nz,\na,TRUE\n");
        let panel = Panel::read_csv(CSV.as_bytes(), "t.csv", &options()).unwrap();
        let panel = panel.with_static_file(&statics, &options()).unwrap();
        assert_eq!(panel.static_categories_of("color").unwrap(), texts(&["TRUE", "red"]));
        let future = Future::from_file(&futr, &options(), &panel, 1).unwrap();
        let future = future.encode_categories(&vocabulary(&panel)).unwrap();
        let gap = write("gap.csv", "unique_id,ds,sky,code\nb,4,,10\na,4,sun,3.00\n");
        let gap = Future::from_file(&gap, &options(), &panel, 1).unwrap();
        let error = gap.encode_categories(&vocabulary(&panel)).unwrap_err().to_string();
        assert!(error.ends_with("line 2, column `sky`: \"\" is missing; write what it will be"), "{error}");
        assert_eq!(future.column("sky").unwrap(), [3.0, 0.0]);
        assert_eq!(future.column("code").unwrap(), [2.0, 3.0]);
    }

    #[test]
    fn slices_of_labels_are_a_column() {
        let builder = || Panel::builder(TimeKind::Integer).series("b", &[1, 2], &[1.0, 2.0]);
        let panel =
            builder().series("a", &[7, 8], &[3.0, 4.0]).categories("sky", &["sun", "rain", "x", "rain"]);
        let panel = panel.freq(Freq::parse("1").unwrap()).build().unwrap();
        let vocabulary = Vocabulary::from([("sky".into(), texts(&["rain", "sun"]))]);
        assert_eq!(panel.encode_categories(&vocabulary).unwrap().column("sky", 0).unwrap(), [0.0, 1.0]);
        let short = builder().freq(Freq::parse("1").unwrap()).categories("sky", &["sun"]).build();
        assert!(
            matches!(short, Err(DataError::Table(TableError::Length { expected: 2, found: 1, .. }))),
            "{short:?}"
        );
    }

    #[test]
    fn scalers_pass_categories_by() {
        let panel = panel();
        let encoded = panel.encode_categories(&vocabulary(&panel)).unwrap();
        let (scaled, scales) =
            encoded.scaled(LocalScaler::BoxCox, 1, &foretell_threads::Workers::apart(1)).unwrap();
        assert_eq!(scaled.column("sky", 0).unwrap(), [3.0, 2.0, 3.0]);
        assert!(scales.columns().is_empty());
        let (scaled, stats) = scaled.with_scaled_statics(LocalScaler::Standard).unwrap();
        assert_eq!((scaled.static_value("color", 1).unwrap(), stats.len()), (1.0, 0));

        let spec = WindowSpec {
            hist: vec!["sky".into()],
            futr: vec!["code".into()],
            scaler: WindowScaler::Invariant,
            ..WindowSpec::new(4, 1)
        };
        let future = Future::new(&panel, 1, &[]).unwrap().with_categories("code", &["3", "7"]).unwrap();
        let future = future.encode_categories(&vocabulary(&panel)).unwrap();
        let cutter = Cutter::new(&scaled, &spec, Span::Predict { future: Some(&future) }).unwrap();
        let (mut hist, mut futr) = ([9.0; 4], [9.0; 5]);
        let window: Vec<_> = cutter.all(0).collect();
        cutter
            .cut(&window, &mut WindowSlices { hist: &mut hist, futr: &mut futr, ..WindowSlices::default() });
        // Rows before the series have no category that is known.
        assert_eq!((hist, futr), ([0.0, 3.0, 2.0, 3.0], [0.0, 2.0, 2.0, 3.0, 2.0]));
    }

    #[test]
    fn labels_are_filled_as_they_can_be() {
        let csv = "unique_id,ds,y,sky\na,1,1,\na,2,2,sun\na,4,3,\na,5,4,rain\n";
        let numbers = |fill| {
            let options = ReadOptions { fill, freq: Some(Freq::parse("1").unwrap()), ..options() };
            let panel = Panel::read_csv(csv.as_bytes(), "t.csv", &options)?;
            let encoded =
                panel.encode_categories(&Vocabulary::from([("sky".into(), panel.categories_of("sky")?)]))?;
            Ok::<_, DataError>(encoded.column("sky", 0)?.to_vec())
        };
        assert_eq!(numbers(Some(Fill::Zero)).unwrap(), [0.0, 2.0, 0.0, 0.0, 1.0]);
        assert_eq!(numbers(Some(Fill::Interpolate)).unwrap(), [2.0, 2.0, 2.0, 2.0, 1.0]);
        let error = numbers(Some(Fill::Forward)).unwrap_err().to_string();
        assert!(error.contains("no value before it"), "{error}");
    }

    #[test]
    fn what_holds_no_categories_is_an_error() {
        let read =
            |csv: &str, options: &ReadOptions| Panel::read_csv(csv.as_bytes(), "t.csv", options).unwrap();
        let error = read(CSV, &ReadOptions::default()).categories_of("sky").unwrap_err().to_string();
        assert!(error.contains("t.csv, line 2, column `sky`: \"sun\""), "{error}");
        assert!(error.contains("`ReadOptions::categories`"), "{error}");
        let error = panel().column("sky", 0).unwrap_err().to_string();
        assert!(error.contains("`sky` holds categories"), "{error}");
        let missing = read("unique_id,ds,y,sky\na,1,1,sun\na,2,2,NaN\na,3,3,sun\n", &options());
        let error = missing.categories_of("sky").unwrap_err().to_string();
        assert!(error.contains("t.csv, line 3, column `sky`: \"NaN\" is missing"), "{error}");
        let error = Future::new(&panel(), 1, &[]).unwrap().with_categories("sky", &["sun"]).unwrap_err();
        assert!(
            matches!(error, DataError::Table(TableError::Length { expected: 2, found: 1, .. })),
            "{error}"
        );
    }
}
