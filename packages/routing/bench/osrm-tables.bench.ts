import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { bytesSource, openOsm, type OsmElement, type OsmTags, writePbf } from '@terrane/osm'

import { buildNetwork, type Mode, Router } from '../src/index.ts'

// The routability tables of OSRM's three profiles, each row a street of its own: in how many directions Terrane says what OSRM
// says, and each row where it does not. `node osrm-tables.bench.ts ../osrm-backend/features`
const PROFILES: Readonly<Record<string, Mode>> = { car: 'auto', bicycle: 'bicycle', foot: 'pedestrian' }
const DIRECTIONS = ['forw', 'backw'] as const

interface Row {
  readonly file: string
  readonly mode: Mode
  readonly tags: OsmTags
  /** Of the node in the middle of the street. */
  readonly nodeTags: OsmTags
  /** Whether OSRM goes along the points of the street, and against them; undefined where the table does not say. */
  readonly open: readonly (boolean | undefined)[]
}

const folder = process.argv[2]
if (folder === undefined) console.log('SKIPPED: give the folder `features` of a checkout of OSRM')
else await compare(readRows(folder))

/** Profiles with settings of their own, and scenarios at a certain time, are left out. */
function isPlain(text: string): boolean {
  return !/profile file|from-now=/.test(text)
}

function readRows(features: string): Row[] {
  return Object.entries(PROFILES).flatMap(([profile, mode]) =>
    readdirSync(join(features, profile)).flatMap((name) => {
      const parts = readFileSync(join(features, profile, name), 'utf8').split(/^ *Scenario.*/m)
      if (!isPlain(parts[0]!)) return []
      // What OSRM itself does not do yet stands after this tag.
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

/** A place along the street of a row. Streets are farther apart than locations are put on them. */
function at(row: number, place: number): { lon: number; lat: number } {
  return { lon: -30 + (row % 50) * 1.3 + place * 0.001, lat: 40 + Math.floor(row / 50) * 0.7 }
}

async function compare(rows: readonly Row[]): Promise<void> {
  const places = [0, 1, 2, 3, 4]
  const nodes = rows.flatMap(({ nodeTags }, i) =>
    places.map((place): OsmElement => ({
      type: 'node',
      id: 10 * i + place + 1,
      ...at(i, place),
      tags: place === 2 ? nodeTags : {},
    })),
  )
  const ways = rows.map(({ tags }, i): OsmElement => {
    return { type: 'way', id: i + 1, refs: places.map((place) => 10 * i + place + 1), tags }
  })
  const reader = await openOsm(bytesSource(Buffer.concat([...writePbf([...nodes, ...ways])])))
  const router = new Router(await buildNetwork([reader], { drivingSide: 'right' }))
  let asked = 0
  let alike = 0
  for (const [i, { file, mode, tags, nodeTags, open }] of rows.entries()) {
    for (const [backward, isOpen] of open.entries()) {
      if (isOpen === undefined) continue
      const locations = backward === 0 ? [at(i, 1), at(i, 3)] : [at(i, 3), at(i, 1)]
      const { status, body } = router.answer(JSON.stringify({ locations, costing: mode, directions_type: 'none' }))
      const isFound =
        status === 200 && (JSON.parse(body) as { trip: { summary: { length: number } } }).trip.summary.length < 0.5
      asked++
      if (isFound === isOpen) alike++
      else console.log(`${file} ${DIRECTIONS[backward]}: ${isOpen ? 'open' : 'closed'} in OSRM`, tags, nodeTags)
    }
  }
  await router.close()
  console.log(`${rows.length} rows: alike in ${alike} of ${asked} directions`)
}
