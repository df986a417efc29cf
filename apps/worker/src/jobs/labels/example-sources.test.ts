import { Warnings } from '@terrane/core/errors'
import { expect, test } from 'vitest'
import { featureSource } from './example-sources.ts'

test.each([
  ['a', null],
  ['9', 48],
])('an example at %j, %j is refused, because the database would read it as 0', (...coordinates) => {
  const features = [{ type: 'Feature', properties: { class: 'a' }, geometry: { type: 'Point', coordinates } }]
  expect(() => featureSource(features, 'class', new Warnings())).toThrow(
    expect.objectContaining({ code: 'FEATURES_INVALID' }),
  )
})
