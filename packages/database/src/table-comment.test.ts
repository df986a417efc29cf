import { expect, test } from 'vitest'
import { readComment } from './table-comment.ts'

test.each([
  ['Rivers of the town', 'Rivers of the town', null],
  ['{"attribution": "ESA"}', null, 'ESA'],
  ['{"description": "Rivers", "attribution": "ESA"}', 'Rivers', 'ESA'],
  ['{"unit": "m"}', '{"unit": "m"}', null],
  ['{"attribution": 7}', '{"attribution": 7}', null],
  ['["ESA"]', '["ESA"]', null],
  ['{"attribution": ', '{"attribution": ', null],
  [null, null, null],
])(
  'the comment %s has a description and an attribution, and no text of it is lost',
  (text, description, attribution) => {
    expect(readComment(text)).toMatchObject({ description, attribution })
  },
)
