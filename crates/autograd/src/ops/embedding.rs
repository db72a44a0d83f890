//! Rows of a table, looked up by number.

use foretell_simd as simd;
use foretell_tensor::Tensor;
use foretell_tensor::trace::{self, Record};

use crate::Var;

impl Var {
    /// Rows of this table, `[rows, width]`, by their numbers: `ids [...]` to `[..., width]`. Row 0 is never read: it
    /// stands for categories that the table does not know, and gives the mean of the other rows.
    ///
    /// # Panics
    /// If a number is not that of a row, or row 0 is the only row.
    #[track_caller]
    pub fn embedding(&self, ids: &Tensor) -> Self {
        let [rows, width] = self.shape()[..] else { panic!("a table of shape {:?}", self.shape()) };
        assert!(rows > 1, "a table of {rows} rows, of which the first is not read");
        let (table, ids) = (self.value().contiguous(), ids.contiguous());
        let row = move |id: f32| {
            assert!(id >= 0.0 && id < rows as f32, "row {id} of a table of {rows}");
            let start = id as usize * width;
            start..start + width
        };
        let unknown = ids.values().contains(&0.0).then(|| {
            let mut mean = vec![0.0; width];
            table.values()[width..].chunks_exact(width).for_each(|row| simd::add_assign(&mut mean, row));
            simd::scale(&mut mean, 1.0 / (rows - 1) as f32);
            mean
        });
        let value = Tensor::build(ids.shape().with(ids.rank(), width), |out| {
            for (out, &id) in out.chunks_exact_mut(width).zip(ids.values()) {
                out.copy_from_slice(match &unknown {
                    Some(mean) if id == 0.0 => mean,
                    _ => &table.values()[row(id)],
                });
            }
        });
        trace::record(|| Record::new("embedding").input(&table).input(&ids).output(&value));
        let edge = self.edge();
        Self::operation(value, &[self], move |grad, gradients| {
            gradients.accumulate(&edge, [rows, width], |table| {
                let mut unknown = vec![0.0; width];
                for (grad, &id) in grad.values().chunks_exact(width).zip(ids.values()) {
                    simd::add_assign(if id == 0.0 { &mut unknown } else { &mut table[row(id)] }, grad);
                }
                simd::scale(&mut unknown, 1.0 / (rows - 1) as f32);
                table[width..].chunks_exact_mut(width).for_each(|row| simd::add_assign(row, &unknown));
            });
        })
    }
}

#[cfg(test)]
mod tests {
    use foretell_tensor::Tensor;

    use crate::Var;
    use crate::ops::check::{gradients, random};
    use crate::ops::torch;

    #[test]
    fn the_unknown_is_the_mean_of_what_is_known() {
        let table = Tensor::from_slice(&[9.0, 9.0, 1.0, 2.0, 3.0, 6.0], [3, 2]);
        let ids = Tensor::from_slice(&[2.0, 0.0, 1.0, 2.0], [2, 2]);
        let rows = Var::constant(table).embedding(&ids);
        assert_eq!(&*rows.shape(), [2, 2, 2]);
        assert_eq!(rows.value().to_vec(), [3.0, 6.0, 2.0, 4.0, 1.0, 2.0, 3.0, 6.0]);
    }

    #[test]
    fn gradients_are_added_up_by_row() {
        for ids in [&[1.0, 3.0, 1.0, 2.0], &[0.0, 3.0, 0.0, 1.0]] {
            let ids = Tensor::from_slice(ids, [2, 2]);
            // By differences, row 0 has no influence; its gradient must be there and zero.
            gradients(&[random([4, 3], 1)], |v| v[0].embedding(&ids));
        }
    }

    #[test]
    #[should_panic(expected = "row 3 of a table of 3")]
    fn rows_that_are_not_there_are_not_read() {
        Var::constant(Tensor::zeros([3, 2])).embedding(&Tensor::scalar(3.0));
    }

    #[test]
    fn agrees_with_pytorch() {
        torch::assert_matches_pytorch("embedding", |x, a| x[0].embedding(&a.tensor("ids")));
    }
}
