//! All that the public signatures use is named by this crate.

use foretell_kernels::Accum;
use foretell_kernels::recurrent::RecurrentGradients;

#[test]
fn whoever_calls_a_kernel_can_say_what_becomes_of_old_values() {
    let _: fn(&RecurrentGradients<'_>) -> Option<Accum> =
        |gradients| gradients.x.as_ref().map(|(_, accum)| *accum);
    assert_ne!(Accum::Add, Accum::Replace);
}
