//! Times and series of the rows of a table, held as stretches of equal steps: a regular column takes no
//! room, whether the rows of a series stand together or those of a time.

/// A sequence of integers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Steps {
    stretches: Vec<Stretch>,
    len: usize,
}

#[derive(Clone, Copy, Debug)]
struct Stretch {
    /// Row at which it begins.
    row: usize,
    first: i64,
    /// Modulo 2^64, so that any two integers are a step apart.
    step: i64,
}

impl Stretch {
    fn at(&self, row: usize) -> i64 {
        self.first.wrapping_add(self.step.wrapping_mul((row - self.row) as i64))
    }
}

impl Steps {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The bytes that the stretches take.
    pub(crate) fn bytes(&self) -> usize {
        self.stretches.len() * size_of::<Stretch>()
    }

    pub(crate) fn push(&mut self, value: i64) {
        match self.stretches.last_mut() {
            Some(last) if last.row + 1 == self.len => last.step = value.wrapping_sub(last.first),
            Some(last) if last.at(self.len) == value => {}
            _ => self.stretches.push(Stretch { row: self.len, first: value, step: 0 }),
        }
        self.len += 1;
    }

    /// Adds `by` to each of them.
    pub(crate) fn shift(&mut self, by: i64) {
        self.stretches.iter_mut().for_each(|stretch| stretch.first = stretch.first.wrapping_add(by));
    }

    pub(crate) fn get(&self, row: usize) -> i64 {
        self.stretches[self.stretches.partition_point(|stretch| stretch.row <= row) - 1].at(row)
    }

    /// All times, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = i64> {
        let ends = self.stretches.iter().skip(1).map(|next| next.row).chain([self.len]);
        self.stretches
            .iter()
            .zip(ends)
            .flat_map(|(stretch, end)| (stretch.row..end).map(|row| stretch.at(row)))
    }

    /// The times of `len` rows from `start` on, in `out`.
    pub(crate) fn copy(&self, start: usize, len: usize, out: &mut Vec<i64>) {
        out.clear();
        let mut at = self.stretches.partition_point(|stretch| stretch.row <= start).max(1) - 1;
        for row in start..start + len {
            at += usize::from(self.stretches.get(at + 1).is_some_and(|next| next.row <= row));
            out.push(self.stretches[at].at(row));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn equal_steps_take_no_room() {
        let mut times = Steps::default();
        (0..1000).chain(0..1000).for_each(|step| times.push(step * 3600));
        assert_eq!((times.len(), times.stretches.len()), (2000, 2));
    }

    proptest! {
        #[test]
        fn times_are_given_back(
            times in prop::collection::vec(prop_oneof![0..4_i64, any::<i64>()], 1..60),
            from in 0..60_usize,
        ) {
            let mut held = Steps::default();
            times.iter().for_each(|time| held.push(*time));
            let mut out = Vec::new();
            let from = from % times.len();
            held.copy(from, times.len() - from, &mut out);
            prop_assert_eq!(&out, &times[from..]);
            prop_assert_eq!(held.iter().collect::<Vec<_>>(), times.clone());
            prop_assert_eq!(held.get(from), times[from]);
        }
    }
}
