import { expect, test } from 'vitest'
import { freeName, giveDropped, takeDropped } from './dropped.ts'

test('a table of a dropped file takes no name that is there', () => {
  expect(freeName('parks', [])).toBe('parks')
  expect(freeName('parks', ['parks', 'parks_2'])).toBe('parks_3')
  const long = 'x'.repeat(63)
  expect(freeName(long, [long]).length).toBeLessThanOrEqual(63)
})

test('what is dropped goes to the map that is edited last, and to none after it was left', () => {
  const taken: string[] = []
  const first = takeDropped(() => taken.push('first'))
  const second = takeDropped(() => taken.push('second'))
  first()
  expect(giveDropped({ id: 'one', tables: ['public.a'], rasters: [] }, false)).toBe(true)
  second()
  expect(giveDropped({ id: 'one', tables: ['public.a'], rasters: [] }, false)).toBe(false)
  expect(taken).toEqual(['second'])
})

test('what is dropped while a new map is being opened goes to that map, once', () => {
  const taken: (readonly string[])[] = []
  expect(giveDropped({ id: 'one', tables: ['public.a'], rasters: [] }, true)).toBe(true)
  takeDropped(({ tables }) => taken.push(tables))()
  takeDropped(({ tables }) => taken.push(tables))()
  expect(taken).toEqual([['public.a']])
})

test('a drop that failed before its map was open leaves no preview to it', () => {
  const taken: string[] = []
  giveDropped({ id: 'one', preview: { features: [], table: 'public.a' }, tables: [], rasters: [] }, true)
  expect(giveDropped({ id: 'one', tables: [], rasters: [] }, false)).toBe(false)
  takeDropped(({ id }) => taken.push(id))()
  expect(taken).toEqual([])
})
