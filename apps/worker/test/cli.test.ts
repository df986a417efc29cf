import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openTestDatabase, type TestDatabase } from '@terrane/database/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSealer, parseSecretsKey } from '@terrane/service'

const SECRETS_KEY = 'ef'.repeat(32)
const COMMIT = 'c0ffee'.padEnd(40, '0')
const MODEL = 'dinov3-vitl16-pretrain-sat493m'
let db: TestDatabase
let folder: string
let hub: Server
beforeAll(async () => {
  db = await openTestDatabase()
  folder = await mkdtemp(join(tmpdir(), 'terrane-cli-'))
})
afterAll(async () => {
  hub?.close()
  await db[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

function cli(args: string[], input = ''): Promise<{ code: number; stdout: string; stderr: string }> {
  const env = {
    DATABASE_URL: db.url,
    TERRANE_SECRETS_KEY: SECRETS_KEY,
    TERRANE_MODEL_DIR: folder,
    TERRANE_FETCH_ALLOW_HOSTS: '127.0.0.1',
  }
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [fileURLToPath(new URL('../src/cli.ts', import.meta.url)), ...args],
      { env },
      (error, stdout, stderr) => resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr }),
    )
    child.stdin?.end(input)
  })
}

test('an organization, its key and its project are made, the key shown once and the target sealed', async () => {
  const organization = (await cli(['organization', 'add', 'acme'])).stdout.trim()
  expect(organization).toMatch(/^[0-9a-f-]{36}$/)
  const { stdout: key, stderr } = await cli(['key', 'add', organization, 'ci'])
  const sha256 = createHash('sha256').update(key.trim()).digest('hex')
  expect(stderr).toContain(sha256.slice(0, 16))
  const stored = await db.database.query('select sha256, label, revoked_at from terrane.services_keys')
  expect(stored.rows).toEqual([{ sha256, label: 'ci', revoked_at: null }])
  const target = { databaseUrl: 'postgres://u:hunter2@db/x' }
  expect(await cli(['project', 'add', 'acme-map', organization], JSON.stringify(target))).toMatchObject({
    code: 0,
    stdout: 'acme-map\n',
  })
  const { rows } = await db.database.query<{ sealed_target: Buffer }>('select sealed_target from terrane.projects')
  expect(rows[0]?.sealed_target.includes('hunter2')).toBe(false)
  const sealer = createSealer(parseSecretsKey(SECRETS_KEY) as Buffer)
  expect(sealer.open(rows[0]?.sealed_target as Buffer, 'acme-map')).toEqual(target)
  expect(await cli(['key', 'revoke', sha256.slice(0, 16)])).toMatchObject({ code: 0, stdout: '1 revoked\n' })
  expect(await cli(['key', 'revoke', sha256.slice(0, 16)])).toMatchObject({ code: 1 })
})

test.each([[['nonsense']], [['key', 'add']], [['models', 'pin']], [['--nope']]])(
  '%j shows how it is used',
  async (args) => {
    const { code, stderr } = await cli(args)
    expect(code).toBe(2)
    expect(stderr).toContain('Usage:')
  },
)

describe('models', () => {
  test('list tells what is there', async () => {
    const { stdout } = await cli(['models', 'list'])
    expect(stdout).toMatch(/builtin-texture-spectral-v1\s+ready/)
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

  test('an unknown one is named with those that are known', async () => {
    const { code, stderr } = await cli(['models', 'pin', 'resnet'])
    expect(code).toBe(1)
    expect(stderr).toContain('builtin-texture-spectral-v1')
  })
})
