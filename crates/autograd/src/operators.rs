//! `a + b`, `a - b`, `a * b`, `a / b`, `-a` and `a * 2.0`, for variables and references to them.

use std::ops::{Add, Div, Mul, Neg, Sub};

use crate::Var;

/// An operator of two operands as the method of the same name does it.
macro_rules! operator {
    ($trait:ident, $method:ident: $($left:ty, $right:ty;)+) => {
        $(impl $trait<$right> for $left {
            type Output = Var;

            #[track_caller]
            fn $method(self, other: $right) -> Var {
                Var::$method(&self, &other)
            }
        })+
    };
}

operator!(Add, add: &Var, &Var; &Var, Var; Var, &Var; Var, Var;);
operator!(Sub, sub: &Var, &Var; &Var, Var; Var, &Var; Var, Var;);
operator!(Mul, mul: &Var, &Var; &Var, Var; Var, &Var; Var, Var;);
operator!(Div, div: &Var, &Var; &Var, Var; Var, &Var; Var, Var;);

/// Operators of a variable alone, or with a number.
macro_rules! scaling {
    ($($operand:ty),+) => {
        $(impl Mul<f32> for $operand {
            type Output = Var;

            fn mul(self, factor: f32) -> Var {
                self.scale(factor)
            }
        }

        impl Mul<$operand> for f32 {
            type Output = Var;

            fn mul(self, variable: $operand) -> Var {
                variable.scale(self)
            }
        }

        impl Neg for $operand {
            type Output = Var;

            fn neg(self) -> Var {
                self.scale(-1.0)
            }
        })+
    };
}

scaling!(&Var, Var);

#[cfg(test)]
mod tests {
    use crate::{Tensor, Var};

    #[test]
    fn operators_are_the_operations_with_their_gradients() {
        let input = |values: &[f32]| Var::input(Tensor::from_slice(values, [2]));
        let (a, b) = (input(&[1.0, 2.0]), input(&[5.0, -3.0]));
        // y = (a + b) * (a - b) * 2 - a = 2 a² - 2 b² - a.
        let y = (&a + &b) * (&a - &b) * 2.0 + -&a;
        assert_eq!(y.value().to_vec(), [-49.0, -12.0]);
        (0.5 * y).sum(0).backward(&mut []);
        assert_eq!(a.grad().map(|grad| grad.to_vec()), Some(vec![1.5, 3.5]));
        assert_eq!(b.grad().map(|grad| grad.to_vec()), Some(vec![-10.0, 6.0]));

        let (a, b) = (input(&[1.0, 6.0]), input(&[2.0, -4.0]));
        let quotient = &a / &b;
        assert_eq!(quotient.value().to_vec(), [0.5, -1.5]);
        quotient.sum(0).backward(&mut []);
        assert_eq!(a.grad().map(|grad| grad.to_vec()), Some(vec![0.5, -0.25]));
        assert_eq!(b.grad().map(|grad| grad.to_vec()), Some(vec![-0.25, -0.375]));
    }

    #[test]
    #[should_panic(expected = "[2]")]
    fn shapes_that_do_not_fit_panic() {
        let [a, b] = [2, 3].map(|n| Var::constant(Tensor::zeros([n])));
        let _ = a + b;
    }
}
