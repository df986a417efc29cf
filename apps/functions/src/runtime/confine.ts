/** Limits of one process, set before the runtime starts and inherited by its children. */
export interface Limits {
  /** Private writable memory in KiB (RLIMIT_DATA); V8's heap flags bound neither ArrayBuffers nor WebAssembly. */
  readonly dataKib: number
  /** Largest file it may write, in blocks of 512 bytes. */
  readonly fileBlocks: number
  readonly openFiles: number
}

/** CPU seconds after which the kernel kills a process; the watchdog replaces instances long before. */
const CPU_SECONDS = 3600

export interface Confinement extends Limits {
  /** Path of util-linux's setpriv: ties the process to the host's life and drops privileges. */
  readonly setpriv: string | null
  readonly uid: number | null
}

/**
 * Prefixes a command so that it runs bounded: no core dumps, no new privileges, dead when the host dies. A limit that
 * cannot be set ends the launch with status 126. XFSZ is ignored, so that a write over the limit fails without killing
 * the process.
 */
export function confine(command: readonly string[], bounds: Confinement): [string, ...string[]] {
  const script = [
    "trap '' XFSZ",
    'ulimit -c 0 || exit 126',
    // macOS accepts no data limit; there only the watchdog checks the resident size.
    ...(process.platform === 'linux' ? [`ulimit -d ${bounds.dataKib} || exit 126`] : []),
    `ulimit -n ${bounds.openFiles} || exit 126`,
    `ulimit -t ${CPU_SECONDS} || exit 126`,
    `ulimit -f ${bounds.fileBlocks} || exit 126`,
    'exec "$0" "$@"',
  ].join('; ')
  return ['/bin/sh', '-c', script, ...privileges(bounds), ...command]
}

function privileges({ setpriv, uid }: Confinement): string[] {
  if (setpriv === null) return []
  const user = uid === null ? [] : ['--reuid', String(uid), '--regid', String(uid), '--clear-groups']
  return [setpriv, ...user, '--no-new-privs', '--pdeathsig', 'KILL', '--']
}
