import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { EngineProcess } from './engine.ts'
import { watchEngine } from './engine-watch.ts'

let folder: string
let target: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrane-engine-watch-'))
  target = join(folder, 'result.gpkg')
})
afterAll(() => rm(folder, { recursive: true }))

function run(script: string): EngineProcess {
  const args = ['-e', script, target]
  return new EngineProcess(
    process.execPath,
    args,
    { cwd: folder, env: {}, events: false },
    new AbortController().signal,
  )
}

test('an engine that computes and writes nothing is ended', async () => {
  const watched = watchEngine(run('for (;;);'), { folder, target }, { stuckSeconds: 0.5 })
  await expect(watched).rejects.toMatchObject({ code: 'FILE_TOO_COSTLY' })
})

test('an engine that writes without end is ended, though it makes progress', async () => {
  const script = `const { appendFileSync } = require('fs')
    setInterval(() => appendFileSync(process.argv[1], 'x'.repeat(1000)), 20)`
  const watched = watchEngine(run(script), { folder, target }, { stuckSeconds: 0.5, mostBytes: 20_000 })
  await expect(watched).rejects.toMatchObject({ code: 'FILE_TOO_COSTLY' })
})

test('an engine that ends by itself is left alone', async () => {
  await writeFile(join(folder, 'source'), 'x')
  await expect(watchEngine(run(''), { folder, target }, {})).resolves.toBeUndefined()
})
