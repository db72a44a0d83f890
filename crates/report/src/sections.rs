//! The sections of the page, each nothing where the report has no contents for it.

use std::fmt::Write as _;

use foretell_evaluate::is_count;

use crate::contents::{Answer, Importances, Report, ScoreSheet, ScoredBy};
use crate::escape::Escaped;
use crate::markup::{grouped, number, pairs, percent, table};
use crate::metric_words::{metric_meaning, metric_words};

/// Where a chart is drawn, and its numbers as a table for those who do not see it.
fn chart_and_table(chart: &str, table: &str) -> String {
    format!(
        "<div class=\"chart\" id=\"{chart}\"></div>\n<details><summary>As a table</summary>{table}</details>\n"
    )
}

fn section(name: &str, title: &str, body: &str) -> String {
    match body.is_empty() {
        true => String::new(),
        false => {
            format!(
                "<section aria-labelledby=\"{name}\">\n<h2 id=\"{name}\">{title}</h2>\n{body}</section>\n"
            )
        }
    }
}

static NO_ANSWER: Answer = Answer { sentences: Vec::new(), total: None };

impl Report {
    pub(crate) fn sheet(&self, by: ScoredBy) -> Option<&ScoreSheet> {
        self.scores.iter().find(|sheet| sheet.by == by && !sheet.keys.is_empty())
    }

    /// What the forecast says, remarks on it, and the sum over the series.
    pub(crate) fn answer(&self) -> String {
        let Answer { sentences, total } = self.answer.as_ref().unwrap_or(&NO_ANSWER);
        let mut body = String::new();
        for (place, sentence) in sentences.iter().enumerate() {
            let class = if place == 0 { " class=\"lead\"" } else { "" };
            let _ = writeln!(body, "<p{class}>{}</p>", Escaped(sentence));
        }
        for note in &self.notes {
            let _ = writeln!(body, "<p class=\"note\">{}</p>", Escaped(note));
        }
        if total.is_some() {
            body += "<h3>The sum over all series</h3>\n<div class=\"chart\" id=\"total-chart\"></div>\n";
        }
        section("answer", "The answer", &body)
    }

    /// The facts of the forecast.
    pub(crate) fn summary(&self) -> String {
        let body = if self.facts.is_empty() { String::new() } else { pairs(&self.facts) };
        section("summary", "What was forecast", &body)
    }

    /// The models over all rows, the best first, and beside the baseline.
    pub(crate) fn overall(&self) -> String {
        let Some(sheet) = self.sheet(ScoredBy::All) else { return String::new() };
        let first = sheet.first_error();
        let mut order: Vec<usize> = (0..sheet.models.len()).collect();
        if let Some(first) = first {
            order.sort_by(|&a, &b| sheet.value(0, first, a).total_cmp(&sheet.value(0, first, b)));
        }
        let baseline = self
            .baseline
            .as_ref()
            .and_then(|name| sheet.models.iter().position(|model| model == name).zip(first));
        let shown: Vec<usize> = (0..sheet.metrics.len())
            .filter(|&metric| !sheet.metrics[metric].starts_with("coverage"))
            .collect();
        let mut head = vec!["model".to_owned()];
        head.extend(shown.iter().map(|&metric| metric_words(&sheet.metrics[metric])));
        if let Some((model, metric)) = baseline {
            head.push(format!("{} relative to {}", sheet.metrics[metric], sheet.models[model]));
        }
        let row = |&model: &usize| {
            let mut row = vec![sheet.models[model].clone()];
            row.extend(shown.iter().map(|&metric| match is_count(&sheet.metrics[metric]) {
                true => grouped(sheet.value(0, metric, model) as usize),
                false => number(sheet.value(0, metric, model)),
            }));
            if let Some((base, metric)) = baseline {
                row.push(percent(sheet.value(0, metric, model) / sheet.value(0, metric, base)));
            }
            row
        };
        let mut body: String =
            self.scores_of.iter().map(|sentence| format!("<p>{}</p>\n", Escaped(sentence))).collect();
        body += &table("Scores of each model, the best first", &head, order.iter().map(row));
        if let Some((base, metric)) = baseline {
            let _ = writeln!(
                body,
                "<p>Below 100 % the {} is smaller than that of {}.</p>",
                Escaped(&sheet.metrics[metric]),
                Escaped(&sheet.models[base])
            );
        }
        if shown.iter().any(|&metric| is_count(&sheet.metrics[metric])) {
            body += "<p>Models are compared on the rows that all of them forecast: <code>missing</code> counts the rows that a model has \
                     no forecast of, columns such as <code>coverage_level80_missing</code> those without its interval, and such as \
                     <code>mape_uncounted</code> the rows or forecasts that have no such score.</p>\n";
        }
        let meanings: Vec<(String, String)> = (sheet.metrics.iter())
            .filter_map(|name| Some((name.clone(), metric_meaning(name)?.to_owned())))
            .collect();
        if !meanings.is_empty() {
            let _ = writeln!(
                body,
                "<details><summary>How the scores are computed</summary>{}</details>",
                pairs(&meanings)
            );
        }
        section("scores", "How good the forecasts are", &body)
    }

    /// Errors by step ahead.
    pub(crate) fn steps(&self) -> String {
        let body = self.sheet(ScoredBy::Step).map(|sheet| {
            chart_and_table("steps-chart", &errors_table("Errors by step ahead", "step", sheet))
        });
        section("steps", "By step ahead", &body.unwrap_or_default())
    }

    /// Errors by cutoff.
    pub(crate) fn cutoffs(&self) -> String {
        let body = self.sheet(ScoredBy::Cutoff).map(|sheet| {
            chart_and_table("cutoffs-chart", &errors_table("Errors by cutoff", "cutoff", sheet))
        });
        section("cutoffs", "From cutoff to cutoff", &body.unwrap_or_default())
    }

    /// How many true values are within the intervals.
    pub(crate) fn coverage(&self) -> String {
        let Some(sheet) = self.sheet(ScoredBy::All) else { return String::new() };
        let levels: Vec<(usize, &str)> = (sheet.metrics.iter().enumerate())
            .filter_map(|(metric, name)| Some((metric, name.strip_prefix("coverage_level")?)))
            .collect();
        let has = |model: usize| levels.iter().any(|(metric, _)| !sheet.value(0, *metric, model).is_nan());
        let models: Vec<usize> = (0..sheet.models.len()).filter(|&model| has(model)).collect();
        if models.is_empty() {
            return String::new();
        }
        let mut head = vec!["interval".to_owned()];
        head.extend(models.iter().map(|&model| sheet.models[model].clone()));
        let rows = levels.iter().map(|(metric, level)| {
            let cells = models.iter().map(|&model| percent(sheet.value(0, *metric, model)));
            std::iter::once(format!("{level} %")).chain(cells).collect()
        });
        let body = table("Share of the true values within each interval", &head, rows)
            + "<p>An interval of 80 % should hold 80 % of the true values.</p>\n";
        section("coverage", "Intervals", &body)
    }

    /// The series, whose table and chart the script fills.
    pub(crate) fn series(&self) -> String {
        let body = match self.charts.series.is_empty() {
            true => "",
            false => include_str!("../assets/series.html"),
        };
        section("series", "Series", body)
    }

    /// The weights of columns and steps.
    pub(crate) fn importances(&self) -> String {
        section(
            "importances",
            "What counted for the forecasts",
            &self.importances.iter().map(bars).collect::<String>(),
        )
    }

    /// Settings and commands to repeat it.
    pub(crate) fn repeat(&self) -> String {
        let mut body = String::new();
        for of in &self.settings {
            let rows = of.settings.iter().map(|(name, value)| vec![name.clone(), value.clone()]);
            body += &table(&of.model, &["setting".to_owned(), "value".to_owned()], rows);
        }
        if !self.commands.is_empty() {
            let _ = writeln!(body, "<pre><code>{}</code></pre>", Escaped(&self.commands.join("\n")));
        }
        section("repeat", "To repeat it", &body)
    }
}

/// The errors of all models by a key, a column for each metric and model.
fn errors_table(caption: &str, key: &str, sheet: &ScoreSheet) -> String {
    let columns: Vec<(usize, usize)> =
        sheet.errors().flat_map(|metric| (0..sheet.models.len()).map(move |model| (metric, model))).collect();
    let mut head = vec![key.to_owned()];
    head.extend(columns.iter().map(|(metric, model)| {
        format!("{}: {}", sheet.models[*model], metric_words(&sheet.metrics[*metric]))
    }));
    let rows = sheet.keys.iter().enumerate().map(|(place, key)| {
        let cells = columns.iter().map(|(metric, model)| number(sheet.value(place, *metric, *model)));
        std::iter::once(key.clone()).chain(cells).collect()
    });
    table(caption, &head, rows)
}

/// A model's weights as bars with their numbers.
fn bars(of: &Importances) -> String {
    let mut text = format!("<h3>{}</h3>\n", Escaped(&of.model));
    let columns = of.columns.iter().map(|(kind, name, weight)| (format!("{name} ({kind})"), *weight));
    let steps = of.attention.iter().map(|(step, weight)| (format!("step {step}"), *weight));
    for (caption, rows) in [
        ("Mean weights of columns", columns.collect::<Vec<_>>()),
        ("Steps that the horizon attends to most", steps.collect()),
    ] {
        if rows.is_empty() {
            continue;
        }
        let most = rows.iter().map(|(_, weight)| *weight).fold(f64::MIN_POSITIVE, f64::max);
        let _ = write!(text, "<table class=\"bars\"><caption>{caption}</caption><tbody>");
        for (name, weight) in rows {
            let share = (100.0 * weight / most).clamp(0.0, 100.0);
            let _ = write!(
                text,
                "<tr><th scope=\"row\">{}</th><td>{}</td><td aria-hidden=\"true\"><span style=\"width:{share:.1}%\"></span></td></tr>",
                Escaped(&name),
                number(weight)
            );
        }
        text += "</tbody></table>\n";
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        let sheet = ScoreSheet {
            by: ScoredBy::All,
            keys: vec![String::new()],
            metrics: ["bias", "mae", "coverage_level80"].map(str::to_owned).to_vec(),
            models: ["Naive", "NHITS"].map(str::to_owned).to_vec(),
            values: vec![0.0, -1.0, 4.0, 3.0, f64::NAN, 0.75],
        };
        Report { baseline: Some("Naive".to_owned()), scores: vec![sheet], ..Report::default() }
    }

    #[test]
    fn the_best_model_is_first_and_beside_the_baseline() {
        let text = report().overall();
        assert!(text.find("NHITS").unwrap() < text.find("<th scope=\"row\">Naive").unwrap(), "{text}");
        assert!(text.contains("mae relative to Naive") && text.contains("<td>75.0 %</td>"), "{text}");
        assert!(text.contains("<th scope=\"col\">mean absolute error (mae)</th>"), "{text}");
        assert!(!Report { baseline: None, ..report() }.overall().contains("relative"));
    }

    #[test]
    fn coverage_is_of_models_that_have_intervals() {
        let text = report().coverage();
        assert!(text.contains("80 %") && text.contains("75.0 %") && !text.contains("Naive"), "{text}");
    }

    #[test]
    fn sections_without_contents_are_left_out() {
        let empty = Report::default();
        let sections = [
            empty.answer(),
            empty.summary(),
            empty.overall(),
            empty.steps(),
            empty.cutoffs(),
            empty.coverage(),
            empty.series(),
            empty.importances(),
            empty.repeat(),
        ];
        assert_eq!(sections, [""; 9]);
    }
}
