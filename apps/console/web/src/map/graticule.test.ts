import { expect, test } from 'vitest'
import { graticule, type Box } from './graticule.ts'

/** Positions of the labels by their text. */
function labelsOf(covers?: readonly Box[]) {
  const labels = graticule([0, 0, 70, 40], covers).features.filter(({ geometry }) => geometry.type === 'Point')
  return Object.fromEntries(
    labels.map(({ properties, geometry }) => [properties?.['text'], (geometry as GeoJSON.Point).coordinates]),
  )
}

test('meridians are labelled at the upper edge and parallels at the left one', () => {
  const labels = labelsOf()
  expect([labels['10°E'], labels['60°E'], labels['10°N'], labels['40°N']]).toEqual([[10, 40], [60, 40], [0, 10], [0, 40]]) // prettier-ignore
})

test('a title and controls cover no label: those under them are placed beneath or beside them', () => {
  const [title, buttons, choice] = [[0, 35, 25, 40], [65, 30, 70, 40], [0, 0, 12, 8]] as const // prettier-ignore
  const labels = labelsOf([title, buttons, choice])
  expect([labels['10°E'], labels['20°E'], labels['70°E']]).toEqual([[10, 35], [20, 35], [70, 30]]) // prettier-ignore
  expect([labels['40°N'], labels['0°']]).toEqual([[25, 40], [12, 0]]) // prettier-ignore
  expect([labels['30°E'], labels['60°E'], labels['30°N']]).toEqual([[30, 40], [60, 40], [0, 30]]) // prettier-ignore
  // A title up to the buttons leaves no place beside it.
  expect(labelsOf([[0, 35, 66, 40], buttons])).not.toHaveProperty('40°N')
})
