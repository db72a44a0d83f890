//! The largest values along a dimension and where they are.

use std::cmp::Ordering;

use foretell_pool::Buffer;
use foretell_simd as simd;

use crate::axis::Axis;

/// The largest value of each line of `x` along `axis` and its place, `[outer, inner]` both; the first of equals.
/// NaN is the largest, as in PyTorch.
///
/// # Panics
/// If a length does not fit, or lines are empty.
#[track_caller]
pub fn max(x: &[f32], axis: Axis, values: &mut [f32], places: &mut [u32]) {
    let Axis { len, inner, .. } = axis;
    axis.check("the maximum", x.len());
    let fit = values.len() == axis.lines() && places.len() == axis.lines();
    assert!(fit, "{} maxima at {} places of {axis:?}", values.len(), places.len());
    assert!(len > 0 || axis.lines() == 0, "the maximum of nothing: {axis:?}");
    if x.is_empty() {
        return;
    }
    if inner == 1 {
        for ((line, value), place) in x.chunks_exact(len).zip(values).zip(places) {
            *value = simd::max(line);
            let at = line.iter().position(|x| x == value || x.is_nan());
            *place = at.expect("the maximum is one of the values") as u32;
        }
        return;
    }
    let blocks = x.chunks_exact(len * inner);
    for ((block, values), places) in
        blocks.zip(values.chunks_exact_mut(inner)).zip(places.chunks_exact_mut(inner))
    {
        values.copy_from_slice(&block[..inner]);
        places.fill(0);
        for (t, row) in (0..).zip(block.chunks_exact(inner)).skip(1) {
            for ((value, place), &x) in values.iter_mut().zip(&mut *places).zip(row) {
                if x > *value || x.is_nan() && !value.is_nan() {
                    (*value, *place) = (x, t);
                }
            }
        }
    }
}

/// The `k` largest values of each line of `x` along `axis`, largest first, and their places, `[outer, k, inner]`
/// both; of equals the first. NaN is the largest, as in PyTorch.
///
/// # Panics
/// If a length does not fit, or lines are shorter than `k`.
#[track_caller]
pub fn top_k(x: &[f32], axis: Axis, k: usize, values: &mut [f32], places: &mut [u32]) {
    let Axis { len, inner, .. } = axis;
    axis.check("the largest", x.len());
    assert!(k <= len, "the {k} largest of {len} values");
    let fit = values.len() == axis.lines() * k && places.len() == values.len();
    assert!(fit, "{} of the {k} largest at {} places of {axis:?}", values.len(), places.len());
    if values.is_empty() {
        return;
    }
    let mut order = Buffer::<u32>::zeroed(len);
    let blocks = x.chunks_exact(len * inner);
    for ((block, values), places) in
        blocks.zip(values.chunks_exact_mut(k * inner)).zip(places.chunks_exact_mut(k * inner))
    {
        for c in 0..inner {
            let at = |t: u32| block[t as usize * inner + c];
            (0..).zip(&mut *order).for_each(|(t, place)| *place = t);
            let by_value = |a: &u32, b: &u32| largest_first(at(*a), at(*b)).then(a.cmp(b));
            if k < len {
                order.select_nth_unstable_by(k, by_value);
            }
            order[..k].sort_unstable_by(by_value);
            for (i, &t) in order[..k].iter().enumerate() {
                (values[i * inner + c], places[i * inner + c]) = (at(t), t);
            }
        }
    }
}

fn largest_first(a: f32, b: f32) -> Ordering {
    b.partial_cmp(&a).unwrap_or_else(|| b.is_nan().cmp(&a.is_nan()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{AXES, at_every_level, numbers};

    /// The places of line `(outer, c)` from the largest to the smallest value, by a stable sort.
    fn sorted(x: &[f32], axis: Axis, outer: usize, c: usize) -> Vec<(f32, u32)> {
        let at = |t: usize| x[(outer * axis.len + t) * axis.inner + c];
        let mut line: Vec<(f32, u32)> = (0..axis.len).map(|t| (at(t), t as u32)).collect();
        let key = |x: f32| if x.is_nan() { f32::INFINITY } else { x.min(f32::MAX) };
        line.sort_by(|a, b| key(b.0).total_cmp(&key(a.0)));
        line
    }

    #[test]
    fn equals_a_stable_sort() {
        at_every_level(|level| {
            for axis in AXES {
                // Few different values, so that there are ties; a NaN now and then.
                let mut x: Vec<f32> =
                    numbers(axis.numel(), 3).iter().map(|x| (x * 3.0).round() + 0.0).collect();
                x.iter_mut().skip(5).step_by(17).for_each(|x| *x = f32::NAN);
                for k in [0, 1, axis.len / 2, axis.len] {
                    if k > axis.len {
                        continue;
                    }
                    let count = axis.lines() * k;
                    let (mut values, mut places) = (vec![0.0; count], vec![0; count]);
                    top_k(&x, axis, k, &mut values, &mut places);
                    let (mut largest, mut first) = (vec![0.0; axis.lines()], vec![9; axis.lines()]);
                    if axis.len > 0 {
                        max(&x, axis, &mut largest, &mut first);
                    }
                    for line in 0..axis.lines() {
                        let (outer, c) = (line / axis.inner, line % axis.inner);
                        let expected = sorted(&x, axis, outer, c);
                        let same = |a: f32, b: f32| a == b || a.is_nan() && b.is_nan();
                        for (i, &(value, place)) in expected[..k].iter().enumerate() {
                            let at = (outer * k + i) * axis.inner + c;
                            assert!(
                                same(values[at], value),
                                "{level} {axis:?} k {k}: {} {value}",
                                values[at]
                            );
                            assert_eq!(places[at], place, "{level} {axis:?} k {k} value {value}");
                        }
                        if let Some(&(value, place)) = expected.first() {
                            assert!(same(largest[line], value), "{level} {axis:?}");
                            assert_eq!(first[line], place, "{level} {axis:?}");
                        }
                    }
                }
            }
        });
    }

    #[test]
    #[should_panic(expected = "the 4 largest of 3 values")]
    fn more_than_there_are() {
        top_k(&[0.0; 3], Axis::of(&[3], 0), 4, &mut [0.0; 4], &mut [0; 4]);
    }

    #[test]
    #[should_panic(expected = "the maximum of nothing")]
    fn nothing_has_no_maximum() {
        max(&[], Axis::of(&[0], 0), &mut [0.0], &mut [0]);
    }
}
