//! Histories that do not tell how much they vary.

/// Known values from which a history that never changed tells that it hardly will.
const LEAST: usize = 4;

/// Whether a history has fewer than four known values and all are alike: that does not tell that the next is. Reads no more than it needs.
pub fn is_hardly_known<T: PartialEq>(known: impl IntoIterator<Item = T>) -> bool {
    let mut known = known.into_iter().take(LEAST);
    let Some(first) = known.next() else { return true };
    let alike = known.try_fold(1, |count, value| (value == first).then_some(count + 1));
    alike.is_some_and(|count| count < LEAST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_values_that_are_alike_tell_little() {
        assert!(is_hardly_known([0.0; 0]) && is_hardly_known([7.0]) && is_hardly_known([7.0; 3]));
        assert!(!is_hardly_known([7.0; 4]) && !is_hardly_known([7.0, 8.0]));
        let mut read = 0;
        assert!(!is_hardly_known(std::iter::repeat(7.0).inspect(|_| read += 1)));
        assert_eq!(read, 4);
    }
}
