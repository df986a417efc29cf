import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startApp } from '../support/app.ts'
import { FolderModel, meets } from '../support/folder-model.ts'

test.each([
  { functions: 5, rounds: 120, seed: 1 },
  { functions: 200, rounds: 15, seed: 2 },
])(
  '$rounds sequences among $functions functions: code and policy always become those on disk',
  async ({ functions, rounds, seed }) => {
    const root = await mkdtemp(join(tmpdir(), 'terrane-random-'))
    const model = new FolderModel(root, seed)
    for (let i = 0; i < functions; i++) await model.add(`start${i}`)
    {
      await using app = await startApp({ TERRANE_FUNCTIONS_DIR: root })
      for (let round = 0; round < rounds; round++) {
        model.touched.clear()
        for (let act = 0; act < 4; act++) await model.act()
        for (const name of model.touched)
          await expect
            .poll(() => meets(app.url(name)), { interval: 25, message: `seed ${seed}, round ${round}, ${name}` })
            .toBe(model.expected(name))
      }
      for (const name of model.functions.keys()) expect(await meets(app.url(name))).toBe(model.expected(name))
    }
    await rm(root, { recursive: true })
  },
)
