import { randomCases } from '@terrane/testing/property'
import { expect, test } from 'vitest'
import { createTileFiller } from './fill.ts'

/** Fills a square drawn as rows of letters, where a dot is invalid. */
function filled(...rows: string[]): string[] {
  const side = rows.length
  const letters = rows.join('')
  const planes = Float32Array.from(letters, (letter) => letter.codePointAt(0) ?? 0)
  const valid = Uint8Array.from(letters, (letter) => (letter === '.' ? 0 : 1))
  createTileFiller(side).fill(planes, valid)
  const result = String.fromCodePoint(...planes)
  return Array.from({ length: side }, (_, row) => result.slice(row * side, (row + 1) * side))
}

test('the right edge is the mirror image of what lies before it', () => {
  expect(filled('abc..', 'defg.', 'hijkl', 'mn...', 'o....')).toEqual(['abccb', 'defgg', 'hijkl', 'mnnmm', 'ooooo'])
})

test('a gap is reflected from both of its sides, each half from the nearer one', () => {
  expect(filled('abc.....xyz', ...Array.from({ length: 10 }, () => 'aaaaaaaaaaa'))[0]).toBe(
    'abccbayxxyz'.replace('ayx', 'ayx'),
  )
})

test('rows without any valid pixel are reflected from the filled rows', () => {
  expect(filled('....', 'ab..', 'cd..', '....')).toEqual(['abba', 'abba', 'cddc', 'cddc'])
})

test('a single valid pixel fills the tile', () => {
  expect(filled('...', '..a', '...')).toEqual(['aaa', 'aaa', 'aaa'])
})

test('a tile that is valid throughout stays as it is', () => {
  expect(filled('abc', 'def', 'ghi')).toEqual(['abc', 'def', 'ghi'])
})

test('all planes are filled alike, valid pixels stay, and nothing but valid pixels is used', async () => {
  const filler = createTileFiller(16)
  await randomCases(200, (random) => {
    const share = random()
    const valid = Uint8Array.from({ length: 256 }, () => (random() < share ? 1 : 0))
    valid[Math.floor(random() * 256)] = 1
    const planes = Float32Array.from({ length: 512 }, (_, i) => (valid[i % 256] === 1 ? i : Number.NaN))
    filler.fill(planes, valid)
    for (let i = 0; i < 256; i++) {
      const source = planes[i] as number
      expect(valid[source]).toBe(1)
      expect(planes[256 + i]).toBe(256 + source)
      if (valid[i] === 1) expect(source).toBe(i)
    }
  })
})
