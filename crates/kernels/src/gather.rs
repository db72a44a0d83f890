//! Values gathered along a dimension by their places, and values scattered to places, or added there (the transpose).

use foretell_threads as threads;

use crate::axis::Axis;

/// `out[o, i, c] = x[o, places[o, i, c], c]`: as `torch.gather`, for `x` of `axis`, places and `out` of the same outer
/// and inner sizes.
///
/// # Panics
/// If a length does not fit, or a place is out of the dimension's range.
#[track_caller]
pub fn gather(x: &[f32], axis: Axis, places: &[u32], out: &mut [f32]) {
    axis.check("gather", x.len());
    assert_eq!(places.len(), out.len(), "places and values of gather from {axis:?}");
    let (len, block) = (axis.len * axis.inner, places_per_block(axis, places));
    threads::rows(axis.outer, block, [out], |range, [out]| {
        let x = &x[range.start * len..range.end * len];
        let places = &places[range.start * block..range.end * block];
        for_each(Axis { outer: range.len(), ..axis }, places, |at, from| out[at] = x[from]);
    });
}

/// `sum[o, places[o, i, c], c] += values[o, i, c]`: as `torch.scatter_add`, in the order of the places.
///
/// # Panics
/// If a length does not fit, or a place is out of the dimension's range.
#[track_caller]
pub fn scatter_add(values: &[f32], axis: Axis, places: &[u32], sum: &mut [f32]) {
    assert_eq!(places.len(), values.len(), "places and values of scatter_add to {axis:?}");
    put("scatter_add", axis, places, sum, |sum, at| *sum += values[at]);
}

/// `out[o, places[o, i, c], c] = values[o, i, c]`: as `torch.scatter`, in the order of the places.
///
/// # Panics
/// If a length does not fit, or a place is out of the dimension's range.
#[track_caller]
pub fn scatter(values: &[f32], axis: Axis, places: &[u32], out: &mut [f32]) {
    assert_eq!(places.len(), values.len(), "places and values of scatter to {axis:?}");
    put("scatter", axis, places, out, |out, at| *out = values[at]);
}

/// `out[o, places[o, i, c], c] = value`.
///
/// # Panics
/// If a length does not fit, or a place is out of the dimension's range.
#[track_caller]
pub fn scatter_value(value: f32, axis: Axis, places: &[u32], out: &mut [f32]) {
    put("scatter", axis, places, out, |out, _| *out = value);
}

/// Puts something into `out[o, places[o, i, c], c]` for each place, given by its index, in the order of the places.
#[track_caller]
fn put(what: &str, axis: Axis, places: &[u32], out: &mut [f32], put: impl Fn(&mut f32, usize) + Sync) {
    axis.check(what, out.len());
    let block = places_per_block(axis, places);
    threads::rows(axis.outer, block, [out], |range, [out]| {
        let first = range.start * block;
        let part = Axis { outer: range.len(), ..axis };
        for_each(part, &places[first..range.end * block], |at, to| put(&mut out[to], first + at));
    });
}

/// The places of each outer block.
#[track_caller]
fn places_per_block(axis: Axis, places: &[u32]) -> usize {
    let whole = places.is_empty() || (axis.lines() > 0 && places.len().is_multiple_of(axis.lines()));
    assert!(whole, "{} places are no whole steps of {axis:?}", places.len());
    places.len() / axis.outer.max(1)
}

/// Visits the index of each place in the list, which are whole steps, and the element that it points to.
fn for_each(axis: Axis, places: &[u32], mut visit: impl FnMut(usize, usize)) {
    let Axis { outer, len, inner } = axis;
    if places.is_empty() {
        return;
    }
    let steps = places.len() / axis.lines();
    for o in 0..outer {
        for i in 0..steps {
            let row = (o * steps + i) * inner;
            for (c, &place) in places[row..row + inner].iter().enumerate() {
                assert!((place as usize) < len, "place {place} along a dimension of {len}");
                visit(row + c, (o * len + place as usize) * inner + c);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{AXES, numbers};

    #[test]
    fn all_equal_a_naive_walk() {
        for axis in AXES {
            for steps in [0, 1, 3, axis.len + 1] {
                if axis.len == 0 && steps > 0 {
                    continue;
                }
                let count = axis.lines() * steps;
                let x = numbers(axis.numel(), 1);
                let places: Vec<u32> = (0..count).map(|i| (i * 7 % axis.len) as u32).collect();
                let mut out = vec![f32::NAN; count];
                gather(&x, axis, &places, &mut out);
                let mut sum = x.clone();
                scatter_add(&out, axis, &places, &mut sum);
                let (mut put, mut erased) = (x.clone(), x.clone());
                let values = numbers(count, 2);
                scatter(&values, axis, &places, &mut put);
                scatter_value(0.5, axis, &places, &mut erased);
                let (mut naive, mut naive_put, mut naive_erased) = (x.clone(), x.clone(), x.clone());
                for at in 0..count {
                    let (o, c) = (at / (steps * axis.inner), at % axis.inner);
                    let place = (o * axis.len + places[at] as usize) * axis.inner + c;
                    assert_eq!(out[at], x[place], "{axis:?} {steps} steps");
                    naive[place] += out[at];
                    naive_put[place] = values[at];
                    naive_erased[place] = 0.5;
                }
                assert_eq!(put, naive_put, "{axis:?} {steps} steps");
                assert_eq!(erased, naive_erased, "{axis:?} {steps} steps");
                assert_eq!(sum, naive, "{axis:?} {steps} steps");
            }
        }
    }

    #[test]
    fn threads_change_no_bit() {
        let axis = Axis { outer: 700, len: 9, inner: 8 };
        let places: Vec<u32> = (0..axis.numel()).map(|i| (i * 7 % axis.len) as u32).collect();
        let (x, values) = (numbers(axis.numel(), 1), numbers(axis.numel(), 2));
        let all = |threads: usize| {
            let (mut out, mut sum, mut put, mut erased) = (x.clone(), x.clone(), x.clone(), x.clone());
            threads::Workers::new(threads).unwrap().enter(|| {
                threads::share(threads, || {
                    gather(&x, axis, &places, &mut out);
                    scatter_add(&values, axis, &places, &mut sum);
                    scatter(&values, axis, &places, &mut put);
                    scatter_value(0.5, axis, &places, &mut erased);
                })
            });
            [out, sum, put, erased]
        };
        assert_eq!(all(3), all(1));
    }

    #[test]
    #[should_panic(expected = "place 3 along a dimension of 3")]
    fn places_that_are_not_there() {
        gather(&[0.0; 3], Axis::of(&[3], 0), &[3], &mut [0.0]);
    }
}
