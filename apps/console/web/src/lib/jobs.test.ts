import { expect, test } from 'vitest'
import { jobWarnings, type Job } from './jobs.ts'

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
