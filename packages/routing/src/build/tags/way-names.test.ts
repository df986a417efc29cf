import { expect, it } from 'vitest'

import { RoadClass } from '../../graph/attributes.ts'
import { wayNames } from './way-names.ts'

function names(tags: Record<string, string>, roadClass: number = RoadClass.primary): string[] {
  return wayNames(new Map(Object.entries(tags)), roadClass).forward.map(({ text }) => text)
}

it('puts references behind names, and before them on trunk roads', () => {
  expect(names({ name: 'Long Road', ref: 'B 1;B 2' })).toEqual(['Long Road', 'B 1', 'B 2'])
  expect(names({ name: 'Long Road', ref: 'B 1' }, RoadClass.trunk)).toEqual(['B 1', 'Long Road'])
})

it('keeps the spaces of lists, and drops empty parts', () => {
  expect(names({ ref: '118; 117;' })).toEqual(['118', ' 117'])
})
