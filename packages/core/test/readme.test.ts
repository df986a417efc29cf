import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { requireWithin } from './example.ts'

test('the example of the README is the one that runs here', () => {
  const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8')
  expect(readme).toContain(readFileSync(join(import.meta.dirname, 'example.ts'), 'utf8'))
  const ring = [[11, 48], [12, 48], [12, 49], [11, 49], [11, 48]] // prettier-ignore
  const area = { type: 'Polygon', coordinates: [ring] }
  expect(requireWithin(area, 'Munich', 11.6, 48.1)).toBeCloseTo(8192, -2)
  expect(() => requireWithin(area, 'Milan', 9.2, 45.5)).toThrow(
    expect.objectContaining({ code: 'TOO_FAR', hint: 'Choose a place within it.' }),
  )
})
