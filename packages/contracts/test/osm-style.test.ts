import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { OsmStyle } from '../src/tasks/osm-style.ts'

const FILE = new URL('../schemas/osm-style.json', import.meta.url)

test('the schema for editors is that of the contract, with filters to any depth', () => {
  const {
    $schema: _,
    $defs,
    ...style
  } = JSON.parse(readFileSync(FILE, 'utf8')) as {
    $schema: string
    $defs: { filter: { description: string } }
  }
  const filter = { type: 'object', minProperties: 1, maxProperties: 2, description: $defs.filter.description }
  const shallow = JSON.stringify(style).replaceAll('{"$ref":"#/$defs/filter"}', JSON.stringify(filter))
  expect(JSON.parse(shallow)).toEqual(JSON.parse(JSON.stringify(OsmStyle)))
})
