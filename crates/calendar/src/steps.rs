//! Times and series of the rows of a table, held as stretches of equal steps: a regular column takes no
//! room, whether the rows of a series stand together or those of a time.

/// A sequence of integers.
#[derive(Clone, Debug, Default)]
pub struct Steps {
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
    /// How many there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The bytes that the stretches take.
    pub fn bytes(&self) -> usize {
        self.stretches.len() * size_of::<Stretch>()
    }

    /// Adds one behind the last.
    pub fn push(&mut self, value: i64) {
        match self.stretches.last_mut() {
            Some(last) if last.row + 1 == self.len => last.step = value.wrapping_sub(last.first),
            Some(last) if last.at(self.len) == value => {}
            _ => self.stretches.push(Stretch { row: self.len, first: value, step: 0 }),
        }
        self.len += 1;
    }

    /// Appends `len` integers, of which each is a step after the one before.
    fn push_stretch(&mut self, Stretch { first, step, .. }: Stretch, len: usize) {
        // Three of them make a stretch, whatever stands before.
        (0..len.min(3)).for_each(|i| self.push(first.wrapping_add(step.wrapping_mul(i as i64))));
        self.len += len.saturating_sub(3);
    }

    /// Appends those of another.
    pub fn append(&mut self, other: &Self) {
        other.stretches().for_each(|(stretch, len)| self.push_stretch(stretch, len));
    }

    /// Appends what `of` makes of those of another.
    pub fn append_mapped(&mut self, other: &Self, of: impl Fn(i64) -> i64) {
        for (stretch, len) in other.stretches() {
            match stretch.step {
                0 => self.push_stretch(Stretch { first: of(stretch.first), ..stretch }, len),
                _ => (0..len).for_each(|i| self.push(of(stretch.at(stretch.row + i)))),
            }
        }
    }

    /// The stretches, and how long they are.
    fn stretches(&self) -> impl Iterator<Item = (Stretch, usize)> {
        let ends = self.stretches.iter().skip(1).map(|next| next.row).chain([self.len]);
        self.stretches.iter().zip(ends).map(|(stretch, end)| (*stretch, end - stretch.row))
    }

    /// Adds `by` to each of them.
    pub fn shift(&mut self, by: i64) {
        self.stretches.iter_mut().for_each(|stretch| stretch.first = stretch.first.wrapping_add(by));
    }

    /// That of a row.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn get(&self, row: usize) -> i64 {
        self.stretches[self.stretches.partition_point(|stretch| stretch.row <= row) - 1].at(row)
    }

    /// The same as a function of the row, for looks in any order: integers without any order are held, and found, one by one.
    pub fn into_lookup(self) -> impl Fn(u32) -> i64 {
        let each: Vec<i64> =
            if self.bytes() > self.len * size_of::<i64>() { self.iter().collect() } else { Vec::new() };
        let steps = if each.is_empty() { self } else { Self::default() };
        move |row| each.get(row as usize).copied().unwrap_or_else(|| steps.get(row as usize))
    }

    /// Those of `len` rows from `start` on as the first of them and the step to the next, if all steps are equal and that
    /// takes no look at each of them.
    pub fn regular(&self, start: usize, len: usize) -> Option<(i64, i64)> {
        let next = self.stretches.partition_point(|stretch| stretch.row <= start);
        let stretch = self.stretches.get(next.checked_sub(1)?)?;
        let end = self.stretches.get(next).map_or(self.len, |next| next.row);
        let first = stretch.at(start);
        let last = stretch.step.checked_mul(len as i64 - 1).and_then(|steps| first.checked_add(steps));
        (start + len <= end && last.is_some()).then_some((first, stretch.step))
    }

    /// Equal ones that follow each other, with their number; those of a row may be given in several pieces.
    pub fn runs(&self) -> impl Iterator<Item = (i64, usize)> {
        self.stretches().flat_map(|(stretch, len)| {
            let (pieces, rows) = if stretch.step == 0 { (1, len) } else { (len, 1) };
            (0..pieces).map(move |i| (stretch.at(stretch.row + i), rows))
        })
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = i64> {
        let rows = |(stretch, len): (Stretch, usize)| (0..len).map(move |i| stretch.at(stretch.row + i));
        self.stretches().flat_map(rows)
    }

    /// The times of `len` rows from `start` on, in `out`.
    pub fn copy(&self, start: usize, len: usize, out: &mut Vec<i64>) {
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
            if let Some((first, step)) = held.regular(from, out.len()) {
                let steps = (0..out.len()).map(|i| first.wrapping_add(step.wrapping_mul(i as i64)));
                prop_assert!(steps.eq(out.iter().copied()));
            }
            let at = held.clone().into_lookup();
            prop_assert!((0..times.len()).rev().all(|row| at(row as u32) == times[row]));
            let runs = held.runs().flat_map(|(time, rows)| std::iter::repeat_n(time, rows));
            prop_assert!(runs.eq(times.iter().copied()));
            // Two halves, put together.
            let mut halves = [Steps::default(), Steps::default(), Steps::default(), Steps::default()];
            times[..from].iter().for_each(|time| halves[0].push(*time));
            times[from..].iter().for_each(|time| halves[1].push(*time));
            let [first, second, whole, mapped] = &mut halves;
            whole.append(first);
            whole.append(second);
            prop_assert_eq!(whole.iter().collect::<Vec<_>>(), times.clone());
            prop_assert_eq!(whole.bytes(), held.bytes());
            mapped.append_mapped(&held, |time| time ^ 1);
            prop_assert_eq!(mapped.iter().collect::<Vec<_>>(), times.iter().map(|time| time ^ 1).collect::<Vec<_>>());
        }
    }
}
