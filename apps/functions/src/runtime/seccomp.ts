/** System calls by number on the two machines that Deno's binary is made for. */
interface SystemCalls {
  readonly arch: number
  readonly socket: number
  readonly clone: number
  readonly clone3: number
  /** System calls that no JavaScript runtime makes and that increase the kernel's attack surface. */
  readonly denied: readonly number[]
}

// In both lists: ptrace, process_vm_readv, process_vm_writev, kcmp, pidfd_getfd; bpf, perf_event_open, userfaultfd;
// add_key, request_key, keyctl; mount, umount2, pivot_root, chroot, open_tree, move_mount, fsopen, fsconfig, fsmount,
// fspick, mount_setattr; unshare, setns; io_uring_setup, io_uring_enter, io_uring_register; personality, quotactl, acct,
// swapon, swapoff, reboot, sethostname, setdomainname; init_module, finit_module, delete_module, kexec_load,
// kexec_file_load; name_to_handle_at, open_by_handle_at; syslog, settimeofday, clock_settime, clock_adjtime, adjtimex;
// mbind, set_mempolicy, migrate_pages, move_pages, vmsplice, vhangup, memfd_secret. On x86-64 also iopl, ioperm,
// modify_ldt, uselib, ustat, sysfs.
const MACHINES: Readonly<Record<string, SystemCalls>> = {
  x64: {
    arch: 0xc000003e,
    socket: 41,
    clone: 56,
    clone3: 435,
    denied: [
      101, 310, 311, 312, 438, 321, 298, 323, 248, 249, 250, 165, 166, 155, 161, 428, 429, 430, 431, 432, 433, 442, 272,
      308, 425, 426, 427, 135, 179, 163, 167, 168, 169, 170, 171, 175, 313, 176, 246, 320, 303, 304, 103, 164, 227, 305,
      159, 237, 238, 256, 279, 278, 153, 447, 172, 173, 154, 134, 136, 139,
    ],
  },
  arm64: {
    arch: 0xc00000b7,
    socket: 198,
    clone: 220,
    clone3: 435,
    denied: [
      117, 270, 271, 272, 438, 280, 241, 282, 217, 218, 219, 40, 39, 41, 51, 428, 429, 430, 431, 432, 433, 442, 97, 268,
      425, 426, 427, 92, 60, 89, 224, 225, 142, 161, 162, 105, 273, 106, 104, 294, 264, 265, 116, 170, 112, 266, 171,
      235, 237, 238, 239, 75, 58, 447,
    ],
  },
}

// Offsets in struct seccomp_data, opcodes of classic BPF, and verdicts (linux/seccomp.h, linux/bpf_common.h).
const NUMBER = 0
const ARCH = 4
const FIRST_ARGUMENT = 16
const LOAD = 0x20
const JUMP_IF_EQUAL = 0x15
const JUMP_IF_AT_LEAST = 0x35
const JUMP_IF_ANY_BIT = 0x45
const RETURN = 0x06
const ALLOW = 0x7fff0000
const KILL = 0x80000000
const ERRNO = 0x00050000
const EPERM = 1
const ENOSYS = 38
const EAFNOSUPPORT = 97

const AF_UNIX = 1
/** All CLONE_NEW… flags of clone, because a process in the sandbox must not create namespaces. */
const NAMESPACE_FLAGS = 0x7e020000
/** Numbers from here on are the x32 ABI, by which the same calls have other numbers. */
const X32 = 0x40000000

/**
 * The seccomp filter of the hardened profile for bubblewrap; null on other machines. Denied calls and new namespaces
 * fail with EPERM. Sockets of other families than unix fail with EAFNOSUPPORT, because some, like vsock, ignore network
 * namespaces. clone3 fails with ENOSYS, because a filter cannot see its flags; libc then uses clone.
 */
export function seccompFilter(machine: string): Buffer | null {
  const calls = MACHINES[machine]
  if (!calls) return null
  return assemble([
    { code: LOAD, value: ARCH },
    { code: JUMP_IF_EQUAL, value: calls.arch, no: 'kill' },
    { code: LOAD, value: NUMBER },
    { code: JUMP_IF_AT_LEAST, value: X32, yes: 'denied' },
    ...calls.denied.map((call) => ({ code: JUMP_IF_EQUAL, value: call, yes: 'denied' })),
    { code: JUMP_IF_EQUAL, value: calls.clone3, yes: 'unknown' },
    { code: JUMP_IF_EQUAL, value: calls.socket, yes: 'socket' },
    { code: JUMP_IF_EQUAL, value: calls.clone, yes: 'clone', no: 'allowed' },
    { label: 'socket', code: LOAD, value: FIRST_ARGUMENT },
    { code: JUMP_IF_EQUAL, value: AF_UNIX, yes: 'allowed', no: 'family' },
    { label: 'clone', code: LOAD, value: FIRST_ARGUMENT },
    { code: JUMP_IF_ANY_BIT, value: NAMESPACE_FLAGS, yes: 'denied', no: 'allowed' },
    { label: 'allowed', code: RETURN, value: ALLOW },
    { label: 'denied', code: RETURN, value: ERRNO | EPERM },
    { label: 'unknown', code: RETURN, value: ERRNO | ENOSYS },
    { label: 'family', code: RETURN, value: ERRNO | EAFNOSUPPORT },
    { label: 'kill', code: RETURN, value: KILL },
  ])
}

interface Instruction {
  readonly label?: string
  readonly code: number
  readonly value: number
  /** Jump targets; by default the next instruction. */
  readonly yes?: string
  readonly no?: string
}

/** `struct sock_filter` for each instruction: code, two jumps forward of 255 instructions at most, value. */
function assemble(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8)
  program.forEach(({ code, value, yes, no }, at) => {
    const skip = (label: string | undefined) =>
      label === undefined ? 0 : program.findIndex((instruction) => instruction.label === label) - at - 1
    bytes.writeUInt16LE(code, at * 8)
    bytes.writeUInt8(skip(yes), at * 8 + 2)
    bytes.writeUInt8(skip(no), at * 8 + 3)
    bytes.writeUInt32LE(value >>> 0, at * 8 + 4)
  })
  return bytes
}
