//! Static columns that stand in the data themselves: one value in all rows of a series.

use std::sync::Arc;

use super::column::{Column, ColumnKind};
use super::panel::{Data, Panel};
use crate::error::DataError;
use foretell_tables::ColumnError;

impl Panel {
    /// Makes static columns of those of these names, each of which must hold one value in all rows of a series.
    ///
    /// # Errors
    /// A series with two values, a column that is not there or holds no numbers and no categories.
    pub(super) fn with_constants(mut self, names: &[&str]) -> Result<Self, DataError> {
        if names.is_empty() {
            return Ok(self);
        }
        let mut statics = Vec::new();
        for &name in names {
            let column = self.find_column(name)?;
            let values = column.values.as_deref().map_err(|_| column.usable().expect_err("a bad cell"))?;
            let constant = |series: usize| {
                let rows = &values[self.series[series].rows()];
                match rows.iter().find(|value| **value != rows[0]) {
                    None => Ok(rows[0]),
                    Some(other) => {
                        let [one, other] = [rows[0], *other].map(|value| shown(column, value));
                        let (column, id) = (name.to_owned(), self.id(series).to_string());
                        Err(ColumnError::NotConstant { column, id, one, other })
                    }
                }
            };
            let constants = (0..self.n_series()).map(constant).collect::<Result<_, _>>()?;
            statics.push(Column { name: name.to_owned(), values: Ok(constants), kind: column.kind.clone() });
        }
        if let Some(Data { columns, .. }) = Arc::get_mut(&mut self.data) {
            columns.retain(|column| !names.contains(&&*column.name));
        }
        self.add_statics(statics)?;
        Ok(self)
    }
}

impl Panel {
    /// A static value of a series as the file has it, of a column of numbers or labels; nothing where none is known.
    ///
    /// # Errors
    /// A column that is missing, or has a cell that is no number in one of numbers.
    pub fn static_label(&self, name: &str, series: usize) -> Result<Option<Arc<str>>, DataError> {
        let column = self.find_static(name)?;
        let values = match &column.values {
            Ok(values) => values,
            Err(_) => return Err(column.usable().expect_err("a bad cell")),
        };
        let value = values[self.series[series].place];
        let known = !(value.is_nan() || matches!(column.kind, ColumnKind::Labels(_)) && value == 0.0);
        Ok(known.then(|| shown(column, value).into()))
    }
}

/// A value as the file has it.
pub(super) fn shown(column: &Column, value: f32) -> String {
    match &column.kind {
        ColumnKind::Labels(labels) => {
            let label = (value as usize).checked_sub(1).and_then(|place| labels.texts.get(place));
            label.map_or_else(|| "none".to_owned(), |label| label.to_string())
        }
        _ => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use crate::{Panel, ReadOptions};

    fn read(rows: &str) -> Result<Panel, crate::error::DataError> {
        let options = ReadOptions {
            static_cols: vec!["region".into(), "size".into()],
            categories: vec!["region".into()],
            ..ReadOptions::default()
        };
        Panel::read_csv(format!("unique_id,ds,y,region,size,x\n{rows}").as_bytes(), "t.csv", &options)
    }

    #[test]
    fn columns_of_one_value_a_series_become_static() {
        let panel =
            read("b,2,1,north,5,0\nb,1,1,north,5,1\na,1,1,south,7,2\na,2,1,south,7,3\na,3,1,south,7,3\n")
                .unwrap();
        assert_eq!(panel.static_names().collect::<Vec<_>>(), ["region", "size"]);
        assert_eq!(panel.column_names().collect::<Vec<_>>(), ["x"]);
        assert_eq!([0, 1].map(|series| panel.static_value("size", series).unwrap()), [7.0, 5.0]);
        let error = read("a,1,1,south,7,2\na,2,1,north,7,3\na,3,1,south,7,3\n").unwrap_err().to_string();
        assert!(
            error.contains("`region`")
                && error.contains("series `a`")
                && error.contains("south")
                && error.contains("north"),
            "{error}"
        );
        assert!(read("a,1,1,s,u,2\na,2,1,s,7,3\na,3,1,s,7,3\n").is_err());
    }
}
