//! The operands of the kernels, and the last step of the sums.

use half::bf16;

use crate::bf16::layout::WIDTH;
use crate::options::{Accum, Bias, Options};
use crate::view::MatMut;

/// A product of packed operands.
pub(crate) struct Product<'a, 'd> {
    pub(crate) dst: MatMut<'d, f32>,
    pub(crate) panel: &'a [bf16],
    pub(crate) strips: &'a [bf16],
    /// The length of a strip of the right operand.
    pub(crate) strip: usize,
    /// Rows of a tile of the panel.
    pub(crate) height: usize,
    pub(crate) finish: Finish<'a>,
}

impl Product<'_, '_> {
    /// A tile's strip of the left operand, and one of the right operand.
    pub(crate) fn left(&self, tile: usize) -> &[bf16] {
        let strip = self.strip / WIDTH * self.height;
        &self.panel[tile * strip..][..strip]
    }

    pub(crate) fn right(&self, tile: usize) -> &[bf16] {
        &self.strips[tile * self.strip..][..self.strip]
    }

    /// The tiles of the result: down, and across.
    pub(crate) fn tiles(&self) -> (usize, usize) {
        (self.dst.nrows().div_ceil(WIDTH), self.dst.ncols().div_ceil(WIDTH))
    }

    /// The rows of a tile that are not padding.
    pub(crate) fn rows_of(&self, tile: usize) -> usize {
        (self.dst.nrows() - tile * WIDTH).min(WIDTH)
    }

    /// Writes some rows of sums, from `row` of the tile `(i, j)`, to the destination.
    #[inline(always)]
    pub(crate) fn put(&mut self, i: usize, j: usize, row: usize, sums: &[[f32; WIDTH]]) {
        let left = j * WIDTH;
        let width = (self.dst.ncols() - left).min(WIDTH);
        let top = i * WIDTH + row;
        let rows = sums.len().min(self.dst.nrows().saturating_sub(top));
        let Finish { accum, alpha, bias } = self.finish;
        for (row, sums) in (top..).zip(&sums[..rows]) {
            // A whole row of the tile has a length that the compiler knows.
            let mut sums = sums.map(|sum| alpha * sum);
            if accum == Accum::Add {
                if self.dst.col_stride() == 1 && width == WIDTH {
                    let old: &[f32; WIDTH] =
                        self.dst.row_mut(row)[left..].first_chunk().expect("a whole row");
                    for l in 0..WIDTH {
                        sums[l] += old[l];
                    }
                } else {
                    for (l, sum) in sums.iter_mut().enumerate().take(width) {
                        *sum += *self.dst.at(row, left + l);
                    }
                }
            }
            match bias {
                Some(Bias::PerColumn(values)) => match values[left..].first_chunk::<WIDTH>() {
                    Some(values) => {
                        for l in 0..WIDTH {
                            sums[l] += values[l];
                        }
                    }
                    None => sums.iter_mut().zip(&values[left..]).for_each(|(sum, value)| *sum += value),
                },
                Some(Bias::PerRow(values)) => sums.iter_mut().for_each(|sum| *sum += values[row]),
                None => {}
            }
            if self.dst.col_stride() == 1 {
                let place = &mut self.dst.row_mut(row)[left..left + width];
                match place.first_chunk_mut::<WIDTH>() {
                    Some(place) => *place = sums,
                    None => place.copy_from_slice(&sums[..width]),
                }
            } else {
                for (l, sum) in sums.iter().enumerate().take(width) {
                    *self.dst.at(row, left + l) = *sum;
                }
            }
        }
    }
}

/// The last step of sums on their way into the destination, apart from the activation.
#[derive(Clone, Copy)]
pub(crate) struct Finish<'a> {
    pub(crate) accum: Accum,
    pub(crate) alpha: f32,
    pub(crate) bias: Option<Bias<'a>>,
}

impl<'a> Finish<'a> {
    pub(crate) fn of(options: &Options<'a>) -> Self {
        Self { accum: options.accum, alpha: options.alpha, bias: options.bias }
    }

    /// Whether sums are written unchanged.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn is_plain(self) -> bool {
        self.accum == Accum::Replace && self.alpha == 1.0 && self.bias.is_none()
    }
}

/// The first values of tiles of sums.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(crate) enum InitialSums<'a> {
    Zeros,
    /// The old values of the destination.
    Destination,
    /// A value for each column.
    Bias(&'a [f32]),
}

#[cfg(target_arch = "x86_64")]
impl<'a> Finish<'a> {
    /// The values that sums are added to once they are scaled; `None` if these are several.
    pub(crate) fn initial(self) -> Option<InitialSums<'a>> {
        match (self.accum, self.bias) {
            (Accum::Replace, None) => Some(InitialSums::Zeros),
            (Accum::Add, None) => Some(InitialSums::Destination),
            (Accum::Replace, Some(Bias::PerColumn(values))) => Some(InitialSums::Bias(values)),
            _ => None,
        }
    }

    /// The first values of tiles of sums, and the step that is left for the end.
    pub(crate) fn split(self) -> (InitialSums<'a>, Self) {
        match self.initial() {
            Some(first) if self.alpha == 1.0 => {
                (first, Self { accum: Accum::Replace, alpha: 1.0, bias: None })
            }
            _ => (InitialSums::Zeros, self),
        }
    }
}
