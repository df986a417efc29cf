import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openTestDatabase } from '@terrane/database/testing'
import { buildRandomVit } from '@terrane/embeddings/onnx'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { compileCache } from '@terrane/testing/compile-cache'
import { runCommand } from '../src/commands.ts'

const COMMIT = 'c0ffee'.padEnd(40, '0')
const MODEL = 'dinov3-vitl16-pretrain-sat493m'
let folder: string
let hub: Server
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrane-cli-'))
})
afterAll(async () => {
  hub?.close()
  await rm(folder, { recursive: true })
})

interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs a command in this process. */
async function cli(args: string[], more: Readonly<Record<string, string>> = {}): Promise<Ended> {
  const said = { stdout: '', stderr: '' }
  const code = await runCommand(args, {
    env: { TERRANE_MODEL_DIR: folder, TERRANE_FETCH_ALLOW_HOSTS: '127.0.0.1', ...more },
    stdout: (text) => (said.stdout += text),
    stderr: (text) => (said.stderr += text),
  })
  return { code, ...said }
}

/** Runs the program. */
function program(args: string[], more: Readonly<Record<string, string>> = {}): Promise<Ended> {
  const script = fileURLToPath(new URL('../src/cli.ts', import.meta.url))
  return new Promise((resolve) => {
    execFile(process.execPath, [script, ...args], { env: { ...compileCache, ...more } }, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr }),
    )
  })
}

test('the program reads its environment, and ends with the code of the command', async () => {
  const listed = await program(['models', 'list'], { TERRANE_MODEL_DIR: folder })
  expect(listed).toMatchObject({ code: 0, stderr: '' })
  expect(listed).toEqual(await cli(['models', 'list']))
  expect(await program(['models', 'pin'])).toEqual(await cli(['models', 'pin']))
})

test('migrate brings a database up to date, its queue too', async () => {
  await using db = await openTestDatabase()
  const env = { DATABASE_URL: db.url }
  await db.database.query(`delete from terrane.migrations where id = 'control/0105_backups'`)
  await db.database.query('drop table terrane.backups')
  expect(await program(['migrate'], env)).toMatchObject({ code: 0, stdout: 'applied control/0105_backups\n' })
  expect(await cli(['migrate'], env)).toMatchObject({ code: 0, stdout: 'nothing to apply\n' })
  const { rows } = await db.database.query(`select to_regclass('pgboss.job') is not null as queue`)
  expect(rows).toEqual([{ queue: true }])
  expect(await cli(['migrate'])).toMatchObject({ code: 2, stderr: expect.stringContaining('DATABASE_URL') as string })
})

test.each([[['nonsense']], [['models', 'pin']], [['--nope']]])('%j shows how it is used', async (args) => {
  const { code, stderr } = await cli(args)
  expect(code).toBe(2)
  expect(stderr).toContain('Usage:')
})

describe('models', () => {
  test('list tells what is there', async () => {
    const { stdout } = await cli(['models', 'list'])
    expect(stdout).toMatch(/builtin-texture-spectral-v2\s+ready/)
    expect(stdout).toMatch(new RegExp(`${MODEL}\\s+unpinned`))
  })

  test('pin takes revision, size and checksum from the hub, and fetch then verifies what it downloads', async () => {
    const graph = Buffer.from('not really a graph')
    const sha256 = createHash('sha256').update(graph).digest('hex')
    hub = createServer((request, response) => {
      response.setHeader('x-repo-commit', COMMIT)
      response.setHeader('x-linked-size', String(graph.length))
      response.setHeader('x-linked-etag', `"${sha256}"`)
      response.end(request.method === 'HEAD' ? undefined : graph)
    })
    await new Promise<void>((resolve) => hub.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(hub.address() as AddressInfo).port}/model.onnx`
    const manifest = {
      id: 'from-hub',
      title: 'A',
      description: 'A',
      kind: 'neural',
      pretrained: true,
      licence: { name: 'MIT', url: null, notice: null },
      revision: 'main',
      files: [{ path: 'model.onnx', url, size: null, sha256: null }],
      input: { name: 'x', size: null, bands: ['red'], mean: [0], std: [1], batch: 1 },
      outputs: [{ name: 'y', pooling: 'none' }],
      dims: 4,
      tile: { min: 16, multiple: 16, default: 64 },
      patches: null,
      patches_per_tile: 1,
    }
    await writeFile(join(folder, 'from-hub.json'), JSON.stringify(manifest))
    const pinned = await cli(['models', 'pin', 'from-hub'])
    expect(pinned.stderr).toBe('')
    expect(pinned.stdout).toContain(`model.onnx  ${graph.length} bytes  ${sha256}`)
    const written = JSON.parse(await readFile(join(folder, 'from-hub.json'), 'utf8')) as { revision: string }
    expect(written.revision).toBe(COMMIT)
    expect((await cli(['models', 'fetch', 'from-hub'])).stdout).toContain(`sha256 ${sha256}`)
  })

  describe('of a file of your own', () => {
    let file: string
    let manifest: string
    const draft = async () => JSON.parse(await readFile(manifest, 'utf8')) as { id: string; revision: string }
    beforeEach(async () => {
      file = join(await mkdtemp(join(folder, 'export-')), 'Tiny.onnx')
      manifest = join(file, '..', 'Tiny.json')
      await writeFile(file, buildRandomVit({ dim: 32, depth: 1, heads: 2, patch: 16, registers: 4 }, 7))
    })

    test('check drafts a manifest beside it, and then runs by that, corrected', async () => {
      const first = await cli(['models', 'check', file])
      expect(first).toMatchObject({ code: 0, stdout: expect.stringContaining('one tile: 32 numbers') as string })
      expect(await draft()).toMatchObject({ id: 'tiny', dims: 32 })
      await writeFile(manifest, JSON.stringify({ ...(await draft()), id: 'corrected' }))
      expect(await cli(['models', 'check', file])).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('by ') as string,
      })
      await writeFile(manifest, JSON.stringify({ ...(await draft()), dims: 31 }))
      expect(await cli(['models', 'check', file])).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('31') as string,
      })
      expect(await draft()).toMatchObject({ id: 'corrected', dims: 31 })
    })

    test('add puts it where jobs find it, and never in the place of another', async () => {
      await cli(['models', 'check', file])
      await writeFile(manifest, JSON.stringify({ ...(await draft()), id: 'added' }))
      for (const _ of ['at first', 'and the same again']) {
        expect(await cli(['models', 'add', file])).toMatchObject({
          code: 0,
          stdout: expect.stringContaining('--model added') as string,
        })
      }
      expect((await cli(['models', 'list'])).stdout).toMatch(/added\s+ready/)
      await writeFile(manifest, JSON.stringify({ ...(await draft()), title: 'Another' }))
      expect(await cli(['models', 'add', file])).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('revision') as string,
      })
      await writeFile(manifest, JSON.stringify({ ...(await draft()), revision: '2' }))
      expect(await cli(['models', 'add', file])).toMatchObject({ code: 0 })
    })

    test('add finds the home of the local stack', async () => {
      const home = { TERRANE_MODEL_DIR: '', TERRANE_HOME: join(file, '..', 'home') }
      expect(await cli(['models', 'add', file], home)).toMatchObject({ code: 0 })
      expect((await cli(['models', 'list'], home)).stdout).toMatch(/tiny\s+ready/)
      expect(await readFile(join(home.TERRANE_HOME, 'models', 'tiny.json'), 'utf8')).toContain('"dims": 32')
    })

    test('add refuses one that is not the file of its manifest', async () => {
      await cli(['models', 'check', file])
      await writeFile(file, buildRandomVit({ dim: 32, depth: 1, heads: 2, patch: 16, registers: 4 }, 8))
      expect(await cli(['models', 'add', file])).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('sha256') as string,
      })
    })
  })

  test('an unknown one is named with the known ones', async () => {
    const { code, stderr } = await cli(['models', 'pin', 'resnet'])
    expect(code).toBe(1)
    expect(stderr).toContain('builtin-texture-spectral-v2')
  })
})
