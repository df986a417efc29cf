import { expect, test } from 'vitest'
import { base64Of, filesOfFolder, folderProblem, functionNameOf } from './folder.ts'

/** A file in the form that a browser gives for a chosen folder. */
function chosen(path: string, text = ''): File {
  return Object.assign(new File([text], path.split('/').at(-1) ?? ''), { webkitRelativePath: path })
}

const FILES = ['Send Mail/index.ts', 'Send Mail/lib/a.ts', 'Send Mail/.env', 'Send Mail/node_modules/x/index.js'].map(
  (path) => chosen(path),
)

test('a folder becomes paths below it; hidden files and installed packages stay where they are', () => {
  const { files, left } = filesOfFolder(FILES)
  expect(files.map(({ path }) => path)).toEqual(['index.ts', 'lib/a.ts'])
  expect(left).toEqual(['.env', 'node_modules/x/index.js'])
})

test('a function is named after its folder', () => {
  expect(functionNameOf(FILES)).toBe('send-mail')
  expect(functionNameOf([chosen('_shared/index.ts')])).toBe('')
  expect(functionNameOf([])).toBe('')
})

test('a folder without an entry, or a name that addresses do not hold, is refused with the remedy', () => {
  const { files } = filesOfFolder(FILES)
  expect(folderProblem('send-mail', files)).toBeNull()
  expect(folderProblem('SendMail', files)).toBeNull()
  expect(folderProblem('send-mail', files.slice(1))).toContain('index.ts')
  expect(folderProblem('Send Mail', files)).toContain('such as')
  const nested = filesOfFolder([chosen('functions/hello/index.ts')]).files
  expect(folderProblem('functions', nested)).toContain('the folder of one function')
})

test('any bytes become base64, however many', async () => {
  const bytes = Uint8Array.from({ length: 100_000 }, (_, i) => (i * 7) % 256)
  const back = Uint8Array.from(atob(await base64Of(new Blob([bytes]))), (letter) => letter.charCodeAt(0))
  expect(back).toEqual(bytes)
})
