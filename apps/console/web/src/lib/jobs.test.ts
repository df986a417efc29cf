import { afterEach, expect, test, vi } from 'vitest'
import { endOfJob, jobSources, jobWarnings, type Job } from './jobs.ts'

afterEach(() => {
  vi.unstubAllGlobals()
  vi.useRealTimers()
})

const ended = (result: Job['result'], status: Job['status'] = 'success') => ({ status, result }) as Job

test('a job that made tables of no rows is warned about, even where its result says nothing', () => {
  const empty = {
    tables: [
      { name: 'a', rows: 0 },
      { name: 'b', rows: 0 },
    ],
  }
  expect(jobWarnings(ended(empty)).map(({ code }) => code)).toEqual(['NOTHING_MADE'])
  expect(jobWarnings(ended({ rows: 0 })).map(({ code }) => code)).toEqual(['NOTHING_MADE'])
  expect(
    jobWarnings(
      ended({
        tables: [
          { name: 'a', rows: 0 },
          { name: 'b', rows: 3 },
        ],
      }),
    ),
  ).toEqual([])
  expect(jobWarnings(ended({ path: 'a.pmtiles' }))).toEqual([])
})

test('what the result tells is shown as it is, of jobs that ended well', () => {
  const warnings = [{ code: 'ROWS_REJECTED', message: 'Three rows were left out.', count: 3 }]
  expect(jobWarnings(ended({ rows: 0, warnings }))).toEqual(warnings)
  expect(jobWarnings(ended({ rows: 0, warnings }, 'failed'))).toEqual([])
})

test('a table of many files says how many are in it, and which are not and why', () => {
  const failures = [{ name: 'b.tif', code: 'NOT_A_GEOTIFF', message: 'It is no GeoTIFF' }]
  const sources = { total: 5, done: 2, unchanged: 1, failed: 2, rows: 8, failures }
  expect(jobSources(ended({ rows: 8, sources }))).toEqual({
    said: '2 of 5 files embedded, 1 unchanged since they were embedded before, 2 failed.',
    failures,
    unnamed: 1,
  })
  expect(
    jobSources(ended({ rows: 8, sources: { ...sources, total: 2, unchanged: 0, failed: 0, failures: [] } })),
  ).toEqual({
    said: '2 of 2 files embedded.',
    failures: [],
    unnamed: 0,
  })
  expect(jobSources(ended({ rows: 8 }))).toBeNull()
})

const running = { job_id: 'a', taskName: 'trainClassifier', status: 'running', terminal: false, error: null }

test('the end of a failed job is its error, with the remedy', async () => {
  const error = { code: 'CLASSES_NEEDED', message: 'Two classes are needed', hint: 'Give examples.', details: null }
  vi.stubGlobal('fetch', async () => Response.json({ ...running, status: 'failed', terminal: true, error }))
  vi.useFakeTimers({ shouldAdvanceTime: true, advanceTimeDelta: 500 })
  const end = endOfJob('demo', running as Job, new AbortController().signal)
  await expect(end).rejects.toMatchObject({ code: 'CLASSES_NEEDED', hint: 'Give examples.', details: null })
})

test('a page that was left looks for the end of a job no more', async () => {
  const left = new AbortController()
  const signals: unknown[] = []
  vi.stubGlobal('fetch', async (_: string, { signal }: RequestInit) => {
    signals.push(signal)
    left.abort()
    signal?.throwIfAborted()
  })
  vi.useFakeTimers({ shouldAdvanceTime: true, advanceTimeDelta: 500 })
  await expect(endOfJob('demo', running as Job, left.signal)).rejects.toThrow(/aborted/)
  expect(signals).toEqual([left.signal])
})
