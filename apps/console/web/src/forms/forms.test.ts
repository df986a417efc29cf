import {
  ArchiveToPmtiles,
  ExportTable,
  CreateGeoEmbeddings,
  CreateSraiEmbeddings,
  Ogr2ogrImport,
  OsmImportArea,
  OvertureImportArea,
} from '@terrane/contracts'
import { ClassifyEmbeddings, ClusterEmbeddings, TrainClassifier } from '@terrane/contracts/labels'
import { describe, expect, test } from 'vitest'
import { formOf, type Field, type GroupField, type RowsField, type VariantsField } from './fields.ts'
import { exampleOf, layoutOf } from './layouts.ts'
import { tasksOf, type Schema } from './openapi.ts'
import { chosenVariant, readField, withoutRow, type FormCheck, type Problems } from './read-form.ts'

const AREA = {
  type: 'Polygon',
  coordinates: [
    [
      [11, 48],
      [11.1, 48],
      [11.1, 48.1],
      [11, 48.1],
      [11, 48],
    ],
  ],
}

function check(problems: Problems = new Map()): FormCheck {
  return { problems, variants: {}, maxAreaKm2: 0 }
}

/** Valid request bodies, each with most of its fields. */
const BODIES: Readonly<Record<string, { schema: unknown; bodies: readonly Record<string, unknown>[] }>> = {
  osmImportArea: {
    schema: OsmImportArea,
    bodies: [
      { areaName: 'Town', aoiGeoJson: AREA },
      {
        areaName: 'Town',
        aoiGeoJson: AREA,
        topics: ['buildings', 'streets'],
        tablePrefix: 'town',
        source: { kind: 'file', path: 'town.osm.pbf' },
        clip: true,
      },
      { areaName: 'Town', aoiGeoJson: AREA, source: { kind: 'geofabrik' } },
    ],
  },
  overtureImportArea: {
    schema: OvertureImportArea,
    bodies: [
      { areaName: 'Town', aoiGeoJson: AREA, types: ['building', 'segment'] },
      { areaName: 'Town', aoiGeoJson: AREA, topics: ['places'], release: '2026-01-21.0' },
    ],
  },
  ogr2ogrImport: {
    schema: Ogr2ogrImport,
    bodies: [{ fileUrl: 'https://example.org/a.gpkg', tableName: 'parcels', mode: 'append', limit: 10 }],
  },
  createGeoEmbeddings: {
    schema: CreateGeoEmbeddings,
    bodies: [
      { geotiffPath: 'scene.tif', tableName: 'tiles' },
      { storagePrefix: { bucket: 'uploads', prefix: '2026/' }, tableName: 'tiles', mode: 'append' },
      { sources: [{ geotiffPath: 'a.tif' }, { storagePath: { bucket: 'b', path: 'c.tif' } }], tableName: 'tiles' },
      { stac: { url: 'https://example.org/items.json', asset: 'visual' }, tableName: 'tiles' },
      {
        geotiffPath: 'scene.tif',
        tableName: 'tiles',
        normalizeEmbeddings: false,
        tileSize: 128,
        bands: [2, 1, 0],
        uploadArtifactsToStorage: true,
        edge: 'drop',
        minValidFraction: 0.25,
      },
    ],
  },
  createSraiEmbeddings: {
    schema: CreateSraiEmbeddings,
    bodies: [
      { tableName: 'cells', h3Resolution: 8, aoiGeoJson: AREA, osmPreset: 'base', embedder: 'count' },
      {
        tableName: 'cells',
        h3Resolution: 8,
        placeQuery: 'Munich',
        osmTags: { building: true },
        embedder: { kind: 'hex2vec', layers: [64, 32], epochs: 5, seed: 1 },
      },
      {
        tableName: 'cells',
        pipeline: {
          dataLoaderArgs: { query: 'Munich', filter: { amenity: ['cafe', 'bar'] } },
          regionalizerArgs: { dgg: { kind: 'h3', resolution: 8 } },
          fitterArgs: { modelName: 'count' },
        },
        uploadArtifactsToStorage: true,
      },
    ],
  },
  trainClassifier: {
    schema: TrainClassifier,
    bodies: [
      {
        table: 'tiles',
        classifier: 'cover',
        examples: { table: 'fields', column: 'crop' },
        head: 'knn',
        neighbours: 3,
      },
      { table: 'tiles', classifier: 'cover', ids: { water: [1, 2], land: [3] }, penalty: 0.01, sourceNumbers: [0, 2] },
      {
        table: 'tiles',
        classifier: 'cover',
        features: { type: 'FeatureCollection', features: [{ type: 'Feature' }] },
        property: 'crop',
      },
    ],
  },
  classifyEmbeddings: {
    schema: ClassifyEmbeddings,
    bodies: [{ table: 'tiles', classifier: 'cover', version: 2, tableName: 'map', mode: 'update', isPublic: false }],
  },
  clusterEmbeddings: {
    schema: ClusterEmbeddings,
    bodies: [{ table: 'tiles', clusters: 8, seed: 4, tableName: 'map' }],
  },
  archiveToPmtiles: {
    schema: ArchiveToPmtiles,
    bodies: [
      { table: 'streets' },
      { table: 'streets', zooms: [4, 12] },
      { table: 'streets', zooms: { min: 4, max: 12 } },
      { table: 'streets', zooms: 'auto', properties: ['name', 'kind'] },
      {
        table: 'streets',
        filter: 'kind=eq.primary',
        archiveName: 'city',
        layers: [{ table: 'pois', zooms: [10, 14], cluster: { distance: 40 } }],
      },
      {
        table: 'pois',
        rankBy: { property: 'population', order: 'smallest' },
        cluster: { distance: 40, aggregates: [{ property: 'population', operation: 'sum' }] },
      },
    ],
  },
  exportTable: {
    schema: ExportTable,
    bodies: [
      { table: 'streets', format: 'GeoPackage', storagePath: { bucket: 'files', path: 'streets.gpkg' } },
      { table: 's', schema: 'public', format: 'CSV', columns: ['a', 'b'], storagePath: { bucket: 'f', path: 's' } },
    ],
  },
}

describe('forms made from the bodies of the worker', () => {
  for (const [task, { schema, bodies }] of Object.entries(BODIES)) {
    const form = formOf(JSON.parse(JSON.stringify(schema)) as Schema)

    test(`${task}: what was sent before comes back as it was`, () => {
      for (const body of bodies) {
        const problems: Problems = new Map()
        expect(readField(form, body, check(problems))).toEqual(body)
        expect([...problems]).toEqual([])
      }
    })

    test(`${task}: every required field is asked for, and its project is not`, () => {
      const problems: Problems = new Map()
      readField(form, {}, check(problems))
      const { required = [] } = schema as Schema
      // A missing group is reported by the names of its fields.
      const asked = [...problems].filter(([, why]) => why === 'is required').map(([pointer]) => pointer.split('/')[1])
      for (const name of required) expect(asked).toContain(name)
      expect(fieldsOf(form).some(({ name }) => name === 'projectTarget')).toBe(false)
    })
  }
})

describe('the layouts of forms', () => {
  for (const [task, { schema }] of Object.entries(BODIES)) {
    const form = formOf(JSON.parse(JSON.stringify(schema)) as Schema) as GroupField

    test(`${task}: has a layout that names fields of its request, each once, and hides no required one`, () => {
      const { first, sources = [], hidden = [] } = layoutOf(task, [])
      const named = [...first, ...sources.map(({ name }) => name), ...hidden]
      const known = new Map(form.fields.map((field) => [field.name, field]))
      expect(first.length).toBeGreaterThan(0)
      expect(named.filter((name) => !known.has(name))).toEqual([])
      expect(new Set(named).size).toBe(named.length)
      expect(hidden.filter((name) => known.get(name)?.required)).toEqual([])
      const required = form.fields.filter((field) => field.required).map(({ name }) => name)
      expect(required.filter((name) => !first.includes(name))).toEqual([])
    })

    test(`${task}: its examples are what the request takes`, () => {
      for (const field of form.fields) {
        const example = exampleOf(field.name)
        if (example === undefined || field.kind === 'variants') continue
        const problems: Problems = new Map()
        readField(field, example, check(problems))
        expect([field.name, ...problems.values()]).toEqual([field.name])
      }
    })
  }
})

describe('what a person enters', () => {
  const form = formOf({
    type: 'object',
    properties: {
      name: { type: 'string', pattern: '^[a-z]+$', maxLength: 5 },
      size: { type: 'integer', minimum: 1, maximum: 9, default: 3 },
      bands: { type: 'array', items: { type: 'integer', minimum: 0 }, minItems: 2, uniqueItems: true },
      area: { type: 'object', properties: { type: { enum: ['Polygon', 'MultiPolygon'] } } },
      more: { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } }, required: ['a'] },
    },
    required: ['name'],
  })

  function problemOf(entered: Readonly<Record<string, unknown>>): Record<string, string> {
    const problems: Problems = new Map()
    readField(form, entered, { ...check(problems), maxAreaKm2: 100 })
    return Object.fromEntries(problems)
  }

  test('is checked field by field before anything is sent', () => {
    expect(problemOf({ name: 'Ab' })).toEqual({ '/name': 'has characters that are not allowed here' })
    expect(problemOf({ name: 'abcdef' })).toEqual({ '/name': 'has more than 5 characters' })
    expect(problemOf({ name: 'a', size: '1.5' })).toEqual({ '/size': 'must be a whole number' })
    expect(problemOf({ name: 'a', size: '10' })).toEqual({ '/size': 'must be at most 9' })
    expect(problemOf({ name: 'a', size: 'many' })).toEqual({ '/size': 'must be a number' })
    expect(problemOf({ name: 'a', bands: '1' })).toEqual({ '/bands': 'needs at least 2 values' })
    expect(problemOf({ name: 'a', bands: '1, 1' })).toEqual({ '/bands': 'names a value twice' })
    expect(problemOf({ name: 'a', bands: '0, 2', size: '9' })).toEqual({})
  })

  test('an area has as many positions as the worker takes, and any number where it does not tell', () => {
    const ring = [[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]] // prettier-ignore
    const area = JSON.stringify({ type: 'Polygon', coordinates: [ring] })
    const problemsOf = (maxVertices: number | undefined) => {
      const problems: Problems = new Map()
      readField(form, { name: 'a', area }, { ...check(problems), maxVertices })
      return [...problems.keys()]
    }
    expect(problemsOf(4)).toEqual(['/area'])
    expect(problemsOf(5)).toEqual([])
    expect(problemsOf(undefined)).toEqual([])
  })

  test('what has the wrong form is told by an example, never by a pattern', () => {
    for (const [task, { schema }] of Object.entries(BODIES)) {
      const body = formOf(JSON.parse(JSON.stringify(schema)) as Schema)
      for (const field of fieldsOf(body).filter(({ kind }) => kind === 'text')) {
        const problems: Problems = new Map()
        readField(field, 'NOT*"%\u0001', check(problems))
        for (const text of problems.values())
          expect([task, field.name, /[\^$[\]]/.test(text)]).toEqual([task, field.name, false])
      }
    }
    const problems: Problems = new Map()
    const { fields } = formOf({
      properties: { tableName: { type: 'string', pattern: '^[a-z][a-z0-9_]{0,62}$' } },
    }) as GroupField
    readField(fields[0] as Field, 'Not a name', check(problems))
    expect(problems.get('/tableName')).toContain('such as parcels_2026')
  })

  test('an area is read as the worker reads it, limit included', () => {
    expect(problemOf({ name: 'a', area: '{"type": ' })['/area']).toMatch(/^is not valid JSON/)
    expect(problemOf({ name: 'a', area: '{"type": "Point", "coordinates": [1, 2]}' })['/area']).toBeDefined()
    expect(problemOf({ name: 'a', area: JSON.stringify(AREA) })['/area']).toBeUndefined()
    const large = JSON.stringify(AREA).replaceAll('11.1', '15')
    expect(problemOf({ name: 'a', area: large })['/area']).toContain('more than the limit of 100')
  })

  test('an optional group asks for what it needs once something in it is set', () => {
    expect(problemOf({ name: 'a' })).toEqual({})
    expect(problemOf({ name: 'a', more: { b: 'x' } })).toEqual({ '/more/a': 'is required' })
  })

  test('an optional group is entered with an empty entry of a list, and not with a constant alone', () => {
    const entry = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }
    const group = formOf({
      type: 'object',
      properties: {
        more: {
          type: 'object',
          properties: {
            kind: { const: 'h3' },
            rows: { type: 'array', items: entry, maxItems: 3 },
            query: { type: 'string' },
          },
          required: ['query'],
        },
      },
    }) as GroupField
    const problems: Problems = new Map()
    expect(readField(group, { more: { kind: 'h3' } }, check(problems))).toEqual({})
    expect([...problems]).toEqual([])
    readField(group, { more: { rows: [{}] } }, check(problems))
    expect(Object.fromEntries(problems)).toEqual({ '/more/rows/0/a': 'is required', '/more/query': 'is required' })
  })

  test('a list of objects is entered one by one, and each is checked under its own place', () => {
    const archive = formOf(JSON.parse(JSON.stringify(ArchiveToPmtiles)) as Schema) as GroupField
    const layers = archive.fields.find(({ name }) => name === 'layers') as RowsField
    expect([layers.kind, layers.item(1).pointer]).toEqual(['rows', '/layers/1'])
    const entered = [{ table: 'pois', zooms: [10, 14] }]
    const problems: Problems = new Map()
    readField(layers, [...entered, {}], check(problems))
    expect([...problems]).toEqual([['/layers/1/table', 'is required']])
    expect(readField(layers, entered, check())).toEqual(entered)
    expect(readField(layers, [], check())).toBeUndefined()
  })

  test('a variant is the one that was chosen, else the one that the value fits', () => {
    const archive = formOf(JSON.parse(JSON.stringify(ArchiveToPmtiles)) as Schema) as GroupField
    const zooms = archive.fields.find(({ name }) => name === 'zooms') as VariantsField
    expect(zooms.variants.map(({ label }) => label)).toEqual(['auto', 'pair', 'min, max'])
    const fitting = [undefined, 'auto', [4, 12], { max: 12, min: 4 }, { min: 4 }, { least: 4 }]
    expect(fitting.map((value) => chosenVariant(zooms, value, {}))).toEqual([-1, 0, 1, 2, 2, -1])
    const problems: Problems = new Map()
    readField(zooms, { min: '4' }, { ...check(problems), variants: { '/zooms': 2 } })
    expect([...problems]).toEqual([['/zooms/max', 'is required']])
    expect(readField(zooms, '4, 12', { ...check(), variants: { '/zooms': 1 } })).toEqual([4, 12])
    expect(readField(zooms, undefined, { ...check(), variants: { '/zooms': 0 } })).toBe('auto')
  })

  test('after an entry of a list is removed the later ones keep their variants', () => {
    const variants = { '/zooms': 1, '/layers/0/zooms': 0, '/layers/1/zooms': 1, '/layers/2/zooms': 2 }
    expect(withoutRow(variants, '/layers', 1)).toEqual({ '/zooms': 1, '/layers/0/zooms': 0, '/layers/1/zooms': 2 })
  })

  test('a list that is too long to type is pasted', () => {
    const imagery = formOf(JSON.parse(JSON.stringify(CreateGeoEmbeddings)) as Schema) as GroupField
    expect(imagery.fields.find(({ name }) => name === 'sources')?.kind).toBe('json')
  })

  test('nothing entered is nothing sent: the worker fills its own defaults in', () => {
    expect(readField(form, { name: 'a', size: '', bands: ' ', more: { b: '' } }, check())).toEqual({ name: 'a' })
  })
})

test('tasks are read from the document, references resolved, and those without a body are not offered', () => {
  const tasks = tasksOf({
    paths: {
      '/jobs/one': {
        post: {
          summary: 'One',
          description: 'Does one.',
          requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Body' } } } },
        },
      },
      '/jobs/two': { post: {} },
      '/capacity': {},
    },
    components: { schemas: { Body: { type: 'object', properties: { self: { $ref: '#/components/schemas/Body' } } } } },
  })
  expect(tasks.map(({ name, description }) => [name, description])).toEqual([
    ['one', 'Does one.'],
    ['two', ''],
  ])
  expect(tasks[0]?.body?.properties?.['self']?.type).toBe('object')
  expect(tasks[1]?.body).toBeNull()
})

function fieldsOf(form: Field): readonly Field[] {
  if (form.kind === 'group') return form.fields
  if (form.kind === 'variants') return form.variants.flatMap(({ field }) => fieldsOf(field))
  return []
}
