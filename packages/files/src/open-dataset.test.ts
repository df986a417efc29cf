import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { toPlainError } from '@terrane/core/errors'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { conversionFailed } from './errors.ts'
import { openDataset } from './open-dataset.ts'
import { frameBytes, type Frame } from './read/protocol.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrane-open-'))
})
afterAll(() => rm(folder, { recursive: true }))

const layer = { name: 'a', rows: 1, fields: [], hasGeometry: true, geometryTypes: [1], srid: null }
const warnings = [{ code: 'TABLES_LEFT_OUT', message: 'Tables were left out.', count: 1 }]
const LAYERS: Frame = { kind: 'layers', layers: [layer], warnings }
const FAILED: Frame = { kind: 'error', error: toPlainError(conversionFailed({ reason: 'it is damaged' })) }

/** Opens a data set of an unknown system, with an engine that answers each conversion and readers that answer with a frame each. */
async function opened(conversions: readonly (Error | null)[], frames: readonly Frame[]) {
  const [converting, answers] = [conversions.values(), frames.values()]
  const running = new Set<object>()
  const engine = {
    convert: () => {
      const error = converting.next().value
      return error ? Promise.reject(error) : Promise.resolve([{ name: 'a', features: 1 }])
    },
  }
  const startReader = () => {
    const output = new PassThrough()
    const reader = {
      output,
      write: () => {
        for (const bytes of frameBytes(answers.next().value!)) output.write(Buffer.from(bytes))
      },
      expect: () => {},
      ended: Promise.resolve(),
      complaint: () => '',
      abandon: () => {
        running.delete(reader)
        return Promise.resolve()
      },
    }
    running.add(reader)
    return reader
  }
  const dataset = { folder, file: 'a.topojson', driver: 'TopoJSON', stem: 'a' } as const
  const place = { workdir: folder, signal: new AbortController().signal, startReader }
  const result = await openDataset(dataset, engine, {}, place).catch((error: unknown) => error as Error)
  return { result, running }
}

test('a second conversion that fails, or a reading of it, leaves no reader behind', async () => {
  const crash = new Error('the machine has no memory left')
  const converted = await opened([null, crash], [LAYERS])
  expect(converted).toEqual({ result: crash, running: new Set() })
  const read = await opened([null, null], [LAYERS, FAILED])
  expect(read).toMatchObject({ result: { code: 'CONVERSION_FAILED' }, running: { size: 0 } })
})

test('what two conversions say of a file as a whole is said once, and both readers end with it', async () => {
  const { result, running } = await opened([null, null], [LAYERS, LAYERS])
  if (result instanceof Error) throw result
  expect([running.size, result.reading.warnings.map(({ code }) => code)]).toEqual([2, ['TABLES_LEFT_OUT']])
  await result[Symbol.asyncDispose]()
  expect(running.size).toBe(0)
})
