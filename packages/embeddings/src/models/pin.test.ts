import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { startFileServer } from '../../test/fixtures/file-server.ts'
import { sha256, temporaryFolder, tinyVitManifest, writeManifest } from '../../test/fixtures/models.ts'
import { isPinned, parseManifest } from './manifest.ts'
import { pinModel } from './pin.ts'

const COMMIT = '0123456789abcdef0123456789abcdef01234567'
const content = new TextEncoder().encode('weights')

function unpinned(url: string | null): ReturnType<typeof tinyVitManifest> {
  return { ...tinyVitManifest([{ path: 'model.onnx', url, size: null, sha256: null }]), revision: 'main' }
}

test('a hub describes a large file in the headers of its redirect: commit, size and checksum', async () => {
  await using server = await startFileServer(
    { '/org/m/resolve/main/model.onnx': content },
    { headers: { 'x-repo-commit': COMMIT, 'x-linked-etag': `"${'ab'.repeat(32)}"`, 'x-linked-size': '1234567890' } },
  )
  const directory = temporaryFolder()
  writeManifest(directory, unpinned(`${server.url}/org/m/resolve/main/model.onnx`))
  const pinned = await pinModel({ directory, id: 'tiny-vit', fetcher: fetch })
  expect(pinned.revision).toBe(COMMIT)
  expect(pinned.files).toEqual([
    {
      path: 'model.onnx',
      url: `${server.url}/org/m/resolve/${COMMIT}/model.onnx`,
      size: 1234567890,
      sha256: 'ab'.repeat(32),
    },
  ])
  expect(server.requests).toEqual(['HEAD /org/m/resolve/main/model.onnx'])
  const written: unknown = JSON.parse(readFileSync(join(directory, 'tiny-vit.json'), 'utf8'))
  expect(parseManifest(written, 'written')).toEqual(pinned)
})

test('a file that the headers do not describe is read at the pinned commit', async () => {
  const path = `/org/m/resolve/${COMMIT}/model.onnx`
  const files = { '/org/m/resolve/main/model.onnx': content, [path]: content }
  await using server = await startFileServer(files, { headers: { 'x-repo-commit': COMMIT } })
  const directory = temporaryFolder()
  writeManifest(directory, unpinned(`${server.url}/org/m/resolve/main/model.onnx`))
  const pinned = await pinModel({ directory, id: 'tiny-vit', fetcher: fetch })
  expect(pinned.files[0]).toMatchObject({ size: content.length, sha256: sha256(content) })
  expect(server.requests.at(-1)).toBe(`GET ${path}`)
})

test('files in place can be pinned without any network', async () => {
  const directory = temporaryFolder()
  writeManifest(directory, unpinned(null))
  await expect(pinModel({ directory, id: 'tiny-vit', fetcher: null })).rejects.toMatchObject({
    code: 'MODEL_NOT_PINNABLE',
  })
  mkdirSync(join(directory, 'tiny-vit/main'), { recursive: true })
  writeFileSync(join(directory, 'tiny-vit/main/model.onnx'), content)
  const pinned = await pinModel({ directory, id: 'tiny-vit', fetcher: null })
  expect(isPinned(pinned)).toBe(true)
  expect(pinned.files[0]!.sha256).toBe(sha256(content))
})

test('the files of a text part are pinned with the others', async () => {
  const directory = temporaryFolder()
  const file = (path: string) => ({ path, url: null, size: null, sha256: null })
  const text = { files: [file('text.onnx'), file('tokenizer.json')], tokenizer: 'tokenizer.json', ids: 'ids' }
  writeManifest(directory, { ...unpinned(null), text: { ...text, output: 'embeds', length: 8 } })
  mkdirSync(join(directory, 'tiny-vit/main'), { recursive: true })
  for (const name of ['model.onnx', 'text.onnx', 'tokenizer.json'])
    writeFileSync(join(directory, 'tiny-vit/main', name), name)
  const pinned = await pinModel({ directory, id: 'tiny-vit', fetcher: null })
  expect(pinned.text?.files.map((one) => one.sha256)).toEqual(
    ['text.onnx', 'tokenizer.json'].map((name) => sha256(new TextEncoder().encode(name))),
  )
})

test('a file that is not there cannot be pinned, and the manifest stays as it was', async () => {
  await using server = await startFileServer({})
  const directory = temporaryFolder()
  const manifest = unpinned(`${server.url}/gone`)
  writeManifest(directory, manifest)
  await expect(pinModel({ directory, id: 'tiny-vit', fetcher: fetch })).rejects.toThrow('answers 404')
  expect(JSON.parse(readFileSync(join(directory, 'tiny-vit.json'), 'utf8'))).toEqual(manifest)
})
