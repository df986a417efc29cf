import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { expect, test } from 'vitest'

import { temporaryFolder } from '../../test/fixtures/models.ts'

const run = promisify(execFile)
const script = fileURLToPath(new URL('../../test/fixtures/embed-once.ts', import.meta.url))

/**
 * Runs the script in an environment of its own, and lists the files that it left in its home and its temporary folder.
 */
async function embedOnce(
  variables: Readonly<Record<string, string>>,
  ...argv: string[]
): Promise<{ printed: string; left: string[] }> {
  const folder = temporaryFolder()
  const [HOME, TMPDIR] = [join(folder, 'home'), join(folder, 'tmp')]
  for (const made of [HOME, TMPDIR]) mkdirSync(made)
  // Neither CI nor any other variable by which the runtime would take this for a test.
  const env = { HOME, TMPDIR, ...variables }
  const { stdout } = await run(process.execPath, [script, ...argv], { env })
  const left = [HOME, TMPDIR].flatMap((made) => readdirSync(made, { recursive: true, encoding: 'utf8' }))
  return { printed: stdout.trim(), left }
}

test('the runtime leaves no device identifier and no cache of events', async () => {
  expect(await embedOnce({})).toEqual({ printed: 'embedded 1', left: [] })
})

test('a worker thread, which cannot turn telemetry off, refuses to open a model', async () => {
  expect(await embedOnce({}, 'thread')).toEqual({ printed: 'TELEMETRY_ON', left: [] })
})

test('a worker thread of a process with the variable opens it', async () => {
  expect(await embedOnce({ ORT_DISABLE_TELEMETRY: '1' }, 'thread')).toEqual({ printed: 'embedded 1', left: [] })
})
