/**
 * The command that runs a program which ends with this process, however that ends: what computes without an end never sees
 * that its input was closed. Where `setpriv` of util-linux is missing, and on Windows, it is not bound so.
 *
 * @param mostMb most memory of the process, in MiB; unbounded when absent
 */
export function boundChild(
  program: string,
  args: readonly string[],
  mostMb?: number,
): [command: string, args: readonly string[]] {
  if (process.platform === 'win32') return [program, args]
  // Not the address space as a whole: V8 reserves more than it uses.
  const limit = mostMb === undefined ? '' : `ulimit -d ${mostMb * 1024} 2>/dev/null; `
  const dies = 'setpriv --pdeathsig KILL'
  const script = `${limit}${dies} true 2>/dev/null && exec ${dies} "$0" "$@"; exec "$0" "$@"`
  return ['/bin/sh', ['-c', script, program, ...args]]
}
