import { createServer, type IncomingMessage } from 'node:http'
import { text as readText } from 'node:stream/consumers'
import type { AddressInfo } from 'node:net'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, expectTypeOf, test } from 'vitest'
import { createClient, JobFailed, type ResultOf } from '../src/index.ts'
import { importFile } from './example.ts'

/** A worker that gives the answers in order, and records its requests. */
async function startWorker(answers: (readonly [status: number, body: unknown])[]) {
  const asked: { call: string; body: unknown; headers: IncomingMessage['headers'] }[] = []
  const server = createServer((request, response) => {
    void readText(request).then((text) => {
      asked.push({
        call: `${request.method} ${request.url}`,
        body: text === '' ? null : JSON.parse(text),
        headers: request.headers,
      })
      const [status, body] = answers.length > 1 ? answers.shift()! : answers[0]!
      return response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  close = () => void server.close()
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/worker`, asked }
}
let close = (): void => {}
afterEach(() => close())

const record = (fields: object) => ({
  id: '7',
  taskName: 'ogr2ogrImport',
  status: 'pending',
  progress: null,
  result: null,
  error: null,
  updated_at: '0',
  ...fields,
})
const running = record({ status: 'running', updated_at: '1', progress: { percent: 40, message: 'reading' } })
const done = record({
  status: 'success',
  updated_at: '2',
  result: { tables: [{ table: 'public.roads', rows: 3 }], rows: 3 },
})
const failed = record({
  status: 'failed',
  error: { code: 'CRS_UNKNOWN', message: 'No system', hint: 'Name it', retryable: false },
})
const problem = {
  code: 'VALIDATION_FAILED',
  message: 'tableName is missing',
  hint: 'Add it',
  errors: [{ path: '/tableName', message: 'required' }],
}
const input = { fileUrl: 'https://example.org/roads.gpkg', tableName: 'roads' }

test('the example of the README is the one that runs here', async () => {
  const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8')
  expect(readme).toContain(readFileSync(join(import.meta.dirname, 'example.ts'), 'utf8'))
  const { url, asked } = await startWorker([
    [202, record({})],
    [200, done],
  ])
  expect(await importFile(url, 'key', 'roads.gpkg', () => {})).toBe('public.roads: 3 rows')
  expect(asked.map(({ call }) => call)).toEqual(['POST /worker/jobs/ogr2ogrImport', 'GET /worker/jobs/ogr2ogrImport/7'])
  expect(asked[0]).toMatchObject({
    body: { tableName: 'roads' },
    headers: { apikey: 'key', authorization: 'Bearer key' },
  })
})

test('a run tells how far it is, and its result is that of the task', async () => {
  const { url } = await startWorker([
    [202, record({})],
    [200, running],
    [200, done],
  ])
  const seen: (number | null)[] = []
  const result = await createClient({ url, key: 'key' }).jobs.run('ogr2ogrImport', input, {
    onProgress: ({ percent }) => seen.push(percent),
  })
  expect(seen).toEqual([40])
  expect(result.tables[0]?.rows).toBe(3)
  expectTypeOf(result).toEqualTypeOf<ResultOf<'ogr2ogrImport'>>()
  expectTypeOf<ResultOf<'createGeoEmbeddings'>['dims']>().toEqualTypeOf<number>()
  // @ts-expect-error -- a field that the task does not have
  void ((): unknown => createClient({ url, key: 'key' }).jobs.submit('ogr2ogrImport', { ...input, colour: 'red' }))
})

test('a job that fails says why and what to do', async () => {
  const { url } = await startWorker([
    [202, record({})],
    [200, failed],
  ])
  const run = createClient({ url, key: 'key' }).jobs.run('ogr2ogrImport', input)
  await expect(run).rejects.toBeInstanceOf(JobFailed)
  await expect(run).rejects.toMatchObject({
    code: 'CRS_UNKNOWN',
    message: 'No system',
    hint: 'Name it',
    job: { id: '7' },
  })
})

test('a request that is refused says in which field', async () => {
  const { url } = await startWorker([[422, problem]])
  const submit = createClient({ url, key: 'key' }).jobs.submit('ogr2ogrImport', input)
  await expect(submit).rejects.toMatchObject({
    name: 'TerraneProblem',
    status: 422,
    code: 'VALIDATION_FAILED',
    errors: problem.errors,
  })
})

test('an abort cancels the job, and the run fails with its reason', async () => {
  const { url, asked } = await startWorker([
    [202, record({})],
    [200, running],
  ])
  const stopped = new AbortController()
  const run = createClient({ url, key: 'key' }).jobs.run('ogr2ogrImport', input, {
    signal: stopped.signal,
    onProgress: () => stopped.abort(new Error('enough')),
  })
  await expect(run).rejects.toThrow('enough')
  expect(asked.at(-1)?.call).toBe('DELETE /worker/jobs/ogr2ogrImport/7')
})

test('a worker that is started anew is waited for; a refusal is not', async () => {
  const { url } = await startWorker([
    [202, record({})],
    [503, { code: 'STOPPING' }],
    [200, done],
  ])
  const { jobs } = createClient({ url, key: 'key', projectRef: 'harbour' })
  expect(await jobs.run('ogr2ogrImport', input)).toMatchObject({ rows: 3 })
  close()
  const gone = await startWorker([[404, { code: 'JOB_NOT_FOUND' }]])
  await expect(createClient({ url: gone.url, key: 'key' }).jobs.wait('ogr2ogrImport', '7')).rejects.toMatchObject({
    code: 'JOB_NOT_FOUND',
  })
})

test('a project of a shared worker is named in the body of a job and in the query of everything else', async () => {
  const { url, asked } = await startWorker([[202, record({})]])
  const { jobs } = createClient({ url, key: 'key', projectRef: 'harbour' })
  await jobs.submit('ogr2ogrImport', input, { idempotencyKey: 'once' })
  await jobs.list('ogr2ogrImport', { limit: 2 })
  await jobs.retry('ogr2ogrImport', '7')
  expect(asked[0]).toMatchObject({
    body: { projectTarget: { projectRef: 'harbour' } },
    headers: { 'idempotency-key': 'once' },
  })
  expect(asked.slice(1).map(({ call }) => call)).toEqual([
    'GET /worker/jobs/ogr2ogrImport?projectRef=harbour&limit=2',
    'POST /worker/jobs/ogr2ogrImport/7/retry?projectRef=harbour',
  ])
})
