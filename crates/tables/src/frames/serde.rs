//! Frames in serde's formats: the fields under their names, NaN as nothing (`null` in JSON).

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::frame::Frame;
use super::models::KnownColumns;
use foretell_calendar::{Freq, Zone};

/// The fields of a [`Frame`], texts and numbers as formats have them.
#[derive(Serialize, Deserialize)]
#[serde(rename = "Frame", deny_unknown_fields)]
struct Fields {
    id_col: String,
    time_col: String,
    freq: Freq,
    zone: Option<Zone>,
    integer_ids: bool,
    ids: Vec<String>,
    times: Vec<i64>,
    cutoffs: Option<Vec<i64>>,
    columns: Vec<(String, Vec<Option<f32>>)>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    wide: BTreeMap<String, Vec<Option<f64>>>,
    #[serde(default)]
    integers: Vec<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    labels: BTreeMap<String, Vec<String>>,
}

impl Serialize for Frame {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let known = |values: &Vec<f32>| values.iter().map(|y| (!y.is_nan()).then_some(*y)).collect();
        let known_wide = |values: &Vec<f64>| values.iter().map(|y| (!y.is_nan()).then_some(*y)).collect();
        let fields = Fields {
            id_col: self.id_col.clone(),
            time_col: self.time_col.clone(),
            freq: self.freq,
            zone: self.zone.clone(),
            integer_ids: self.integer_ids,
            ids: self.ids.iter().map(|id| id.to_string()).collect(),
            times: self.times.clone(),
            cutoffs: self.cutoffs.clone(),
            columns: self.columns.iter().map(|(name, values)| (name.clone(), known(values))).collect(),
            wide: self.wide.iter().map(|(name, values)| (name.clone(), known_wide(values))).collect(),
            integers: self.integers.clone(),
            labels: (self.labels.iter())
                .map(|(name, texts)| (name.clone(), texts.iter().map(ToString::to_string).collect()))
                .collect(),
        };
        fields.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Frame {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fields = Fields::deserialize(deserializer)?;
        let rows = fields.ids.len();
        let mut lengths = vec![("times", fields.times.len())];
        lengths.extend(fields.cutoffs.iter().map(|cutoffs| ("cutoffs", cutoffs.len())));
        lengths.extend(fields.columns.iter().map(|(name, values)| (name.as_str(), values.len())));
        lengths.extend(fields.wide.iter().map(|(name, values)| (name.as_str(), values.len())));
        if let Some((name, found)) = lengths.into_iter().find(|(_, found)| *found != rows) {
            return Err(D::Error::custom(format!("{name} of a frame has {found} values for {rows} ids")));
        }
        let values = |values: Vec<Option<f32>>| values.into_iter().map(|y| y.unwrap_or(f32::NAN)).collect();
        let wide = |values: Vec<Option<f64>>| values.into_iter().map(|y| y.unwrap_or(f64::NAN)).collect();
        Ok(Self {
            id_col: fields.id_col,
            time_col: fields.time_col,
            freq: fields.freq,
            zone: fields.zone,
            integer_ids: fields.integer_ids,
            ids: shared(fields.ids),
            times: fields.times,
            cutoffs: fields.cutoffs,
            columns: fields.columns.into_iter().map(|(name, column)| (name, values(column))).collect(),
            wide: fields.wide.into_iter().map(|(name, column)| (name, wide(column))).collect(),
            integers: fields.integers,
            labels: (fields.labels.into_iter())
                .map(|(name, texts)| (name, texts.into_iter().map(Into::into).collect()))
                .collect(),
            known: KnownColumns::default(),
        })
    }
}

/// The ids, rows of a series in a row sharing theirs.
fn shared(ids: Vec<String>) -> Vec<Arc<str>> {
    let mut all: Vec<Arc<str>> = Vec::with_capacity(ids.len());
    for id in ids {
        let known = all.last().filter(|last| ***last == *id).cloned();
        all.push(known.unwrap_or_else(|| id.into()));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame() -> Frame {
        let mut frame = Frame::new(Freq::parse("D").unwrap());
        frame.zone = Some(Zone::parse("Europe/Berlin").unwrap());
        frame.ids = vec!["a".into(), "a".into(), "b".into()];
        frame.times = vec![0, 86_400_000_000, 0];
        frame.cutoffs = Some(vec![-86_400_000_000; 3]);
        frame.columns = vec![("MLP".into(), vec![0.1, f32::NAN, -1e30])];
        frame
    }

    #[test]
    fn a_frame_is_read_back_from_json() {
        let text = serde_json::to_string(&frame()).unwrap();
        assert!(text.contains(r#""columns":[["MLP",[0.1,null,-1e+30]]]"#), "{text}");
        let again: Frame = serde_json::from_str(&text).unwrap();
        assert!(again.column("MLP").unwrap()[1].is_nan());
        assert!(Arc::ptr_eq(&again.ids[0], &again.ids[1]));
        assert_eq!(serde_json::to_string(&again).unwrap(), text);
        let known = |mut frame: Frame| {
            frame.columns[0].1[1] = 0.0;
            frame
        };
        assert_eq!(known(again), known(frame()));
    }

    #[test]
    fn columns_of_other_lengths_are_an_error() {
        let text = serde_json::to_string(&frame()).unwrap().replace(",null", "");
        let error = serde_json::from_str::<Frame>(&text).unwrap_err();
        assert_eq!(error.to_string(), "MLP of a frame has 2 values for 3 ids");
    }
}
