//! Whether the tiles of Intel's AMX may be used.

use std::sync::OnceLock;

/// Whether the machine has tiles of bfloat16 and of int8, and AVX512-BF16 to fill them, and the system permits this process to
/// use them. The first call asks for the permission, which all threads have then.
pub(crate) fn available() -> bool {
    static AVAILABLE: OnceLock<bool> = OnceLock::new();
    *AVAILABLE.get_or_init(detect)
}

#[cfg(any(not(target_os = "linux"), miri))]
fn detect() -> bool {
    // Elsewhere the system is not known to keep the tiles of a thread that is interrupted.
    false
}

#[cfg(all(target_os = "linux", not(miri)))]
fn detect() -> bool {
    use std::arch::x86_64::{__cpuid, __cpuid_count};

    const BF16: u32 = 1 << 22;
    const TILES: u32 = 1 << 24;
    const INT8: u32 = 1 << 25;
    const ALL: u32 = BF16 | TILES | INT8;
    __cpuid(0).eax >= 7
        && __cpuid_count(7, 0).edx & ALL == ALL
        && is_x86_feature_detected!("avx512bf16")
        && permitted()
}

/// Asks Linux for the tiles' state: without the permission the first of their instructions would end the process.
#[cfg(all(target_os = "linux", not(miri)))]
fn permitted() -> bool {
    const ARCH_PRCTL: i64 = 158;
    const ARCH_REQ_XCOMP_PERM: u64 = 0x1023;
    const TILE_DATA: u64 = 18;
    let mut answer = ARCH_PRCTL;
    // SAFETY: a system call that reads no memory; it clobbers the two registers named here.
    unsafe {
        std::arch::asm!(
            "syscall",
            inout("rax") answer,
            in("rdi") ARCH_REQ_XCOMP_PERM,
            in("rsi") TILE_DATA,
            out("rcx") _,
            out("r11") _,
            options(nostack),
        );
    }
    answer == 0
}
