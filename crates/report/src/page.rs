//! The page: a template whose marks are replaced by the sections, the script, and the numbers.

use std::io::{self, Write};

use serde_json::{Map, Value, json};

use crate::contents::{Charts, Report, ScoreSheet, ScoredBy};
use crate::error::ReportError;
use crate::escape::{Escaped, json_in_script};
use crate::metric_words::metric_words;
use crate::packed::{PackedCharts, base64, packed_scores};

const TEMPLATE: &str = include_str!("../assets/page.html");

impl Report {
    /// Writes the page, in UTF-8.
    ///
    /// # Errors
    /// Those of `out`; [`ReportError`], as invalid input, before anything is written, if a sheet has other values than its keys, metrics
    /// and models ask for, or a forecast than its times and the columns.
    pub fn write(&self, mut out: impl Write) -> io::Result<()> {
        self.check().map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        let packed = PackedCharts::of(&self.charts);
        for (place, part) in TEMPLATE.split("@@").enumerate() {
            match place % 2 {
                0 => out.write_all(part.as_bytes())?,
                _ => out.write_all(self.part(part, &packed).as_bytes())?,
            }
        }
        out.flush()
    }

    /// The text in the place of a mark.
    fn part(&self, mark: &str, packed: &PackedCharts) -> String {
        match mark {
            "title" => Escaped(&self.title).to_string(),
            "style" => include_str!("../assets/page.css").to_owned(),
            "answer" => self.answer(),
            "summary" => self.summary(),
            "overall" => self.overall(),
            "steps" => self.steps(),
            "cutoffs" => self.cutoffs(),
            "coverage" => self.coverage(),
            "series" => self.series(),
            "importances" => self.importances(),
            "repeat" => self.repeat(),
            "facts" => json_in_script(&self.facts()),
            "timeline" => base64(packed.timeline.iter().flat_map(|time| time.to_le_bytes())),
            "index" => base64(packed.index.iter().flat_map(|place| place.to_le_bytes())),
            "places" => base64(packed.places.iter().flat_map(|place| place.to_le_bytes())),
            "values" => base64(packed.values.iter().flat_map(|value| value.to_le_bytes())),
            "scores" => self.sheet(ScoredBy::Series).map(packed_scores).unwrap_or_default(),
            "chart.js" => include_str!("../assets/chart.js").to_owned(),
            "page.js" => include_str!("../assets/page.js").to_owned(),
            _ => unreachable!("the template has the mark {mark}"),
        }
    }

    /// The input of the script besides numbers.
    fn facts(&self) -> Value {
        let Charts { integer_times, models, series } = &self.charts;
        let unit = if *integer_times { 1.0 } else { 1e3 };
        let line = |points: &[(i64, f64)]| -> Vec<Value> {
            points.iter().map(|(time, value)| json!([*time as f64 / unit, value])).collect()
        };
        let total = self.answer.as_ref().and_then(|answer| answer.total.as_ref()).map(|total| {
            let models: Vec<Value> = (total.models.iter())
                .map(|(name, points)| json!({ "name": name, "points": line(points) }))
                .collect();
            json!({ "known": line(&total.known), "models": models })
        });
        let names = self.scores.iter().flat_map(|sheet| &sheet.metrics);
        let words: Map<String, Value> = names.map(|name| (name.clone(), metric_words(name).into())).collect();
        let models: Vec<Value> =
            models.iter().map(|model| json!({ "name": model.name, "levels": model.levels })).collect();
        let whole = |by| self.sheet(by).map(sheet_as_json);
        let by_series = self
            .sheet(ScoredBy::Series)
            .map(|sheet| json!({ "keys": sheet.keys, "metrics": sheet.metrics, "models": sheet.models }));
        json!({
            "integer": integer_times,
            "models": models,
            "ids": series.iter().map(|series| &series.id).collect::<Vec<_>>(),
            "steps": whole(ScoredBy::Step),
            "cutoffs": whole(ScoredBy::Cutoff),
            "series": by_series,
            "total": total,
            "words": words,
        })
    }

    fn check(&self) -> Result<(), ReportError> {
        let require = |found: usize, expected: usize, of: &dyn Fn() -> String| match found == expected {
            true => Ok(()),
            false => Err(ReportError::Values { of: of(), expected, found }),
        };
        for sheet in &self.scores {
            let expected = sheet.keys.len() * sheet.metrics.len() * sheet.models.len();
            require(sheet.values.len(), expected, &|| format!("the scores by {:?}", sheet.by))?;
        }
        let columns = self.charts.columns();
        for series in &self.charts.series {
            require(series.values.len(), series.times.len(), &|| format!("series {}", series.id))?;
            for forecast in &series.forecasts {
                let expected = columns * forecast.times.len();
                require(forecast.values.len(), expected, &|| format!("a forecast of series {}", series.id))?;
            }
        }
        Ok(())
    }
}

fn sheet_as_json(sheet: &ScoreSheet) -> Value {
    let values: Vec<Option<f64>> =
        sheet.values.iter().map(|value| value.is_finite().then_some(*value)).collect();
    json!({ "keys": sheet.keys, "metrics": sheet.metrics, "models": sheet.models, "values": values })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contents::{ForecastLines, ModelLines, SeriesLines};

    fn report(ids: &[&str]) -> Report {
        let series = ids.iter().map(|id| SeriesLines {
            id: (*id).to_owned(),
            times: vec![0, 1],
            values: vec![1.0, f32::NAN],
            forecasts: vec![ForecastLines { times: vec![2], values: vec![1.0, 0.0, 2.0] }],
        });
        let model = ModelLines { name: "M".to_owned(), levels: vec!["80".to_owned()] };
        let charts = Charts { integer_times: true, models: vec![model], series: series.collect() };
        Report { title: "A <title>".to_owned(), charts, ..Report::default() }
    }

    fn page(report: &Report) -> String {
        let mut page = Vec::new();
        report.write(&mut page).unwrap();
        String::from_utf8(page).unwrap()
    }

    #[test]
    fn the_page_is_whole_and_asks_nobody_for_anything() {
        let page = page(&report(&["a"]));
        assert!(page.starts_with("<!DOCTYPE html>") && page.trim_end().ends_with("</html>"));
        assert!(page.contains("<title>A &lt;title&gt;</title>") && !page.contains("@@"), "{page}");
        for word in ["http:", "https:", "src=", "@import", "url(", "fetch(", "innerHTML", "eval("] {
            assert!(!page.contains(word), "{word}");
        }
        assert!(page.contains("default-src 'none'"));
    }

    /// Of two elements of one id the script would read the first.
    #[test]
    fn every_id_of_the_page_is_one_of_its_own() {
        let sheet = |by| ScoreSheet {
            by,
            keys: vec!["1".to_owned()],
            metrics: vec!["mae".to_owned(), "coverage_level80".to_owned()],
            models: vec!["M".to_owned()],
            values: vec![1.0, 0.5],
        };
        let scores = [ScoredBy::All, ScoredBy::Step, ScoredBy::Cutoff, ScoredBy::Series].map(sheet).to_vec();
        let facts = vec![("a".to_owned(), "b".to_owned())];
        let page = page(&Report { scores, facts, commands: vec!["c".to_owned()], ..report(&["a"]) });
        let ids: Vec<&str> =
            page.split(" id=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
        let different: std::collections::HashSet<&str> = ids.iter().copied().collect();
        assert!(ids.len() > 20 && different.len() == ids.len(), "{ids:?}");
    }

    #[test]
    fn ids_cannot_end_the_script_that_holds_them() {
        let plain = page(&report(&["a", "b"]));
        let hostile = page(&report(&["</script><script>alert(1)</script>", "<!--@@title@@"]));
        assert_eq!(plain.matches("<script").count(), hostile.matches("<script").count());
        assert!(!hostile.contains("alert(1)</script>") && hostile.contains("\\u003c/script\\u003e"));
    }

    #[test]
    fn forecasts_have_the_columns_of_the_models() {
        let mut report = report(&["a"]);
        report.charts.models.clear();
        let mut page = Vec::new();
        let error = report.write(&mut page).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
        assert!(error.to_string().contains("a forecast of series a needs 0 values"), "{error}");
        assert!(page.is_empty());
    }
}
