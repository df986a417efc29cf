import { expect, test } from 'vitest'
import { identifierOf, tableNameOf } from './identifiers.ts'

test.each([
  ['My Parcels (2).gpkg', 'my_parcels_2'],
  ['2024-scene.tif', 't_2024_scene'],
  ['Überlauf.shp.zip', 'uberlauf'],
  ['Ærø Straße Łódź.csv', 'aero_strasse_lodz'],
  ['porto.roads.geojsonl', 'porto_roads'],
  ['porto.osm.pbf', 'porto'],
  ['cities.geojson.gz', 'cities'],
  ['v1.2.gpkg', 'v1_2'],
  ['folder/of.files/a.csv', 'a'],
  ['https://example.com/a.b/Caf%C3%A9.gpkg?sig=x.y', 'cafe'],
  ['https://example.com/100%/a.tif', 'a'],
  ['parcels', 'parcels'],
  ['建物.gpkg', 't'],
  ['....csv', 't'],
])('a table for %s is %s', (file, table) => {
  expect(tableNameOf(file)).toBe(table)
})

test('an identifier is one that PostgreSQL takes without quotes, however long or strange the name', () => {
  for (const name of ['x'.repeat(500), `${'a'.repeat(59)} b`, '\u{1F600}', '_', '9', ' -- ', 'a"b;c']) {
    expect(identifierOf(name, 'area', 58)).toMatch(/^[a-z][a-z0-9_]{0,62}$/)
  }
  expect(identifierOf(`${'a'.repeat(57)} b`, 'area', 58)).toBe('a'.repeat(57))
  expect(identifierOf('9', 'area', 58)).toBe('area_9')
  expect(identifierOf('', 'area', 58)).toBe('area')
})
