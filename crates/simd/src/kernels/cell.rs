//! The cells of LSTM and GRU: everything that happens to the gates of one step once the products of
//! matrices are done, in one pass.
//!
//! The gates of a row lie one after the other in PyTorch's order. Each function takes the rows of one
//! step and finds the number of units from the bias or the state; the sums are overwritten by the gates, which the
//! backward pass needs. A forecast needs the states alone: [`lstm_state`] and [`gru_state`] make them with two divisions, where
//! the gates take five and three.

use crate::isa::{Simd, WithSimd};

use crate::bits::F32s;
use crate::kernels::exp::{exp_m1_lanes, exp_p1_lanes};
use crate::kernels::sigmoid::sigmoid_lanes;
use crate::kernels::tanh::tanh_lanes;
use crate::level::dispatch;
use crate::loops::{Map, map_in, same_len};
use crate::vector::Vectors;

/// Four neighbouring parts of a row.
#[inline(always)]
fn quarters<T>(row: &[T]) -> [&[T]; 4] {
    let units = row.len() / 4;
    [0, 1, 2, 3].map(|k| &row[k * units..(k + 1) * units])
}

/// [`quarters`] to write.
#[inline(always)]
fn quarters_mut<T>(row: &mut [T]) -> [&mut [T]; 4] {
    let units = row.len() / 4;
    let (a, rest) = row.split_at_mut(units);
    let (b, rest) = rest.split_at_mut(units);
    let (c, d) = rest.split_at_mut(units);
    [a, b, c, d]
}

/// Panics unless the gates are four times as long as each of `states`, and the bias four units long.
/// Returns the number of units.
#[track_caller]
fn units(gates: usize, bias: usize, states: [usize; 3]) -> usize {
    let whole = if bias == 0 { gates == 0 } else { bias.is_multiple_of(4) && gates.is_multiple_of(bias) };
    assert!(whole, "{gates} gates are no whole rows of {bias}");
    states.iter().for_each(|&len| same_len(gates, 4 * len));
    bias / 4
}

#[derive(Clone, Copy)]
struct LstmCell;

impl Map<f32, 5, 6> for LstmCell {
    #[inline(always)]
    fn map<S: Simd>(
        self,
        [bi, bf, bg, bo, before]: Vectors<f32, S, 5>,
        [i, f, g, o, _, _]: Vectors<f32, S, 6>,
    ) -> Vectors<f32, S, 6> {
        let (i, f, o) = (sigmoid_lanes(i + bi), sigmoid_lanes(f + bf), sigmoid_lanes(o + bo));
        let g = tanh_lanes(g + bg);
        let c = f.mul_add(before, i * g);
        [i, f, g, o, c, o * tanh_lanes(c)]
    }
}

struct Lstm<'a> {
    units: usize,
    gates: &'a mut [f32],
    bias: &'a [f32],
    before: &'a [f32],
    c: &'a mut [f32],
    h: &'a mut [f32],
}

impl WithSimd for Lstm<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let n = self.units;
        let [bi, bf, bg, bo] = quarters(self.bias);
        let rows = self.gates.chunks_exact_mut(4 * n).zip(self.before.chunks_exact(n));
        let states = self.c.chunks_exact_mut(n).zip(self.h.chunks_exact_mut(n));
        for ((gates, before), (c, h)) in rows.zip(states) {
            let [i, f, g, o] = quarters_mut(gates);
            map_in(simd, LstmCell, [bi, bf, bg, bo, before], [i, f, g, o, c, h]);
        }
    }
}

/// One step of an LSTM (Hochreiter and Schmidhuber, 1997, with the forget gate of Gers et al., 2000) for
/// rows of `bias.len() / 4` units: `gates [rows, 4 units]` come as the sums of products and leave as
///
/// ```text
/// i = σ(i + bᵢ)   f = σ(f + b_f)   g = tanh(g + b_g)   o = σ(o + bₒ)
/// c = f before + i g               h = o tanh(c)
/// ```
///
/// `before`, `c` and `h` are `[rows, units]`; each value within 2e-6 of the exact one.
///
/// # Panics
/// If the lengths do not fit.
#[track_caller]
pub fn lstm_cell(gates: &mut [f32], bias: &[f32], before: &[f32], c: &mut [f32], h: &mut [f32]) {
    let units = units(gates.len(), bias.len(), [before.len(), c.len(), h.len()]);
    if units > 0 {
        dispatch(Lstm { units, gates, bias, before, c, h });
    }
}

/// Beyond this the functions of a gate are nearer to their limits than `1e-10`. Three of their denominators, and what those are
/// multiplied by, have a product that is finite.
const FAR: f32 = 25.0;

/// The denominator of `σ(x) = 1 / (1 + e^-x)`.
#[inline(always)]
fn sigmoid_denominator<S: Simd>(x: F32s<S>) -> F32s<S> {
    exp_p1_lanes(-x.at_least(-FAR).at_most(FAR))
}

/// Numerator and denominator of `tanh x = e / (e + 2)`, with `e = e^2x - 1`.
#[inline(always)]
fn tanh_fraction<S: Simd>(x: F32s<S>) -> [F32s<S>; 2] {
    let e = exp_m1_lanes((x + x).at_least(-FAR).at_most(FAR));
    [e, e + 2.0]
}

#[derive(Clone, Copy)]
struct LstmState;

impl Map<f32, 9, 2> for LstmState {
    #[inline(always)]
    fn map<S: Simd>(
        self,
        [i, f, g, o, bi, bf, bg, bo, before]: Vectors<f32, S, 9>,
        _: Vectors<f32, S, 2>,
    ) -> Vectors<f32, S, 2> {
        let (i, f) = (sigmoid_denominator(i + bi), sigmoid_denominator(f + bf));
        let [g, below] = tanh_fraction(g + bg);
        let new = i * below;
        let c = before.mul_add(new, g * f) / (new * f);
        let [t, below] = tanh_fraction(c);
        [c, t / (sigmoid_denominator(o + bo) * below)]
    }
}

struct LstmStates<'a> {
    units: usize,
    sums: &'a [f32],
    bias: &'a [f32],
    before: &'a [f32],
    c: &'a mut [f32],
    h: &'a mut [f32],
}

impl WithSimd for LstmStates<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let n = self.units;
        let [bi, bf, bg, bo] = quarters(self.bias);
        let rows = self.sums.chunks_exact(4 * n).zip(self.before.chunks_exact(n));
        let states = self.c.chunks_exact_mut(n).zip(self.h.chunks_exact_mut(n));
        for ((sums, before), (c, h)) in rows.zip(states) {
            let [i, f, g, o] = quarters(sums);
            map_in(simd, LstmState, [i, f, g, o, bi, bf, bg, bo, before], [c, h]);
        }
    }
}

/// [`lstm_cell`] without the gates, which are not written.
///
/// # Panics
/// If the lengths do not fit.
#[track_caller]
pub fn lstm_state(sums: &[f32], bias: &[f32], before: &[f32], c: &mut [f32], h: &mut [f32]) {
    let units = units(sums.len(), bias.len(), [before.len(), c.len(), h.len()]);
    if units > 0 {
        dispatch(LstmStates { units, sums, bias, before, c, h });
    }
}

#[derive(Clone, Copy)]
struct LstmSlopes;

impl Map<f32, 7, 5> for LstmSlopes {
    #[inline(always)]
    fn map<S: Simd>(
        self,
        [i, f, g, o, before, c, dh]: Vectors<f32, S, 7>,
        [_, _, _, _, dc]: Vectors<f32, S, 5>,
    ) -> Vectors<f32, S, 5> {
        let t = tanh_lanes(c);
        // dc = dc + dh o (1 - t^2)
        let through = dh * o;
        let dc = (-(through * t)).mul_add(t, through) + dc;
        let slope = |y: F32s<S>| (-y).mul_add(y, y);
        [dc * g * slope(i), dc * before * slope(f), dc * i * (-g).mul_add(g, 1.0), dh * t * slope(o), dc * f]
    }
}

struct LstmBackward<'a> {
    units: usize,
    gates: &'a [f32],
    before: &'a [f32],
    c: &'a [f32],
    dh: &'a [f32],
    dc: &'a mut [f32],
    sums: &'a mut [f32],
}

impl WithSimd for LstmBackward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let n = self.units;
        let states = self.before.chunks_exact(n).zip(self.c.chunks_exact(n));
        let grads = self.dh.chunks_exact(n).zip(self.dc.chunks_exact_mut(n));
        let gates = self.gates.chunks_exact(4 * n).zip(self.sums.chunks_exact_mut(4 * n));
        for (((gates, sums), (before, c)), (dh, dc)) in gates.zip(states).zip(grads) {
            let ([i, f, g, o], [di, df, dg, d_o]) = (quarters(gates), quarters_mut(sums));
            map_in(simd, LstmSlopes, [i, f, g, o, before, c, dh], [di, df, dg, d_o, dc]);
        }
    }
}

/// The gradient of [`lstm_cell`] for rows of `units`: writes the gradients of the sums, given the `gates` as that left
/// them. `dc` comes as the gradient that the next step passes to `c`, and leaves as the one of `before`; `dh` is that of
/// `h`.
///
/// # Panics
/// If the lengths do not fit.
#[track_caller]
pub fn lstm_cell_backward(
    units: usize,
    gates: &[f32],
    before: &[f32],
    c: &[f32],
    dh: &[f32],
    dc: &mut [f32],
    sums: &mut [f32],
) {
    same_len(before.len(), c.len());
    same_len(gates.len(), sums.len());
    let units = self::units(gates.len(), 4 * units, [c.len(), dh.len(), dc.len()]);
    if units > 0 {
        dispatch(LstmBackward { units, gates, before, c, dh, dc, sums });
    }
}

#[derive(Clone, Copy)]
struct GruCell;

impl Map<f32, 5, 5> for GruCell {
    #[inline(always)]
    fn map<S: Simd>(
        self,
        [br, bz, bm, bn, before]: Vectors<f32, S, 5>,
        [r, z, m, n, _]: Vectors<f32, S, 5>,
    ) -> Vectors<f32, S, 5> {
        let (r, z, m) = (sigmoid_lanes(r + br), sigmoid_lanes(z + bz), m + bm);
        let n = tanh_lanes(r.mul_add(m, n + bn));
        [r, z, m, n, z.mul_add(before - n, n)]
    }
}

struct Gru<'a> {
    units: usize,
    gates: &'a mut [f32],
    bias: &'a [f32],
    before: &'a [f32],
    h: &'a mut [f32],
}

impl WithSimd for Gru<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let n = self.units;
        let [br, bz, bm, bn] = quarters(self.bias);
        let states = self.before.chunks_exact(n).zip(self.h.chunks_exact_mut(n));
        for (gates, (before, h)) in self.gates.chunks_exact_mut(4 * n).zip(states) {
            let [r, z, m, n] = quarters_mut(gates);
            map_in(simd, GruCell, [br, bz, bm, bn, before], [r, z, m, n, h]);
        }
    }
}

/// One step of a GRU (Cho et al., 2014, in PyTorch's form) for rows of `bias.len() / 4` units:
/// `gates [rows, 4 units]` come as the sums of products and leave as
///
/// ```text
/// r = σ(r + b_r)   z = σ(z + b_z)   m = m + b_m   n = tanh(n + b_n + r m)
/// h = (1 - z) n + z before
/// ```
///
/// where `m` is what the state, `n` what the input adds to the candidate. `before` and `h` are
/// `[rows, units]`; each value within 2e-6 of the exact one.
///
/// # Panics
/// If the lengths do not fit.
#[track_caller]
pub fn gru_cell(gates: &mut [f32], bias: &[f32], before: &[f32], h: &mut [f32]) {
    let units = units(gates.len(), bias.len(), [before.len(), h.len(), h.len()]);
    if units > 0 {
        dispatch(Gru { units, gates, bias, before, h });
    }
}

#[derive(Clone, Copy)]
struct GruState;

impl Map<f32, 9, 1> for GruState {
    #[inline(always)]
    fn map<S: Simd>(
        self,
        [r, z, m, n, br, bz, bm, bn, before]: Vectors<f32, S, 9>,
        _: Vectors<f32, S, 1>,
    ) -> Vectors<f32, S, 1> {
        let (r, z) = (sigmoid_denominator(r + br), sigmoid_denominator(z + bz));
        let [n, below] = tanh_fraction((m + bm) / r + (n + bn));
        // n + z (before - n), of n = n / below.
        [n.mul_add(z, before.mul_add(below, -n)) / (below * z)]
    }
}

struct GruStates<'a> {
    units: usize,
    sums: &'a [f32],
    bias: &'a [f32],
    before: &'a [f32],
    h: &'a mut [f32],
}

impl WithSimd for GruStates<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let n = self.units;
        let [br, bz, bm, bn] = quarters(self.bias);
        let states = self.before.chunks_exact(n).zip(self.h.chunks_exact_mut(n));
        for (sums, (before, h)) in self.sums.chunks_exact(4 * n).zip(states) {
            let [r, z, m, n] = quarters(sums);
            map_in(simd, GruState, [r, z, m, n, br, bz, bm, bn, before], [h]);
        }
    }
}

/// [`gru_cell`] without the gates, which are not written.
///
/// # Panics
/// If the lengths do not fit.
#[track_caller]
pub fn gru_state(sums: &[f32], bias: &[f32], before: &[f32], h: &mut [f32]) {
    let units = units(sums.len(), bias.len(), [before.len(), h.len(), h.len()]);
    if units > 0 {
        dispatch(GruStates { units, sums, bias, before, h });
    }
}

#[derive(Clone, Copy)]
struct GruSlopes;

impl Map<f32, 5, 5> for GruSlopes {
    #[inline(always)]
    fn map<S: Simd>(
        self,
        [r, z, m, n, before]: Vectors<f32, S, 5>,
        [_, _, _, _, dh]: Vectors<f32, S, 5>,
    ) -> Vectors<f32, S, 5> {
        let slope = |y: F32s<S>| (-y).mul_add(y, y);
        let kept = dh * z;
        let dn = (dh - kept) * (-n).mul_add(n, 1.0);
        [dn * m * slope(r), dh * (before - n) * slope(z), dn * r, dn, kept]
    }
}

struct GruBackward<'a> {
    units: usize,
    gates: &'a [f32],
    before: &'a [f32],
    dh: &'a mut [f32],
    sums: &'a mut [f32],
}

impl WithSimd for GruBackward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let n = self.units;
        let states = self.before.chunks_exact(n).zip(self.dh.chunks_exact_mut(n));
        let gates = self.gates.chunks_exact(4 * n).zip(self.sums.chunks_exact_mut(4 * n));
        for ((gates, sums), (before, dh)) in gates.zip(states) {
            let ([r, z, m, n], [dr, dz, dm, dn]) = (quarters(gates), quarters_mut(sums));
            map_in(simd, GruSlopes, [r, z, m, n, before], [dr, dz, dm, dn, dh]);
        }
    }
}

/// The gradient of [`gru_cell`] for rows of `units`: writes the gradients of the sums, given the `gates` as that left
/// them. `dh` comes as the gradient of `h` and leaves as that part of the gradient of `before` which does not go through
/// the gates.
///
/// # Panics
/// If the lengths do not fit.
#[track_caller]
pub fn gru_cell_backward(units: usize, gates: &[f32], before: &[f32], dh: &mut [f32], sums: &mut [f32]) {
    same_len(gates.len(), sums.len());
    let units = self::units(gates.len(), 4 * units, [before.len(), dh.len(), dh.len()]);
    if units > 0 {
        dispatch(GruBackward { units, gates, before, dh, sums });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Unaligned, assert_within, for_every_length};

    const ROWS: usize = 3;

    fn sigmoid(x: f64) -> f64 {
        1.0 / (1.0 + (-x).exp())
    }

    /// A step in `f64`: the gates as they leave, then the states.
    fn lstm([i, f, g, o]: [f64; 4], before: f64) -> [f64; 6] {
        let (i, f, g, o) = (sigmoid(i), sigmoid(f), g.tanh(), sigmoid(o));
        let c = f * before + i * g;
        [i, f, g, o, c, o * c.tanh()]
    }

    fn gru([r, z, m, n]: [f64; 4], before: f64) -> [f64; 5] {
        let (r, z) = (sigmoid(r), sigmoid(z));
        let n = (n + r * m).tanh();
        [r, z, m, n, (1.0 - z) * n + z * before]
    }

    /// The slope of `f` along one of its arguments.
    fn slope(f: impl Fn(f64) -> f64) -> f64 {
        (f(1e-5) - f(-1e-5)) / 2e-5
    }

    /// Repeats the data of one row, so that rows are as long as the case has it.
    fn rows(row: &Unaligned<f32>) -> Vec<f32> {
        row.repeat(ROWS)
    }

    fn gates(parts: &[Unaligned<f32>; 4]) -> Vec<f32> {
        let row: Vec<f32> = parts.iter().flat_map(|part| part.iter().copied()).collect();
        row.repeat(ROWS)
    }

    #[test]
    fn lstm_forward_and_backward() {
        for_every_length(|case| {
            let n = case.len;
            let sums = [0; 4].map(|_| case.between::<f32>(-4.0, 4.0));
            let bias: Vec<f32> = (0..4).flat_map(|_| case.numbers::<f32>().to_vec()).collect();
            let (before, dh, dc) = (case.numbers::<f32>(), case.numbers::<f32>(), case.numbers::<f32>());
            let (mut y, before, dh, mut dc_before) = (gates(&sums), rows(&before), rows(&dh), rows(&dc));
            let [mut c, mut h, mut c_alone, mut h_alone] = [(); 4].map(|()| vec![f32::NAN; ROWS * n]);
            lstm_state(&y, &bias, &before, &mut c_alone, &mut h_alone);
            lstm_cell(&mut y, &bias, &before, &mut c, &mut h);
            let mut grads = vec![f32::NAN; y.len()];
            lstm_cell_backward(n, &y, &before, &c, &dh, &mut dc_before, &mut grads);
            for at in 0..ROWS * n {
                let (row, unit) = (at / n, at % n);
                let gate = |k: usize| row * 4 * n + k * n + unit;
                let x = std::array::from_fn(|k| f64::from(sums[k][unit]) + f64::from(bias[k * n + unit]));
                let old = f64::from(before[at]);
                let exact = lstm(x, old);
                for k in 0..4 {
                    assert_within(y[gate(k)], exact[k], 2e-6, &case.name);
                }
                assert_within(c[at], exact[4], 2e-6, &case.name);
                assert_within(h[at], exact[5], 2e-6, &case.name);
                assert_within(c_alone[at], exact[4], 2e-6, &case.name);
                assert_within(h_alone[at], exact[5], 2e-6, &case.name);
                let (dh, dc) = (f64::from(dh[at]), f64::from(dc[unit]));
                let objective = |x, old| {
                    let [.., c, h] = lstm(x, old);
                    dh * h + dc * c
                };
                for k in 0..4 {
                    let along = |step: f64| {
                        let mut moved = x;
                        moved[k] += step;
                        objective(moved, old)
                    };
                    assert_within(grads[gate(k)], slope(along), 1e-5, &case.name);
                }
                assert_within(dc_before[at], slope(|step| objective(x, old + step)), 1e-5, &case.name);
            }
        });
    }

    #[test]
    fn gru_forward_and_backward() {
        for_every_length(|case| {
            let n = case.len;
            let sums = [0; 4].map(|_| case.between::<f32>(-4.0, 4.0));
            let bias: Vec<f32> = (0..4).flat_map(|_| case.numbers::<f32>().to_vec()).collect();
            let (before, grad) = (case.numbers::<f32>(), case.numbers::<f32>());
            let (mut y, before, mut dh) = (gates(&sums), rows(&before), rows(&grad));
            let [mut h, mut alone] = [(); 2].map(|()| vec![f32::NAN; ROWS * n]);
            gru_state(&y, &bias, &before, &mut alone);
            gru_cell(&mut y, &bias, &before, &mut h);
            let mut grads = vec![f32::NAN; y.len()];
            gru_cell_backward(n, &y, &before, &mut dh, &mut grads);
            for at in 0..ROWS * n {
                let (row, unit) = (at / n, at % n);
                let gate = |k: usize| row * 4 * n + k * n + unit;
                let x = std::array::from_fn(|k| f64::from(sums[k][unit]) + f64::from(bias[k * n + unit]));
                let (old, g) = (f64::from(before[at]), f64::from(grad[unit]));
                let exact = gru(x, old);
                for k in 0..4 {
                    assert_within(y[gate(k)], exact[k], 2e-6, &case.name);
                }
                assert_within(h[at], exact[4], 2e-6, &case.name);
                assert_within(alone[at], exact[4], 2e-6, &case.name);
                for k in 0..4 {
                    let along = |step: f64| {
                        let mut moved = x;
                        moved[k] += step;
                        g * gru(moved, old)[4]
                    };
                    assert_within(grads[gate(k)], slope(along), 1e-5, &case.name);
                }
                assert_within(dh[at], slope(|step| g * gru(x, old + step)[4]), 1e-5, &case.name);
            }
        });
    }

    #[test]
    fn states_of_far_sums_are_those_of_limits() {
        const FAR: [f32; 7] = [-f32::MAX, -1e4, -30.0, 0.0, 30.0, 1e4, f32::MAX];
        let exact = |x: [f32; 4]| x.map(f64::from);
        let bias = [0.0; 4];
        for index in 0..FAR.len().pow(4) {
            let sums = [0, 1, 2, 3].map(|k| FAR[index / FAR.len().pow(k) % FAR.len()]);
            for before in [-1e5, -0.5, 0.0, 1e5] {
                let [mut c, mut h] = [f32::NAN; 2];
                lstm_state(
                    &sums,
                    &bias,
                    &[before],
                    std::slice::from_mut(&mut c),
                    std::slice::from_mut(&mut h),
                );
                let [.., exact_c, exact_h] = lstm(exact(sums), f64::from(before));
                let name = format!("{sums:?} and {before}");
                assert_within(c, exact_c, 4e-6 * f64::from(before).abs().max(1.0), &name);
                assert_within(h, exact_h, 4e-6, &name);
                // Not so large that what the state adds to the candidate cancels it.
                let (before, [r, z, m, n]) = (before.clamp(-1.0, 1.0), sums);
                let sums = [r, z, m.clamp(-1e3, 1e3), n];
                gru_state(&sums, &bias, &[before], std::slice::from_mut(&mut h));
                assert_within(h, gru(exact(sums), f64::from(before))[4], 4e-6, &name);
            }
        }
        let mut states = [[0.0; 1]; 3];
        let [c, h, other] = &mut states;
        lstm_state(&[f32::NAN; 4], &bias, &[0.0], c, h);
        gru_state(&[f32::NAN; 4], &bias, &[0.0], other);
        assert!(states.as_flattened().iter().all(|x| x.is_nan()), "{states:?}");
    }

    #[test]
    #[should_panic(expected = "7 gates are no whole rows of 4")]
    fn half_rows_panic() {
        gru_cell(&mut [0.0; 7], &[0.0; 4], &[0.0; 2], &mut [0.0; 2]);
    }
}
