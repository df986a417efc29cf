import { expect, test } from 'vitest'
import { withPlainRequire } from './package-quirks.ts'

test('calls of a made require with a literal become plain ones, and nothing else changes', async () => {
  const code = `import { createRequire } from 'module'
const r = createRequire(import.meta.url)
const fonts = { a: () => r('#fonts/a.cjs'), b: () => r("./b.js"), c: (name) => r(name), other: or('#x') }`
  expect(await withPlainRequire(code)).toBe(
    code.replace(`r('#fonts/a.cjs')`, `require('#fonts/a.cjs')`).replace(`r("./b.js")`, `require("./b.js")`),
  )
  expect(await withPlainRequire(`const x = 1; r('#fonts/a.cjs')`)).toBe(`const x = 1; r('#fonts/a.cjs')`)
})
