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
