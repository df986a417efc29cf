import { expect, test } from 'vitest'
import { storedNodata } from './stored-nodata.ts'

// Samples that GDAL 3.10 masks in a band with this nodata value.
test.each([
  ['uint8', 255.5, Number.NaN],
  ['uint8', 254.5, 254],
  ['uint8', -0.5, Number.NaN],
  ['uint8', 0.5, 0],
  ['uint8', 255, 255],
  ['int16', 32_767.5, Number.NaN],
  ['int16', -32_768.5, Number.NaN],
  ['int16', -0.5, 0],
  ['int16', -9999, -9999],
  ['uint16', 65_535.5, Number.NaN],
  ['uint16', 65_535, 65_535],
  ['float32', 0.1, Math.fround(0.1)],
  ['float64', 0.1, 0.1],
] as const)('of %s, %d masks %d', (sampleType, nodata, stored) => {
  const found = storedNodata(nodata, { sampleType })
  expect(Number.isNaN(stored) ? Number.isNaN(found) : found + 0 === stored).toBe(true)
})
