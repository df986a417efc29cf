import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { OSM_STYLE_SCHEMA } from '../src/tasks/osm-style.ts'

const FILE = new URL('../schemas/osm-style.json', import.meta.url)

test('the schema for editors is that of the contract', () => {
  // To update the file, write JSON.stringify(OSM_STYLE_SCHEMA) into it and format it.
  expect(JSON.parse(readFileSync(FILE, 'utf8'))).toEqual(JSON.parse(JSON.stringify(OSM_STYLE_SCHEMA)))
})
