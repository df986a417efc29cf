import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'

const PACKAGE = join(import.meta.dirname, '..')
let folder: string
/** Inside the package, so that its own name resolves. */
let example: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrane-readme-'))
  await mkdir(join(PACKAGE, '.cache'), { recursive: true })
  example = await mkdtemp(join(PACKAGE, '.cache', 'readme-'))
})
afterEach(async () => {
  for (const path of [folder, example]) await rm(path, { recursive: true })
})

test('the example of the README bundles a folder and answers a request', async () => {
  const readme = await readFile(join(PACKAGE, 'README.md'), 'utf8')
  await writeFile(join(example, 'example.ts'), /```ts\n([\s\S]*?)```/.exec(readme)![1]!)
  await mkdir(join(folder, 'hello'))
  await writeFile(join(folder, 'hello', 'who.ts'), `export const who: string = 'world'`)
  const source = `import { who } from './who'; export default { fetch: () => new Response('hello ' + who) }`
  await writeFile(join(folder, 'hello', 'index.ts'), source)
  const { answer } = (await import(pathToFileURL(join(example, 'example.ts')).href)) as {
    readonly answer: (folder: string, file: string) => Promise<string>
  }
  expect(await answer(join(folder, 'hello'), join(folder, 'out.mjs'))).toBe('hello world')
})

test('the face of the package has at most twenty names', async () => {
  expect(Object.keys(await import('@terrane/bundler')).length).toBeLessThanOrEqual(20)
})
