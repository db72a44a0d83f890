//! Stochastic pooling (Zeiler and Fergus 2013, "Stochastic pooling for regularization of deep convolutional neural
//! networks", arXiv 1301.3557): one row is drawn for each column of a matrix.

/// Draws a row for each column: `probabilities [batch, rows, width]`, whose columns sum to 1, and uniform numbers of
/// [0, 1), `uniforms [batch, width]`, to `places [batch, width]`. A column's row is the first at which the sum of its
/// probabilities is above its uniform number, or the last, where rounding leaves the sum below 1.
///
/// # Panics
/// If a length does not fit, or there are no rows.
#[track_caller]
pub fn draw(probabilities: &[f32], rows: usize, width: usize, uniforms: &[f32], places: &mut [u32]) {
    let fit = rows > 0 && uniforms.len() * rows == probabilities.len() && places.len() == uniforms.len();
    let whole = width > 0 && uniforms.len().is_multiple_of(width) || uniforms.is_empty();
    assert!(
        fit && whole,
        "{} probabilities of {rows} rows of {width}, {} uniform numbers, {} places",
        probabilities.len(),
        uniforms.len(),
        places.len()
    );
    let Some(matrix) = rows.checked_mul(width).filter(|&matrix| matrix > 0) else { return };
    places.fill(0);
    let mut sums = [0.0_f32; LANES];
    let batch = probabilities.chunks_exact(matrix);
    for ((matrix, uniforms), places) in
        batch.zip(uniforms.chunks_exact(width)).zip(places.chunks_exact_mut(width))
    {
        // Some columns at a time, so that their sums stay in registers.
        for (c, (uniforms, places)) in uniforms.chunks(LANES).zip(places.chunks_mut(LANES)).enumerate() {
            let sums = &mut sums[..uniforms.len()];
            sums.fill(0.0);
            // The probabilities add up to 1, so the last row is drawn where no other is.
            for row in matrix.chunks_exact(width).take(rows - 1) {
                let row = &row[c * LANES..][..sums.len()];
                for (((sum, p), u), place) in sums.iter_mut().zip(row).zip(uniforms).zip(&mut *places) {
                    *sum += p;
                    *place += u32::from(*sum <= *u);
                }
            }
        }
    }
}

/// Columns that are walked side by side.
const LANES: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::numbers;

    #[test]
    fn the_row_is_where_the_sum_passes_the_number() {
        // Columns 0.5, 0.25, 0.25 and 0, 1, 0.
        let p = [0.5, 0.0, 0.25, 1.0, 0.25, 0.0];
        let uniforms = [0.0, 0.0, 0.49, 0.5, 0.5, 0.99, 0.75, 1.0];
        let mut places = [9; 8];
        draw(&p.repeat(4), 3, 2, &uniforms, &mut places);
        assert_eq!(places, [0, 1, 0, 1, 1, 1, 2, 2]);
    }

    #[test]
    fn agrees_with_a_column_by_column_walk_and_the_shares() {
        let (batch, rows, width) = (3, 5, 130);
        let mut p: Vec<f32> = numbers(batch * rows * width, 1).iter().map(|x| x.abs() + 0.01).collect();
        for (b, c) in (0..batch).flat_map(|b| (0..width).map(move |c| (b, c))) {
            let column = |r: usize| (b * rows + r) * width + c;
            let sum: f32 = (0..rows).map(|r| p[column(r)]).sum();
            (0..rows).for_each(|r| p[column(r)] /= sum);
        }
        let uniforms: Vec<f32> = numbers(batch * width, 2).iter().map(|x| x.abs().fract()).collect();
        let mut places = vec![0; batch * width];
        draw(&p, rows, width, &uniforms, &mut places);
        for (i, (&u, &place)) in uniforms.iter().zip(&places).enumerate() {
            let (b, c) = (i / width, i % width);
            let mut sum = 0.0;
            let first = (0..rows - 1).find(|r| {
                sum += p[(b * rows + r) * width + c];
                sum > u
            });
            assert_eq!(place as usize, first.unwrap_or(rows - 1), "column {i}");
        }
    }

    #[test]
    #[should_panic(expected = "6 probabilities of 3 rows of 2, 3 uniform numbers")]
    fn lengths_must_fit() {
        draw(&[0.5; 6], 3, 2, &[0.5; 3], &mut [0; 3]);
    }
}
