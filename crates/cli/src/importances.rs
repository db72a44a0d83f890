//! Feature importances as tables for people.

use foretell::report::grouped;
use foretell::{FeatureImportances, StepWeights};

use crate::table::AlignedTable;

/// Steps that are listed, those with the most attention.
const STEPS: usize = 10;

/// A table of a model's columns with the means of their weights over the steps, and one of the steps that the horizon attends to
/// most.
pub(crate) fn told(importances: &FeatureImportances) -> String {
    let FeatureImportances { model, series, past, future, fixed, attention } = importances;
    let mut text = format!("{model}: mean weights over {} series\n", grouped(*series));
    let means = |weights: &Option<StepWeights>| -> Vec<(String, f32)> {
        let means = weights.as_ref().map(|weights| weights.means_from(i64::MIN)).unwrap_or_default();
        means.into_iter().map(|(name, mean)| (name.to_owned(), mean)).collect()
    };
    let kinds = [("past", means(past)), ("future", means(future)), ("static", fixed.clone())];
    let mut rows: Vec<(&str, String, f32)> = Vec::new();
    for (kind, mut columns) in kinds {
        columns.sort_by(|a, b| b.1.total_cmp(&a.1));
        rows.extend(columns.into_iter().map(|(name, weight)| (kind, name, weight)));
    }
    let table = AlignedTable::new()
        .text("", rows.iter().map(|(kind, ..)| *kind))
        .text("column", rows.iter().map(|(_, name, _)| name.as_str()))
        .numbers("weight", rows.iter().map(|(.., weight)| f64::from(*weight)));
    indent(&mut text, &table);
    if let Some(attention) = attention {
        let mut steps = attention.means_from(1);
        steps.sort_by(|a, b| b.1.total_cmp(&a.1));
        steps.truncate(STEPS);
        let table = AlignedTable::new()
            .text("most attended step", steps.iter().map(|(step, _)| *step))
            .numbers("attention", steps.iter().map(|(_, weight)| f64::from(*weight)));
        text += "\n";
        indent(&mut text, &table);
    }
    text
}

fn indent(text: &mut String, table: &AlignedTable) {
    table.render().lines().for_each(|line| *text += &format!("  {line}\n"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_by_kind_and_weight() {
        let weights = |first: i64, columns: &[(&str, &[f32])]| StepWeights {
            steps: (first..).take(columns[0].1.len()).collect(),
            columns: columns.iter().map(|(name, weights)| ((*name).to_owned(), weights.to_vec())).collect(),
        };
        let importances = FeatureImportances {
            model: "TFT".to_owned(),
            series: 1200,
            past: Some(weights(0, &[("price", &[0.25]), ("observed_target", &[0.75])])),
            future: Some(weights(1, &[("price", &[1.0])])),
            fixed: vec![("size".to_owned(), 1.0)],
            attention: Some(weights(0, &[("0", &[1.0, 0.625]), ("1", &[0.0, 0.375])])),
        };
        let expected = "\
TFT: mean weights over 1,200 series
          column           weight
  past    observed_target  0.7500
  past    price            0.2500
  future  price            1.0000
  static  size             1.0000

  most attended step  attention
  0                      0.6250
  1                      0.3750
";
        assert_eq!(told(&importances), expected);
    }
}
