//! The scores of weights on panels, beside the seasonal naive: a quick look between runs. `cargo xtask bench-forecast` has the whole table.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context as _;
use foretell_pretrained::foretell0::forecast::Foretell0Network;
use foretell_pretrained::foretell0::network::QUANTILES;

/// The last windows of a series that are forecast, each from all that comes before.
const WINDOWS: usize = 3;

/// The scores of a panel: mean absolute scaled error and scaled quantile loss, by those of the seasonal naive; the middle of the quantiles
/// stands for its intervals.
#[derive(Clone, Debug)]
pub struct PanelScores {
    /// The file's name without its ending.
    pub name: String,
    /// How many series.
    pub series: usize,
    /// Mean absolute scaled error by the seasonal naive's.
    pub mase: f64,
    /// Scaled quantile loss by the seasonal naive's absolute error.
    pub loss: f64,
    /// The share of actual values between the quantiles of 0.1 and 0.9.
    pub coverage: f64,
}

/// The scores on each file NAME-hH-sS.csv of a folder, of whose series the last windows of H steps are forecast.
///
/// # Errors
/// If a file cannot be read.
pub fn evaluate(network: &Foretell0Network, folder: &Path) -> anyhow::Result<Vec<PanelScores>> {
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .with_context(|| format!("reading {}", folder.display()))?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    paths.sort();
    let mut all = Vec::new();
    for path in paths {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let numbers = name.rsplit_once("-s").and_then(|(rest, season)| {
            let (_, h) = rest.rsplit_once("-h")?;
            Some((h.parse().ok()?, season.parse().ok()?))
        });
        if let Some((h, season)) = numbers {
            let text = std::fs::read_to_string(&path)?;
            all.push(scores(network, name.clone(), &text, h, season).with_context(|| name)?);
        }
    }
    Ok(all)
}

/// The seasons of the calendar that data with a season of so many steps usually have.
fn calendar(season: usize) -> Vec<f32> {
    let week = match season {
        24 | 48 | 96 => Some(7 * season),
        7 => Some(365),
        _ => None,
    };
    [Some(season), week].into_iter().flatten().filter(|season| *season > 1).map(|season| season as f32).collect()
}

fn scores(network: &Foretell0Network, name: String, text: &str, h: usize, season: usize) -> anyhow::Result<PanelScores> {
    let mut series: BTreeMap<&str, Vec<f32>> = BTreeMap::new();
    for line in text.lines().skip(1) {
        let mut cells = line.split(',');
        let id = cells.next().unwrap_or_default();
        let value = cells.next_back().and_then(|cell| cell.parse().ok()).unwrap_or(f32::NAN);
        series.entry(id).or_default().push(value);
    }
    let [mut error, mut loss, mut naive, mut inside, mut count] = [0.0_f64; 5];
    let ends = series.values().flat_map(|values| (0..WINDOWS).map(move |window| &values[..values.len().saturating_sub(window * h)]));
    for values in ends.filter(|values| values.len() > 2 * h + 2) {
        let (history, truth) = values.split_at(values.len() - h);
        let lag = season.min(history.len() - 1).max(1);
        let differences = history[lag..].iter().zip(history).map(|(later, earlier)| (later - earlier).abs());
        let differences: Vec<f32> = differences.filter(|difference| difference.is_finite()).collect();
        let scale = f64::from(differences.iter().sum::<f32>()) / differences.len() as f64;
        let forecast = network.quantiles_of(history, &calendar(season), h).context("a series without values")?;
        for (t, (truth, step)) in truth.iter().zip(&forecast).enumerate().filter(|(_, (truth, _))| truth.is_finite()) {
            error += f64::from((truth - step[4]).abs()) / scale;
            let seasonal = history[history.len() - lag + t % lag];
            naive += f64::from((truth - seasonal).abs()) / scale;
            for (q, quantile) in QUANTILES.iter().zip(step) {
                let away = truth - quantile;
                loss += 2.0 * f64::from((q * away).max((q - 1.0) * away)) / scale / QUANTILES.len() as f64;
            }
            inside += if (step[0]..=step[8]).contains(truth) { 1.0 } else { 0.0 };
            count += 1.0;
        }
    }
    Ok(PanelScores { name, series: series.len(), mase: error / naive, loss: loss / naive, coverage: inside / count })
}

#[cfg(test)]
mod tests {
    use foretell_pretrained::foretell0::network::PatchNetwork;

    use super::*;

    #[test]
    fn what_repeats_but_for_its_end_is_scored_against_the_seasonal_naive() {
        let network = Foretell0Network::new(PatchNetwork::new().1.initialise(1));
        let value = |t: usize| if t < 44 { [1.0, 4.0, 2.0, 8.0][t % 4] + (t / 4) as f32 * 0.0 } else { 9.0 };
        let mut text = String::from("unique_id,ds,y\n");
        (0..48).for_each(|t| text += &format!("a,{t},{}\n", value(t)));
        // The history repeats exactly, so that there is no scale; one value breaks it.
        let text = text.replace("a,0,1\n", "a,0,1.5\n");
        let scores = scores(&network, "a".to_owned(), &text, 4, 4).unwrap();
        assert!(scores.mase.is_finite() && scores.mase > 0.0 && scores.loss <= 1.5 * scores.mase, "{scores:?}");
        assert_eq!(scores.series, 1);
        assert_eq!((calendar(24), calendar(1), calendar(12)), (vec![24.0, 168.0], vec![], vec![12.0]));
    }
}
