/**
 * The command that runs a program so that it is killed when this process ends, even if it never reads its closed input.
 * Without `setpriv` of util-linux, and on Windows, the program may outlive this process.
 *
 * @param mostMb maximum memory of the process, in MiB; no limit when absent
 */
export function boundChild(
  program: string,
  args: readonly string[],
  mostMb?: number,
): [command: string, args: readonly string[]] {
  if (process.platform === 'win32') return [program, args]
  // Limits the data segment, not the address space: V8 reserves more than it uses.
  const limit = mostMb === undefined ? '' : `ulimit -d ${mostMb * 1024} 2>/dev/null; `
  const dies = 'setpriv --pdeathsig KILL'
  const script = `${limit}${dies} true 2>/dev/null && exec ${dies} "$0" "$@"; exec "$0" "$@"`
  return ['/bin/sh', ['-c', script, program, ...args]]
}
