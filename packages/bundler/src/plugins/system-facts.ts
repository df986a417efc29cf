import type { Plugin } from 'esbuild'

/** Replacement for `node:os`: constants about the machine, because functions have no permission to query it. */
const FACTS = `import os from 'node:os'
const hostname = () => 'function', homedir = () => '/tmp', tmpdir = () => '/tmp'
const networkInterfaces = () => ({}), loadavg = () => [0, 0, 0], uptime = () => 0
const release = () => '6.0.0', version = () => '#1', machine = () => 'x86_64'
const totalmem = () => 536870912, freemem = () => 268435456, availableParallelism = () => 1
const cpus = () => [{ model: '', speed: 0, times: { user: 0, nice: 0, sys: 0, idle: 0, irq: 0 } }]
const userInfo = () => ({ username: 'function', uid: 65534, gid: 65534, shell: null, homedir: '/tmp' })
const getPriority = () => 0, setPriority = () => {}
const { EOL, arch, constants, devNull, endianness, platform, type } = os
export { EOL, arch, availableParallelism, constants, cpus, devNull, endianness, freemem, getPriority, homedir, hostname, loadavg, machine, networkInterfaces, platform, release, setPriority, tmpdir, totalmem, type, uptime, userInfo, version }
export default { EOL, arch, availableParallelism, constants, cpus, devNull, endianness, freemem, getPriority, homedir, hostname, loadavg, machine, networkInterfaces, platform, release, setPriority, tmpdir, totalmem, type, uptime, userInfo, version }
`

const NAMESPACE = 'system-facts'

/** The esbuild plugin that replaces `node:os` with {@link FACTS}. */
export function systemFacts(): Plugin {
  return {
    name: 'system facts',
    setup(build) {
      build.onResolve({ filter: /^(?:node:)?os$/ }, ({ namespace }) =>
        namespace === NAMESPACE ? { path: 'node:os', external: true } : { path: 'os', namespace: NAMESPACE },
      )
      build.onLoad({ filter: /^os$/, namespace: NAMESPACE }, () => ({ contents: FACTS, loader: 'js' }))
    },
  }
}
