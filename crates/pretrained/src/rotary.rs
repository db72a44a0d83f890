//! Rotary positions (Su et al. 2021): the numbers of a head, two by two, are turned by angles that grow with the place of their token, so
//! that the score of a query and a key depends on how far apart they are.

/// Sines and cosines of the angles of each place.
#[derive(Debug)]
pub(crate) struct Rotary {
    /// `[places, width / 2]`.
    cosines: Vec<f32>,
    sines: Vec<f32>,
    width: usize,
}

impl Rotary {
    /// Those of heads of an even `width` at this many places, of wavelengths up to `theta`. In 32 bits, as the packages compute them: angles
    /// of far places have errors that both then share.
    pub(crate) fn new(width: usize, theta: f32, places: usize) -> Self {
        let rate = |i: usize| 1.0 / theta.powf((2 * i) as f32 / width as f32);
        let rates: Vec<f32> = (0..width / 2).map(rate).collect();
        let angles: Vec<f32> =
            (0..places).flat_map(|place| rates.iter().map(move |rate| rate * place as f32)).collect();
        let of = |function: fn(f32) -> f32| angles.iter().map(|angle| function(*angle)).collect();
        Self { cosines: of(f32::cos), sines: of(f32::sin), width }
    }

    /// Turns the heads of each row, which are its first numbers up to `inner`, as the place of its token says: `rows [places, stride]`.
    pub(crate) fn turn(&self, rows: &mut [f32], stride: usize, inner: usize, places: &[usize]) {
        let half = self.width / 2;
        for (row, place) in rows.chunks_exact_mut(stride).zip(places) {
            let [cosines, sines] = [&self.cosines, &self.sines].map(|of| &of[place * half..][..half]);
            for head in row[..inner].chunks_exact_mut(self.width) {
                let (first, second) = head.split_at_mut(half);
                for (((a, b), cosine), sine) in first.iter_mut().zip(second).zip(cosines).zip(sines) {
                    (*a, *b) = (*a * cosine - *b * sine, *b * cosine + *a * sine);
                }
            }
        }
    }

    pub(crate) fn bytes(&self) -> u64 {
        (size_of_val(&*self.cosines) + size_of_val(&*self.sines)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_depend_on_how_far_apart_tokens_are() {
        let rotary = Rotary::new(4, 10_000.0, 40);
        // A query at one place and a key at another, each of one head and a number that is none's.
        let score = |query: usize, key: usize| {
            let mut rows = [0.3, -0.7, 0.9, 0.2, 5.0, 0.8, 0.1, -0.4, 0.6, 5.0];
            rotary.turn(&mut rows, 5, 4, &[query, key]);
            assert_eq!([rows[4], rows[9]], [5.0, 5.0]);
            rows[..4].iter().zip(&rows[5..9]).map(|(a, b)| a * b).sum::<f32>()
        };
        assert!((score(3, 8) - score(20, 25)).abs() < 1e-5);
        assert!((score(3, 8) - score(20, 27)).abs() > 1e-2);
        // The first pair of numbers turns by an angle of 1 a place, the second by 1/100.
        let mut row = [1.0, 0.0, 0.0, 1.0];
        rotary.turn(&mut row, 4, 4, &[2]);
        let expected = [2.0_f32.cos(), -0.02_f32.sin(), 2.0_f32.sin(), 0.02_f32.cos()];
        assert!(row.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{row:?}");
    }
}
