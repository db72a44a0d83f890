//! The scores of weights on panels: a quick look between runs, by the formulas of `cargo xtask bench-forecast`, which has the whole table.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context as _;
use foretell_pretrained::foretell0::forecast::Foretell0Network;
use foretell_pretrained::foretell0::network::QUANTILES;

/// The last windows of a series that are forecast, each from all that comes before.
const WINDOWS: usize = 3;

/// The scores of a panel, means over series and windows.
#[derive(Clone, Debug)]
pub struct PanelScores {
    /// The file's name without its ending.
    pub name: String,
    /// How many series and windows.
    pub windows: usize,
    /// Mean absolute error of the median, by the mean change over a season of the history.
    pub mase: f64,
    /// Mean quantile loss of nine quantiles, by the same change.
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

/// The seasons of the calendar that data with a season of this many steps usually have.
fn calendar(season: usize) -> Vec<f32> {
    let week = match season {
        24 | 48 | 96 => Some(7 * season),
        7 => Some(365),
        _ => None,
    };
    [Some(season), week]
        .into_iter()
        .flatten()
        .filter(|season| *season > 1)
        .map(|season| season as f32)
        .collect()
}

fn scores(
    network: &Foretell0Network,
    name: String,
    text: &str,
    h: usize,
    season: usize,
) -> anyhow::Result<PanelScores> {
    let mut series: BTreeMap<&str, Vec<f32>> = BTreeMap::new();
    for line in text.lines().skip(1) {
        let mut cells = line.split(',');
        let id = cells.next().unwrap_or_default();
        let value = cells.next_back().and_then(|cell| cell.parse().ok()).unwrap_or(f32::NAN);
        series.entry(id).or_default().push(value);
    }
    let [mut error, mut loss, mut inside] = [0.0_f64; 3];
    let mut windows = 0_u32;
    let ends = series.values().flat_map(|values| {
        (0..WINDOWS).map(move |window| &values[..values.len().saturating_sub(window * h)])
    });
    for values in ends.filter(|values| values.len() > 2 * h + 2) {
        let (history, truth) = values.split_at(values.len() - h);
        let lag = if history.len() > season { season } else { 1 };
        let changes =
            history[lag..].iter().zip(history).map(|(later, earlier)| f64::from((later - earlier).abs()));
        let scale = changes.clone().sum::<f64>() / changes.count() as f64;
        if scale > 0.0 {
            let each = scale * h as f64;
            let forecast =
                network.quantiles_of(history, &calendar(season), h).context("a series without values")?;
            for (truth, step) in truth.iter().zip(&forecast) {
                error += f64::from((truth - step[4]).abs()) / each;
                for (q, quantile) in QUANTILES.iter().zip(step) {
                    let away = truth - quantile;
                    loss += 2.0 * f64::from((q * away).max((q - 1.0) * away)) / each / QUANTILES.len() as f64;
                }
                inside += if (step[0]..=step[8]).contains(truth) { 1.0 / h as f64 } else { 0.0 };
            }
            windows += 1;
        }
    }
    let mean = |sum: f64| sum / f64::from(windows.max(1));
    Ok(PanelScores {
        name,
        windows: windows as usize,
        mase: mean(error),
        loss: mean(loss),
        coverage: mean(inside),
    })
}

#[cfg(test)]
mod tests {
    use foretell_pretrained::foretell0::network::PatchNetwork;

    use super::*;

    #[test]
    fn errors_are_measured_by_the_change_over_a_season() {
        let network = Foretell0Network::new(PatchNetwork::new().1.initialise(1));
        // A step of 1 in four changes over a season of 4; the last 512 steps before each window are constant, which any network forecasts
        // exactly, and the last window is 2 higher.
        let value = |t: usize| match t {
            0..8 => 1,
            8..600 => 2,
            _ => 4,
        };
        let mut text = String::from("unique_id,ds,y\n");
        (0..604).for_each(|t| text += &format!("a,{t},{}\n", value(t)));
        let scores = scores(&network, "a".to_owned(), &text, 4, 4).unwrap();
        assert_eq!(scores.windows, 3);
        let scale = 4.0 / 596.0;
        assert!((scores.mase - 2.0 / scale / 3.0).abs() < 1e-5 * scores.mase, "{scores:?}");
        assert!((scores.coverage - 2.0 / 3.0).abs() < 1e-9, "{scores:?}");
        assert_eq!((calendar(24), calendar(1), calendar(12)), (vec![24.0, 168.0], vec![], vec![12.0]));
    }
}
