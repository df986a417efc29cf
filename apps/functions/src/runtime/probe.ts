import { existsSync, readFileSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { runtimeUnavailable } from '../errors.ts'
import { claimFolder } from '../ownership.ts'
import { InstanceFactory, type DoorPaths, type UserRange } from '../pool/factory.ts'
import { DEFAULT_CEILINGS, readPolicy } from '../policy.ts'
import { denoRuntime } from './deno.ts'
import { bundleShim, findDeno, findProgram, findSetpriv, librariesOf } from './machine.ts'
import { nodeRuntime } from './node.ts'
import { reachableProgram } from './reachable.ts'
import { seccompFilter } from './seccomp.ts'
import { BUNDLE, type Profile, type Runtime } from './runtime.ts'

export interface RuntimeWish {
  /** `auto`: Deno, or Node where there is no Deno. */
  readonly runtime: 'auto' | 'deno' | 'node'
  readonly profile: 'standard' | 'hardened'
  /** Folder for the bundled shim; the instances' users must be able to read it. */
  readonly stateDir: string
  /** Users to run instances as; only root can, so others pass null. */
  readonly users: UserRange | null
  readonly path: string
}

export interface ProbedRuntime {
  readonly runtime: Runtime
  /**
   * Read-only folder with the compiled code of the shim: the cache of processes that start without code of their own, and
   * what the caches of versions begin with.
   */
  readonly shimCache: string
  readonly users: UserRange | null
}

/** A limit that is never reached, for the run that measures. */
const UNBOUNDED_KIB = 64 * 1024 * 1024

/**
 * Finds a runtime on this machine and tests it: one function is started with the same command as every later function,
 * and its memory is measured, because V8 reserves address space that the limit must not count.
 *
 * @throws FUNCTION_RUNTIME_UNAVAILABLE with the missing part and a remedy
 */
export async function probeRuntime(wish: RuntimeWish): Promise<ProbedRuntime> {
  const found = wish.runtime === 'node' ? null : await findDeno()
  const deno = found !== null && wish.users ? await reachableProgram(found, wish.stateDir) : found
  if (deno === null && wish.runtime === 'deno') {
    throw runtimeUnavailable({
      problem: `there is no Deno binary for ${process.platform}-${process.arch}`,
      remedy: 'run on a glibc Linux, macOS or Windows of x64 or arm64, and install optional dependencies',
    })
  }
  if (deno === null && wish.profile === 'hardened') {
    throw runtimeUnavailable({
      problem: 'the hardened profile needs Deno, which this machine does not offer',
      remedy: 'use an image with glibc, e.g. node:24-slim',
    })
  }
  const setpriv = await findSetpriv(wish.path)
  if (wish.users && setpriv === null) {
    throw runtimeUnavailable({
      problem: 'the host is root, functions never are, and there is no setpriv to give them users of their own',
      remedy: 'run the host as an ordinary user, or install util-linux',
    })
  }
  const node = wish.users ? await reachableProgram(process.execPath, wish.stateDir) : process.execPath
  const shim = await bundleShim(deno === null ? 'node' : 'deno', wish.stateDir)
  const tmp = await bundleShim('tmp/tmp', wish.stateDir)
  const make = (baseKib: number): Runtime =>
    deno === null
      ? nodeRuntime({ node, shim, tmp, baseKib, setpriv })
      : denoRuntime({ deno, shim, tmp, baseKib, setpriv, sandbox })
  const sandbox = deno !== null && wish.profile === 'hardened' ? await findSandbox(deno, wish.path) : null
  const trial = make(UNBOUNDED_KIB)
  const shimCache = join(wish.stateDir, `${basename(shim, '.mjs')}-${wish.profile}`)
  const draft = await mkdtemp(`${shimCache}.`)
  try {
    const baseKib = await measureBase(trial, wish.users, draft)
    // The cache's databases are complete only after they were opened a second time.
    if (!existsSync(shimCache)) await measureBase(trial, wish.users, draft)
    await claimFolder(draft, { fileMode: 0o444, folderMode: 0o555, ...(wish.users && { uid: 0 }) })
    await rename(draft, shimCache).catch((error: NodeJS.ErrnoException) => {
      // A host has written the same before.
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error
    })
    return { runtime: make(baseKib), shimCache, users: wish.users }
  } finally {
    // Only root can empty folders without write permission.
    if (existsSync(draft)) await claimFolder(draft, { fileMode: 0o644, folderMode: 0o755 })
    await rm(draft, { recursive: true, force: true })
  }
}

async function findSandbox(deno: string, path: string) {
  const bwrap = await findProgram('bwrap', path)
  if (bwrap === null) {
    throw runtimeUnavailable({
      problem: 'the hardened profile needs bubblewrap, which is not installed',
      remedy: 'install the package `bubblewrap`, or choose the standard profile for code of your own',
    })
  }
  return { bwrap, libraries: await librariesOf(deno), filter: seccompFilter(process.arch) }
}

/** Starts an empty function, which fills the cache, and reads its private memory, in KiB. */
async function measureBase(runtime: Runtime, users: UserRange | null, cacheDir: string): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'terrane-probe-'))
  const codeDir = join(folder, 'code')
  try {
    await chmod(folder, 0o711)
    await mkdir(codeDir)
    // Deno's storage APIs need a folder of this name, so a file in its place disables them.
    await writeFile(join(cacheDir, 'location_data'), '')
    await writeFile(join(codeDir, BUNDLE), 'export default () => new Response()')
    const policy = readPolicy({}, DEFAULT_CEILINGS)
    const trial = { project: '', name: 'trial', version: 0, digest: '', policy, codeDir, files: [], cacheDir }
    await using factory = await InstanceFactory.open({
      runtime,
      door: { open: closedDoor },
      users,
      bootMs: 30_000,
      issueKeys: async () => ({ env: {}, serviceToken: '' }),
      onUsage: () => {},
      onLine: () => {},
      onLeft: () => {},
    })
    const instance = await factory.start({ ...trial, sealed: false, env: {} }, true)
    try {
      await instance.ready
      if (users && isRoot(instance.pid)) throw new Error('it would be root')
      return dataKib(instance.pid)
    } catch (error) {
      const detail = (error as { detail?: string }).detail?.trim() ?? ''
      throw unusable(runtime.profile, users, `${(error as Error).message}${detail === '' ? '' : `: ${detail}`}`)
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function unusable(profile: Profile, users: UserRange | null, problem: string): Error {
  const remedies = [
    ...(profile === 'hardened'
      ? ['allow unprivileged user namespaces (kernel.unprivileged_userns_clone, AppArmor)']
      : []),
    ...(users
      ? [
          `run the host as an ordinary user, or let it give processes the users from ${users.first} on (CAP_SETUID, CAP_SETGID) and let those reach the repository (x on every folder)`,
        ]
      : []),
  ]
  return runtimeUnavailable({
    problem: `a trial function does not start: ${problem}`,
    remedy: remedies.join('; ') || 'see the text above',
  })
}

/** Sockets of a trial run, which makes no requests: plain files in their place. */
async function closedDoor(paths: DoorPaths): Promise<AsyncDisposable> {
  const places = Object.values(paths)
  await Promise.all(places.map((place) => writeFile(place, '')))
  const remove = async () => void (await Promise.all(places.map((place) => rm(place, { force: true }))))
  return { [Symbol.asyncDispose]: remove }
}

function isRoot(pid: number): boolean {
  return /^Uid:.*\b0\b/m.test(readFileSync(`/proc/${pid}/status`, 'latin1'))
}

/** VmData of a process; where there is no /proc there is no data limit either. */
function dataKib(pid: number): number {
  if (process.platform !== 'linux') return 0
  return Number(/VmData:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))![1])
}
