import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'

/** Messages that a process has written by the time that it ended. */
function messagesOf(ending: string): readonly string[] {
  const program = join(import.meta.dirname, 'fixtures/logging.ts')
  const { stdout } = spawnSync(process.execPath, [program, ending], { encoding: 'utf8', maxBuffer: 2 ** 24 })
  const lines = stdout.split('\n').filter((line) => line !== '')
  return lines.map((line) => (JSON.parse(line) as { msg: string }).msg)
}

test.each([
  ['returns', ['first', 'at exit']],
  ['exits', ['first', 'at exit']],
  ['throws', ['first', 'at exit']],
  ['rejects', ['first', 'at exit']],
  ['is killed after an error', ['first', 'second']],
  ['aborts after a fatal line', ['first', 'second']],
  ['is killed a turn later', ['first']],
])('lines that are written by turn stand in the log when the process %s', (ending, messages) => {
  expect(messagesOf(ending)).toEqual(messages)
})

test('all lines before that of an error are written with it, however many', () => {
  const messages = messagesOf('is killed with much to write')
  expect([messages.length, messages.at(-1)]).toEqual([2002, 'second'])
})
