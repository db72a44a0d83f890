//! All that the public signatures use is named by this crate.

use foretell_tensor::{Buffer, Storage, Tensor};

#[test]
fn a_tensor_is_made_of_a_buffer() {
    let buffer: Buffer<f32> = Buffer::filled(6, 2.0);
    let tensor = Tensor::row_major(Storage::new(buffer.clone()), 0, [2, 3]);
    assert_eq!(tensor, Tensor::from_buffer(buffer, [2, 3]));
}
