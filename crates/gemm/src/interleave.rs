//! Numbers of sixteen rows beside each other, so that each lane of a vector holds those of a row of its own: the layout of
//! [`foretell_simd::interleaved_products`].

use foretell_simd::INTERLEAVED;

use crate::vector::{Job, Vector, load, riffle, run, transpose_square};

/// Rows of one length in each of up to sixteen places: row `t` of lane `l` begins at `starts[l] + t * step`.
#[derive(Clone, Copy, Debug)]
pub struct Lines<'a> {
    /// Where the rows of each lane begin.
    pub starts: &'a [usize],
    /// From a row to the next.
    pub step: usize,
    /// Numbers of a row.
    pub len: usize,
}

/// Interleaves rows of `data`: number `i` of row `t` of lane `l` goes to `out[16 (t len + i) + l]`, zeros to lanes that have no
/// rows.
///
/// # Panics
/// If there are more than sixteen lanes, `out` holds no whole rows of each, or a row does not lie within `data`.
#[track_caller]
pub fn interleave(data: &[f32], lines: Lines<'_>, out: &mut [f32]) {
    let Lines { starts, step, len } = lines;
    assert!(starts.len() <= INTERLEAVED, "{} lanes to interleave", starts.len());
    let whole = out.is_empty() || (len > 0 && out.len().is_multiple_of(len * INTERLEAVED));
    assert!(whole, "{} numbers are no whole interleaved rows of {len}", out.len());
    if out.is_empty() {
        return;
    }
    let Some(Interleave { out, .. }) = run(Interleave { data, lines, out }) else { return };
    for (t, out) in out.chunks_exact_mut(len * INTERLEAVED).enumerate() {
        for (i, out) in out.chunks_exact_mut(INTERLEAVED).enumerate() {
            out.fill(0.0);
            out.iter_mut().zip(starts).for_each(|(out, start)| *out = data[start + t * step + i]);
        }
    }
}

struct Interleave<'a> {
    data: &'a [f32],
    lines: Lines<'a>,
    out: &'a mut [f32],
}

impl Job for Interleave<'_> {
    #[inline(always)]
    fn run<V: Vector>(self, token: V::Token) {
        let Self { data, lines: Lines { starts, step, len }, out } = self;
        for (t, out) in out.chunks_exact_mut(len * INTERLEAVED).enumerate() {
            for (at, out) in out.chunks_mut(V::LANES * INTERLEAVED).enumerate() {
                let (at, width) = (t * step + at * V::LANES, out.len() / INTERLEAVED);
                for first in (0..INTERLEAVED).step_by(V::LANES) {
                    let mut square = [V::splat(token, 0.0); INTERLEAVED];
                    for lane in 0..V::LANES {
                        if let Some(start) = starts.get(first + lane) {
                            square[lane] = load::<V>(token, &data[start + at..][..width]);
                        }
                    }
                    transpose_few::<V>(&mut square, width);
                    for (out, numbers) in out.chunks_exact_mut(INTERLEAVED).zip(square) {
                        numbers.store(&mut out[first..]);
                    }
                }
            }
        }
    }
}

/// [`transpose_square`] where rows have `width` numbers: if these are the first half, two rows share a register after the first riffle.
#[inline(always)]
fn transpose_few<V: Vector>(square: &mut [V; INTERLEAVED], width: usize) {
    let half = V::LANES / 2;
    if width > half {
        return transpose_square::<V>(square);
    }
    for l in 0..half {
        square[l] = square[l].interleave(square[l + half]).0;
    }
    riffle::<V>(square, half, V::LANES.ilog2() - 1);
}

/// Takes up to sixteen `rows` of one length apart again: `rows[l][i] = x[16 i + l]`.
///
/// # Panics
/// If there are more than sixteen rows, or one is not of the length of what `x` has for it.
#[track_caller]
pub fn deinterleave(x: &[f32], rows: &mut [&mut [f32]]) {
    assert!(rows.len() <= INTERLEAVED, "{} rows that are interleaved", rows.len());
    for row in rows.iter() {
        assert!(
            row.len() * INTERLEAVED == x.len(),
            "{} interleaved numbers for a row of {}",
            x.len(),
            row.len()
        );
    }
    let Some(Deinterleave { x, rows }) = run(Deinterleave { x, rows }) else { return };
    for (l, row) in rows.iter_mut().enumerate() {
        row.iter_mut().zip(x.chunks_exact(INTERLEAVED)).for_each(|(out, x)| *out = x[l]);
    }
}

struct Deinterleave<'a, 'b> {
    x: &'a [f32],
    rows: &'a mut [&'b mut [f32]],
}

impl Job for Deinterleave<'_, '_> {
    #[inline(always)]
    fn run<V: Vector>(self, token: V::Token) {
        let Self { x, rows } = self;
        for (at, x) in x.chunks(V::LANES * INTERLEAVED).enumerate() {
            let at = at * V::LANES;
            for first in (0..INTERLEAVED).step_by(V::LANES) {
                let mut square = [V::splat(token, 0.0); INTERLEAVED];
                for (numbers, x) in square.iter_mut().zip(x.chunks_exact(INTERLEAVED)) {
                    *numbers = V::load(token, &x[first..]);
                }
                let width = x.len() / INTERLEAVED;
                turn_back::<V>(&mut square, width);
                for lane in 0..V::LANES {
                    if let Some(row) = rows.get_mut(first + lane) {
                        square[lane].store(&mut row[at..at + width]);
                    }
                }
            }
        }
    }
}

/// [`transpose_few`] the other way: of `width` registers, rows of as many numbers.
#[inline(always)]
fn turn_back<V: Vector>(square: &mut [V; INTERLEAVED], width: usize) {
    let half = V::LANES / 2;
    if width > half {
        return transpose_square::<V>(square);
    }
    // Leaves rows 2 l and 2 l + 1 in register l.
    riffle::<V>(square, half, V::LANES.ilog2() - 1);
    let pairs = *square;
    for l in 0..half {
        (square[2 * l], square[2 * l + 1]) = (pairs[l], pairs[l].upper());
    }
}

#[cfg(test)]
mod tests {
    use foretell_simd::{Level, with_level};

    use super::*;

    fn numbers(len: usize) -> Vec<f32> {
        (0..len).map(|i| (i * 7919 % 997) as f32 / 250.0 - 2.0).collect()
    }

    #[test]
    fn rows_come_back() {
        for level in Level::available() {
            for (count, len) in
                [(16, 16), (16, 1), (3, 5), (16, 8), (16, 33), (13, 24), (1, 12), (0, 4), (5, 0)]
            {
                let x = numbers(count * len);
                let starts: Vec<usize> = (0..count).map(|l| l * len).collect();
                let mut mixed = vec![f32::NAN; len * INTERLEAVED];
                with_level(level, || interleave(&x, Lines { starts: &starts, step: 0, len }, &mut mixed));
                for (at, value) in mixed.iter().enumerate() {
                    let (i, l) = (at / INTERLEAVED, at % INTERLEAVED);
                    let expected = starts.get(l).map_or(0.0, |start| x[start + i]);
                    assert_eq!(*value, expected, "{level}: {count} rows of {len}, {l} at {i}");
                }
                let mut back = vec![f32::NAN; x.len()];
                let mut rows: Vec<&mut [f32]> = back.chunks_exact_mut(len.max(1)).collect();
                with_level(level, || deinterleave(&mixed, if len == 0 { &mut [] } else { &mut rows }));
                assert_eq!(back, x, "{level}: {count} rows of {len}");
            }
        }
    }

    #[test]
    fn several_rows_of_each_lane() {
        let x = numbers(200);
        let starts = [3, 90, 11];
        for level in Level::available() {
            let mut mixed = vec![f32::NAN; 4 * 19 * INTERLEAVED];
            with_level(level, || interleave(&x, Lines { starts: &starts, step: 25, len: 19 }, &mut mixed));
            for (at, value) in mixed.iter().enumerate() {
                let (t, i, l) = (at / INTERLEAVED / 19, at / INTERLEAVED % 19, at % INTERLEAVED);
                let expected = starts.get(l).map_or(0.0, |start| x[start + t * 25 + i]);
                assert_eq!(*value, expected, "{level}: {l} at {t}, {i}");
            }
        }
    }

    #[test]
    #[should_panic(expected = "32 interleaved numbers for a row of 3")]
    fn rows_must_fit() {
        deinterleave(&[0.0; 32], &mut [&mut [0.0; 3]]);
    }
}
