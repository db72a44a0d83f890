//! Windows cut from synthetic series: each is a function of the seed and its number.

use foretell_pretrained::foretell0::lesson::TrainingWindow;
use foretell_pretrained::foretell0::network::{FUTURE, PAST};
use foretell_pretrained::foretell0::window::{LARGEST, PATCH, ReadyWindow, WindowShape};
use foretell_simd::{Key, Stream};
use foretell_synthetic::SyntheticSeries;

/// Windows that are cut from each series.
const PER_SERIES: u64 = 2;

/// A number that no index of series reaches, for those that are drawn in place of constant ones.
const IN_PLACE: u64 = 1 << 40;

/// Steps of the calendar that a window may be told of though its series has no such season.
const CALENDARS: [f32; 7] = [4.0, 5.0, 7.0, 12.0, 24.0, 48.0, 52.0];

/// The shape of the windows of a step: histories of a few patches to the longest, since short ones are cheap and most real series are short;
/// mostly near futures, sometimes the farthest.
pub fn shape(seed: u64, step: u64) -> WindowShape {
    let mut stream = Stream::new(Key::new(seed).fold(step).fold(1));
    let past = match stream.below(10) {
        0..2 => PAST,
        2..6 => 8 + stream.below(PAST as u64 - 12) as usize,
        _ => 1 + stream.below(10) as usize,
    };
    let future = [1, 1, 1, 2, 2, 2, 3, 3, 4, 6, FUTURE][stream.below(11) as usize];
    // What is far ahead of a short history nothing tells of.
    WindowShape { past, future: future.min(2 * past) }
}

/// Window `index` of this shape.
pub fn window(seed: u64, index: u64, shape: WindowShape) -> TrainingWindow {
    let mut attempt = 0;
    loop {
        let key = Key::new(seed).fold(index).fold(2 + attempt);
        if let Some(window) = cut(seed, index / PER_SERIES + attempt * IN_PLACE, key, shape) {
            return window;
        }
        attempt += 1;
    }
}

fn cut(seed: u64, index: u64, key: Key, shape: WindowShape) -> Option<TrainingWindow> {
    let mut stream = Stream::new(key);
    let mut chance = |probability: f64| stream.uniform_f64() < probability;
    let steps = shape.tokens() * PATCH;
    let [mirrored, told, wrongly, short, gaps] =
        [chance(0.3), chance(0.6), chance(0.12), chance(0.3), chance(0.08)];
    let mut below = |n: usize| stream.below(n as u64) as usize;
    let series = SyntheticSeries::new(seed, index, steps + steps / 4);
    let start = below(steps / 4 + 1);
    let mut values = series.values[start..start + steps].to_vec();
    if mirrored {
        values.iter_mut().for_each(|value| *value = -*value);
    }
    let (past, future) = values.split_at_mut(shape.past * PATCH);
    // Histories end with the window and begin anywhere in the first patch, some much later.
    let least = 12.min(past.len());
    let skipped =
        if short { below(past.len() - least + 1) } else { below(PATCH.min(past.len() - least + 1)) };
    let history = &mut past[skipped..];
    if gaps {
        lose(history, &mut below);
    }
    let calendar: Vec<f32> = if wrongly {
        vec![CALENDARS[below(CALENDARS.len())]]
    } else if told {
        series.seasons.iter().map(|season| season.round()).take(2).collect()
    } else {
        Vec::new()
    };
    let ready = ReadyWindow::new(history, &calendar, shape)?;
    let scaled = |value: &f32| ready.scale.apply(*value).clamp(-LARGEST, LARGEST);
    let targets = future.iter().map(scaled).collect();
    Some(TrainingWindow { ready, targets, weights: vec![1.0; future.len()] })
}

/// Makes values unknown: runs of them, or any.
fn lose(history: &mut [f32], below: &mut impl FnMut(usize) -> usize) {
    if below(2) == 0 {
        for _ in 0..1 + below(4) {
            let (from, len) = (below(history.len()), 1 + below(history.len() / 4));
            history.iter_mut().skip(from).take(len).for_each(|value| *value = f32::NAN);
        }
    } else {
        let every = 2 + below(20);
        for value in history.iter_mut() {
            if below(every) == 0 {
                *value = f32::NAN;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_a_function_of_seed_and_index() {
        let shape = WindowShape { past: 8, future: 2 };
        for index in 0..30 {
            let [one, other] = [0, 0].map(|_| window(5, index, shape));
            assert_eq!((one.ready.tokens, one.targets), (other.ready.tokens, other.targets));
        }
        assert_ne!(window(5, 0, shape).targets, window(5, 1, shape).targets);
        assert_ne!(window(5, 0, shape).targets, window(6, 0, shape).targets);
    }

    #[test]
    fn windows_are_finite_and_scaled() {
        for index in 0..100 {
            let shape = shape(3, index);
            let window = window(3, index, shape);
            let numbers = window.ready.tokens.iter().chain(&window.targets).chain(&window.ready.methods);
            assert!(
                numbers.clone().all(|number| number.is_finite() && number.abs() < 20.0),
                "window {index}"
            );
            assert_eq!(window.targets.len(), shape.future * PATCH);
            assert!(window.ready.spreads.iter().all(|spread| *spread > 0.0));
        }
    }

    #[test]
    fn shapes_vary_within_their_limits() {
        let shapes: Vec<WindowShape> = (0..400).map(|step| shape(1, step)).collect();
        assert!(
            shapes
                .iter()
                .all(|shape| (1..=PAST).contains(&shape.past) && (1..=FUTURE).contains(&shape.future))
        );
        assert!(
            shapes.iter().any(|shape| shape.future == FUTURE) && shapes.iter().any(|shape| shape.past < 4)
        );
        let longest = shapes.iter().filter(|shape| shape.past == PAST).count();
        assert!((50..120).contains(&longest), "{longest} of 400");
    }
}
