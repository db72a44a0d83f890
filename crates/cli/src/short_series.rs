//! Series that --drop-short leaves out, as they have too few rows.

use foretell::Panel;

use crate::context::Context;

/// The panel without its series of fewer than `rows_needed` rows, which are told.
///
/// # Errors
/// If there are no others; `remedy` says what lowers that number.
pub(crate) fn without_short(
    context: &'static Context,
    panel: Panel,
    rows_needed: usize,
    remedy: &str,
) -> anyhow::Result<Panel> {
    if panel.min_len() >= rows_needed {
        return Ok(panel);
    }
    let series = (0..panel.n_series()).map(|series| (&**panel.id(series), panel.len(series)));
    let dropped: Vec<_> = series.filter(|(_, rows)| *rows < rows_needed).collect();
    if dropped.len() == panel.n_series() {
        anyhow::bail!(
            "--drop-short would leave out every series: {rows_needed} rows are needed, and the longest has {}; {remedy}",
            panel.max_len()
        );
    }
    context.dropped(&dropped, rows_needed);
    Ok(panel.without_shorter_than(rows_needed))
}
