import { expect, test } from 'vitest'
import { fillTokens, restoreTokens } from './tokens.ts'

const AT = new Date('2026-11-22T23:30:00Z')

test('the day and the time of a run are those of its zone', () => {
  const input = { tableName: 'scene_{date}', sources: ['a_{date}_{time}.tif', 7, null], other: '{year}' }
  expect(fillTokens(input, AT, 'UTC')).toEqual({
    tableName: 'scene_20261122',
    sources: ['a_20261122_2330.tif', 7, null],
    other: '{year}',
  })
  expect(fillTokens(input, AT, 'Asia/Tokyo').tableName).toBe('scene_20261123')
})

test('what was checked keeps its defaults and gets its tokens back', () => {
  const given = { tableName: 'scene_{date}', sources: [{ path: '{time}.tif' }] }
  const checked = { ...fillTokens(given, AT, 'UTC'), stride: 256, sources: [{ path: '2330.tif', band: 0 }] }
  expect(restoreTokens(checked, given)).toEqual({
    tableName: 'scene_{date}',
    stride: 256,
    sources: [{ path: '{time}.tif', band: 0 }],
  })
})
