import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bundleFolder } from '../bundle.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrane-constants-'))
})
afterAll(() => rm(folder, { recursive: true }))

test('an assignment to a constant fails where it is reached, as in the runtime, and the rest of the source runs', async () => {
  await writeFile(
    join(folder, 'index.ts'),
    `const ü = 1, count: number = 1
export const fine = () => count + 1
export const wrong = [() => { count = 2 }, () => { const inner = 1; inner++ }, () => { 'ü'; [ü] = [2] as const }, () => { ü += count = 1 }]
export const line = () => { throw new Error('here') }
`,
  )
  const { code } = await bundleFolder(folder, null)
  const module = (await import(`data:text/javascript;base64,${Buffer.from(code).toString('base64')}`)) as {
    fine: () => number
    wrong: (() => void)[]
  }
  expect(module.fine()).toBe(2)
  for (const each of module.wrong) expect(each).toThrow(new TypeError('Assignment to constant variable.'))
})

test('other errors beside one are told', async () => {
  await writeFile(join(folder, 'index.ts'), `const a = 1; a = 2; import './none.ts'`)
  await expect(bundleFolder(folder, null)).rejects.toMatchObject({
    details: expect.stringContaining('./none.ts') as string,
  })
})
