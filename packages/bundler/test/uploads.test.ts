import { expect, test } from 'vitest'
import { bundleFiles } from '../src/bundle.ts'

test.each([
  ['a syntax error', `export default (`, 'index.ts:1'],
  ['a file that is not there', `import './missing.ts'`, "'./missing.ts' is not part of the upload"],
  ['a package', `import 'zod'`, "'zod' is not part of the upload"],
  ['a file of this machine', `import '/etc/passwd'`, 'is not part of the upload'],
  ['a file of this machine, upwards', `import '../../../../../../etc/passwd'`, 'is not part of the upload'],
  ['a file of this machine by URL', `import 'file:///etc/passwd'`, 'is not part of the upload'],
  ['code from the network', `import 'https://example.com/x.ts'`, 'is not part of the upload'],
  ['a native add-on', `import './x.node'`, 'native add-ons'],
])('an upload with %s is refused', async (_, source, reason) => {
  const bundled = bundleFiles(new Map([['index.ts', new TextEncoder().encode(source)]]))
  await expect(bundled).rejects.toMatchObject({
    code: 'FUNCTION_BUNDLE_FAILED',
    details: expect.stringContaining(reason) as unknown,
  })
})

test.each(['a.txt', 'page.html', 'a.md', 'b.sql'])('an upload imports %s as its text', async (name) => {
  const files = { 'index.ts': `import text from './${name}'\nconsole.log(text)`, [name]: '# it’s text' }
  const bytes = Object.entries(files).map(([path, text]) => [path, new TextEncoder().encode(text)] as const)
  const { code } = await bundleFiles(new Map(bytes))
  expect(Buffer.from(code).toString()).toContain('# it')
})
