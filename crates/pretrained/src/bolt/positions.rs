//! Relative positions in buckets (Raffel et al. 2020): a bias of each head for how far a key is from its query.

use super::config::BoltConfig;
use crate::error::PretrainedError;
use crate::weights::Weights;

/// The biases of each head by distance.
#[derive(Debug)]
pub(super) struct Positions {
    /// `[heads, 2 reach + 1]`, the distance 0 in the middle.
    biases: Vec<f32>,
    reach: usize,
}

/// The bucket of a key at this distance behind its query, or before it where that is negative: half of the buckets for either side,
/// half of those for single distances, and the others for ranges that grow to `most`. In 32 bits, as the package computes it.
fn bucket(distance: i64, buckets: usize, most: usize) -> usize {
    let half = buckets / 2;
    let side = if distance > 0 { half } else { 0 };
    let (size, exact) = (distance.unsigned_abs() as usize, half / 2);
    if size < exact {
        return side + size;
    }
    let range = (most as f64 / exact as f64).ln() as f32;
    let place = (size as f32 / exact as f32).ln() / range * (half - exact) as f32;
    side + (exact + place as usize).min(half - 1)
}

impl Positions {
    pub(super) fn take(weights: &mut Weights, config: &BoltConfig) -> Result<Self, PretrainedError> {
        let (buckets, most) = (config.relative_attention_num_buckets, config.relative_attention_max_distance);
        let name = "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight";
        let table = weights.take(name, &[buckets, config.num_heads])?;
        let reach = config.tokens();
        let distances = -(reach as i64)..=reach as i64;
        let biases = (0..config.num_heads).flat_map(|head| {
            let of = |distance: i64| table[bucket(distance, buckets, most) * config.num_heads + head];
            distances.clone().map(of).collect::<Vec<f32>>()
        });
        Ok(Self { biases: biases.collect(), reach })
    }

    /// The biases `[keys, keys]` of a head between keys at these places, which ascend.
    pub(super) fn write(&self, head: usize, places: &[usize], scores: &mut [f32]) {
        let width = 2 * self.reach + 1;
        let biases = &self.biases[head * width..(head + 1) * width];
        let keys = places.len();
        for (&query, row) in places.iter().zip(scores.chunks_exact_mut(keys)) {
            let zero = self.reach - query;
            match places[keys - 1] - places[0] == keys - 1 {
                true => row.copy_from_slice(&biases[zero + places[0]..][..keys]),
                false => row.iter_mut().zip(places).for_each(|(bias, key)| *bias = biases[zero + key]),
            }
        }
    }

    pub(super) fn bytes(&self) -> u64 {
        size_of_val(&*self.biases) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_places_have_buckets_of_their_own() {
        let of = |distance| bucket(distance, 32, 128);
        assert_eq!([0, -1, -7, 1, 7].map(of), [0, 1, 7, 17, 23]);
        assert_eq!([-8, -11, -12, -15, -16, -127, -128, -5000].map(of), [8, 8, 9, 9, 10, 15, 15, 15]);
        assert_eq!([8, 16, 64, 128].map(of), [24, 26, 30, 31]);
    }
}
