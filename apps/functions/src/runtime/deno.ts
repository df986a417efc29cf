import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bubblewrap } from './bubblewrap.ts'
import { confine } from './confine.ts'
import { BUNDLE, GATEWAY, INGRESS, SOCKETS, type Command, type Launch, type Runtime } from './runtime.ts'

/** Paths and memory figures of this machine for {@link denoRuntime}, found by `probeRuntime`. */
export interface DenoMachine {
  /** The deno binary, the bundled shim and its module for /tmp, as the host sees them. */
  readonly deno: string
  readonly shim: string
  readonly tmp: string
  /** Private memory of a runtime that does nothing, in KiB: V8 reserves address space that counts as data. */
  readonly baseKib: number
  readonly setpriv: string | null
  /** Null for the standard profile. */
  readonly sandbox: Sandbox | null
}

/** Parts of the hardened profile. */
export interface Sandbox {
  readonly bwrap: string
  /** Shared libraries that the binary needs. */
  readonly libraries: readonly string[]
  readonly filter: Buffer | null
}

/** File size limit in blocks of 512 bytes for a run that fills the cache. */
const CACHE_FILE_BLOCKS = 32_768

/**
 * Deno, one process per instance: nothing is allowed but three unix sockets and the function's own files. There is no
 * network permission (`gateway.invalid` never resolves), so every request leaves through the host.
 */
export function denoRuntime(machine: DenoMachine): Runtime {
  const { sandbox } = machine
  return {
    name: 'deno',
    profile: sandbox ? 'hardened' : 'standard',
    caveat: sandbox
      ? 'a flaw of the kernel; functions share the CPU, and there is no quota but the watchdog'
      : 'a flaw of V8 or Deno: the process has the rights of its user; use the hardened profile for code of strangers',
    command: (launch) => (sandbox ? hardened(machine, sandbox, launch) : standard(machine, launch)),
  }
}

function standard(machine: DenoMachine, launch: Launch): Command {
  const paths = { code: launch.codeDir, run: launch.runDir, shim: machine.shim, tmp: machine.tmp }
  const [file, ...args] = confine([machine.deno, ...denoArgs(paths, launch)], confinement(machine, launch))
  return { file, args, env: denoEnv(launch.cacheDir), cwd: launch.codeDir, ...inside(paths), keeper: null }
}

function hardened(machine: DenoMachine, sandbox: Sandbox, launch: Launch): Command {
  const paths = { code: join('/code', basename(launch.codeDir)), run: '/run', shim: '/shim.mjs', tmp: '/tmp.mjs' }
  const readOnly: Record<string, string> = {
    [machine.deno]: '/deno',
    [machine.shim]: paths.shim,
    [machine.tmp]: paths.tmp,
    [launch.codeDir]: paths.code,
  }
  for (const library of sandbox.libraries) readOnly[library] = library
  const writable: Record<string, string> = { [launch.runDir]: paths.run }
  const cache = launch.cache === 'sealed' ? readOnly : writable
  cache[launch.cacheDir] = '/cache'
  const command = bubblewrap(sandbox, ['/deno', ...denoArgs(paths, launch)], { readOnly, writable, cwd: paths.code })
  const [file, ...args] = confine(command, confinement(machine, launch))
  return { file, args, env: denoEnv('/cache'), cwd: '/', ...inside(paths), keeper: { filter: sandbox.filter } }
}

function confinement(machine: DenoMachine, launch: Launch) {
  return {
    dataKib: machine.baseKib + launch.memoryMb * 1024,
    fileBlocks: launch.cache === 'sealed' ? 0 : CACHE_FILE_BLOCKS,
    // Number of files times their size limits how much disk a check run can fill.
    openFiles: launch.cache === 'filling' ? 96 : 512,
    setpriv: machine.setpriv,
    uid: launch.uid,
  }
}

interface Paths {
  readonly code: string
  readonly run: string
  readonly shim: string
  readonly tmp: string
}

function inside(paths: Paths) {
  return {
    bundle: pathToFileURL(join(paths.code, BUNDLE)).href,
    ingress: join(paths.run, INGRESS),
    gateway: join(paths.run, GATEWAY),
    sockets: join(paths.run, SOCKETS),
    tmp: pathToFileURL(paths.tmp).href,
  }
}

function denoArgs(paths: Paths, launch: Launch): string[] {
  const { ingress, gateway, sockets: outside } = inside(paths)
  const sockets = [ingress, gateway, outside]
  const readable = [paths.code, paths.tmp, ...sockets]
  const heapMb = Math.floor(launch.memoryMb * 0.75)
  return [
    'run',
    '--quiet',
    '--no-prompt',
    '--no-config',
    '--no-lock',
    '--no-remote',
    '--no-npm',
    '--cached-only',
    // Without it, request.signal aborts after every answer, as if the caller had disconnected.
    '--unstable-no-legacy-abort',
    `--allow-read=${list(readable)}`,
    `--allow-write=${list(sockets)}`,
    `--allow-net=${list(sockets.map((path) => `unix:${path}`))},gateway.invalid:80`,
    // Granting single names would break programs that list the environment. It holds only the function's own variables.
    '--allow-env',
    `--v8-flags=--max-old-space-size=${heapMb},--max-semi-space-size=16`,
    paths.shim,
  ]
}

/** Deno splits lists at commas; a comma is escaped by doubling it. */
function list(paths: readonly string[]): string {
  return paths.map((path) => path.replaceAll(',', ',,')).join(',')
}

function denoEnv(cacheDir: string): Record<string, string> {
  return { DENO_DIR: cacheDir, DENO_NO_UPDATE_CHECK: '1', NO_COLOR: '1' }
}
