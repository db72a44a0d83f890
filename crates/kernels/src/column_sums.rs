//! The sums of a matrix's columns: the gradient of a bias that was added to each row.

use foretell_simd as simd;
use foretell_threads as threads;

/// Adds the sums of the columns of `x [rows, columns]` to `sums [columns]`, rows shared out to threads.
///
/// # Panics
/// If the length of `x` is no multiple of that of `sums`.
///
/// ```
/// use foretell_kernels::column_sums::add_column_sums;
///
/// let mut sums = [100.0, 200.0];
/// add_column_sums(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &mut sums);
/// assert_eq!(sums, [109.0, 212.0]);
/// ```
#[track_caller]
pub fn add_column_sums(x: &[f32], sums: &mut [f32]) {
    let columns = sums.len();
    assert!(x.len().is_multiple_of(columns), "{} values are no rows of {columns}", x.len());
    threads::sums(x.len().checked_div(columns).unwrap_or(0), columns, sums, |range, sums| {
        let rows = x[range.start * columns..range.end * columns].chunks_exact(columns.max(1));
        rows.for_each(|row| simd::add_assign(sums, row));
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{at_every_level, numbers};

    #[test]
    fn sums_are_added_to_what_is_there() {
        for [rows, columns] in [[0, 3], [1, 1], [5, 1], [7, 33], [3, 0], [3000, 50]] {
            let x = numbers(rows * columns, 1);
            at_every_level(|level| {
                let mut found = vec![1.0; columns];
                add_column_sums(&x, &mut found);
                for (column, found) in found.iter().enumerate() {
                    let values = x.iter().skip(column).step_by(columns);
                    let expected = values.fold(1.0, |sum, &x| sum + f64::from(x));
                    let far = (f64::from(*found) - expected).abs() > 1e-6 * (1 + rows) as f64;
                    assert!(!far, "{level} {rows}x{columns}: {found}, {expected}");
                }
            });
        }
    }

    #[test]
    fn the_bits_do_not_depend_on_the_threads() {
        let x = numbers(3000 * 50, 2);
        let run = |threads: usize| {
            let mut sums = vec![0.5; 50];
            threads::share(threads, || add_column_sums(&x, &mut sums));
            sums
        };
        let one = run(1);
        assert!(one == run(2) && one == run(3));
    }

    #[test]
    #[should_panic(expected = "5 values are no rows of 2")]
    fn wrong_lengths_panic() {
        add_column_sums(&[0.0; 5], &mut [0.0; 2]);
    }
}
