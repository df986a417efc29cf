// Slow: instances are started, replaced and ended.
import { spawn, type ChildProcess } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { compileCache } from '@terrane/testing/compile-cache'
import { findProgram } from '../src/runtime/machine.ts'

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url))
// oxlint-disable-next-line node/no-process-env -- Where the sandbox would be.
const hasBubblewrap = (await findProgram('bwrap', process.env['PATH'] ?? '')) !== null
const profiles = [
  { profile: 'standard', title: 'standard profile', missing: false },
  {
    profile: 'hardened',
    title: hasBubblewrap ? 'hardened profile' : 'hardened profile: NOT RUN, bubblewrap is not installed',
    missing: !hasBubblewrap,
  },
]
let folder: string
let hosts: ChildProcess[]

beforeEach(async () => {
  hosts = []
  folder = await mkdtemp(join(tmpdir(), 'terrane-life-'))
  // As a system's temporary directory: where this runs as root, functions run as a user without rights.
  await chmod(folder, 0o711)
  await write('calm', `export default () => new Response('calm')`)
  await write('busy', `export default () => { setTimeout(() => { while (true); }, 20); return new Response('busy') }`, {
    block_ms: 10_000,
  })
  await write(
    'slow',
    `export default async () => { console.log('begun'); await new Promise((r) => setTimeout(r, 3000)); return new Response('slow') }`,
  )
})
afterEach(async () => {
  for (const host of hosts) if (host.exitCode === null && host.signalCode === null) host.kill('SIGKILL')
  await rm(folder, { recursive: true, force: true })
})

async function write(name: string, source: string, policy: object = {}) {
  await mkdir(join(folder, 'functions', name), { recursive: true })
  await writeFile(join(folder, 'functions', name, 'index.ts'), source)
  const text = JSON.stringify({ auth: 'none', methods: ['GET'], ...policy })
  await writeFile(join(folder, 'functions', name, 'function.json'), text)
}

/** Starts a host of its own process and resolves with its address. */
async function start(profile: string): Promise<{ host: ChildProcess; url: string; log: () => string }> {
  const env = {
    ...compileCache,
    // oxlint-disable-next-line node/no-process-env -- setpriv and bubblewrap are looked for there.
    PATH: process.env['PATH'],
    TMPDIR: folder,
    PORT: '0',
    TERRANE_HOME: join(folder, 'home'),
    TERRANE_FUNCTIONS_DIR: join(folder, 'functions'),
    TERRANE_FUNCTIONS_PROFILE: profile,
    TERRANE_JWT_SECRET: 'x'.repeat(40),
  }
  const host = spawn(process.execPath, [MAIN], { env, stdio: ['ignore', 'pipe', 'inherit', 'ipc'] })
  hosts.push(host)
  const url = await new Promise<string>((resolve, reject) => {
    host.on('message', (message: { url?: string }) => message.url && resolve(message.url))
    host.once('exit', (code) => reject(new Error(`the host ended with ${code}`)))
  })
  let log = ''
  host.stdout!.on('data', (chunk) => (log += String(chunk)))
  return { host, url: `${url}/functions/v1`, log: () => log }
}

/** Processes that hold the host's socket folder in their command line or belong to one that does. */
function descendants(pid: number): number[] {
  const parents = new Map<number, number>()
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, 'latin1')
      const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      if (state !== 'Z') parents.set(Number(entry), Number(parent))
    } catch {
      // It went while we looked.
    }
  }
  const found = [pid]
  for (const at of found) for (const [child, parent] of parents) if (parent === at) found.push(child)
  return found.slice(1)
}
function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return stat[stat.lastIndexOf(')') + 2] !== 'Z'
  } catch {
    return false
  }
}
const text = async (url: string) => (await fetch(url)).text()

describe.skipIf(process.platform !== 'linux')('the life of a host', () => {
  describe.each(profiles)('$title', ({ profile, missing }) => {
    test.skipIf(missing)('killed with SIGKILL it leaves no process behind, even one that never looks up', async () => {
      const { host, url } = await start(profile)
      expect(await text(`${url}/calm`)).toBe('calm')
      expect(await text(`${url}/busy`)).toBe('busy')
      const children = descendants(host.pid!)
      expect(children.length).toBeGreaterThanOrEqual(2)
      host.kill('SIGKILL')
      await expect.poll(() => children.filter(isAlive), { interval: 20 }).toEqual([])
      const next = await start(profile)
      expect(await text(`${next.url}/calm`)).toBe('calm')
      const left = readdirSync(folder).filter((name) => name.startsWith(`terrane-fn-${host.pid}-`))
      expect(left).toEqual([])
    })
  })

  test('asked to stop it answers what it has, then ends with every child', async () => {
    const { host, url, log } = await start('standard')
    expect(await text(`${url}/slow`)).toBe('slow')
    const answers = Array.from({ length: 20 }, () => text(`${url}/slow`))
    await expect.poll(() => log().split('begun').length - 1).toBe(21)
    const children = descendants(host.pid!)
    const ended = new Promise<number | null>((resolve) => host.once('exit', resolve))
    host.kill('SIGTERM')
    expect(new Set(await Promise.all(answers))).toEqual(new Set(['slow']))
    expect(await ended).toBe(0)
    expect(children.filter(isAlive)).toEqual([])
    expect(readdirSync(folder).filter((name) => name.startsWith(`terrane-fn-${host.pid}-`))).toEqual([])
  })

  test('a shared host does not start without the hardened profile', async () => {
    const env = { ...compileCache, PORT: '0', TERRANE_MODE: 'shared', TERRANE_HOME: join(folder, 'home') }
    const host = spawn(process.execPath, [MAIN], { env, stdio: ['ignore', 'ignore', 'pipe'] })
    hosts.push(host)
    const said: Buffer[] = []
    host.stderr.on('data', (chunk: Buffer) => said.push(chunk))
    const code = await new Promise((resolve) => host.once('close', resolve))
    expect(code).toBe(1)
    expect(Buffer.concat(said).toString()).toContain('TERRANE_FUNCTIONS_PROFILE=hardened')
  })
})
