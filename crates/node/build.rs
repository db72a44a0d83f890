//! Tells the linker that Node has the functions of an addon.

fn main() {
    napi_build::setup();
}
