import { execFile, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import type { Progress } from '@terrane/core'
import { InferenceSession } from 'onnxruntime-node'
import { describe, expect, test } from 'vitest'

import { type FileServer, startFileServer } from '../../test/fixtures/file-server.ts'
import {
  pinnedFile,
  sha256,
  temporaryFolder,
  tinyVitFiles,
  tinyVitManifest,
  writeManifest,
} from '../../test/fixtures/models.ts'
import { BUILT_IN_MODEL, DEFAULT_MODEL } from './built-in-manifests.ts'
import type { ModelManifest } from './manifest.ts'
import { openModelStore } from './store.ts'

/** The built-in model before the present one. */
const FORMER = 'builtin-texture-spectral-v1'

const { graph, weights } = tinyVitFiles()
const acquireScript = fileURLToPath(new URL('../../test/fixtures/acquire-model.ts', import.meta.url))

function serve(faults: Parameters<typeof startFileServer>[1] = {}): Promise<FileServer> {
  return startFileServer({ '/model.onnx': graph, '/model.onnx_data': weights }, faults)
}

function manifestAt(url: string): ModelManifest {
  return tinyVitManifest([
    pinnedFile('model.onnx', graph, `${url}/model.onnx`),
    pinnedFile('model.onnx_data', weights, `${url}/model.onnx_data`),
  ])
}

/** A directory with the manifest in it. */
function directoryFor(manifest: ModelManifest): string {
  const directory = temporaryFolder()
  writeManifest(directory, manifest)
  return directory
}

function put(directory: string, manifest: ModelManifest, files: Readonly<Record<string, Uint8Array>>): string {
  const folder = join(directory, manifest.id, manifest.revision)
  mkdirSync(folder, { recursive: true })
  for (const [name, bytes] of Object.entries(files)) writeFileSync(join(folder, name), bytes)
  return folder
}

/** A closed loopback port. */
async function closedPort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return address !== null && typeof address === 'object' ? address.port : 0
}

describe('finding a model', () => {
  test('an unknown name is refused with the names that are known', async () => {
    const store = openModelStore({ directory: directoryFor(manifestAt('http://x')) })
    await expect(store.find('resnet')).rejects.toMatchObject({
      code: 'MODEL_UNKNOWN',
      errors: [
        { path: '/modelName', message: `must be one of ${FORMER}, ${BUILT_IN_MODEL}, ${DEFAULT_MODEL}, tiny-vit` },
      ],
    })
    await expect(store.find('../tiny-vit')).rejects.toMatchObject({ code: 'MODEL_UNKNOWN' })
  })

  test('a broken manifest is refused by its own name and hinders no other model', async () => {
    const directory = temporaryFolder()
    writeFileSync(join(directory, 'broken.json'), '{')
    writeFileSync(join(directory, `${DEFAULT_MODEL}.json`), '{"id":1}')
    const store = openModelStore({ directory })
    await expect(store.find('broken')).rejects.toMatchObject({ code: 'MODEL_MANIFEST_INVALID' })
    await expect(store.find(DEFAULT_MODEL)).rejects.toMatchObject({ code: 'MODEL_MANIFEST_INVALID' })
    expect((await store.find(BUILT_IN_MODEL)).id).toBe(BUILT_IN_MODEL)
    expect((await store.list()).map(({ id, availability }) => [id, availability])).toEqual([
      ['broken', 'invalid'],
      [FORMER, 'ready'],
      [BUILT_IN_MODEL, 'ready'],
      [DEFAULT_MODEL, 'invalid'],
    ])
  })

  test('a file named after another model is refused', async () => {
    const directory = temporaryFolder()
    writeFileSync(join(directory, 'other.json'), JSON.stringify(manifestAt('http://x')))
    await expect(openModelStore({ directory }).find('other')).rejects.toThrow('its id is "tiny-vit"')
  })

  test('the list says what can be used now', async () => {
    const directory = directoryFor(manifestAt('http://127.0.0.1:9'))
    const availability = async (fetcher: typeof fetch | null): Promise<unknown> =>
      Object.fromEntries((await openModelStore({ directory, fetcher }).list()).map((one) => [one.id, one.availability]))
    expect(await availability(fetch)).toEqual({
      [FORMER]: 'ready',
      [BUILT_IN_MODEL]: 'ready',
      [DEFAULT_MODEL]: 'unpinned',
      'tiny-vit': 'downloadable',
    })
    expect(await availability(null)).toMatchObject({ 'tiny-vit': 'missing' })
    put(directory, manifestAt(''), { 'model.onnx': graph, 'model.onnx_data': weights })
    expect(await availability(null)).toMatchObject({ 'tiny-vit': 'ready' })
  })
})

describe('acquiring a model', () => {
  test.for([BUILT_IN_MODEL, FORMER])('%s needs no directory and no network', async (id) => {
    const store = openModelStore({ directory: '/nonexistent/models' })
    const model = await store.acquire(id)
    expect(model.sha256).toBe(model.manifest.files[0]!.sha256)
    expect(existsSync('/nonexistent')).toBe(false)
  })

  test('downloads all files on first use, shows and records the licence, and asks no more afterwards', async () => {
    await using server = await serve()
    const manifest = manifestAt(server.url)
    const directory = directoryFor(manifest)
    const store = openModelStore({ directory, fetcher: fetch })
    const progress: Progress[] = []
    const model = await store.acquire('tiny-vit', { onProgress: (one) => progress.push(one) })
    expect(model.bytes).toBe(graph.length + weights.length)
    expect(model.sha256).toBe(sha256(Buffer.from(`${sha256(graph)}\n${sha256(weights)}\n`)))
    await expect(InferenceSession.create(String(model.graph))).resolves.toBeDefined()
    expect(progress[0]).toMatchObject({ phase: 'download-model', unit: 'bytes', total: graph.length })
    expect(progress[0]?.message).toContain('licence: MIT, https://example.org/licence')
    expect(progress.at(-1)).toMatchObject({ done: weights.length, total: weights.length })
    const folder = join(directory, 'tiny-vit', 'r1')
    expect(readFileSync(join(folder, 'LICENCE.txt'), 'utf8')).toContain('For tests.')
    expect(readdirSync(folder).toSorted()).toEqual(['LICENCE.txt', 'model.onnx', 'model.onnx_data'])
    await openModelStore({ directory, fetcher: null }).acquire('tiny-vit')
    expect(server.requests).toEqual(['GET /model.onnx', 'GET /model.onnx_data'])
  })

  test('a transfer that breaks off is resumed where it stopped', async () => {
    await using server = await serve({ breakAfter: [1000] })
    const directory = directoryFor(manifestAt(server.url))
    await openModelStore({ directory, fetcher: fetch }).acquire('tiny-vit')
    expect(server.requests).toEqual(['GET /model.onnx', 'GET /model.onnx bytes=1000-', 'GET /model.onnx_data'])
  })

  test('what an earlier process left is resumed; a server that cannot resume sends all of it', async () => {
    for (const ignoreRange of [false, true]) {
      await using server = await serve({ ignoreRange })
      const manifest = manifestAt(server.url)
      const directory = directoryFor(manifest)
      put(directory, manifest, { 'model.onnx.part': graph.subarray(0, 500) })
      await openModelStore({ directory, fetcher: fetch }).acquire('tiny-vit')
      expect(server.requests[0]).toBe('GET /model.onnx bytes=500-')
    }
  })

  test('a left-over that is longer than the file is thrown away', async () => {
    await using server = await serve()
    const manifest = manifestAt(server.url)
    const directory = directoryFor(manifest)
    put(directory, manifest, { 'model.onnx.part': new Uint8Array(graph.length + 9) })
    await openModelStore({ directory, fetcher: fetch }).acquire('tiny-vit')
    expect(server.requests.slice(0, 2)).toEqual([`GET /model.onnx bytes=${graph.length + 9}-`, 'GET /model.onnx'])
  })

  test('a server that keeps breaking off is given up on, and what came is kept', async () => {
    await using server = await serve({ breakAfter: [100, 0, 0, 0, 0] })
    const manifest = manifestAt(server.url)
    const directory = directoryFor(manifest)
    const failure = openModelStore({ directory, fetcher: fetch }).acquire('tiny-vit')
    await expect(failure).rejects.toMatchObject({ code: 'MODEL_UNAVAILABLE', retryable: true })
    expect(readFileSync(join(directory, 'tiny-vit/r1/model.onnx.part')).length).toBe(100)
  })

  test('a file with one wrong byte is refused and not kept, whether downloaded or found in place', async () => {
    await using server = await serve()
    const wrong = Uint8Array.from(graph, (byte, i) => (i === 99 ? byte ^ 1 : byte))
    server.files.set('/model.onnx', wrong)
    const manifest = manifestAt(server.url)
    const directory = directoryFor(manifest)
    const store = openModelStore({ directory, fetcher: fetch })
    await expect(store.acquire('tiny-vit')).rejects.toMatchObject({ code: 'MODEL_TAMPERED' })
    expect(existsSync(join(directory, 'tiny-vit/r1/model.onnx'))).toBe(false)
    put(directory, manifest, { 'model.onnx': wrong, 'model.onnx_data': weights })
    await expect(store.acquire('tiny-vit')).rejects.toThrow(
      `sha256 ${sha256(wrong)}, its manifest says ${sha256(graph)}`,
    )
  })

  test('a file that is changed after it was verified is refused, too', async () => {
    const manifest = manifestAt('http://x')
    const directory = directoryFor(manifest)
    const folder = put(directory, manifest, { 'model.onnx': graph, 'model.onnx_data': weights })
    const store = openModelStore({ directory })
    await store.acquire('tiny-vit')
    writeFileSync(
      join(folder, 'model.onnx_data'),
      Uint8Array.from(weights, (byte, i) => (i === 5 ? byte ^ 1 : byte)),
    )
    await expect(store.acquire('tiny-vit')).rejects.toMatchObject({ code: 'MODEL_TAMPERED' })
    writeFileSync(join(folder, 'model.onnx_data'), weights.subarray(1))
    await expect(store.acquire('tiny-vit')).rejects.toThrow(`has size ${weights.length - 1}`)
  })

  test('a server that announces or sends another length is refused at once', async () => {
    for (const length of [graph.length + 1, 'none'] as const) {
      await using server = await serve({ length })
      server.files.set('/model.onnx', Buffer.concat([graph, Buffer.from('x')]))
      const directory = directoryFor(manifestAt(server.url))
      await expect(openModelStore({ directory, fetcher: fetch }).acquire('tiny-vit')).rejects.toMatchObject({
        code: 'MODEL_UNAVAILABLE',
      })
      expect(existsSync(join(directory, 'tiny-vit/r1/model.onnx'))).toBe(false)
    }
  })

  test('a cancelled download stops with the reason of the signal', async () => {
    await using server = await serve({ delayMs: 5000 })
    const controller = new AbortController()
    const directory = directoryFor(manifestAt(server.url))
    const store = openModelStore({ directory, fetcher: fetch, probeTimeoutMs: 10_000 })
    const pending = store.acquire('tiny-vit', { signal: controller.signal })
    const reason = new Error('stop it')
    setTimeout(() => controller.abort(reason), 50)
    await expect(pending).rejects.toBe(reason)
  })
})

describe('a model that cannot be had', () => {
  test('is reported at once, offline and behind a server that never answers, with place and alternative', async () => {
    await using silent = await serve({ silent: true })
    for (const url of [`http://127.0.0.1:${await closedPort()}`, silent.url]) {
      const directory = directoryFor(manifestAt(url))
      const failure = openModelStore({ directory, fetcher: fetch }).acquire('tiny-vit')
      await expect(failure).rejects.toMatchObject({
        code: 'MODEL_UNAVAILABLE',
        message: expect.stringMatching(/model\.onnx is missing.*(cannot be reached|did not answer within 900 ms)/),
        hint: expect.stringMatching(/tiny-vit.model\.onnx.*builtin-texture-spectral-v2/),
      })
    }
  })

  test('is reported when downloads are off, or a file has no URL', async () => {
    const directory = directoryFor(manifestAt('http://x'))
    await expect(openModelStore({ directory }).acquire('tiny-vit')).rejects.toThrow('downloads are switched off')
    const local = tinyVitManifest([pinnedFile('model.onnx', graph, null)], 'local')
    writeManifest(directory, local)
    await expect(openModelStore({ directory, fetcher: fetch }).acquire('local')).rejects.toThrow('has no URL')
  })

  test('without checksums is refused before any request, unless allowed', async () => {
    await using server = await serve()
    const files = manifestAt(server.url).files.map(({ path, url }) => ({ path, url, size: null, sha256: null }))
    const directory = directoryFor(tinyVitManifest(files))
    const refused = openModelStore({ directory, fetcher: fetch }).acquire('tiny-vit')
    await expect(refused).rejects.toMatchObject({
      code: 'MODEL_UNAVAILABLE',
      hint: expect.stringContaining('models pin'),
    })
    expect(server.requests).toEqual([])
    const model = await openModelStore({ directory, fetcher: fetch, allowUnpinned: true }).acquire('tiny-vit')
    expect(model.bytes).toBe(graph.length + weights.length)
    const present = openModelStore({ directory, fetcher: fetch }).acquire('tiny-vit')
    await expect(present).rejects.toMatchObject({ code: 'MODEL_UNPINNED', hint: expect.stringContaining('models pin') })
  })

  test('is the default one when nothing was prepared: it says what to do, and never becomes another model', async () => {
    const failure = openModelStore({ directory: temporaryFolder(), fetcher: fetch }).acquire(DEFAULT_MODEL)
    await expect(failure).rejects.toMatchObject({
      code: 'MODEL_UNAVAILABLE',
      hint: expect.stringContaining(`models pin ${DEFAULT_MODEL}`),
    })
  })
})

describe('processes that share a directory', () => {
  test('download a model once between them', async () => {
    await using server = await serve({ delayMs: 300 })
    const directory = directoryFor(manifestAt(server.url))
    const run = (): Promise<{ stdout: string; stderr: string }> =>
      promisify(execFile)(process.execPath, [acquireScript, directory, 'tiny-vit'])
    const results = await Promise.all([run(), run(), run()])
    expect(new Set(results.map(({ stdout }) => stdout)).size).toBe(1)
    expect(server.requests).toEqual(['GET /model.onnx', 'GET /model.onnx_data'])
  })

  test('take over from one that was killed in the middle, with what it had', async () => {
    await using server = await serve({ holdAfter: [1000] })
    const directory = directoryFor(manifestAt(server.url))
    const child = spawn(process.execPath, [acquireScript, directory, 'tiny-vit'], {
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    await new Promise<void>((resolve, reject) => {
      child.stderr.on('data', (text: Buffer) => /^1000 /m.test(text.toString()) && resolve())
      child.on('exit', () => reject(new Error('the child ended by itself')))
    })
    const gone = new Promise((resolve) => child.on('exit', resolve))
    child.kill('SIGKILL')
    await gone
    await openModelStore({ directory, fetcher: fetch }).acquire('tiny-vit')
    expect(server.requests).toEqual(['GET /model.onnx', 'GET /model.onnx bytes=1000-', 'GET /model.onnx_data'])
  })
})
