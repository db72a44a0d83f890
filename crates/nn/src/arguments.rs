//! The arguments of a class, such as a loss, an optimiser or a schedule: JSON that is read one by one.

use std::ops::RangeInclusive;

use serde_json::{Map, Number, Value};

use crate::HyperParameterError;

/// The range of a numeric argument.
#[derive(Clone, Copy, Debug)]
pub struct NumberRange {
    /// In words, as errors say it.
    pub expected: &'static str,
    /// Whether a number is one of them.
    pub holds: fn(f64) -> bool,
}

impl NumberRange {
    /// Any number.
    pub const ANY: Self = Self { expected: "a number", holds: f64::is_finite };
    /// 0 and above.
    pub const AT_LEAST_0: Self =
        Self { expected: "a number from 0", holds: |number| number >= 0.0 && number.is_finite() };
    /// Above 0.
    pub const POSITIVE: Self =
        Self { expected: "a positive number", holds: |number| number > 0.0 && number.is_finite() };
    /// From 0 to 1, both included.
    pub const FROM_0_TO_1: Self =
        Self { expected: "a number from 0 to 1", holds: |number| (0.0..=1.0).contains(&number) };
    /// From 0, which is included, to 1, which is not.
    pub const FROM_0_BELOW_1: Self =
        Self { expected: "a number from 0 to below 1", holds: |number| (0.0..1.0).contains(&number) };
    /// Between 0 and 1, neither included.
    pub const BETWEEN_0_AND_1: Self =
        Self { expected: "a number between 0 and 1", holds: |number| 0.0 < number && number < 1.0 };
}

/// The arguments of a class that is being read. Each is taken out as it is read, so what remains are arguments that
/// the class does not have. Absent and null ones take the default.
#[derive(Clone, Debug)]
pub struct Arguments {
    unread: Map<String, Value>,
    known: Vec<&'static str>,
}

impl Arguments {
    /// All arguments, none of them read.
    pub fn new(arguments: &Map<String, Value>) -> Self {
        Self { unread: arguments.clone(), known: Vec::new() }
    }

    /// The first argument that was not read, and its value: once the class has read all of its own, one that it does
    /// not have.
    pub fn first_unread(&self) -> Option<(&str, &Value)> {
        self.unread.iter().next().map(|(name, value)| (name.as_str(), value))
    }

    /// The value of an argument that was not read.
    pub fn unread(&self, name: &str) -> Option<&Value> {
        self.unread.get(name)
    }

    /// The names asked for so far, which are those of the class's arguments.
    pub fn known(&self) -> &[&'static str] {
        &self.known
    }

    /// Removes an argument that has no effect, whatever its value.
    pub fn ignore(&mut self, name: &str) {
        self.unread.shift_remove(name);
    }

    /// Removes an argument if it has this value, with which it has no effect.
    pub fn ignore_if(&mut self, name: &str, value: impl Into<Value>) {
        if self.unread.get(name) == Some(&value.into()) {
            self.ignore(name);
        }
    }

    /// The argument as written.
    pub fn take(&mut self, name: &'static str) -> Option<Value> {
        self.known.push(name);
        self.unread.shift_remove(name).filter(|value| !value.is_null())
    }

    /// A number as written.
    ///
    /// # Errors
    /// If the argument is no number, or one outside of the range.
    pub fn written_number(
        &mut self,
        name: &'static str,
        range: NumberRange,
    ) -> Result<Option<Number>, HyperParameterError> {
        let Some(value) = self.take(name) else { return Ok(None) };
        match value.as_number().filter(|number| number.as_f64().is_some_and(range.holds)) {
            Some(number) => Ok(Some(number.clone())),
            None => Err(HyperParameterError::new(name, range.expected, value)),
        }
    }

    /// A number.
    ///
    /// # Errors
    /// If the argument is no number, or one outside of the range.
    pub fn number(
        &mut self,
        name: &'static str,
        range: NumberRange,
    ) -> Result<Option<f64>, HyperParameterError> {
        Ok(self.written_number(name, range)?.and_then(|number| number.as_f64()))
    }

    /// A number without a default.
    ///
    /// # Errors
    /// If the argument is missing, no number, or one outside of the range.
    pub fn required_number(
        &mut self,
        name: &'static str,
        range: NumberRange,
    ) -> Result<f64, HyperParameterError> {
        self.number(name, range)?.ok_or_else(|| HyperParameterError::new(name, range.expected, Value::Null))
    }

    /// A whole number of this range.
    ///
    /// # Errors
    /// If the argument is anything else.
    pub fn count(
        &mut self,
        name: &'static str,
        range: RangeInclusive<u32>,
    ) -> Result<Option<u32>, HyperParameterError> {
        let Some(value) = self.take(name) else { return Ok(None) };
        let whole = value.as_f64().filter(|number| number.fract() == 0.0);
        let count = whole
            .map(|number| number as u32)
            .filter(|count| whole == Some(f64::from(*count)) && range.contains(count));
        let expected = || format!("a whole number between {} and {}", range.start(), range.end());
        count.map(Some).ok_or_else(|| HyperParameterError::new(name, expected(), value))
    }

    /// True or false.
    ///
    /// # Errors
    /// If the argument is anything else.
    pub fn flag(&mut self, name: &'static str, default: bool) -> Result<bool, HyperParameterError> {
        let Some(value) = self.take(name) else { return Ok(default) };
        value.as_bool().ok_or_else(|| HyperParameterError::new(name, "true or false", value))
    }

    /// Which of these words it is; the first is the default.
    ///
    /// # Errors
    /// If the argument is none of them.
    pub fn word<const N: usize>(
        &mut self,
        name: &'static str,
        words: [&str; N],
    ) -> Result<usize, HyperParameterError> {
        let Some(value) = self.take(name) else { return Ok(0) };
        let place = words.iter().position(|word| value == *word);
        place.ok_or_else(|| HyperParameterError::new(name, words.join(" or "), value))
    }

    /// A list of numbers of this range, which `expected` puts into words, and the list as written.
    ///
    /// # Errors
    /// If the argument is no list, or one of its items is anything else.
    pub fn numbers(
        &mut self,
        name: &'static str,
        expected: &'static str,
        range: fn(f64) -> bool,
    ) -> Result<Option<(Vec<f64>, Value)>, HyperParameterError> {
        let Some(value) = self.take(name) else { return Ok(None) };
        let numbers =
            value.as_array().and_then(|list| list.iter().map(|x| x.as_f64().filter(|&x| range(x))).collect());
        match numbers {
            Some(numbers) => Ok(Some((numbers, value))),
            None => Err(HyperParameterError::new(name, expected, value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn arguments(value: Value) -> Arguments {
        Arguments::new(value.as_object().expect("an object"))
    }

    #[test]
    fn what_is_read_is_taken_out_and_null_is_the_default() {
        let mut read =
            arguments(json!({ "a": 0.5, "b": null, "c": 3.0, "d": "abs", "e": false, "f": 1, "g": 2 }));
        assert_eq!(read.number("a", NumberRange::BETWEEN_0_AND_1), Ok(Some(0.5)));
        assert_eq!(read.number("b", NumberRange::ANY), Ok(None));
        assert_eq!(read.count("c", 1..=3), Ok(Some(3)));
        assert_eq!(read.word("d", ["rel", "abs"]), Ok(1));
        assert_eq!(read.word("missing", ["rel", "abs"]), Ok(0));
        assert_eq!((read.flag("e", true), read.flag("missing too", true)), (Ok(false), Ok(true)));
        read.ignore_if("f", 2);
        assert_eq!(read.first_unread(), Some(("f", &json!(1))));
        read.ignore_if("f", 1);
        read.ignore("g");
        assert_eq!(read.first_unread(), None);
        assert_eq!(read.known(), ["a", "b", "c", "d", "missing", "e", "missing too"]);
    }

    #[test]
    fn an_argument_that_is_refused_says_what_it_may_be() {
        let mut wrong = arguments(json!({ "a": 1.0, "b": -1, "c": 1.5, "d": 4_294_967_296_u64, "e": 0 }));
        let mut message = |name, range| wrong.number(name, range).expect_err("a mistake").to_string();
        let text = message("a", NumberRange::FROM_0_BELOW_1);
        assert_eq!(text, "hyper-parameter a must be a number from 0 to below 1, found 1.0");
        assert!(message("b", NumberRange::POSITIVE).ends_with("must be a positive number, found -1"));
        let mut message = |name| wrong.count(name, 0..=u32::MAX).expect_err("a mistake").to_string();
        assert_eq!(
            message("c"),
            "hyper-parameter c must be a whole number between 0 and 4294967295, found 1.5"
        );
        assert!(message("d").ends_with("found 4294967296"));
        assert!(wrong.flag("e", true).is_err());
        assert!(wrong.required_number("f", NumberRange::ANY).is_err());
    }
}
