import { expect, test } from 'vitest'
import { placeFields } from './place-fields.ts'
import { TAG } from './tags.ts'

const valuesOf = (crs: Parameters<typeof placeFields>[1]) => {
  const fields = placeFields([500_000, 10, 0, 5_300_000, 0, -10], crs)
  const read = (tag: number) => fields.find((field) => field.tag === tag)?.values
  return { keys: Array.from(read(TAG.geoKeyDirectory) ?? []), doubles: read(TAG.geoDoubleParams) }
}

// Source: OGC GeoTIFF 1.1, 7.1.2: version, revision, minor revision and number of keys, then four numbers for each key.
test('a system with a code has three keys', () => {
  expect(valuesOf({ epsg: 32_632, isGeographic: false })).toEqual({
    keys: [1, 1, 0, 3, 1024, 0, 1, 1, 1025, 0, 1, 1, 3072, 0, 1, 32_632],
    doubles: undefined,
  })
})

test('keys that are not codes point to their numbers', () => {
  expect(valuesOf({ 1024: 2, 2048: 32_767, 2057: 6_378_137, 2059: 298.25 })).toEqual({
    keys: [1, 1, 0, 5, 1024, 0, 1, 2, 1025, 0, 1, 1, 2048, 0, 1, 32_767, 2057, 34_736, 1, 0, 2059, 34_736, 1, 1],
    doubles: [6_378_137, 298.25],
  })
})
