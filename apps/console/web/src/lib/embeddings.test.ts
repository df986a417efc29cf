import { expect, test } from 'vitest'
import { attributionOf, changesSql, rankedChanges, searchSql, withOutlines, type EmbeddingTable } from './embeddings.ts'

const geom = { type: 'Polygon' as const, coordinates: [] }
const change = (id: string, z: number | null, score: number) => ({ id, change_z: z, change_score: score, geom })

test('changes show the score that orders them', () => {
  // Rows in the database's order. By cosine distance alone, the third one has changed most.
  const { unit, matches } = rankedChanges([change('a', 5.1, 0.2), change('b', 3, 0.1), change('c', 0.8, 0.4)])
  expect([unit, matches.map(({ score }) => score)]).toEqual(['change_z', [5.1, 3, 0.8]])
  expect(matches.map(({ score }) => score)).toEqual(matches.map(({ score }) => score).toSorted((a, b) => b - a))
})

test('few pairs are ordered by their similarity, and show that', () => {
  const { unit, matches } = rankedChanges([change('a', null, 0.4), change('b', null, 0.1)])
  expect([unit, matches.map(({ score }) => score)]).toEqual(['change_score', [0.4, 0.1]])
  expect(rankedChanges([])).toEqual({ unit: 'change_score', matches: [] })
})

test('scores take the outlines that are on the map, and a tile without one is left out', () => {
  const square: GeoJSON.Polygon = { type: 'Polygon', coordinates: [[[0, 0], [1, 0], [1, 1], [0, 0]]] } // prettier-ignore
  const found = [
    { id: '9007199254740993', score: 0.9 },
    { id: '2', score: 0.5 },
  ]
  expect(withOutlines(found, new Map([['9007199254740993', square]]))).toEqual([
    { id: '9007199254740993', score: 0.9, geom: square },
  ])
})

test('the statement of a search selects what it shows, with names and values as literals', () => {
  const asked = {
    table: "o'clock",
    from: { like: ['1'], unlike: ['9007199254740993'] },
    limit: 500,
    varied: true,
    latest: false,
  }
  expect(searchSql(asked, 0.25)).toBe(
    'select id, similarity, st_multi(geom)::geometry(MultiPolygon, 4326) as geom from "geoembeddings"."similarity_search"(' +
      `table_name => 'o''clock', positive => '{"o''clock":["1"]}'::jsonb, negative => '{"o''clock":["9007199254740993"]}'::jsonb, ` +
      "similarity_threshold => '-1', result_limit => '100', variety => '0.5', include_geom => 'true') where \"similarity\" >= 0.25",
  )
  expect(changesSql({ before: 'a', after: 'b', limit: 20 }, 'change_z', 3)).toBe(
    'select id, change_z, change_score, st_multi(geom)::geometry(MultiPolygon, 4326) as geom from "geoembeddings"."change_detection"(' +
      "table_name_1 => 'b', table_name_2 => 'a', result_limit => '20', include_geom => 'true') where \"change_z\" >= 3",
  )
})

test('tiles of a comparison have the attribution of both tables, each once', () => {
  const table = (name: string, attribution: string | null) => ({ table_name: name, attribution }) as EmbeddingTable
  const tables = [table('a', 'ESA'), table('b', 'USGS'), table('c', 'ESA'), table('d', null)]
  expect(attributionOf(tables, ['a', 'b'])).toBe('ESA, USGS')
  expect(attributionOf(tables, ['a', 'c'])).toBe('ESA')
  expect([attributionOf(tables, ['a', null]), attributionOf(tables, ['d'])]).toEqual(['ESA', null])
})
