import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startApp } from './support/app.ts'
import { FolderModel, meets } from './support/folder-model.ts'

test('after random acts of create, save, rename and delete, code and policy are those on disk', async () => {
  const root = await mkdtemp(join(tmpdir(), 'terrane-random-'))
  const model = new FolderModel(root, 20261122)
  for (let i = 0; i < 5; i++) await model.add(`start${i}`)
  {
    await using app = await startApp({ TERRANE_FUNCTIONS_DIR: root })
    for (let round = 0; round < 10; round++) {
      model.touched.clear()
      for (let act = 0; act < 5; act++) await model.act()
      for (const name of model.touched)
        await expect
          .poll(() => meets(app.url(name)), { interval: 25, message: `round ${round}, ${name}` })
          .toBe(model.expected(name))
    }
    for (const name of model.functions.keys()) expect(await meets(app.url(name))).toBe(model.expected(name))
  }
  await rm(root, { recursive: true })
})
