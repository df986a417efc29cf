import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { bytesSource, openOsm, type OsmElement, type OsmTags, writePbf } from '@terrane/osm'

import { buildNetwork, type Mode, Router } from '../src/index.ts'

// The routability tables of OSRM's three profiles, each row as a street between two plain ones: number of directions in
// which Terrane agrees with OSRM, and reasons for the others. `node osrm-tables.bench.ts ../osrm-backend/features`
const PROFILES: Readonly<Record<string, Mode>> = { car: 'auto', bicycle: 'bicycle', foot: 'pedestrian' }
const DIRECTIONS = ['forw', 'backw'] as const

interface Row {
  readonly file: string
  readonly mode: Mode
  readonly tags: OsmTags
  /** Tags of the node in the middle of the street. */
  readonly nodeTags: OsmTags
  /** Whether OSRM travels the street along its points, and against them; undefined when the table does not state it. */
  readonly open: readonly (boolean | undefined)[]
}

/** The car of OSRM's profile, with enough occupants for any high-occupancy lane. */
const CAR = { height: 2, width: 1.9, length: 4.8, weight: 2, include_hov2: true, include_hov3: true }
const PLAIN = { highway: 'residential' }
const NO_REASON = 'NO REASON'

const has = (values: string, value: string | undefined): boolean => values.split(' ').includes(value ?? '')
/** Whether a tag of the street or of its node matches. */
const says = ({ tags, nodeTags }: Row, key: RegExp, value: RegExp): boolean =>
  [tags, nodeTags].some((all) => Object.entries(all).some(([name, text]) => key.test(name) && value.test(text)))
const ACCESS = /^(access|vehicle|motor_vehicle|motorcar|bicycle|foot)(:forward|:backward)?$/
const NO_STREETS = 'footway pedestrian steps bridleway motorway pier runway garbagetag some_tag'

/** Reasons for differences; the first matching rule counts, for rows that OSRM has open or closed. */
const REASONS: readonly (readonly [inOsrm: 'open' | 'closed', fits: (row: Row) => boolean, reason: string])[] = [
  [
    'closed',
    (row) => says(row, ACCESS, /private|delivery|destination/),
    'for local access, and no way through where another leads on (OSM wiki, Key:access; OSRM for cars)',
  ],
  [
    'closed',
    (row) => says(row, /^(foot|bicycle|cycleway|sidewalk)/, /^(use_sidepath|separate)$/),
    'the way beside it need not be on the map, and the duty to use it depends on the country (OSM wiki, Tag:bicycle=use_sidepath)',
  ],
  [
    'closed',
    ({ tags }) => has('trunk trunk_link road track', tags.highway),
    'open worldwide, closed in countries with a rule (OSM wiki, OSM tags for routing/Access restrictions)',
  ],
  ['closed', (row) => says(row, ACCESS, /^official$/), 'a former word for designated (OSM wiki, Key:access)'],
  [
    'closed',
    ({ nodeTags }) => nodeTags.barrier === 'some_tag',
    'an unknown barrier stops no mode, a warning of the route names it (OSM wiki, Key:barrier)',
  ],
  [
    'closed',
    ({ nodeTags }) => nodeTags.barrier === 'kerb',
    'open by default, most stand where a footway crosses (OSM wiki, Tag:barrier=kerb)',
  ],
  ['closed', ({ tags }) => 'construction' in tags, 'works along a street that stays open (OSM wiki, Key:construction)'],
  ['closed', ({ tags }) => 'width' in tags || 'est_width' in tags, 'a measure and no limit (OSM wiki, Key:width)'],
  ['closed', ({ tags }) => tags.oneway === 'alternating', 'open both ways by turns (OSM wiki, Key:oneway)'],
  ...(['open', 'closed'] as const).map(
    (inOsrm) =>
      [
        inOsrm,
        (row: Row) => says(row, /^oneway:(foot|bicycle)$/, /^yes$/) && row.tags.oneway === '-1',
        'a plain yes means the way that the street runs; the tags contradict each other (OSM wiki, Key:oneway)',
      ] as const,
  ),
  [
    'open',
    (row) => says(row, /^cycleway/, /^track$/) && 'oneway' in row.tags,
    'a track runs as the street does unless oneway:bicycle or cycleway:*:oneway says otherwise (OSM wiki, Key:cycleway)',
  ],
  ['open', ({ tags }) => tags.junction === 'roundabout', 'a roundabout is one-way (OSM wiki, Tag:junction=roundabout)'],
  [
    'open',
    ({ mode, tags }) =>
      mode === 'bicycle' &&
      ('oneway' in tags || tags.foot === 'yes' || tags.highway === undefined || has(NO_STREETS, tags.highway)) &&
      !('access' in tags && !('oneway' in tags)) &&
      !('cycleway' in tags),
    'pushed along on foot: bicycles are ridden here, as in Valhalla',
  ],
  [
    'open',
    ({ tags }) => has(NO_STREETS, tags.highway),
    'access tags make no street of another thing, and open a class only to modes that they name (OSM wiki, Key:highway)',
  ],
  [
    'open',
    (row) => says(row, /^foot$/, /^some_tag$/),
    'a value that is not defined says nothing, and the general key holds (OSM wiki, Key:access)',
  ],
]

function reasonOf(row: Row, isOpen: boolean): string {
  const found = REASONS.find(([inOsrm, fits]) => (inOsrm === 'open') === isOpen && fits(row))
  return found?.[2] ?? NO_REASON
}

const folder = process.argv[2]
if (folder === undefined) console.log('SKIPPED: give the folder `features` of a checkout of OSRM')
else await compare(readRows(folder))

/**
 * Excludes profiles that avoid a class of streets, and scenarios at a certain time. Settings of speeds and weights
 * close no street.
 */
function isPlain(text: string): boolean {
  return !/profile\.avoid|from-now=/.test(text)
}

function readRows(features: string): Row[] {
  return Object.entries(PROFILES).flatMap(([profile, mode]) =>
    readdirSync(join(features, profile)).flatMap((name) => {
      const parts = readFileSync(join(features, profile, name), 'utf8').split(/^ *Scenario.*/m)
      if (!isPlain(parts[0]!)) return []
      // This tag marks tests that OSRM itself does not pass yet.
      const scenarios = parts.slice(1).filter((part, i) => isPlain(part) && !/@todo[^\n]*\s*$/.test(parts[i]!))
      const file = `${profile}/${name}`
      return scenarios.flatMap((scenario) => tablesOf(scenario).map((row) => ({ file, mode, ...row })))
    }),
  )
}

function tablesOf(scenario: string): Pick<Row, 'tags' | 'nodeTags' | 'open'>[] {
  return scenario
    .split(/routability should be.*/)
    .slice(1)
    .flatMap((text) => {
      const lines = text.split('\n').map((line) => line.trim())
      const end = lines.findIndex((line) => line !== '' && !/^[|#]/.test(line))
      const [head, ...body] = lines
        .slice(0, end < 0 ? lines.length : end)
        .filter((line) => line.startsWith('|'))
        .map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.replaceAll('\\|', '|').trim()))
      return body.map((cells) => rowOf(head!.map((name, i) => [name, cells[i] ?? ''])))
    })
}

function rowOf(cells: readonly (readonly [name: string, value: string])[]): Pick<Row, 'tags' | 'nodeTags' | 'open'> {
  const tags: Record<string, string> = { highway: 'primary' }
  const nodeTags: Record<string, string> = {}
  for (const [name, value] of cells) {
    if (value === '' || name === '' || name.startsWith('#') || /^(forw|backw|bothw)/.test(name)) continue
    if (name.startsWith('node/')) nodeTags[name.slice(5)] = value
    else if (value === '(nil)') delete tags[name]
    else tags[name] = value
  }
  const known = new Map(cells)
  const open = DIRECTIONS.map((direction) => {
    const said = [direction, 'bothw', `${direction}_rate`, 'bothw_rate'].map((name) => known.get(name))
    const value = said.find((one) => one !== undefined)
    return value === undefined ? undefined : value !== ''
  })
  return { tags, nodeTags, open }
}

/**
 * A position along the street of a row, from 0 to 4; a plain street leads to it at both ends. Streets are farther apart
 * than the snapping distance.
 */
function at(row: number, place: number): { lon: number; lat: number } {
  return { lon: -30 + (row % 50) * 1.3 + place * 0.001, lat: 40 + Math.floor(row / 50) * 0.7 }
}

function idAt(row: number, place: number): number {
  return 10 * row + place + 2
}

function street(row: number, part: number, along: readonly number[], tags: OsmTags): OsmElement {
  return { type: 'way', id: 3 * row + part, refs: along.map((place) => idAt(row, place)), tags }
}

async function compare(rows: readonly Row[]): Promise<void> {
  const places = [-1, 0, 1, 2, 3, 4, 5]
  const nodes = rows.flatMap(({ nodeTags }, i) =>
    places.map((place): OsmElement => ({
      type: 'node',
      id: idAt(i, place),
      ...at(i, place),
      tags: place === 2 ? nodeTags : {},
    })),
  )
  const ways = rows.flatMap(({ tags }, i) => [
    street(i, 1, [-1, 0], PLAIN),
    street(i, 2, [0, 1, 2, 3, 4], tags),
    street(i, 3, [4, 5], PLAIN),
  ])
  const reader = await openOsm(bytesSource(Buffer.concat([...writePbf([...nodes, ...ways])])))
  const router = new Router(await buildNetwork([reader], { drivingSide: 'right' }))
  let asked = 0
  let alike = 0
  const reasons = new Map<string, number>()
  for (const [i, { file, mode, tags, nodeTags, open }] of rows.entries()) {
    for (const [backward, isOpen] of open.entries()) {
      if (isOpen === undefined) continue
      const locations = backward === 0 ? [at(i, -0.5), at(i, 4.5)] : [at(i, 4.5), at(i, -0.5)]
      const request = { locations, costing: mode, costing_options: { auto: CAR }, directions_type: 'none' }
      const { status, body } = router.answer(JSON.stringify(request))
      const isFound =
        status === 200 && (JSON.parse(body) as { trip: { summary: { length: number } } }).trip.summary.length < 0.5
      asked++
      if (isFound === isOpen) {
        alike++
        continue
      }
      const reason = reasonOf(rows[i]!, isOpen)
      reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
      const said = JSON.stringify({ ...tags, ...(Object.keys(nodeTags).length > 0 && { node: nodeTags }) })
      console.log(`${file} ${DIRECTIONS[backward]}: ${isOpen ? 'open' : 'closed'} in OSRM: ${said}: ${reason}`)
    }
  }
  await router.close()
  console.log(
    `${rows.length} rows: alike in ${alike} of ${asked} directions, ${reasons.get(NO_REASON) ?? 0} differ without a reason`,
  )
  for (const [reason, count] of [...reasons].toSorted(([, a], [, b]) => b - a)) console.log(`${count}: ${reason}`)
}
