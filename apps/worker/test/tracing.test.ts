import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { openTracing, traceparent } from '@terrane/service'
import { expect, test } from 'vitest'
import { fakeTask } from './fake-tasks.ts'
import { HEADERS, openWorker, submit, until } from './harness.ts'

const TASK = 'createGeoEmbeddings'

interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly status?: { readonly code?: number; readonly message?: string }
}

interface Export {
  readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly Span[] }[] }[]
}

/** A collector on loopback that stores received traces. */
async function openCollector() {
  const spans: Span[] = []
  const collect = async (request: IncomingMessage) => {
    const { resourceSpans } = (await json(request)) as Export
    if (request.url !== '/v1/traces') return
    for (const { scopeSpans } of resourceSpans) spans.push(...scopeSpans.flatMap((one) => one.spans))
  }
  const server = createServer((request, response) => {
    void collect(request).then(() => response.end('{}'))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { spans, endpoint, [Symbol.dispose]: () => server.close() }
}

test('a request, the wait of its job and what the job does are one trace, also over another attempt', async () => {
  using collector = await openCollector()
  const tracing = await openTracing('worker', { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint })
  const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
  const caller = '00f067aa0ba902b7'
  const stores = fakeTask(async ({ project, fetch }) => {
    await project.store.getBucket('pmtiles')
    await fetch('http://127.0.0.1:9/nothing', {}).catch(() => {})
  })
  await using worker = await openWorker({ tasks: [stores] })
  const headers = { traceparent: `00-${trace}-${caller}-01`, 'x-request-id': 'of-the-caller' }
  const body = { tableName: 'traced', fault: 'upstream', faultyAttempts: 1 }
  const { body: job } = await submit(worker, TASK, body, headers)
  const done = await until(worker, job.links.self)
  expect(done).toMatchObject({ status: 'success', attempt: 2, request_id: 'of-the-caller' })
  await tracing![Symbol.asyncDispose]()

  const spans = collector.spans.filter(({ traceId }) => traceId === trace)
  const names = spans.map(({ name }) => name).toSorted()
  const job_ = `job ${TASK}`
  const stored = names.filter((name) => name.startsWith('storage.'))
  expect(stored).toEqual(['storage.getBucket', 'storage.getBucket'])
  expect(names.filter((name) => !stored.includes(name))).toEqual([
    `POST /jobs/${TASK}`,
    'fetch GET',
    'fetch GET',
    job_,
    job_,
    'steps',
    'steps',
    'submit',
    'wait in the queue',
  ])
  const parentOf = (name: string) => {
    const { parentSpanId } = spans.find((span) => span.name === name)!
    return parentSpanId === caller ? 'the caller' : spans.find(({ spanId }) => spanId === parentSpanId)?.name
  }
  expect(Object.fromEntries([...new Set(names)].map((name) => [name, parentOf(name)]))).toEqual({
    [`POST /jobs/${TASK}`]: 'the caller',
    submit: `POST /jobs/${TASK}`,
    'wait in the queue': job_,
    [job_]: 'submit',
    steps: job_,
    'fetch GET': job_,
    'storage.getBucket': job_,
  })
  // Polls without a trace are not part of the trace.
  expect(collector.spans.some(({ traceId }) => traceId !== trace)).toBe(true)
})

test('without a collector nothing is traced, and jobs carry no trace', async () => {
  expect(await openTracing('worker', {})).toBeNull()
  expect(traceparent()).toBeNull()
  await using worker = await openWorker({ tasks: [fakeTask()] })
  const headers = { ...HEADERS, traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' }
  const { body } = await submit(worker, TASK, { tableName: 'untraced' }, headers)
  const { rows } = await worker.db.database.query('select traceparent from terrane.jobs where id = $1', [body.id])
  expect(rows).toEqual([{ traceparent: null }])
})
