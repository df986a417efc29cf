import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePorts } from '@terrane/testing/ports'
import { compileCache } from '@terrane/testing/compile-cache'

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url))
let home: string
let env: Record<string, string>
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'terrane-stack-'))
  const names = ['WORKER', 'ORIGIN', 'FUNCTIONS', 'ROUTER', 'CONSOLE', 'DATABASE']
  const ports = await freePorts(names.length)
  env = { ...compileCache, PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', TERRANE_HOME: home }
  names.forEach((name, i) => (env[`TERRANE_${name}_PORT`] = String(ports[i])))
})
afterAll(async () => {
  await rm(home, { recursive: true, force: true })
})

function start(...flags: string[]) {
  const child = spawn(process.execPath, ['infra/local/src/main.ts', ...flags], {
    cwd: ROOT,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  child.stdout.on('data', (chunk) => (output += String(chunk)))
  child.stderr.on('data', (chunk) => (output += String(chunk)))
  const exited = once(child, 'exit') as Promise<[number | null, string | null]>
  return {
    child,
    exited,
    output: () => output,
    until: async (text: string) => {
      for (;;) {
        if (output.includes(text)) return
        if (child.exitCode !== null) throw new Error(`the stack ended:\n${output}`)
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
    },
  }
}

/** Routes through the origin: answers, refusals and statuses are passed on unchanged. */
async function checkRoutes(base: string, keys: { servicesKey: string; anonKey: string }): Promise<void> {
  const call = async (path: string, method: string, apikey: string | null, body?: string) => {
    const response = await fetch(`${base}${path}`, {
      method,
      headers: apikey === null ? {} : { apikey },
      ...(body !== undefined && { body }),
    })
    const { error_code = 0, trip } = (await response.json()) as { error_code?: number; trip?: { status: number } }
    return [response.status, trip?.status ?? error_code]
  }
  const place = { lat: 48.1, lon: 11.6 }
  const body = JSON.stringify({ locations: [place, { lat: 48.095, lon: 11.59 }], costing: 'pedestrian' })
  expect(await call('/route', 'POST', keys.servicesKey, body)).toEqual([200, 0])
  expect(await call(`/route?apikey=${keys.servicesKey}`, 'POST', null, body)).toEqual([200, 0])
  expect(await call('/route', 'POST', null, body)).toEqual([401, 401_001])
  expect(await call('/route', 'POST', keys.anonKey, body)).toEqual([401, 401_002])
  expect(await call('/route', 'POST', keys.servicesKey, '{')).toEqual([400, 100])
  expect(await call('/route', 'POST', keys.servicesKey)).toEqual([400, 110])
  expect(await call('/route', 'GET', keys.servicesKey)).toEqual([400, 110])
  expect(await call('/expansion', 'POST', keys.servicesKey, body)).toEqual([404, 106])
  expect(await call('/route', 'POST', keys.servicesKey, ' '.repeat(2_000_000))).toEqual([413, 413_001])
}

describe('npm start, on a machine that has nothing yet', () => {
  test('--once makes the stack, runs the demo and ends with 0', async () => {
    const stack = start('--once')
    const [code] = await stack.exited
    expect(stack.output()).toContain('by similarity_search through supabase-js')
    expect(stack.output()).toMatch(/geoembeddings\.demo_scene: 256 rows of 64 dimensions/)
    expect(stack.output()).toMatch(/PMTiles: http/)
    expect(stack.output()).toMatch(/Across the town by car: \d\.\d km in \d+ min .*\n(  \w.*\n){3}/)
    expect(stack.output()).toContain('supabase-js: Hello Terrane!')
    expect(stack.output()).toMatch(/Function nearest:.*\n(  tile .* similarity [0-9.]+\n){4}/)
    expect(code).toBe(0)
    expect((await stat(join(home, 'demo.png'))).size).toBeGreaterThan(100_000)
    // Only the owner may read the keys.
    expect((await stat(join(home, 'keys.json'))).mode & 0o777).toBe(0o600)
  })

  test('a second start finds what the first one made, stays up, and stops at Ctrl-C', async () => {
    const stack = start()
    await stack.until('Ctrl-C stops everything')
    expect(stack.output()).toContain('is there from an earlier start')
    const keys = JSON.parse(await readFile(join(home, 'keys.json'), 'utf8')) as {
      anonKey: string
      serviceRoleKey: string
      servicesKey: string
    }
    const origin = `http://127.0.0.1:${env['TERRANE_ORIGIN_PORT']}`
    const found = await fetch(`${origin}/rest/v1/embeddings_catalogue?select=table_name`, {
      headers: { apikey: keys.anonKey, 'accept-profile': 'geoembeddings' },
    })
    expect(await found.json()).toEqual([{ table_name: 'demo_scene' }])
    const jobs = await fetch(`${origin}/worker/jobs/createGeoEmbeddings/latest`, {
      headers: { apikey: keys.serviceRoleKey, authorization: `Bearer ${keys.serviceRoleKey}` },
    })
    expect(await jobs.json()).toMatchObject({ status: 'success' })
    await checkRoutes(`${origin}/routing-engine/v1`, keys)
    stack.child.kill('SIGINT')
    const [code] = await stack.exited
    expect(stack.output()).toContain('Stopping')
    expect(code).toBe(0)
    await expect(fetch(origin)).rejects.toThrow('fetch failed')
  })

  test('a port that is taken ends it with 1 before anything starts, and is named', async () => {
    const blocker = createServer().listen(Number(env['TERRANE_ORIGIN_PORT']), '127.0.0.1')
    const stack = start('--once')
    const [code] = await stack.exited
    blocker.close()
    expect(code).toBe(1)
    expect(stack.output()).toContain('TERRANE_ORIGIN_PORT')
    expect(stack.output()).not.toContain('starting the embedded database')
  })

  test('an app that cannot start ends it with 1 and says which and why', async () => {
    env['TERRANE_TILER_MEMORY_MB'] = 'much'
    const stack = start('--once')
    const [code] = await stack.exited
    delete env['TERRANE_TILER_MEMORY_MB']
    expect(code).toBe(1)
    expect(stack.output()).toMatch(/worker did not start/)
    expect(stack.output()).toContain('TERRANE_TILER_MEMORY_MB')
  })

  test('an unknown flag shows how it is used', async () => {
    const stack = start('--onc')
    expect((await stack.exited)[0]).toBe(2)
    expect(stack.output()).toContain('Usage:')
  })
})
