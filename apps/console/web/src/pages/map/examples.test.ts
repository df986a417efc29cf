import { expect, test } from 'vitest'
import { readExamples, withExample, writeExamples } from './examples.ts'

test('examples are ids, with a minus where they show what is not wanted', () => {
  expect(readExamples('12,15 , -40')).toEqual({ like: ['12', '15'], unlike: ['40'] })
  expect(readExamples('9007199254740993')).toEqual({ like: ['9007199254740993'], unlike: [] })
  for (const text of ['', '-4', '1,', 'a', '1.5', '--1']) expect(readExamples(text)).toBeNull()
})

test('they are written as they are read', () => {
  const examples = { like: ['3', '7'], unlike: ['5'] }
  expect(writeExamples(examples)).toBe('3, 7, -5')
  expect(readExamples(writeExamples(examples))).toEqual(examples)
})

test('a tile is added to a side, changes sides, and is taken off', () => {
  const one = { like: ['1'], unlike: [] }
  expect(withExample(one, '2', 'like')).toEqual({ like: ['1', '2'], unlike: [] })
  expect(withExample({ like: ['1', '2'], unlike: [] }, '2', 'unlike')).toEqual({ like: ['1'], unlike: ['2'] })
  expect(withExample({ like: ['1'], unlike: ['2'] }, '2', 'unlike')).toEqual(one)
})

test('the last example stays, and a place gives way to the first tile', () => {
  const one = { like: ['1'], unlike: [] }
  expect(withExample(one, '1', 'like')).toEqual(one)
  expect(withExample(one, '1', 'unlike')).toEqual(one)
  const place = { lng: 1, lat: 2 }
  expect(withExample(place, '4', 'like')).toEqual({ like: ['4'], unlike: [] })
  expect(withExample(place, '4', 'unlike')).toEqual(place)
  expect(withExample(null, '4', 'like')).toEqual({ like: ['4'], unlike: [] })
  expect(withExample(null, '4', 'unlike')).toBeNull()
})
