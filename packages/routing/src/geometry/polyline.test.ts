import polyline from '@mapbox/polyline'
import { randomCases } from '@terrane/testing/property'
import { expect, it } from 'vitest'

import { encodeLine } from './polyline.ts'

it('encodes six decimals as Google described for five', () => {
  // The example of https://developers.google.com/maps/documentation/utilities/polylinealgorithm, a tenth of its degrees.
  expect(encodeLine({ lon: [-12.02, -12.095, -12.6453], lat: [3.85, 4.07, 4.3252] })).toBe(
    '_p~iF~ps|U_ulLnnqC_mqNvxq`@',
  )
})

it('encodes no points as no text', () => {
  expect(encodeLine({ lon: [], lat: [] })).toBe('')
})

it.each([5, 6] as const)('encodes as others do, with %i decimals', async (decimals) => {
  await randomCases(50, (random) => {
    const points = Array.from({ length: 1 + Math.floor(random() * 30) }, () => ({
      lon: Math.round((random() * 360 - 180) * 1e6) / 1e6,
      lat: Math.round((random() * 180 - 90) * 1e6) / 1e6,
    }))
    const line = { lon: points.map(({ lon }) => lon), lat: points.map(({ lat }) => lat) }
    const text = encodeLine(line, decimals)
    const places = polyline.decode(text, decimals)
    expect(places).toHaveLength(points.length)
    places.forEach(([lat, lon], at) => {
      expect(lat).toBeCloseTo(points[at]!.lat, decimals - 1)
      expect(lon).toBeCloseTo(points[at]!.lon, decimals - 1)
    })
  })
})
