import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { submitJob } from './example.ts'
import { EMAIL, PASSWORD, json, openConsole, openService } from './harness.ts'

test('the example of the README is the one that runs here', { timeout: 240_000 }, async () => {
  const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8')
  expect(readme).toContain(readFileSync(join(import.meta.dirname, 'example.ts'), 'utf8'))
  await using worker = await openService()
  worker.answer = ({ body }, response) =>
    json(response, 202, { job_id: '7', status: 'pending', input: JSON.parse(body) })
  await using console = await openConsole({ CONSOLE_WORKER_BASE_LOCAL: worker.url })
  const job = await submitJob(console.url, { email: EMAIL, password: PASSWORD }, 'demo/jobs/archiveToPmtiles', {
    table: 'streets',
  })
  expect(job).toMatchObject({ job_id: '7', input: { table: 'streets', projectTarget: { projectRef: 'demo' } } })
})
