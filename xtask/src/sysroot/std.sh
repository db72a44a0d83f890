#!/usr/bin/env bash
# std.sh DEST TARGET [FLAG...]: builds the standard library for a target into DEST, a sysroot of such targets alone; FLAGs are rustc's.
# For machines without rustup, whose toolchain has the version of Debian's package rust-src: it comes with std's dependencies.
set -euo pipefail
dest=$(realpath -m "$1"); target=$2; shift 2; version=$(rustc --version | cut -d' ' -f2)
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
# The source, by a list of sources of its own; kept for the next target.
library="$dest/source-$version"
if [ ! -d "$library" ]; then
    mkdir -p "$dest" "$work"/apt/{lists/partial,archives/partial}
    echo "deb http://deb.debian.org/debian trixie-backports main" > "$work/apt/sources"
    apt=(-o "Dir::Etc::sourcelist=$work/apt/sources" -o Dir::Etc::sourceparts=/dev/null -o "Dir::State::lists=$work/apt/lists"
         -o "Dir::Cache=$work/apt" -o APT::Sandbox::User=root)
    apt-get "${apt[@]}" update -qq
    deb=$(apt-cache "${apt[@]}" madison rust-src | awk -v v="$version" 'index($3, v) == 1 { print $3; exit }')
    [ -n "$deb" ] || { echo "Debian has no rust-src $version" >&2; exit 3; }
    (cd "$work" && apt-get "${apt[@]}" download -qq "rust-src=$deb" && dpkg-deb -x rust-src_*.deb source)
    found=$(find "$work/source" -path '*/library/std/Cargo.toml' -not -path '*/tests/*' | head -1 | xargs dirname | xargs dirname)
    cp -a "$found" "$work/library" && mv "$work/library" "$library"
fi
# What is built beside std: tests need `test`, which a browser has not.
crates=std,panic_abort,test
case $target in wasm32-unknown-unknown) crates=std,panic_abort ;; esac
# A crate of nothing, which needs the library.
mkdir -p "$work/nothing/src"; touch "$work/nothing/src/lib.rs"
printf '[package]\nname = "nothing"\nversion = "0.1.0"\nedition = "2024"\n[workspace]\n' > "$work/nothing/Cargo.toml"
cd "$work/nothing"
RUSTC_BOOTSTRAP=1 __CARGO_TESTS_ONLY_SRC_ROOT="$library" CARGO_TARGET_DIR="$work/built" RUSTFLAGS="-C embed-bitcode=yes $*" \
    cargo build --release --quiet -Z build-std=$crates --target "$target" \
    --config 'source.crates-io.replace-with="std"' --config "source.std.directory=\"$library/vendor\""
own="$work/own"
mkdir -p "$own" "$dest/lib/rustlib/$target"
cp "$work/built/$target/release/deps"/*.rlib "$own/"
rm -f "$own"/libnothing-*
# Programs of MinGW begin and end with an object each.
case $target in *-windows-gnu)
    for object in rsbegin rsend; do
        RUSTC_BOOTSTRAP=1 rustc --target "$target" --emit=obj -o "$own/$object.o" "$library/rtstartup/$object.rs"
    done ;;
esac
# Whole or not at all.
rm -rf "$dest/lib/rustlib/$target/lib"
mv "$own" "$dest/lib/rustlib/$target/lib"
