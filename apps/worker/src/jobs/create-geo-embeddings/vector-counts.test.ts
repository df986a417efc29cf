import { describe, expect, test } from 'vitest'
import { VectorCounts } from './vector-counts.ts'

const DIMS = 8
const varied = (n: number) => Array.from({ length: DIMS }, (_, i) => n + i)
const flat = (value: number) => Array.from({ length: DIMS }, () => value)

function counted(...vectors: readonly (readonly number[])[]): VectorCounts {
  const counts = new VectorCounts(null)
  // In two batches, across a checkpoint.
  const half = Math.ceil(vectors.length / 2)
  counts.add(Float32Array.from(vectors.slice(0, half).flat()), DIMS)
  const later = new VectorCounts(JSON.parse(JSON.stringify(counts.state)) as VectorCounts['state'])
  later.add(Float32Array.from(vectors.slice(half).flat()), DIMS)
  return later
}

describe('vectors that tell nothing', () => {
  test('are counted, and half of them are taken', () => {
    const counts = counted(varied(1), flat(0), flat(0.5), varied(2))
    expect(counts.state).toMatchObject({ rows: 4, zero: 1, constant: 2, alike: 1 })
    expect(() => counts.check()).not.toThrow()
    expect(counts.warnings()).toMatchObject([{ code: 'VECTORS_ZERO', count: 1 }])
    expect(counted(varied(1), varied(2)).warnings()).toEqual([])
  })

  test.each([
    ['zero', [varied(1), flat(0), flat(0)], '2 of 3 vectors are zero or constant'],
    ['constant', [flat(1), flat(2), flat(3), varied(1), varied(2)], '3 of 5 vectors are zero or constant'],
  ])('are refused beyond a half: %s', (_, vectors, message) => {
    expect(() => counted(...vectors).check()).toThrow(
      expect.objectContaining({ code: 'VECTORS_EMPTY', message: expect.stringContaining(message) as string }),
    )
  })

  test('are warned of where most are the same', () => {
    const most = counted(varied(1), varied(1), varied(2), varied(1), varied(3))
    expect(() => most.check()).not.toThrow()
    expect(most.warnings()).toMatchObject([{ code: 'VECTORS_ALIKE', count: 3 }])
    expect(counted(varied(1), varied(1)).warnings()).toEqual([])
  })

  test('are no short ones of one number', () => {
    const gray = new VectorCounts(null)
    gray.add(Float32Array.of(1, 1, 1, 2, 2, 2, 3, 3, 3), 3)
    expect(() => gray.check()).not.toThrow()
  })
})
