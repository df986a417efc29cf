import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { installTools, node22, run } from './support/stranger.ts'

// The command line from a tarball, in an empty folder, without the repository and without a registry.

const BUILD = join(import.meta.dirname, '../../src/build-cli.ts')
const JOB = {
  id: '01a203f4-f25c-78bf-9c82-6aacbb2d106c',
  taskName: 'exportTable',
  status: 'success',
  progress: null,
  result: null,
  error: null,
  created_at: '2026-01-01T00:00:00Z',
  updated_at: '2026-01-01T00:00:01Z',
}

describe('the command line of a tarball', () => {
  const folder = mkdtempSync(join(tmpdir(), 'terrane-npx-'))
  const keys: (string | undefined)[] = []
  let server: Server
  let tarball: string
  beforeAll(async () => {
    execFileSync(process.execPath, [BUILD, join(folder, 'package')])
    execFileSync('npm', ['pack', '--pack-destination', folder], { cwd: join(folder, 'package'), stdio: 'pipe' })
    tarball = join(
      folder,
      readdirSync(folder).find((name) => name.endsWith('.tgz'))!,
    )
    server = createServer((request, response) => {
      keys.push(request.headers.apikey as string | undefined)
      const data = request.url?.includes('exportTable') ? [JOB] : []
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ data, next_cursor: null }))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  })
  afterAll(() => {
    server.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const env = () => ({
    PATH: process.env['PATH'],
    HOME: folder,
    TERRANE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    TERRANE_SERVICE_ROLE_KEY: 'a key',
  })

  test('is run by npx', async () => {
    const printed = await run(
      'npx',
      ['--yes', '--offline', '--package', tarball, 'terrane', 'jobs', 'list', '--json'],
      folder,
      env(),
    )
    expect(JSON.parse(printed)).toMatchObject([{ id: JOB.id, task: 'exportTable', status: 'success' }])
    expect(keys).toContain('a key')
  })

  test.each(['this Node', 'Node 22'])('is run by %s', async (which) => {
    if (which === 'Node 22' && installTools() === null) return
    const node = which === 'Node 22' ? node22() : process.execPath
    const program = join(folder, 'package/terrane.js')
    expect(await run(node, [program, 'jobs', 'list'], folder, env())).toMatch(
      /^id .*\n01a203f4.* exportTable +success /,
    )
    expect(await run(node, [program, '--help'], folder, env())).not.toMatch(/\b(?:start|backup|org)\b/)
  })
})
