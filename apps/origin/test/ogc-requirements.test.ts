// Slow: some ninety requirements are tested one by one.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CHANGES as EDITS } from './ogc-requirements/changes.ts'
import { CORE } from './ogc-requirements/core.ts'
import { ENCODINGS } from './ogc-requirements/encodings.ts'
import { FILTERS } from './ogc-requirements/filters.ts'
import { LANGUAGE as COMPARISONS } from './ogc-requirements/language.ts'
import { LOCKING } from './ogc-requirements/locking.ts'
import { PLACES_AND_TIMES } from './ogc-requirements/places-and-times.ts'
import { CRS } from './ogc-requirements/reference-systems.ts'
import { CQL_TEXTS } from './ogc-requirements/texts.ts'
import { TILE_CASES } from './ogc-requirements/tiles.ts'
import { bodyOf, openSpots, origin, type Case } from './ogc-requirements/requests.ts'

// Requirements of OGC API Features 1 to 4 (17-069r4, 18-058r1, 19-079r2, 20-002r1), CQL2 (21-065r2) and Tiles 1 (20-057), each by
// its identifier below http://www.opengis.net/spec, as requests. The lists of requirements at the end show that none is missing. What is asserted of Features 1 and 2 follows the sources of the
// official suite, a program in Java (opengeospatial/ets-ogcapi-features10).

const LANGUAGE: readonly Case[] = [...COMPARISONS, ...CQL_TEXTS, ...PLACES_AND_TIMES]
const CHANGES: readonly Case[] = [...EDITS, ...LOCKING]

beforeAll(async () => void (await openSpots()))
afterAll(() => origin[Symbol.asyncDispose]())

/**
 * All requirements of the standards by class, and those of the classes that are not offered or whose condition does not
 * hold here: GML, Part 5, functions, arrays, times of change, tiles of images and of the whole dataset.
 */
const REQUIREMENTS: Readonly<
  Record<string, { readonly cases: readonly Case[]; readonly offered: string; readonly others: string }>
> = {
  'ogcapi-features-3': {
    cases: FILTERS,
    offered: `queryables: queryables-link get-queryables-op get-queryables-response expression-construction
      queryables-query-parameters: parameters
      filter: filter-param filter-lang-param filter-crs-wgs84 filter-crs-param mixing-expressions response
      features-filter: get-queryables-op queryables-link filter-param filter-lang-param filter-crs-param response`,
    others: 'filter: get-functions-operation get-functions-response-json',
  },
  cql2: {
    cases: LANGUAGE,
    offered: `basic-cql2: cql2-filter property binary-comparison-predicate null-predicate
      advanced-comparison-operators: like-predicate between-predicate in-predicate
      case-insensitive-comparison: casei-function
      accent-insensitive-comparison: accenti-function
      basic-spatial-functions: spatial-functions spatial-predicate
      basic-spatial-functions-plus: spatial-data-types
      spatial-functions: spatial-functions
      temporal-functions: temporal-functions temporal-predicates
      arithmetic: arithmetic
      property-property: withdraw-permissions
      cql2-text: basic-cql2 escaping advanced-comparison-operators case-insensitive-comparison accent-insensitive-comparison basic-spatial-functions basic-spatial-functions-plus spatial-functions temporal-functions arithmetic property-property
      cql2-json: basic-cql2 advanced-comparison-operators case-insensitive-comparison accent-insensitive-comparison basic-spatial-functions basic-spatial-functions-plus spatial-functions temporal-functions arithmetic property-property`,
    others: `array-functions: array-predicates
      functions: functions get-functions-operation get-functions-response-json
      cql2-text: arrays functions
      cql2-json: arrays functions`,
  },
  'ogcapi-features-4': {
    cases: CHANGES,
    offered: `core: methods
      create-replace-delete: post-op post-body post-content-type post-response post-response-rid put-op put-body put-content-type put-response put-rid put-rid-exception delete-op delete-response options-op options-response
      update: methods update-patch-op update-patch-body update-patch-response rid
      features: collection-endpoint resources-endpoint resource-endpoint default-crs content-crs-header crs-other-crs geojson-create-replace update-json-merge-patch
      optimistic-locking-etags: get-etag-response put-etag-response patch-etag-response ifmatch-put-op ifmatch-put-eval ifmatch-patch-op ifmatch-patch-eval`,
    others: `features: crs-crs84 schema representation-geojson-replace gml-create-replace gml-srsname
      optimistic-locking-timestamps: get-last-modified-response put-last-modified-response patch-last-modified-response ifunmodifiedsince-put-op ifunmodifiedsince-put-eval ifunmodifiedsince-patch-op ifunmodifiedsince-patch-eval`,
  },
  'ogcapi-tiles-1': {
    cases: TILE_CASES,
    offered: `core: conformance-success tc-op tc-tilematrix-definition tc-tilerow-definition tc-tilecol-definition tc-success tc-error
      tileset: description
      tilesets-list: tileset-path tileset-links
      geodata-tilesets: desc-links operation
      mvt: content
      oas30: completeness operation-id`,
    others: `dataset-tilesets: landingpage operation
      collections-selection: query-collections collections-response
      datetime: axis
      geojson: content
      jpeg: content
      png: content
      tiff: content geotiff
      netcdf: content geo
      xml: content definition`,
  },
}

/** Identifiers of `class: name name` lines. */
function identifiers(lines: string): string[] {
  return lines.split('\n').flatMap((line) => {
    const [group = '', names = ''] = line.trim().split(': ')
    return names.split(' ').map((name) => `${group}/${name}`)
  })
}

test.each(Object.entries(REQUIREMENTS))(
  'each requirement of %s has a case, or is one that is not offered',
  (_, { cases, offered, others }) => {
    const tested = new Set(cases.map(([name]) => name))
    expect([...tested].toSorted()).toEqual(identifiers(offered).toSorted())
    expect(identifiers(others).filter((name) => tested.has(name))).toEqual([])
  },
)

describe.each([
  ['ogcapi-features-1/1.0/req/core', CORE],
  ['ogcapi-features-1/1.0/req', ENCODINGS],
  ['ogcapi-features-2/1.0/req/crs', CRS],
  ['ogcapi-features-3/1.0/req', FILTERS],
  ['cql2/1.0/req', LANGUAGE],
  ['ogcapi-features-4/1.0/req', CHANGES],
  ['ogcapi-tiles-1/1.0/req', TILE_CASES],
])('%s', (_, cases) => {
  test.each(cases)('%s', async (_requirement, check, expected) => {
    const found = await check()
    expect(Array.isArray(found) ? await Promise.all(found) : found).toEqual(expected)
  })
})

test('every class of requirements that is declared has requirements here', async () => {
  const declared = (await bodyOf('/conformance'))['conformsTo'] as string[]
  const of = (cases: readonly Case[], prefix: string) =>
    cases.map(([name]) => `${prefix}/${name.includes('/') ? name.split('/')[0] : ''}`)
  const tested = new Set([
    'ogcapi-features-1/core',
    ...of(ENCODINGS, 'ogcapi-features-1'),
    'ogcapi-features-2/crs',
    ...of(FILTERS, 'ogcapi-features-3'),
    ...of(LANGUAGE, 'cql2'),
    ...of(CHANGES, 'ogcapi-features-4'),
    ...of(TILE_CASES, 'ogcapi-tiles-1'),
  ])
  const short = declared.map((uri) => uri.replace('http://www.opengis.net/spec/', '').replace('/1.0/conf/', '/'))
  // OGC API Common is a part of Features 1.
  expect(short.filter((name) => !name.startsWith('ogcapi-common') && !tested.has(name))).toEqual([])
})
