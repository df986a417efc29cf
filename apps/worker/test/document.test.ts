import { TASK_EXAMPLES, TASK_NAMES, TASK_RESULTS } from '@terrane/contracts'
import { Value } from 'typebox/value'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openWorker, type TestWorker } from './harness.ts'

interface Operation {
  readonly operationId?: string
  readonly summary?: string
  readonly responses: Record<string, { content?: Record<string, { schema: unknown }> }>
}
interface Document {
  readonly paths: Record<string, Record<string, Operation>>
  readonly components: {
    readonly schemas: Record<string, { readonly properties?: Record<string, Record<string, unknown>> }>
  }
}

let worker: TestWorker
let document: Document
beforeAll(async () => {
  worker = await openWorker()
  document = (await worker.app.inject('/doc')).json()
})
afterAll(() => worker[Symbol.asyncDispose]())

test('the document that @terrane/client is generated from is that of this worker', async () => {
  // When this fails: vitest -u on this file, then node infra/packaging/src/generate-client.ts.
  await expect(`${JSON.stringify(document, null, 2)}\n`).toMatchFileSnapshot(
    '../../../packages/client/openapi/worker.json',
  )
})

test('every operation has a name of its own and says what it does', () => {
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods))
  const names = operations.map(({ operationId }) => operationId)
  expect(names).not.toContain(undefined)
  expect(new Set(names).size).toBe(names.length)
  expect(operations.every(({ summary }) => summary)).toBe(true)
})

test('a job has the result of its task', () => {
  const found = document.paths['/jobs/{taskName}/{job_id}']?.['get']?.responses['200']
  expect(found?.content?.['application/json']?.schema).toMatchObject({ discriminator: { propertyName: 'taskName' } })
  for (const task of TASK_NAMES) {
    const name = `${task[0]!.toUpperCase()}${task.slice(1)}Job`
    const submitted = document.paths[`/jobs/${task}`]?.['post']?.responses['202']
    expect(submitted?.content?.['application/json']?.schema).toEqual({ $ref: `#/components/schemas/${name}` })
    const properties = document.components.schemas[name]?.properties
    expect(properties?.['taskName']).toEqual({ type: 'string', const: task })
    const fields = Object.keys(TASK_RESULTS[task].properties)
    expect(JSON.stringify(properties?.['result'])).toContain(JSON.stringify(fields[0]))
  }
})

test('the example of each task is a request that it takes', () => {
  for (const task of worker.deps.tasks) {
    expect([task.name, ...Value.Errors(task.body, TASK_EXAMPLES[task.name])]).toEqual([task.name])
  }
})
