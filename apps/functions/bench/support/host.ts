import { spawn, type ChildProcess } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
export const ANON_KEY = 'anon-key-of-the-bench'

/** A functions host as deployed: its own process, a log file, and a folder of functions. */
export interface BenchHost extends AsyncDisposable {
  readonly pid: number
  readonly url: (name: string) => string
  readonly folder: string
  /** When the functions' files were written, before the host was started; `performance.now()` milliseconds. */
  readonly written: number
}

/** Starts a host that serves these functions; `packages` is the folder of the packages that they import. */
export async function startHost(
  functions: Readonly<Record<string, { readonly source: string; readonly policy?: object }>>,
  env: Readonly<Record<string, string>> = {},
  { packages }: { readonly packages?: string } = {},
): Promise<BenchHost> {
  const folder = await mkdtemp(join(tmpdir(), 'terrane-bench-'))
  await chmod(folder, 0o711)
  for (const [name, { source, policy }] of Object.entries(functions)) {
    await mkdir(join(folder, 'functions', name), { recursive: true })
    await writeFile(join(folder, 'functions', name, 'index.ts'), source)
    const text = JSON.stringify({ auth: 'anon', methods: ['GET', 'POST'], ...policy })
    await writeFile(join(folder, 'functions', name, 'function.json'), text)
  }
  if (packages !== undefined) await symlink(packages, join(folder, 'functions', 'node_modules'))
  const written = performance.now()
  const child = spawn(process.execPath, [MAIN], {
    env: {
      PATH: process.env['PATH'],
      PORT: '0',
      TERRANE_HOME: join(folder, 'home'),
      TERRANE_FUNCTIONS_DIR: join(folder, 'functions'),
      TERRANE_ANON_KEY: ANON_KEY,
      TERRANE_JWT_SECRET: 'x'.repeat(40),
      // Only the processes that answer are counted and measured.
      TERRANE_SETTINGS: '{"functions":{"spares":0}}',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  child.stdout!.resume()
  const origin = await address(child)
  return {
    pid: child.pid!,
    folder,
    written,
    url: (name) => `${origin}/functions/v1/${name}`,
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGTERM')
      await new Promise((resolve) => child.once('exit', resolve))
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Waits until an app reports its address. */
export function address(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.on('message', (message: { url?: string }) => message.url && resolve(message.url))
    child.once('exit', (code) => reject(new Error(`it ended with ${code}`)))
  })
}

/** Ingress sockets of the instances that a host has now. */
export function instanceSockets(host: BenchHost): string[] {
  const base = readdirSync(tmpdir()).find((name) => name.startsWith(`terrane-fn-${host.pid}-`))!
  return readdirSync(join(tmpdir(), base))
    .filter((name) => /^\d+$/.test(name))
    .map((name) => join(tmpdir(), base, name, 'in.sock'))
}

/** Runtime processes that a host has started. */
export function instancePids(host: BenchHost): number[] {
  const children = readFileSync(`/proc/${host.pid}/task/${host.pid}/children`, 'latin1').trim().split(' ').map(Number)
  return children.filter((pid) => readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('/shim-'))
}

/** CPU time of a process so far, in microseconds. */
export function cpuMicros(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10_000
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

export function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))]!
}
